"""`regard evaluate`: score a model on a split of its data or on files, or word vectors on word questions."""

import json
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
_Split = Annotated[
    Literal["test", "valid"] | None, typer.Option(help="A split of the model's own data; test by default.")
]
_Source = Annotated[
    Path | None, typer.Option(help="Source sentences to translate instead, or a text for a language model.")
]
_Reference = Annotated[list[Path] | None, typer.Option(help="A file of references; repeat for several references.")]
_Data = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="A file in the format of the training data: TSV, CSV, JSONL, CoNLL-U, …"),
]
_Metric = Annotated[
    list[str] | None,
    typer.Option(
        help="bleu, chrf, wer, perplexity, aer, … (`regard score --help` lists more); repeatable.",
        show_default="bleu and chrf",
    ),
]
_TestSet = Annotated[
    str | None, typer.Option(help="A sacreBLEU test set on this machine, such as wmt20, in the model's languages.")
]
_Tokenise = Annotated[
    str | None, typer.Option(help="sacreBLEU's tokeniser for bleu: zh, ja-mecab, …", show_default="13a")
]
_Alignments = Annotated[
    Path | None, typer.Option(help="Word links of each pair for --metric aer, such as 0-0 1-2 (3p4 or 3?4: possible).")
]
_Beam = Annotated[int | None, typer.Option(min=1, max=64, help="Beam size; 1 is greedy search.")]
_LengthPenalty = Annotated[float | None, typer.Option(min=0, help="Length penalty alpha; 0 is none.")]
_Sentences = Annotated[
    bool, typer.Option("--sentences", help="For a language model: the log-probability of each line of --source.")
]
_Analogies = Annotated[
    list[str] | None, typer.Option(metavar="FILE", help="For word vectors: analogies, by path or as SET:path.")
]
_Similarities = Annotated[
    list[str] | None, typer.Option(metavar="FILE", help="For word vectors: word pairs with similarity judgements.")
]
_Vocabulary = Annotated[
    int | None, typer.Option(min=1, help="For word vectors: use only the N most frequent words (300000).")
]
_OwnCase = Annotated[
    bool,
    typer.Option(
        "--own-case", help="For word vectors: distinguish upper and lower case, which are otherwise treated alike."
    ),
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
    """Score a model. Scores of a split are saved in the model folder with their signatures."""
    from regard.runs.word_scores import WordQuestions

    files = _check_data(split, source, test_set, data or [], columns, header)
    questions = WordQuestions(tuple(analogies or ()), tuple(similarities or ()), side, vocabulary, own_case)
    if model.is_file() and not is_mapped(model):
        folder_options = {
            "--split": split,
            "--source": source,
            "--metric": metric,
            "--test-set": test_set,
            "--data": data,
        }
        _refuse_for_file(model, folder_options | {"--alignments": alignments})
        _evaluate_vectors(model, questions, as_json)
        return
    from regard.families.abilities import needs
    from regard.model import load
    from regard.runs.evaluate_model import EvaluationRequest
    from regard.verbs.translate.request import helpers_of

    helpers = helpers_of(fuse, fuse_weight, channel, channel_weight, prior, prior_weight)
    scoring = reference or [], metric or [], beam, length_penalty, helpers, test_set, tokenise, questions
    request = EvaluationRequest(split or "test", source, *scoring, files=files, alignments=alignments, parts=True)
    loaded = load(model)
    questions.check(loaded.recipe)
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
    """Return the files to score on, if any are given; refuse to score on two things at once."""
    if source is not None and split is not None:
        raise Fault("Give either --split or --source and --reference, not both.")
    if test_set is not None and (split or source):
        raise Fault("--test-set names the data to score on; omit --split, --source and --reference.")
    if data and (split or source or test_set):
        raise Fault("--data names the data to score on; omit --split, --source, --reference and --test-set.")
    if not data:
        if columns is not None or header is not None:
            raise Fault("--columns and --header go with --data.")
        return None
    from regard.runs.from_text.own_data import OwnFiles

    return OwnFiles.checked(data, test=data, valid=data, columns=columns, header=header)


def _evaluate(loaded: "Model", folder: Path, request: "EvaluationRequest", as_json: bool) -> None:
    from regard.runs.evaluate_model import evaluate_model

    with console_progress() as progress:
        evaluation = evaluate_model(loaded, folder, request, progress, remark)
    if as_json:
        print_json(evaluation.as_dict())
    elif evaluation.words is not None:
        _say_word_scores(evaluation.words.found, as_json, evaluation.words.losses)
    else:
        _say_scores(evaluation.scores, evaluation.counted)
        _say_parts(evaluation.parts)


def _score_sentences(loaded: "Model", request: "EvaluationRequest", as_json: bool) -> None:
    """Print how probable each line of a text is."""
    from regard.runs.evaluate_model import way_to_score
    from regard.verbs.generate.evaluation import score_file
    from regard.verbs.generate.model import LanguageModel

    if request.source is None or not isinstance(loaded, LanguageModel):
        raise Fault("--sentences is for a language model and the text of a --source.")
    way_to_score(loaded, request)  # refuses options for other models
    if request.metrics:
        raise Fault("--sentences prints how probable each line is; omit --metric.")
    for sentence in score_file(loaded, request.source):
        line = f"{sentence.score:.4f}\t{in_figures(sentence.perplexity, 2)}\t{sentence.unknown}\t{sentence.text}"
        print(json.dumps(sentence.as_dict(), ensure_ascii=False) if as_json else line)


def _say_scores(scores: "Sequence[Score]", items: str) -> None:
    rows = [[score.metric, score.shown if score.n else "–", str(score.n), score.signature] for score in scores]
    say_table(["metric", "value", items, "signature"], rows)


def _say_parts(parts: "Mapping[str, Sequence[Score]]") -> None:
    """Print the scores of parts of the data, such as kinds of questions or spans, one line each."""
    names = list(dict.fromkeys(score.metric for scores in parts.values() for score in scores))
    if len(parts) < 2:
        return
    rows = []
    for part, scores in parts.items():
        values = {score.metric: score.shown for score in scores}
        rows.append([part, *(values.get(name, "") for name in names)])
    print()
    say_table(["part", *names], rows)


def _refuse_for_file(file: Path, options: Mapping[str, object]) -> None:
    """Refuse options for models when only a file of vectors is scored."""
    if names := [name for name, value in options.items() if value is not None]:
        raise Fault(f"{names[0]} is for model folders; {file} is a file of word vectors, scored by --analogies.")


def _evaluate_vectors(place: Path, request: "WordQuestions", as_json: bool) -> None:
    """Score a file of vectors on files of questions."""
    from regard.runs.word_scores import EXAMPLE
    from regard.verbs.words.evaluation import evaluate_words, read_questions
    from regard.verbs.words.opening import open_lexicon

    if not request.analogies and not request.similarities:
        raise Fault(
            f"The vectors in {place} need questions to be scored on; give --analogies or --similarities, as {EXAMPLE}."
        )
    questions = read_questions(request.analogies, request.similarities)
    with console_progress() as progress:
        lexicon = open_lexicon(place, request.side, None, progress, remark)
        scores = evaluate_words(lexicon, questions, request.manner(), progress)
    _say_word_scores(scores, as_json)


def _say_word_scores(word_scores: "Sequence[WordScore]", as_json: bool, losses: "Sequence[Score]" = ()) -> None:
    """Print losses on text, and scores on word questions with how many of them could be asked."""
    if as_json:
        print_json({"scores": [*(score.as_dict() for score in losses), *(score.as_dict() for score in word_scores)]})
        return
    rows = [["own text", score.split or "", score.metric, score.shown, f"{score.n:,}", ""] for score in losses]
    rows += [
        [
            re.split("[:/]", score.file)[-1],
            score.section,
            score.score.metric,
            score.score.shown,
            f"{score.score.n:,} of {score.asked:,}",
            f"{score.coverage:.1%}",
        ]
        for score in word_scores
    ]
    say_table(["file", "section", "metric", "value", "asked", "coverage"], rows)
