"""`regard score`: score files of outputs against references, or work out BLEU step by step."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.faults import Fault
from regard.base.figures import in_figures
from regard.console import console_progress, print_json, remark, say_table

if TYPE_CHECKING:
    from regard.data.vectors.word_vectors import WordVectors
    from regard.metrics.explain import Explanation, Match, NgramOrder
    from regard.metrics.files import Scored, Texts
    from regard.metrics.text import Choices


_Hypothesis = Annotated[Path, typer.Option(help="Outputs, one per line (plain, .gz, .xz, .zst); - is standard input.")]
_Reference = Annotated[list[Path] | None, typer.Option(help="A file of references; repeat for several references.")]
_TestSet = Annotated[
    str | None, typer.Option(help="Instead of --reference: a sacreBLEU test set on this machine, such as wmt20.")
]
_Languages = Annotated[str | None, typer.Option(help="The languages of the test set, such as en-de.")]
_Metric = Annotated[
    list[str] | None,
    typer.Option(
        help="bleu, bleu-tokenised, chrf, chrf++, ter, rouge1, rouge2, rougeL, rougeLsum, meteor, "
        "meteor-de, meteor-es, meteor-fr, meteor-pt, meteor-ru, nist, ribes, lepor, cider, wer, cer, per, exact, "
        "bleu1, bleu2, bleu3, lepor-length, lepor-places, lepor-harmonic, "
        "meteor-f1, meteor-f1-pt, meteor-f1-ru, ebleu-2013, "
        "ebleu (with --vectors), brackets, well-formed, hppr (of trees).",
        show_default="bleu and chrf",
    ),
]
_Tokenise = Annotated[
    str | None,
    typer.Option(
        help="sacreBLEU's tokeniser for bleu: zh, ja-mecab, ko-mecab, intl, char, flores101, flores200, "
        "spBLEU-1K, 13a, none.",
        show_default="13a",
    ),
]
_Smooth = Annotated[
    str, typer.Option(help="BLEU smoothing for n-gram orders without a match: none, floor, add-k, exp.")
]
_SmoothValue = Annotated[
    float | None, typer.Option(help="Value for floor or add-k smoothing.", show_default="0.1 for floor, 1 for add-k")
]
_Vectors = Annotated[
    Path | None, typer.Option(metavar="PLACE", help="A file of word vectors or a word-vector model, for ebleu.")
]
_HypothesisSentences = Annotated[
    Path | None, typer.Option(help="The outputs as text, to check that the trees for hppr belong to them.")
]
_ReferenceSentences = Annotated[Path | None, typer.Option(help="The sources as text, to check their trees likewise.")]
_Against = Annotated[
    Path | None, typer.Option(help="Outputs of another system; tests whether the difference is significant.")
]
_Line = Annotated[int | None, typer.Option(help="With --explain: only this line, counted from 1.")]
_Orders = Annotated[int | None, typer.Option(min=1, max=50, help="With --explain: highest n-gram order; 4 is usual.")]
_Weights = Annotated[
    str | None, typer.Option(help="With --explain: weights of the orders, such as .4,.3,.2,.1; equal by default.")
]


def command(
    hypothesis: _Hypothesis,
    reference: _Reference = None,
    test_set: _TestSet = None,
    languages: _Languages = None,
    metric: _Metric = None,
    tokenise: _Tokenise = None,
    smooth: _Smooth = "exp",
    smooth_value: _SmoothValue = None,
    vectors: _Vectors = None,
    hypothesis_sentences: _HypothesisSentences = None,
    reference_sentences: _ReferenceSentences = None,
    against: _Against = None,
    explain: Annotated[bool, typer.Option("--explain", help="Work out BLEU step by step.")] = False,
    line: _Line = None,
    orders: _Orders = None,
    weights: _Weights = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Score files of outputs; each score has its signature and a confidence interval."""
    metrics = list(dict.fromkeys(metric or (["bleu"] if explain else ["bleu", "chrf"])))
    _check_explaining(explain, metrics, against, {"--line": line, "--orders": orders, "--weights": weights})
    from regard.metrics import files as scoring
    from regard.metrics.bleu import Smoothing
    from regard.metrics.text import Choices

    choices = Choices(tokenise, Smoothing(smooth, smooth_value), _read_vectors(vectors))
    choices.check(metrics)
    files, origin = _references(reference, test_set, languages)
    if [hypothesis, *files, against].count(scoring.STANDARD_INPUT) > 1:
        raise Fault("Standard input can be read only once; use - for one file only.")
    texts = scoring.read_texts(hypothesis, files, origin)
    scoring.check_sentences(texts, metrics, hypothesis_sentences, reference_sentences)
    other = None if against is None else scoring.read_others(texts, against)
    language = (languages or "").partition("-")[2]
    for note in scoring.remarks(texts, metrics, other, tokenise, language):
        remark(note)
    if explain:
        _explain(texts, line, orders, weights, choices, as_json)
        return
    if other is not None and other.hypotheses == texts.hypotheses and not as_json:
        other = None  # a remark has said so
    with console_progress() as progress:
        scores = scoring.score_texts(texts, metrics, other, progress, choices)
    if as_json:
        print_json({"scores": [note.as_dict() for note in scores]})
    else:
        _say_scores(scores)


def _read_vectors(place: Path | None) -> "WordVectors | None":
    """Read the vectors of a file or of a word-vector model."""
    if place is None:
        return None
    from regard.verbs.words.opening import open_lexicon

    with console_progress() as progress:
        return open_lexicon(place, None, None, progress, remark).vectors


