"""Word vectors as model folders: imported, asked, served, scored and exported again."""

import json
import sys
from pathlib import Path

import httpx2 as httpx
import numpy as np
import pytest
import tomli_w
from small import undrawn

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.data.vectors.files import read_vectors
from regard.serving.app import make_app

sys.path.insert(0, str(Path(__file__).parents[1] / "serving"))
from loopback import on_loopback

VECTORS = "6 2\nrei 1 0.1\nrainha 0.9 0.4\nhomem 0.5 -1\nmulher 0.4 -0.7\nmaçã -1 0\nr$ 0 -1 0.5\n"
QUESTIONS = ": família\nhomem rei mulher rainha\nhomem rei tia rainha\n"


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words")
    (folder / "pt.vec").write_text(VECTORS, encoding="utf-8")
    assert main(["import", "vectors", str(folder / "pt.vec"), "-o", str(folder / "model")]) == 0
    return folder / "model"


def test_a_model_of_words_lets_words_of_like_meaning_match(
    imported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "written").write_text("o rei fala muito bem\n", encoding="utf-8")
    (tmp_path / "wanted").write_text("o homem fala muito bem\n", encoding="utf-8")
    files = ["--hypothesis", str(tmp_path / "written"), "--reference", str(tmp_path / "wanted")]
    values = []
    for more in (["--metric", "ebleu", "--vectors", str(imported)], ["--metric", "bleu", "--smooth", "none"]):
        assert main(["score", *files, *more, "--json"]) == 0
        [score] = json.loads(capsys.readouterr().out)["scores"]
        values.append(score["value"])
    assert values[0] > values[1] == 0


