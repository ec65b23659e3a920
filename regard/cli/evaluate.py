"""`regard evaluate`: score a model on a split of its data, or on files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.cli.console import console_progress, print_json, remark, say_table

if TYPE_CHECKING:
    from regard.metrics import Score


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    split: Annotated[Literal["test", "valid"] | None, typer.Option(help="A split of the model's own data.")] = None,
    source: Annotated[Path | None, typer.Option(help="Source sentences to translate instead.")] = None,
    reference: Annotated[
        list[Path] | None, typer.Option(help="References for them; several files are several references.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="bleu, chrf, wer, perplexity, … (`regard score --help` names all).", show_default="bleu and chrf"
        ),
    ] = None,
    test_set: Annotated[
        str | None, typer.Option(help="One of sacreBLEU's test sets that are here, as wmt20, in the model's languages.")
    ] = None,
    tokenise: Annotated[
        str | None, typer.Option(help="sacreBLEU's tokeniser for bleu: zh, ja-mecab, …", show_default="13a")
    ] = None,
    beam: Annotated[int | None, typer.Option(min=1, max=64, help="Width of the beam; 1 is greedy.")] = None,
    length_penalty: Annotated[float | None, typer.Option(min=0, help="Alpha of the length penalty.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Score a model; the scores of a split are kept in the model folder with their signatures."""
    if (source is None) != (not reference):
        raise Fault("--source and --reference belong together; give both, or a --split.")
    if source is not None and split is not None:
        raise Fault("Give --split or --source and --reference, not both.")
    if test_set is not None and (split or source):
        raise Fault("--test-set is what the model is scored on; leave out --split, --source and --reference.")
    from regard.metrics.bleu import check_tokeniser
    from regard.model import load
    from regard.runs import evaluate as evaluation

    metrics = metric or ["bleu", "chrf"]
    evaluation.check_metrics(metrics)
    check_tokeniser(tokenise, metrics)
    loaded = load(model)
    if source is not None and reference:
        data = evaluation.from_files(source, reference)
    elif test_set is not None:
        data = evaluation.from_named_set(loaded, test_set)
    else:
        data = evaluation.from_split(loaded, model, split or "test")
    data = evaluation.mark_learnt(data, loaded, model)
    with console_progress() as progress:
        found = evaluation.evaluate(loaded, data, metrics, beam, length_penalty, progress, remark, tokenise)
    if as_json:
        print_json(found.as_dict())
    else:
        rows = [
            [score.metric, f"{score.value:.{score.digits}f}", str(score.n), score.signature] for score in found.scores
        ]
        say_table(["metric", "value", "sentences", "signature"], rows)
    if found.learnt:
        remark(_told_of_learnt(found.learnt, len(data.sources), found.of_others))
    if data.split is not None and not evaluation.store(model, found.scores):
        remark(f"{model} cannot be written to, so the scores are not kept there.")


def _told_of_learnt(learnt: int, sentences: int, of_others: "Sequence[Score]") -> str:
    new = sentences - learnt
    if not of_others:
        which = "all but one of these" if new else "all of these"
        return f"The model was trained on {which} sentences, so the scores say nothing of how it translates new ones."
    scores = ", ".join(f"{score.metric} {score.value:.{score.digits}f}" for score in of_others)
    return (
        f"The model was trained on {learnt:,} of these {sentences:,} sentences (but for case and spaces around them). "
        f"On the {new:,} that are new to it: {scores}."
    )
