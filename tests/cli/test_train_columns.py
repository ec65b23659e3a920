"""Training from users' files on the command line alone: columns, several files, and refusals."""

import json
from pathlib import Path

import pytest
from small import SETTINGS

from regard.cli import main
from regard.training.checkpoint import WEIGHTS, read_recipe

pytestmark = pytest.mark.usefixtures("no_curves")
SMALL = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
BRIEFLY = ["--set", "training.steps=2", "--set", "training.validate_every=2", "--set", "training.save_every=2"]
LEMMAS = ["walk", "talk", "jump", "play", "call", "open", "look", "turn", "help", "start"]
FORMS = [(lemma, tag, lemma + end) for lemma in LEMMAS for tag, end in (("V;PST", "ed"), ("V;PRS", "s"))]
REVIEWS = [("good, really", "yes"), ("so bad", "no"), ("fine film", "yes"), ("dull film", "no")] * 5
CONLLU = "# text = él va\n1\tél\tél\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tva\tir\tVERB\t_\t_\t0\troot\t_\t_\n\n" * 12
BAG = 'family = "bag"\n[data]\ntrain = "nowhere.txt"\nnames = { a = "b" }\n[training]\nsteps = 4\n'
TAGGER = """\
family = "rnn"
task = "tagging"
[data]
train = "nowhere.txt"
columns = ["word", "pos", "tag"]
scheme = "iob2"
[model]
inputs = { width = 8 }
width = 8
[training]
steps = 2
validate_every = 2
save_every = 2
best_by = "f1"
"""
NGRAM = 'family = "ngram"\n[data]\ntrain = "nowhere.txt"\n[model]\norder = 2\nsmoothing = "add-k"\n'


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write files of every kind, and recipes whose own data does not exist."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "forms.tsv": "".join("\t".join(row) + "\n" for row in FORMS),
        "more.csv": "lemma,features,form\n" + "".join(f"{one},{two},{three}\n" for one, two, three in FORMS),
        "reviews.csv": "id,review,stars\n"
        + "".join(f'{n},"{text}",{label}\n' for n, (text, label) in enumerate(REVIEWS)),
        "reviews.jsonl": "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in REVIEWS),
        "es.conllu": CONLLU,
        "names.iob": "# id 1 domain=x\nAda NNP B-PER\nsings VBZ O\n\n" * 12,
        "bag.toml": BAG,
        "tagger.toml": TAGGER,
        "ngram.toml": NGRAM,
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")


