"""Evaluating a model that turns words into sounds: sides tokenised differently, and several right answers."""

import json
import shutil
from pathlib import Path

import pytest
from sacrebleu.dataset import DATASETS
from small import undrawn

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.decoding.options import DecodingOptions
from regard.metrics import score
from regard.protocols import Measure
from regard.tasks.translation.batches import PairBatch
from regard.verbs.translate import evaluation
from regard.verbs.translate.evaluation import from_pairs, score_outputs
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import Plan

TRAIN = "BAD  B AE D\nDAB  D AE B\nADD  AE D\nBE  B IY\nBEAD  B IY D\nREAD  R EH D\nREAD  R IY D\nDEED  D IY D\n"
TEST = "LEAD  L IY D\nDEAD  D EH D\nLEAD  L EH D\nBEE  B IY\nLEAD  L IY D\n"
RECIPE = """
[data]
source_language = "en"
target_language = "arpabet"
train = {{ pairs = "{folder}/train.txt", separator = "  " }}
valid = {{ pairs = "{folder}/train.txt", separator = "  " }}
test = {{ pairs = "{folder}/test.txt", separator = "  " }}
merge_references = true
cleaning = {{ leakage = false }}
tokeniser = {{ kind = "characters", target_kind = "words", shared = false, ignore_case = true }}

[model]
preset = "tiny"
encoder_layers = 1
decoder_layers = 1
width = 16
feed_forward = 32
heads = 2
norm = "before"
dropout = 0.0

[training]
steps = 100
batch_tokens = 256
validate_every = 100
save_every = 100
label_smoothing = 0.0
optimizer = {{ learning_rate = 0.02, warmup = 10 }}
"""


@pytest.fixture(scope="module")
def speller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small spelling-to-sound model whose test set has several answers for a word."""
    folder = tmp_path_factory.mktemp("speller")
    (folder / "train.txt").write_text(TRAIN)
    (folder / "test.txt").write_text(TEST)
    (folder / "recipe.toml").write_text(RECIPE.format(folder=folder))
    with undrawn():
        assert main(["train", str(folder / "recipe.toml"), "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def model(speller: Path) -> TranslationModel:
    return regard.load(speller)


# Several references


def test_pairs_are_sentences_with_one_reference_each() -> None:
    data = from_pairs([("a", "x"), ("b", "y"), ("a", "z")], "test", merge=False)
    assert data == evaluation.TestData(["a", "b", "a"], [["x", "y", "z"]], "test")


def test_merged_pairs_are_sentences_with_all_their_different_references() -> None:
    data = from_pairs([("a", "x"), ("b", "y"), ("a", "z"), ("a", "x"), ("A", "x")], "valid", merge=True)
    assert data == evaluation.TestData(["a", "b", "A"], [["x", "y", "x"], ["z", None, None]], "valid")


def test_a_split_is_read_as_the_recipe_says(speller: Path, model: TranslationModel) -> None:
    data = evaluation.from_split(model, speller, "test")
    assert data.sources == ["LEAD", "DEAD", "BEE"]
    assert data.references == [["L IY D", "D EH D", "B IY"], ["L EH D", None, None]]
    unmerged = model.recipe.data.model_copy(update={"merge_references": False})
    data = evaluation.from_split(
        TranslationModel(model.task, model.recipe.model_copy(update={"data": unmerged})), speller, "test"
    )
    assert data.sources == ["LEAD", "DEAD", "LEAD", "BEE", "LEAD"]
    assert len(data.references) == 1


def test_any_answer_is_right_and_counts_once(
    speller: Path, model: TranslationModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three words: one right by its second answer, one with an edit in three, one with one in two."""
    answers = {"LEAD": "L EH D", "DEAD": "D IY D", "BEE": "B"}
    data = evaluation.from_split(model, speller, "test")
    monkeypatch.setattr(evaluation, "score", lambda _, *rest: score([answers[word] for word in data.sources], *rest))
    errors, exact = evaluation.evaluate(model, data, ["wer", "exact"]).scores
    assert errors.value == pytest.approx(100 * 2 / (3 + 3 + 2))
    assert exact.value == pytest.approx(100 / 3)
    assert (errors.n, errors.split) == (3, "test")
    assert errors.signature == "nrefs:var|case:mixed|norm:NFC|ref:nearest|unit:word|beam:4|lp:0.6"