def test_vectors_are_imported_and_asked(imported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["neighbours", str(imported), "Rei", "--json", "--count", "1"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    near = [["rainha", pytest.approx(0.9497, abs=1e-4)]]
    assert json.loads(line) == {"query": "Rei", "word": "rei", "neighbours": near}
    assert main(["analogy", str(imported), "homem", "rei", "mulher", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["word"] == "rainha"
    model = regard.load(imported)
    assert model.neighbours(["r$ 0"], count=1)[0].neighbours[0][0] == "maçã"
    assert model.analogy("homem", "rei", "mulher").word == "rainha"
    assert model.recipe.family == "word2vec"
    with pytest.raises(Fault, match="came from a file, which has vectors of centres only"):
        model.neighbours(["rei"], side="mean")


@pytest.mark.parametrize("name", ["word2vec", "glove", "fasttext"])
def test_the_formats_have_commands_by_their_names_and_words_can_be_fewer(tmp_path: Path, name: str) -> None:
    (tmp_path / "v").write_text("rei 1 0.1\nrainha 0.9 0.4\n")
    assert main(["import", name, str(tmp_path / "v"), "-o", str(tmp_path / "model"), "--vocabulary", "1"]) == 0
    assert regard.load(tmp_path / "model").lexicon().vectors.words == ["rei"]


def test_what_is_imported_can_be_exported(imported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(imported), "--to", "word2vec", "-o", str(tmp_path / "out.txt")]) == 2
    assert "Word 6, 'r$ 0', cannot be written: white space separates words" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    (tmp_path / "v").write_text("".join(line for line in VECTORS.splitlines(keepends=True)[1:-1]), encoding="utf-8")
    assert main(["import", "vectors", str(tmp_path / "v"), "-o", str(tmp_path / "model")]) == 0
    for name in ("word2vec", "word2vec-binary", "glove", "fasttext"):
        assert main(["export", str(tmp_path / "model"), "--to", name, "-o", str(tmp_path / f"{name}.gz")]) == 0
        again = read_vectors(tmp_path / f"{name}.gz")
        assert again.words == ["rei", "rainha", "homem", "mulher", "maçã"]
        np.testing.assert_array_equal(again["mulher"], np.array([0.4, -0.7], dtype=np.float32))


def test_a_server_has_doors_for_words(imported: Path, tmp_path: Path) -> None:
    with on_loopback(make_app([imported])) as address, httpx.Client(base_url=address, timeout=60) as client:
        answer = client.post("/v1/neighbours", json={"words": ["rei", "MULHER"], "count": 1}).json()
        assert [(row["query"], row["word"]) for row in answer["words"]] == [("rei", "rei"), ("MULHER", "mulher")]
        assert answer["words"][0]["neighbours"] == [["rainha", pytest.approx(0.9497, abs=1e-4)]]
        answer = client.post("/v1/analogy", json={"a": "homem", "b": "rei", "c": "mulher"}).json()
        assert (answer["words"], answer["word"]) == (["homem", "rei", "mulher"], "rainha")
        word_map = client.post("/v1/map", json={"count": 4}).json()["map"]
        assert [row["word"] for row in word_map["words"]] == ["rei", "rainha", "homem", "mulher"]
        assert word_map["title"] == "4 words of model"
        word_map = client.post("/v1/map", json={"words": ["MULHER"], "around": 2, "method": "t-sne"}).json()["map"]
        assert (word_map["centres"], len(word_map["words"])) == (["mulher"], 3)
        large = client.post("/v1/map", json={"words": ["rei"] * 100, "around": 10}).json()["error"]
        assert large == "These may be 1,100 words, but a map here has at most 1,000."
        wrong = client.post("/v1/neighbours", json={"words": "reinha"})
        assert wrong.status_code == 400
        assert wrong.json()["error"] == "The word 'reinha' is not among the 6 of the model; did you mean 'rainha'?"
        assert {"/v1/neighbours", "/v1/analogy"} <= client.get("/openapi.json").json()["paths"].keys()
        wrong = client.post("/v1/generate", json={"prompt": "a"}).json()["error"]
        assert "does not answer at /v1/generate: it gives a vector for each word; use /v1/neighbours." in wrong


def test_a_model_is_scored_on_the_questions_of_its_recipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("deixa o menino jogar\ndeixa o moleque jogar\n" * 5)
    words = ["menino", "jogar", "moleque", "deixa"]
    (tmp_path / "analogies.txt").write_text(f"{' '.join(words)}\na b c nowhere\n")
    (tmp_path / "pairs.tsv").write_text("".join(f"{word}\t{words[0]}\t{len(word)}\n" for word in words))
    (tmp_path / "unknown.tsv").write_text("bola\tpeteca\t3\n")
    table = {
        "family": "word2vec",
        "data": {
            "train": str(tmp_path / "text.txt"),
            "valid": str(tmp_path / "text.txt"),
            "analogies": str(tmp_path / "analogies.txt"),
            "similarities": [str(tmp_path / "pairs.tsv"), str(tmp_path / "unknown.tsv")],
        },
        "model": {"width": 6, "window": 2},
        "training": {"epochs": 1},
    }
    (tmp_path / "recipe.toml").write_text(tomli_w.dumps(table))
    folder = tmp_path / "run"
    with undrawn():
        assert main(["train", str(tmp_path / "recipe.toml"), "--out", str(folder)]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(folder), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert [(score["metric"], score["split"], score["n"], score["asked"]) for score in scores] == [
        ("accuracy", "test", 1, 2),
        ("accuracy", "test", 1, 2),
        ("spearman", "test", 4, 4),
        ("spearman", "test", 0, 1),
    ]
    assert scores[-1]["value"] is None
    assert "|side:centres|vocabulary:300000|case:any|" in scores[-1]["signature"]
    stored_scores = json.loads((folder / "scores.json").read_text())["scores"]
    assert [score["metric"] for score in stored_scores if score["split"] == "test"] == ["accuracy", "spearman"]
    assert main(["evaluate", str(folder), "--split", "valid", "--json"]) == 0
    assert [score["metric"] for score in json.loads(capsys.readouterr().out)["scores"]] == ["loss"]
    assert main(["evaluate", str(folder), "--metric", "spearman", "--side", "mean"]) == 0
    assert main(["evaluate", str(folder), "--metric", "bleu"]) == 2
    assert "Word vectors are measured by loss, accuracy, spearman, not by 'bleu'." in capsys.readouterr().err


def test_what_is_for_word_vectors_is_refused_elsewhere(
    imported: Path, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, sentence in (
        (["neighbours", str(trained), "a"], "gives a text for each text; use `regard embed`. It can train"),
        (
            ["evaluate", str(trained), "--analogies", "x.txt"],
            "Questions about words are for models of word vectors; a transformer gives",
        ),
        (
            ["export", str(trained), "--to", "glove", "-o", str(tmp_path / "x")],
            "Files of glove are for models of word vectors; a transformer gives a text for each text.",
        ),
        (["export", str(imported), "--to", "arpa", "-o", str(tmp_path / "x"), "--side", "mean"], "--side is for word"),
        (["export", str(imported), "--to", "glove"], "Name a file for the glove model with -o."),
        (["evaluate", str(imported)], "There is nothing to score"),
        (["import", "vectors", str(tmp_path / "no.vec"), "-o", str(tmp_path / "y")], "There is no file"),
    ):
        assert main(arguments) == 2
        assert sentence in capsys.readouterr().err