def said_by(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(list(arguments)) == status
    return capsys.readouterr().err


def test_three_columns_are_learnt_as_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    message = said_by(capsys, "train", "--pairs", "forms.tsv", "--columns", "1+2:3", "--out", "run", *SMALL)
    assert " V;PRS" in message.partition("source     ")[2].partition("\n")[0]
    corpus = read_recipe(Path("run"))["data"]["train"][0]
    assert (corpus["pairs"], corpus["columns"]) == (str(Path("forms.tsv").resolve()), "1+2:3")
    assert "nothing to resume" in said_by(
        capsys, "train", "--pairs", "forms.tsv", "--columns", "1+2:3", "--out", "run", "--resume"
    )
    message = said_by(capsys, "train", "--pairs", "forms.tsv", "--out", "run", "--resume", status=2)
    assert "cannot be resumed with other data" in message


def test_further_columns_are_told_before_anything_is_learnt(capsys: pytest.CaptureFixture[str]) -> None:
    message = said_by(
        capsys, "train", "--pairs", "forms.tsv", "--out", "run", *SMALL, "--set", "data.cleaning.leakage=false"
    )
    position = message.index("has 3 columns; the first two are used as source and target, as in 'walk' → 'V;PST'")
    assert position < message.index("20 pairs of")


def test_pairs_of_several_files_are_learnt(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--pairs", "forms.tsv", "--pairs", "more.csv", "--columns", "1+2:3", "--out", "run", *SMALL]
    message = said_by(capsys, "train", *arguments)
    assert "40 pairs of" in message
    assert "more.csv: line 1 names the columns (lemma, features, form) and is skipped" in message
    train = read_recipe(Path("run"))["data"]["train"]
    assert [Path(corpus["pairs"]).name for corpus in train] == ["forms.tsv", "more.csv"]
    assert "nothing to resume" in said_by(capsys, "train", *arguments[:6], "--out", "run", "--resume")


@pytest.mark.parametrize(
    ("file", "columns"), [("reviews.csv", "review:stars"), ("reviews.csv", "2:3"), ("reviews.jsonl", None)]
)
def test_a_classifier_learns_from_a_table(capsys: pytest.CaptureFixture[str], file: str, columns: str | None) -> None:
    chosen = ["--columns", columns] if columns else []
    message = said_by(
        capsys, "train", "bag.toml", "--data", file, "--test-data", file, *chosen, "--out", "run", *BRIEFLY
    )
    assert "2 classes: no, yes" in message
    assert said_by(capsys, "evaluate", "run", "--json") == ""
    assert said_by(capsys, "evaluate", "run", "--data", file, "--json").count("damaged") == 0


def test_a_model_is_scored_on_a_file_as_on_its_split(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--data", "reviews.csv", "--test-data", "reviews.csv", "--columns", "review:stars"]
    assert main(["train", "bag.toml", *files, "--out", "run", *BRIEFLY]) == 0
    all_scores = []
    for on in ([], ["--data", "reviews.csv"], ["--data", "reviews.jsonl", "--columns", "text:label"]):
        capsys.readouterr()
        assert main(["evaluate", "run", *on, "--json"]) == 0
        all_scores.append(
            [(score["metric"], score["value"]) for score in json.loads(capsys.readouterr().out)["scores"]]
        )
    assert all_scores[0] == all_scores[1] == all_scores[2]


@pytest.mark.parametrize(
    ("file", "columns", "scheme", "best_by"),
    [
        ("es.conllu", None, "tags", "accuracy"),
        ("es.conllu", "form+lemma:upos", "tags", "accuracy"),
        ("names.iob", None, "iob2", "f1"),
        ("names.iob", "1:3", "iob2", "f1"),
    ],
)
def test_a_tagger_learns_from_a_file_of_words(
    capsys: pytest.CaptureFixture[str], file: str, columns: str | None, scheme: str, best_by: str
) -> None:
    chosen = ["--columns", columns] if columns else []
    message = said_by(capsys, "train", "tagger.toml", "--data", file, *chosen, "--out", "run")
    assert "skipped: 12 comments" in message
    recipe = read_recipe(Path("run"))
    assert (recipe["data"]["scheme"], recipe["training"]["best_by"]) == (scheme, best_by)
    assert main(["evaluate", "run", "--data", file, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert {score["metric"]: score["n"] for score in scores}["accuracy"] == 24


def test_a_tagger_is_not_scored_on_another_column(capsys: pytest.CaptureFixture[str]) -> None:
    said_by(capsys, "train", "tagger.toml", "--data", "names.iob", "--columns", "1:3", "--out", "run")
    message = said_by(capsys, "evaluate", "run", "--data", "names.iob", "--columns", "1:2", status=2)
    assert "The model has none of the tags of these sentences, such as '" in message


def test_a_language_model_learns_from_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    message = said_by(capsys, "train", "ngram.toml", "--data", "reviews.jsonl", "--columns", "text", "--out", "run")
    assert "train: 18 lines" in message
    assert (Path("run") / WEIGHTS).is_file()
    assert main(["evaluate", "run", "--data", "reviews.csv", "--columns", "review", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert {score["metric"]: score["n"] for score in scores}["perplexity"] == 60


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reviews.csv"], "reviews.csv is a CSV file, not a recipe; give it as data: `regard train --pairs rev"),
        (["reviews.jsonl"], "`regard train RECIPE --data reviews.jsonl --columns TEXT:LABEL` for classes"),
        (["es.conllu"], "`regard train RECIPE --data es.conllu --columns WORD:TAG` for tags"),
        (["notes"], "If notes is data, not a recipe, write `regard train --pairs notes"),
        (["--data", "reviews.csv"], "--data needs a recipe, as in `regard train trec --data FILE"),
        (["forms.tsv", "--data", "reviews.csv"], "forms.tsv is a file of data, not a recipe; --data goes with"),
        (["--pairs", "forms.tsv", "--data", "reviews.csv"], "Give --data with a recipe, or text files, not both."),
        (["bag.toml", "--valid-data", "reviews.csv"], "--valid-data and --test-data need --data."),
        (["bag.toml", "--columns", "1:2"], "--columns and --header are for files with columns"),
        (["bag.toml", "--data", "none.csv"], "There is no file none.csv."),
        (["bag.toml", "--data", "reviews.csv", "--columns", "1:"], "--columns: columns are '1:', expected numbers or"),
        (["bag.toml", "--data", "reviews.csv", "--columns", "nope:stars"], "has no column 'nope'; it has id, review"),
        (["bag.toml", "--data", "reviews.csv", "--languages", "en-pt"], "--languages is for translators."),
        (["ngram.toml", "--data", "reviews.csv", "--columns", "a:b"], "a language model reads one column"),
        (["ngram.toml", "--data", "reviews.jsonl"], "reviews.jsonl is JSON lines, which is not plain text"),
        (["tagger.toml", "--data", "es.conllu", "--header"], "--header is for tables"),
        (["ram-mnist", "--data", "reviews.csv"], "text to continue, and a ram learns from none of these"),
        (["--pairs", "forms.tsv", "--columns", "1:2:3"], "expected source and target columns, as in 1+3:2"),
        (["--pairs", "forms.tsv", "--columns", "1+4:2"], "forms.tsv has 3 columns; there is no column 4."),
        (["--pairs", "forms.tsv", "--pairs", "forms.tsv"], "--pairs names the same file twice."),
        (["--pairs", "reviews.csv"], "choose source and target with --columns, as in --columns id:review."),
        (["--pairs", "empty.csv", "--columns", "1:2"], "empty.csv is empty; there is nothing to learn from."),
    ],
)  # fmt: skip
def test_what_is_refused_says_what_to_do(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    Path("notes").write_text("what people wrote\n")
    Path("empty.csv").write_text("")
    message = said_by(capsys, "train", *arguments, "--out", "run", status=2)
    assert words in message
    assert "Traceback" not in message
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--columns", "1:2"], "--columns and --header go with --data."),
        (["--data", "a.tsv", "--split", "valid"], "--data names the data to score on; omit --split"),
        (["--data", "none.tsv"], "There is no file none.tsv."),
    ],
)
def test_evaluation_refuses_what_goes_with_nothing(
    trained: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert words in said_by(capsys, "evaluate", str(trained), *arguments, status=2)


def test_a_translator_is_scored_on_pairs(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [("I love books .", "Eu amo livros ."), ("he reads", "ele lê")]
    Path("a.csv").write_text("English,Portuguese\n" + "".join(f"{one},{two}\n" for one, two in pairs))
    for side, name in enumerate(("a.en", "a.pt")):
        Path(name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
    results = []
    for on in (["--data", "a.csv"], ["--source", "a.en", "--reference", "a.pt"]):
        capsys.readouterr()
        assert main(["evaluate", str(trained), *on, "--json"]) == 0
        results.append(json.loads(capsys.readouterr().out))
    assert results[0] == results[1]
