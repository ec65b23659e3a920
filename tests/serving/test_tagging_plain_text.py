"""A tagger that reads parts of speech takes plain text with the help of another tagger, by every door."""

import shutil
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback
from small import undrawn
from tagged_files import write_tagged

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.families import check_recipe
from regard.runs.open import open_run
from regard.runs.train import train
from regard.serving.app import make_app

SENTENCE = "the bedo, the bedona."


def trained(place: Path, name: str, columns: list[str], **data: Any) -> Path:
    if not (place / "train.txt").exists():
        write_tagged(place / "train.txt", 40)
    table = {
        "family": "rnn",
        "task": "tagging",
        "data": {"train": str(place / "train.txt"), "columns": columns, **data},
        "model": {"inputs": {"width": 6}, "width": 8, "letters": {"embedding": 4, "width": 6}},
        "training": {"steps": 30, "validate_every": 30, "save_every": 30, "batch_tokens": 60, "device": "cpu"},
    }
    with undrawn():
        train(open_run(check_recipe(table), place / name, False, lambda *done: None, lambda text: None), [])
    return place / name


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a chunker that reads lengths next to words, and the tagger that finds these lengths."""
    place = tmp_path_factory.mktemp("taggers")
    trained(place, "lengths", ["word", "tag", "-"])
    trained(place, "plain", ["word", "-", "tag"], scheme="iob2")
    trained(place, "chunks", ["word", "length", "tag"], scheme="iob2")
    return place


def expected(place: Path) -> Any:
    (lengths,) = regard.load(place / "lengths").answer([SENTENCE], raw=True)
    joined = " ".join(f"{word}_{tag}" for word, tag in zip(lengths.words, lengths.answers, strict=True))
    return regard.load(place / "chunks").answer([joined])[0]


def test_plain_text_is_as_text_with_the_tags_of_the_tagger(place: Path) -> None:
    chunks, lengths = regard.load(place / "chunks"), regard.load(place / "lengths")
    for taggers in (lengths, [lengths]):
        assert chunks.answer([SENTENCE], raw=True, tagger=taggers) == [expected(place)]
    spaced = "the bedo , the bedona ."
    assert chunks.answer([spaced, spaced.split()], tagger=lengths) == [expected(place)] * 2
    assert chunks.answer([""], raw=True, tagger=lengths)[0].words == []


def test_the_command_takes_a_tagger(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["answer", str(place / "chunks"), SENTENCE, "--raw", "--tagger", str(place / "lengths")]
    assert main(command) == 0
    assert capsys.readouterr().out.strip() == expected(place).answer


def test_a_tagger_in_the_folder_is_taken(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "chunks", tmp_path / "chunks")
    shutil.copytree(place / "lengths", tmp_path / "chunks" / "taggers" / "length")
    assert regard.load(tmp_path / "chunks").answer([SENTENCE], raw=True) == [expected(place)]


def test_the_server_takes_a_tagger_by_name_or_finds_one(place: Path) -> None:
    folders = [place / name for name in ("chunks", "plain", "lengths")]
    answers = []
    with on_loopback(make_app(folders)) as address, httpx.Client(base_url=address, timeout=60) as client:
        for more in ({"tagger": "lengths"}, {"tagger": ["lengths"]}, {}):
            body = {"model": "chunks", "inputs": [SENTENCE], "raw": True, **more}
            answers.append(client.post("/v1/answer", json=body).json()["answers"][0]["answers"])
        wrong = client.post("/v1/answer", json={"model": "chunks", "inputs": ["a"], "raw": True, "tagger": "none"})
        foreign = client.post("/v1/answer", json={"model": "chunks", "inputs": ["a"], "raw": True, "tagger": "plain"})
    assert answers == [expected(place).answers] * 3
    assert wrong.json()["error"].startswith("There is no tagger 'none' here; there are chunks, plain, lengths.")
    assert "This model reads length such as" in foreign.json()["error"]


def test_what_cannot_help_is_refused(place: Path) -> None:
    chunks, plain, lengths = (regard.load(place / name) for name in ("chunks", "plain", "lengths"))
    with pytest.raises(Fault, match="also reads the length of each word, which raw text lacks; give a tagger"):
        chunks.answer([SENTENCE], raw=True)
    with pytest.raises(Fault, match="reads only words, but 1 taggers are given"):
        plain.answer([SENTENCE], raw=True, tagger=lengths)
    with pytest.raises(Fault, match="must be one that reads only words"):
        chunks.answer([SENTENCE], raw=True, tagger=chunks)
    with pytest.raises(Fault, match=r"such as .*short.*, but the tagger gives"):
        chunks.answer([SENTENCE], raw=True, tagger=plain)


def test_examples_carry_what_the_model_reads(place: Path) -> None:
    chunks = regard.load(place / "chunks")
    with on_loopback(make_app([place / "chunks"])) as address, httpx.Client(base_url=address, timeout=60) as client:
        (model,) = client.get("/v1/models").json()["models"]
    assert model["examples"]
    for example in model["examples"]:
        (tags,) = chunks.answer([example])
        assert tags.words == [word.removesuffix("_short").removesuffix("_long") for word in example.split()]
        assert all(word.endswith(("_short", "_long")) for word in example.split())
