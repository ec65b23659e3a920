"""`regard score`: score files of outputs against files of references, or work their BLEU out step by step."""

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


_Hypothesis = Annotated[Path, typer.Option(help="Outputs, one a line (plain, .gz, .xz, .zst); - is standard input.")]
_Reference = Annotated[
    list[Path] | None, typer.Option(help="What they should be; several files are several references.")
]
_TestSet = Annotated[str | None, typer.Option(help="Or a test set of sacreBLEU's that is here, as wmt20.")]
_Languages = Annotated[str | None, typer.Option(help="The languages of the test set, as en-de.")]
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
    str, typer.Option(help="What bleu counts where an order of n-grams has no match: none, floor, add-k, exp.")
]
_SmoothValue = Annotated[
    float | None, typer.Option(help="Of floor or add-k.", show_default="0.1 for floor, 1 for add-k")
]
_Vectors = Annotated[
    Path | None, typer.Option(metavar="PLACE", help="A file of word vectors or a model of words, for ebleu.")
]
_HypothesisSentences = Annotated[
    Path | None, typer.Option(help="The outputs as text, to check that the trees for hppr are theirs.")
]
_ReferenceSentences = Annotated[Path | None, typer.Option(help="The same for the trees of the sources.")]
_Against = Annotated[Path | None, typer.Option(help="Outputs of another system, to test the difference.")]
_Line = Annotated[int | None, typer.Option(help="Explain this line alone, the first being 1.")]
_Orders = Annotated[int | None, typer.Option(min=1, max=50, help="Explain up to n-grams of this order; 4 is usual.")]
_Weights = Annotated[
    str | None, typer.Option(help="Explain with these weights of the orders, as .4,.3,.2,.1; equal if not given.")
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
    explain: Annotated[bool, typer.Option("--explain", help="Work BLEU out, step by step.")] = False,
    line: _Line = None,
    orders: _Orders = None,
    weights: _Weights = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Score files, each score with its signature and the bounds it is likely to be between on other sentences."""
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
    for each in scoring.remarks(texts, metrics, other, tokenise, language):
        remark(each)
    if explain:
        _explain(texts, line, orders, weights, choices, as_json)
        return
    with console_progress() as progress:
        scores = scoring.score_texts(texts, metrics, other, progress, choices)
    if as_json:
        print_json({"scores": [each.as_dict() for each in scores]})
    else:
        _say_scores(scores)


def _read_vectors(place: Path | None) -> "WordVectors | None":
    """Read the vectors of a file or of a model of words."""
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
    """The files of references, and what a signature says of them: nothing, or the test set they are of."""
    if bool(files) == (test_set is not None):
        raise Fault("Give what the outputs should be: --reference, or --test-set with --languages, not both.")
    if (test_set is None) != (languages is None):
        raise Fault("--test-set and --languages belong together, as --test-set wmt20 --languages en-de.")
    if test_set is None or languages is None:
        return files or [], ""
    from regard.metrics.named_sets import named_set

    found = named_set(test_set, languages)
    return found.references, found.signature


def _explain(
    texts: "Texts", line: int | None, orders: int | None, weights: str | None, choices: "Choices", as_json: bool
) -> None:
    from regard.metrics import files as scoring
    from regard.metrics.explain import ORDERS, parse_weights

    given = None if weights is None else parse_weights(weights)
    highest = orders or (len(given) if given else ORDERS)
    explained, ngrams = scoring.explain(texts, scoring.Asked(line, highest, given, choices))
    if as_json:
        print_json(scoring.explanation_as_dict(explained, ngrams, line))
    else:
        if line is not None:
            print(f"hypothesis: {texts.hypotheses[line - 1]}")
            print(*(f"reference: {lines[line - 1]}" for lines in texts.lists), "", sep="\n")
        _say_explanation(explained, ngrams)


def _say_scores(scores: Sequence["Scored"]) -> None:
    from regard.metrics.significance import CONFIDENCE

    bounds = f"{CONFIDENCE}% between"
    rows = []
    for each in scores:
        digits = each.score.digits
        between = f"{in_figures(each.low, digits)} and {in_figures(each.high, digits)}"
        value = in_figures(each.score.value, digits)
        rows.append([each.score.metric, value, between, str(each.score.n), each.score.signature])
    say_table(["metric", "value", bounds, "sentences", "signature"], rows)
    if any(each.versus for each in scores):
        print()
        columns = ["metric", "against", "difference", bounds, "p (bootstrap)", "p (randomisation)", "tested on"]
        say_table(columns, [_comparison_lines(each) for each in scores])
    if any(each.by != "sums" for each in scores):
        remark("Bounds and tests found on sentence scores are about their mean, not about the value itself.")


def _comparison_lines(scored: "Scored") -> list[str]:
    assert scored.versus is not None
    digits, found = scored.score.digits, scored.versus.difference
    return [
        scored.score.metric,
        in_figures(scored.versus.score.value, digits),
        in_figures(found.value, digits, "+"),
        f"{in_figures(found.low, digits, '+')} and {in_figures(found.high, digits, '+')}",
        f"{found.bootstrap:.4f}",
        f"{found.randomisation:.4f}",
        scored.by,
    ]


def _say_explanation(explained: "Explanation", ngrams: Sequence[Sequence["Match"]]) -> None:
    say_table(
        ["order", "n-grams", "that count", "precision", "weight", "weight · ln precision"],
        [_order_row(order) for order in explained.orders],
    )
    print()
    say_table(["what", "how", "value"], _steps(explained))
    print(f"\n{explained.signature}")
    for order, own in zip(explained.orders, ngrams, strict=False):
        print()
        counting, others = [each for each in own if each.clipped], [each for each in own if not each.clipped]
        print(f"{order.order}-grams that count: {_list_ngrams(counting)}")
        print(f"{order.order}-grams that do not: {_list_ngrams(others)}")


def _order_row(order: "NgramOrder") -> list[str]:
    note = " (smoothed)" if order.smoothed else ""
    term = f"{order.weight * order.logarithm:.4f}" if order.precision else "-∞"
    counts = [str(order.order), str(order.total), str(order.matches)]
    return [*counts, f"{order.precision:.2f}%{note}", f"{order.weight:.4g}", term]


def _steps(explained: "Explanation") -> list[list[str]]:
    """Brevity penalty, mean of the precisions, and BLEU, each with how it comes about."""
    written, wanted, penalty = explained.hypothesis_length, explained.reference_length, explained.brevity_penalty
    how = f"exp(1 - {wanted} / {written})" if 0 < written < wanted else f"{written} tokens, wanted were {wanted}"
    mean = explained.value / penalty if penalty else 0.0
    return [
        ["brevity penalty", how, f"{penalty:.4f}"],
        ["mean precision", "exp(sum of the last column)", f"{mean:.2f}%"],
        ["BLEU", f"{penalty:.4f} · {mean:.2f}", f"{explained.value:.2f}"],
    ]


def _list_ngrams(ngrams: Sequence["Match"]) -> str:
    """N-grams in words; one that counts less often than it stands there with both numbers."""
    return " | ".join(" ".join(each.words) + _clipping(each) for each in ngrams) or "none"


def _clipping(ngram: "Match") -> str:
    if ngram.count == 1:
        return ""
    return f" ({ngram.clipped} of {ngram.count})"
