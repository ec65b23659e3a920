"""The report on a file of votes: a table of judges, and what the numbers mean."""

from typing import Any

from regard.base.figures import quantity
from regard.metrics.judgements import Agreement, Judged, agreement
from regard.serving.judging.votes import VotesRead


def judged_of(read: VotesRead) -> Judged:
    return Judged(read.heading.question, read.heading.person, read.ballots)


def as_dict(read: VotesRead) -> dict[str, Any]:
    """Return the report as `--json` prints it."""
    judged, heading, found = judged_of(read), read.heading, agreement(read.ballots)
    return {
        **heading.model_dump(include={"a", "b", "question", "person", "items"}),
        "judged": len({item for ballot in read.ballots.values() for item in ballot}),
        "all": judged.row(),
        "judges": [{"judge": judge, **judged.row(judge)} for judge in judged.ballots],
        "agreement": None if found is None else vars(found),
    }


def table(read: VotesRead) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of the table: each judge, and all of them."""
    judged = judged_of(read)
    is_better = judged.question == "better"
    sides = ["A better", "B better", "equal"] if is_better else ["A a person's", "B a person's", "cannot tell"]
    columns = ["judge", "votes", *sides, "p", *([] if judged.person is None else [judged.share_name])]
    judges: list[str | None] = [*judged.ballots]
    return columns, [_row(judged, judge) for judge in (judges if len(judges) == 1 else [*judges, None])]


def _row(judged: Judged, judge: str | None) -> list[str]:
    tally, share = judged.tally(judge), judged.share(judge)
    counts = [f"{count:,}" for count in (tally.votes, tally.a, tally.b, tally.ties)]
    return [judge or "all", *counts, _p_value(judged.p_value(judge)), *([] if share is None else [f"{share:.1%}"])]


def _p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def notes(read: VotesRead) -> list[str]:
    """Return sentences on what was compared, on M1 or M2, and on the agreement of the judges."""
    heading, judged = read.heading, judged_of(read)
    items = len({item for ballot in read.ballots.values() for item in ballot})
    said = [f"A is {heading.a}, B is {heading.b}; {items:,} of {quantity(heading.items, 'item')} judged."]
    if judged.person is not None:
        meaning = "judged as good as the person's or better" if judged.question == "better" else "taken for a person's"
        said.append(
            f"A person made {judged.person.upper()}. {judged.share_name} is the share of the other's {meaning}."
        )
    said.append("p is that of a two-sided sign test without ties.")
    if len(read.ballots) > 1:
        said.append("For all judges together, the test counts items: each for the side that more of them chose.")
    return [*said, _agreement(agreement(read.ballots))]


def _agreement(found: Agreement | None) -> str:
    if found is None:
        return "There is only one judge, so there is no agreement to measure."
    if not found.items:
        return "No item has been judged by all judges, so there is no agreement to measure."
    name = "Cohen's κ" if found.statistic == "cohen" else "Fleiss' κ"
    where = f"of {found.judges} judges on {quantity(found.items, 'item')}"
    if found.kappa is None:
        return f"{name} {where} is undefined: all choices are the same."
    return f"{name} {where}: {found.kappa:.2f}."