def test_perplexity_is_of_the_first_references(speller: Path, model: TranslationModel) -> None:
    merged = evaluation.from_split(model, speller, "test")
    first = from_pairs([("LEAD", "L IY D"), ("DEAD", "D EH D"), ("BEE", "B IY")], "test", merge=False)
    of_merged, of_first = evaluation.perplexity(model, merged), evaluation.perplexity(model, first)
    assert (of_merged.value, of_merged.n) == (of_first.value, of_first.n)
    assert of_merged.signature == "per token, end counted, of the first of 2 references"
    assert of_first.signature == "per token, end counted"


def test_perplexity_is_measured_in_pieces_where_the_memory_is_short(
    speller: Path, model: TranslationModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, measure, tried = evaluation.from_split(model, speller, "test"), model.task.measure, []
    expected = evaluation.perplexity(model, data)

    def with_room_for_one(batch: PairBatch) -> dict[str, Measure]:
        tried.append(batch.rows)
        if batch.rows > 1:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return measure(batch)

    monkeypatch.setattr(model.task, "measure", with_room_for_one)
    assert evaluation.perplexity(model, data).value == pytest.approx(expected.value)
    assert tried == [3, 2, 1, 1, 1]


def test_all_metrics_are_printed_and_kept(speller: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["wer", "cer", "exact", "bleu", "chrf", "ter", "perplexity"]
    metrics = [word for name in names for word in ("--metric", name)]
    assert main(["evaluate", str(speller), *metrics, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["scores"]
    assert [score["metric"] for score in printed] == names
    assert all(score["signature"].startswith("nrefs:var|") for score in printed[:-1])
    assert {score["n"] for score in printed} == {3}
    scores = json.loads((speller / "scores.json").read_text(encoding="utf-8"))["scores"]
    assert all(score in scores for score in printed)


def test_an_unknown_metric_is_refused_before_anything_is_read() -> None:
    with pytest.raises(
        Fault, match=r"There is no metric 'pear'; there are bleu, .*exact, brackets, well-formed, hppr, perplexity"
    ):
        evaluation.check_metrics(["wer", "pear"])


# sacreBLEU's tokenisers and test sets


def between(model: TranslationModel, source: str, target: str) -> TranslationModel:
    """Return the model as if its languages were these."""
    data = model.recipe.data.model_copy(update={"source_language": source, "target_language": target})
    return TranslationModel(model.task, model.recipe.model_copy(update={"data": data}))


def test_the_tokeniser_is_bleus_and_the_usual_one_is_remarked_on(speller: Path, model: TranslationModel) -> None:
    data, remarks = evaluation.from_split(model, speller, "test"), list[str]()
    chinese = between(model, "en", "zh")
    usual, chrf = evaluation.evaluate(chinese, data, ["bleu", "chrf"], notice=remarks.append).scores
    assert len(remarks) == 1
    assert remarks[0].endswith("for zh, results are usually reported with --tokenise zh.")
    chosen, same = evaluation.evaluate(chinese, data, ["bleu", "chrf"], notice=remarks.append, tokenise="char").scores
    assert chosen.signature == usual.signature.replace("tok:13a", "tok:char")
    assert chosen.value != usual.value
    assert same == chrf
    assert len(remarks) == 1
    evaluation.evaluate(between(model, "en", "pt"), data, ["meteor"], notice=remarks.append)
    assert remarks[1:] == ["METEOR stems words as in English here; for pt give --metric meteor-pt."]


def test_a_tokeniser_that_no_metric_uses_is_refused(speller: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(speller), "--metric", "wer", "--tokenise", "zh"]) == 2
    assert "A tokeniser can only be chosen for bleu, not for wer; omit it." in capsys.readouterr().err


def test_a_named_set_is_that_of_the_models_languages(
    model: TranslationModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DATASETS["wmt20"], "_outdir", str(tmp_path))
    (tmp_path / "wmt20.en-de.src").write_text("LEAD\nBEE\n")
    (tmp_path / "wmt20.en-de.ref").write_text("L IY D\nB IY\n")
    german = between(model, "en", "de")
    data = evaluation.from_named_set(german, "wmt20")
    assert (data.sources, data.references, data.split) == (["LEAD", "BEE"], [["L IY D", "B IY"]], None)
    for result in evaluation.evaluate(german, data, ["wer", "perplexity"]).scores:
        assert result.signature.endswith("|test:wmt20|lang:en-de")


def test_a_named_set_without_the_models_languages_is_refused(speller: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(speller), "--test-set", "wmt20"]) == 2
    assert "The test set wmt20 has no 'en-arpabet'; it has " in capsys.readouterr().err
    assert main(["evaluate", str(speller), "--test-set", "wmt20", "--split", "test"]) == 2
    assert "omit --split, --source and --reference" in " ".join(capsys.readouterr().err.split())


# Sentences that the model was trained on


def evaluated(run: Path, folder: Path, pairs: dict[str, str], *options: str) -> int:
    (folder / "source").write_text("".join(f"{source}\n" for source in pairs))
    (folder / "reference").write_text("".join(f"{target}\n" for target in pairs.values()))
    return main(
        ["evaluate", str(run), "--source", str(folder / "source"), "--reference", str(folder / "reference"), *options]
    )


def test_sentences_of_the_training_text_are_told_and_the_others_scored(
    speller: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = {"bad ": "B AE D", "LEAD": "X", "Dab": "D AE B", "LED": "X"}
    assert evaluated(speller, tmp_path, pairs, "--metric", "exact", "--metric", "perplexity", "--json") == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report["learnt"]["n"] == 2
    assert [(score["metric"], score["n"]) for score in report["learnt"]["scores_of_others"]] == [
        ("exact", 2),
        ("perplexity", 2),
    ]
    assert report["scores"][0]["value"] == 50
    assert report["learnt"]["scores_of_others"][0]["value"] == 0
    assert report["learnt"]["scores_of_others"][1]["value"] > report["scores"][1]["value"]
    assert "trained on 2 of these 4 sentences" in printed.err
    assert "On the 2 new ones: exact 0.00, perplexity " in " ".join(printed.err.split())


def test_of_new_sentences_nothing_is_told(speller: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluated(speller, tmp_path, {"LEAD": "L IY D"}, "--json") == 0
    printed = capsys.readouterr()
    assert "learnt" not in json.loads(printed.out)
    assert "trained on" not in printed.err


def test_scores_of_little_but_the_training_text_are_called_so(
    speller: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(speller), "--split", "valid", "--metric", "exact"]) == 0
    assert "trained on all of these sentences" in " ".join(capsys.readouterr().err.split())
    assert evaluated(speller, tmp_path, {"BAD": "B AE D", "LEAD": "L IY D"}, "--metric", "cider") == 0
    assert "trained on all but one of these sentences" in " ".join(capsys.readouterr().err.split())


def test_without_the_prepared_corpus_nobody_knows(
    speller: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(speller, tmp_path / "copy", ignore=shutil.ignore_patterns("training"))
    assert evaluated(tmp_path / "copy", tmp_path, {"BAD": "B AE D"}) == 0
    assert "trained on" not in capsys.readouterr().err


def test_a_damaged_list_of_the_training_text_is_refused(
    speller: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(speller, tmp_path / "copy")
    (tmp_path / "copy" / "training" / "corpus" / "sources.npy").write_bytes(b"\x93NUMPY")
    assert evaluated(tmp_path / "copy", tmp_path, {"BAD": "B AE D"}) == 2
    assert "sources.npy is missing, damaged or of another version" in " ".join(capsys.readouterr().err.split())


# Letters in, sounds out


def test_what_was_learnt_is_written_in_sounds_whatever_the_case(model: TranslationModel) -> None:
    upper, lower = model.translate(["BAD", "bad"])
    assert upper.text == lower.text == "B AE D"
    assert upper.tokens == ["B", "AE", "D"]
    assert upper.alignment == [(0, 0), (0, 1), (0, 2)]  # three sounds of one word


def test_letters_and_lines_that_were_never_seen_give_an_answer(model: TranslationModel) -> None:
    answers = model.translate(["", "two words", "café", "👍"])
    assert answers[0].text == ""
    assert all(isinstance(answer.text, str) for answer in answers)


def test_letters_and_sounds_stand_on_the_axes(speller: Path, tmp_path: Path) -> None:
    out = tmp_path / "seen.json"
    assert main(["look", str(speller), "--text", "Bad", "--target", "B AE D", "--tokens", "-o", str(out)]) == 0
    (matrix,) = json.loads(out.read_text(encoding="utf-8"))["matrices"]
    assert matrix["columns"] == ["▁", "b", "a", "d", "</s>"]
    assert matrix["rows"] == ["B", "AE", "D", "</s>"]


def test_a_signature_names_what_is_unusual_in_a_search() -> None:
    usual = score_outputs(["a"], [["a"]], "exact", None, Plan(DecodingOptions()))
    assert usual.signature.endswith("|beam:4|lp:0.6")
    other = score_outputs(["a"], [["a"]], "exact", None, Plan(DecodingOptions(beam=6, groups=3, unrepeated=4)))
    assert other.signature.endswith("|beam:6|lp:0.6|groups:3|unrepeated:4")
