"""A comparison for people: its table, the same by length, and a page of Markdown with all of it."""

import statistics
from collections.abc import Iterable, Iterator, Sequence

from regard.base.figures import in_figures
from regard.metrics.significance import CONFIDENCE, RESAMPLES, TRIALS
from regard.runs.compare.findings import Findings, Found, SeedScores, spread

Table = tuple[list[str], list[list[str]]]  # its columns and its rows


def table(comparison: Findings) -> Table:
    """The columns and rows that people see."""
    metrics = [measure.metric for measure in comparison.variants[0].measures]
    columns = [comparison.differ_in]
    for metric in metrics:
        columns += [metric, "against the first"]
    return [*columns, "parameters", _pace_column(comparison)], [_row(found) for found in comparison.variants]


def _is_text(comparison: Findings) -> bool:
    return any(outcome.sources for found in comparison.variants for outcome in found.outcomes)


def _pace_column(comparison: Findings) -> str:
    return "tokens/s" if _is_text(comparison) else "items/s"


def _row(found: Found) -> list[str]:
    cells = [found.variant]
    for measure in found.measures:
        cells += [show_values(measure.values), _shown_difference(measure)]
    pace = found.tokens_per_second
    return [*cells, f"{found.parameters:,}", "–" if pace is None else f"{pace:,.0f}"]


def show_values(values: Sequence[float]) -> str:
    """The mean of the seeds' values, ± the largest minus the smallest."""
    digits = _digits(values)
    mean = in_figures(statistics.fmean(values), digits)
    return f"{mean} ± {in_figures(spread(values), digits)}" if len(values) > 1 else mean


def _digits(values: Sequence[float]) -> int:
    """Behind the point: two, but four of shares, of which two would tell whole percents alone."""
    return 4 if max(map(abs, values)) <= 1 else 2


def _shown_difference(measure: SeedScores) -> str:
    if measure.difference is None:
        return "–"
    aside = " (within spread)" if measure.within_spread else ""
    sure = f", {_probability(measure.against_first.randomisation)}" if measure.against_first else ""
    return f"{in_figures(measure.difference, _digits(measure.values), '+')}{sure}{aside}"


def _probability(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def length_table(comparison: Findings, place: int) -> Table:
    """The columns and rows of one metric by the length of the source."""
    columns = ["source words", "sentences", *(found.variant for found in comparison.variants)]
    rows = [
        [bucket.label, str(len(bucket.sentences))]
        + [show_values(found.measures[place].by_length[number]) for found in comparison.variants]
        for number, bucket in enumerate(comparison.buckets)
    ]
    return columns, rows


def notes(comparison: Findings) -> list[str]:
    """Return notes on how to read the table."""
    counts = {len(found.outcomes) for found in comparison.variants}
    seeds = f"{min(counts)} seeds" if len(counts) == 1 else "the seeds that were trained"
    at_once = f", {comparison.jobs} runs at once" if comparison.jobs > 1 else ""
    items, item = ("sentences", "sentence") if _is_text(comparison) else ("items", "item")
    is_paired = any(outcome.sums for found in comparison.variants for outcome in found.outcomes)
    lines = [f"Scored on {comparison.sentences:,} {items} of the split {comparison.split}."]
    if max(counts) > 1:
        lines.append(f"Values are the mean of {seeds} ± their spread, the largest minus the smallest.")
    if is_paired:
        lines.append(
            f"p: how often so large a difference arises when outputs change sides at random, {item} by {item} "
            f"(approximate randomisation, {TRIALS:,} trials, two-sided)."
        )
    if max(counts) > 1:
        apart = f"It speaks of other {items}; within" if is_paired else "Within"
        lines.append(f"{apart} spread: with other seeds the difference may be gone.")
    learnt = "target tokens" if _is_text(comparison) else "items"
    return [*lines, f"{_pace_column(comparison)}: {learnt} in training, validations left out{at_once}."]


def page(comparison: Findings) -> str:
    """The comparison as a page of Markdown."""
    parts = [f"# {comparison.name}", _markdown(*table(comparison)), _bullets(notes(comparison))]
    if comparison.failures:
        parts += ["## Runs that failed", _bullets(_failure_lines(comparison))]
    for place, measure in enumerate(comparison.variants[0].measures if comparison.buckets else []):
        parts += [f"## {measure.metric} by length of the source", _markdown(*length_table(comparison, place))]
    if bounds := [line for found in comparison.variants for line in _bounds(found)]:
        parts += ["## Against the first", _bullets(bounds)]
    signatures = dict.fromkeys(
        f"{measure.metric}: `{measure.signature}`" for found in comparison.variants for measure in found.measures
    )
    return "\n\n".join([*parts, "## Signatures", _bullets(signatures)]) + "\n"


def _failure_lines(comparison: Findings) -> Iterator[str]:
    """Each run that failed with its reason, and the variants of which none is left."""
    shown_variants = {found.variant for found in comparison.variants}
    yield from map(str, comparison.failures)
    for variant in dict.fromkeys(failure.run.variant for failure in comparison.failures):
        if variant not in shown_variants:
            yield f"{variant} is not in the table, for none of its runs was trained."


def _bounds(found: Found) -> Iterator[str]:
    """Between what bounds a variant's differences from the first are likely to be."""
    for measure in found.measures:
        if against := measure.against_first:
            bounds = (against.value, against.low, against.high)
            value, low, high = (in_figures(each, _digits(measure.values), "+") for each in bounds)
            yield (
                f"{found.variant}, {measure.metric}: {value}, from {low} to {high} in {CONFIDENCE}% of "
                f"{RESAMPLES:,} resampled test sets (paired bootstrap, {_probability(against.bootstrap)})"
            )


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
