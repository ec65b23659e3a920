"""`regard evaluate`: score a model on a split of its data or on files, and word vectors on questions about words."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.base.figures import in_figures
from regard.base.model_folder import is_mapped
from regard.console import console_progress, options, print_json, remark, say_table
from regard.verbs.words import options as word_options

if TYPE_CHECKING:
    from regard.metrics import Score
    from regard.model import Model
    from regard.runs.evaluate_model import EvaluationRequest
    from regard.runs.from_text.own_data import OwnFiles
    from regard.runs.word_scores import WordQuestions
    from regard.verbs.words.evaluation import WordScore


_Model = Annotated[Path, typer.Argument(help="A model folder, or a file of word vectors.")]
_Split = Annotated[Literal["test", "valid"] | None, typer.Option(help="A split of the model's own data.")]
_Source = Annotated[
    Path | None, typer.Option(help="Source sentences to translate instead, or the text for a language model.")
]
_Reference = Annotated[
    list[Path] | None, typer.Option(help="References for them; several files are several references.")
]
_Data = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Or a file like those that the model learnt from: TSV, CSV, JSONL, CoNLL-U, …"),
]
_Metric = Annotated[
    list[str] | None,
    typer.Option(
        help="bleu, chrf, wer, perplexity, aer, … (`regard score --help` names the others).",
        show_default="bleu and chrf",
    ),
]
_TestSet = Annotated[
    str | None, typer.Option(help="One of sacreBLEU's test sets that are here, as wmt20, in the model's languages.")
]
_Tokenise = Annotated[
    str | None, typer.Option(help="sacreBLEU's tokeniser for bleu: zh, ja-mecab, …", show_default="13a")
]
_Alignments = Annotated[
    Path | None, typer.Option(help="Links of each pair for --metric aer, as in 0-0 1-2 (3p4 or 3?4: possible).")
]
_Beam = Annotated[int | None, typer.Option(min=1, max=64, help="Width of the beam; 1 is greedy.")]
_LengthPenalty = Annotated[float | None, typer.Option(min=0, help="Alpha of the length penalty.")]
_Sentences = Annotated[
    bool, typer.Option("--sentences", help="How probable each line of --source is, for a language model.")
]
_Analogies = Annotated[
    list[str] | None, typer.Option(metavar="FILE", help="Analogies for word vectors, by path or as SET:path.")
]
_Similarities = Annotated[
    list[str] | None, typer.Option(metavar="FILE", help="Pairs of words with judgements, for word vectors.")
]
_Vocabulary = Annotated[
    int | None, typer.Option(min=1, help="Of word vectors, so many words, the most frequent (300000).")
]
_OwnCase = Annotated[
    bool, typer.Option("--own-case", help="Word vectors answer in their own case; otherwise it does not count.")
]
_AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


def command(
    model: _Model,
    split: _Split = None,
    source: _Source = None,
    reference: _Reference = None,
    data: _Data = None,
    columns: options.Columns = None,
    header: options.Header = None,
    metric: _Metric = None,
    test_set: _TestSet = None,
    tokenise: _Tokenise = None,
    alignments: _Alignments = None,
    beam: _Beam = None,
    length_penalty: _LengthPenalty = None,
    fuse: options.Fuse = None,
    fuse_weight: options.FuseWeight = None,
    channel: options.Channel = None,
    channel_weight: options.ChannelWeight = None,
    prior: options.Prior = None,
    prior_weight: options.PriorWeight = None,
    sentences: _Sentences = False,
    analogies: _Analogies = None,
    similarities: _Similarities = None,
    side: word_options.Side = None,
    vocabulary: _Vocabulary = None,
    own_case: _OwnCase = False,
    as_json: _AsJson = False,
) -> None:
    """Score a model; the scores of a split are kept in the model folder with their signatures."""
    from regard.runs.word_scores import WordQuestions

    files = _check_data(split, source, test_set, data or [], columns, header)
    asked = WordQuestions(tuple(analogies or ()), tuple(similarities or ()), side, vocabulary, own_case)
    if model.is_file() and not is_mapped(model):
        of_folders = {"--split": split, "--source": source, "--metric": metric, "--test-set": test_set, "--data": data}
        _refuse_for_file(model, of_folders | {"--alignments": alignments})
        _evaluate_vectors(model, asked, as_json)
        return
    from regard.families.abilities import needs
    from regard.model import load
    from regard.runs.evaluate_model import EvaluationRequest
    from regard.verbs.translate.request import helpers_of

    helpers = helpers_of(fuse, fuse_weight, channel, channel_weight, prior, prior_weight)
    scored_by = reference or [], metric or [], beam, length_penalty, helpers, test_set, tokenise, asked
    request = EvaluationRequest(split or "test", source, *scored_by, files=files, alignments=alignments, parts=True)
    loaded = load(model)
    asked.check(loaded.recipe)
    needs(loaded.recipe, "evaluate")
    if sentences:
        _score_sentences(loaded, request, as_json)
    else:
        _evaluate(loaded, model, request, as_json)


def _check_data(
    split: str | None,
    source: Path | None,
    test_set: str | None,
    data: Sequence[Path],
    columns: str | None,
    header: bool | None,
) -> "OwnFiles | None":
    """Refuse to score a model on two things at once; return the files that it is scored on, if some are given."""
    if source is not None and split is not None:
        raise Fault("Give --split, or the files of --source and --reference, not both.")
    if test_set is not None and (split or source):
        raise Fault("--test-set is what the model is scored on; omit --split, --source and --reference.")
    if data and (split or source or test_set):
        raise Fault("--data is what the model is scored on; omit --split, --source, --reference and --test-set.")
    if not data:
        if columns is not None or header is not None:
            raise Fault("--columns and --header go with --data.")
        return None
    from regard.runs.from_text.own_data import OwnFiles

    return OwnFiles.checked(data, test=data, valid=data, columns=columns, header=header)


def _evaluate(loaded: "Model", folder: Path, asked: "EvaluationRequest", as_json: bool) -> None:
    from regard.runs.evaluate_model import evaluate_model

    with console_progress() as progress:
        found = evaluate_model(loaded, folder, asked, progress, remark)
    if as_json:
        print_json(found.as_dict())
    elif found.words is not None:
        _say_word_scores(found.words.found, as_json, found.words.losses)
    else:
        _say_scores(found.scores, found.counted)
        _say_parts(found.parts)


def _score_sentences(loaded: "Model", asked: "EvaluationRequest", as_json: bool) -> None:
    """Say how probable each line of a text is."""
    from regard.runs.evaluate_model import way_to_score
    from regard.verbs.generate.evaluation import score_file
    from regard.verbs.generate.model import LanguageModel

    if asked.source is None or not isinstance(loaded, LanguageModel):
        raise Fault("--sentences is for a language model and the text of a --source.")
    way_to_score(loaded, asked)  # which refuses what is asked of other models
    if asked.metrics:
        raise Fault("--sentences says how probable each line is, and knows no other --metric.")
    for each in score_file(loaded, asked.source):
        line = f"{each.score:.4f}\t{in_figures(each.perplexity, 2)}\t{each.unknown}\t{each.text}"
        print(json.dumps(each.as_dict(), ensure_ascii=False) if as_json else line)


def _say_scores(scores: "Sequence[Score]", items: str) -> None:
    rows = [[score.metric, score.shown, str(score.n), score.signature] for score in scores]
    say_table(["metric", "value", items, "signature"], rows)


def _say_parts(parts: "Mapping[str, Sequence[Score]]") -> None:
    """The scores of parts of the data, such as kinds of questions or of spans, a line for each."""
    names = list(dict.fromkeys(score.metric for scores in parts.values() for score in scores))
    if len(parts) < 2:
        return
    rows = []
    for part, scores in parts.items():
        shown = {score.metric: score.shown for score in scores}
        rows.append([part, *(shown.get(name, "") for name in names)])
    print()
    say_table(["part", *names], rows)


def _refuse_for_file(file: Path, options: dict[str, object]) -> None:
    """Refuse what is asked of models, where only vectors in a file are scored."""
    if given := [name for name, value in options.items() if value is not None]:
        raise Fault(f"{given[0]} is for model folders; {file} is a file of word vectors, scored by --analogies.")


def _evaluate_vectors(place: Path, asked: "WordQuestions", as_json: bool) -> None:
    """Score the vectors of a file on files of questions."""
    from regard.runs.word_scores import EXAMPLE
    from regard.verbs.words.evaluation import evaluate_words, read_questions
    from regard.verbs.words.opening import open_lexicon

    if not asked.analogies and not asked.similarities:
        raise Fault(f"Say what the vectors of {place} are scored on: --analogies or --similarities, as {EXAMPLE}.")
    questions = read_questions(asked.analogies, asked.similarities)
    with console_progress() as progress:
        lexicon = open_lexicon(place, asked.side, None, progress, remark)
        found = evaluate_words(lexicon, questions, asked.manner(), progress)
    _say_word_scores(found, as_json)


def _say_word_scores(found: "Sequence[WordScore]", as_json: bool, losses: "Sequence[Score]" = ()) -> None:
    """Print losses on text, and scores on questions about words with how many of them could be asked."""
    if as_json:
        print_json({"scores": [*(each.as_dict() for each in losses), *(each.as_dict() for each in found)]})
        return
    rows = [["own text", each.split or "", each.metric, each.shown, f"{each.n:,}", ""] for each in losses]
    rows += [
        [
            re.split("[:/]", each.file)[-1],
            each.section,
            each.score.metric,
            "-" if math.isnan(each.score.value) else each.score.shown,
            f"{each.score.n:,} of {each.asked:,}",
            f"{each.coverage:.1%}",
        ]
        for each in found
    ]
    say_table(["file", "section", "metric", "value", "asked", "coverage"], rows)