def _check_explaining(explain: bool, metrics: Sequence[str], against: Path | None, details: dict[str, Any]) -> None:
    if explain and metrics != ["bleu"]:
        raise Fault(f"--explain is for BLEU only; omit --metric {' --metric '.join(metrics)}.")
    if explain and against is not None:
        raise Fault("--explain is about one file and --against about two; give one of them.")
    for name, value in details.items():
        if value is not None and not explain:
            raise Fault(f"{name} goes with --explain.")


def _references(
    files: Sequence[Path] | None, test_set: str | None, languages: str | None
) -> tuple[Sequence[Path], str]:
    """Return the reference files, and their test set for the signature (empty for plain files)."""
    if bool(files) == (test_set is not None):
        raise Fault("Give references: either --reference, or --test-set with --languages.")
    if (test_set is None) != (languages is None):
        raise Fault("--test-set and --languages go together, as in --test-set wmt20 --languages en-de.")
    if test_set is None or languages is None:
        return files or [], ""
    from regard.metrics.named_sets import named_set

    set_ = named_set(test_set, languages)
    return set_.references, set_.signature


def _explain(
    texts: "Texts", line: int | None, orders: int | None, weights: str | None, choices: "Choices", as_json: bool
) -> None:
    from regard.metrics import files as scoring
    from regard.metrics.explain import ORDERS, parse_weights

    parsed = None if weights is None else parse_weights(weights)
    highest = orders or (len(parsed) if parsed else ORDERS)
    explanation, ngrams = scoring.explain(texts, scoring.Asked(line, highest, parsed, choices))
    if as_json:
        print_json(scoring.explanation_as_dict(explanation, ngrams, line))
    else:
        if line is not None:
            print(f"hypothesis: {texts.hypotheses[line - 1]}")
            print(*(f"reference: {lines[line - 1]}" for lines in texts.lists), "", sep="\n")
        _say_explanation(explanation, ngrams)


def _say_scores(scores: Sequence["Scored"]) -> None:
    from regard.metrics.significance import CONFIDENCE, FEWEST

    bounds = f"{CONFIDENCE}% between"
    rows = []
    for scored in scores:
        digits = scored.score.digits
        between = _bounds(scored.low, scored.high, digits)
        value = in_figures(scored.score.value, digits)
        rows.append([scored.score.metric, value, between, str(scored.score.n), scored.score.signature])
    say_table(["metric", "value", bounds, "sentences", "signature"], rows)
    if any(scored.versus for scored in scores):
        print()
        columns = ["metric", "against", "difference", bounds, "p (bootstrap)", "p (randomisation)", "tested on"]
        say_table(columns, [_comparison_lines(scored) for scored in scores])
    if scores[0].score.n < FEWEST:
        remark("A single sentence says nothing about other test sets, so there are no bounds and no tests (–).")
    elif any(scored.by != "sums" for scored in scores):
        remark("Intervals and tests based on sentence scores are about their mean, not about the value itself.")


def _comparison_lines(scored: "Scored") -> list[str]:
    assert scored.versus is not None
    digits, difference = scored.score.digits, scored.versus.difference
    return [
        scored.score.metric,
        in_figures(scored.versus.score.value, digits),
        in_figures(difference.value, digits, "+"),
        _bounds(difference.low, difference.high, digits, "+"),
        _probability(difference.bootstrap),
        _probability(difference.randomisation),
        scored.by,
    ]


def _bounds(low: float, high: float, digits: int, sign: str = "") -> str:
    return "–" if math.isnan(low) else f"{in_figures(low, digits, sign)} and {in_figures(high, digits, sign)}"


def _probability(p: float) -> str:
    return "–" if math.isnan(p) else f"{p:.4f}"


def _say_explanation(explanation: "Explanation", ngrams: Sequence[Sequence["Match"]]) -> None:
    say_table(
        ["order", "n-grams", "that count", "precision", "weight", "weight · ln precision"],
        [_order_row(order) for order in explanation.orders],
    )
    print()
    say_table(["what", "how", "value"], _steps(explanation))
    print(f"\n{explanation.signature}")
    for order, matches in zip(explanation.orders, ngrams, strict=False):
        print()
        counting, others = (
            [match for match in matches if match.clipped],
            [match for match in matches if not match.clipped],
        )
        print(f"{order.order}-grams that count: {_list_ngrams(counting)}")
        print(f"{order.order}-grams that do not: {_list_ngrams(others)}")


def _order_row(order: "NgramOrder") -> list[str]:
    note = " (smoothed)" if order.smoothed else ""
    term = f"{order.weight * order.logarithm:.4f}" if order.precision else "-∞"
    counts = [str(order.order), str(order.total), str(order.matches)]
    return [*counts, f"{order.precision:.2f}%{note}", f"{order.weight:.4g}", term]


def _steps(explanation: "Explanation") -> list[list[str]]:
    """Return the rows for brevity penalty, mean precision and BLEU, each with its formula."""
    length, reference, penalty = (
        explanation.hypothesis_length,
        explanation.reference_length,
        explanation.brevity_penalty,
    )
    how = f"exp(1 - {reference} / {length})" if 0 < length < reference else f"{length} tokens against {reference}"
    mean = explanation.value / penalty if penalty else 0.0
    return [
        ["brevity penalty", how, f"{penalty:.4f}"],
        ["mean precision", "exp(sum of the last column)", f"{mean:.2f}%"],
        ["BLEU", f"{penalty:.4f} · {mean:.2f}", f"{explanation.value:.2f}"],
    ]


def _list_ngrams(ngrams: Sequence["Match"]) -> str:
    """Return n-grams as text; one that occurs several times shows how many of them count."""
    return " | ".join(" ".join(ngram.words) + _clipping(ngram) for ngram in ngrams) or "none"


def _clipping(ngram: "Match") -> str:
    if ngram.count == 1:
        return ""
    return f" ({ngram.clipped} of {ngram.count})"
