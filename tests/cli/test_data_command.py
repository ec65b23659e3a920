"""`regard data`: the licence is shown, the files are found, and a fault is one sentence and status 2."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from regard.base.recipe import check
from regard.cli import main
from regard.data.catalogue.entries import read_entries
from regard.data.corpora.options import PairData
from regard.data.corpora.prepare import prepare

TEXT = b"Eu amo livros.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    return tmp_path


def test_the_list_names_every_set_with_its_licence_and_whether_it_is_here(folder, capsys):
    place = folder / "data/tiny-shakespeare/input.txt.gz"
    place.parent.mkdir(parents=True)
    place.write_bytes(gzip.compress(b"First Citizen:\n"))
    assert main(["data", "list"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["set"].split() == ["set", "here", "size", "licence", "what", "it", "is"]
    assert lines["tiny-shakespeare"].split()[1:6] == ["here", "1.1", "MB", "public", "domain"]
    assert lines["multi30k"].split()[1:5] == ["no", "8.4", "MB", "non-commercial"]


def test_the_list_as_json_holds_addresses_checksums_and_derivations(folder, capsys):
    assert main(["data", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["folder"] == str(folder / "data")
    sets = {entry["name"]: entry for entry in listed["sets"]}
    assert sets["multi30k"]["presence"] == "no"
    assert sets["multi30k"]["files"][0]["address"].startswith("https://")
    assert len(sets["babi"]["files"][0]["sha256"]) == 64
    assert sets["babi"]["files"][0]["derived"]


ABOUT = {"title": "Toy", "what": "a toy", "licence": "CC0", "terms": "Do.", "source": "https://toys.example"}


@pytest.fixture
def toy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a catalogue of one set whose only file is compressed in another folder."""
    file = {"path": "a.txt", "size": len(TEXT), "sha256": hashlib.sha256(TEXT).hexdigest(), "derived": "By hand."}
    catalogue = read_entries({"toy": {**ABOUT, "files": [file]}})
    monkeypatch.setattr("regard.data.catalogue.entries.entries", lambda: catalogue)
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/a.txt.gz").write_bytes(gzip.compress(TEXT))
    return folder


def test_get_shows_the_licence_first_and_then_where_the_files_are(toy, capsys):
    assert main(["data", "get", "toy", "--from", str(toy / "elsewhere")]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "toy: Toy",
        "  licence: CC0. Do.",
        "  source: https://toys.example",
        f"  now in {toy / 'data/toy'}",
    ]
    assert "toy: bytes of a.txt.gz" in captured.err
    assert gzip.decompress((toy / "data/toy/a.txt.gz").read_bytes()) == TEXT


def test_get_says_which_files_nobody_can_verify(toy, capsys, monkeypatch):
    entry = read_entries({"toy": {**ABOUT, "files": [{"path": "a.txt", "size": len(TEXT), "derived": "By hand."}]}})
    monkeypatch.setattr("regard.data.catalogue.entries.entries", lambda: entry)
    assert main(["data", "get", "toy", "--from", str(toy / "elsewhere")]) == 0
    assert capsys.readouterr().out.splitlines()[3] == (
        "  a.txt is not verified: the catalogue has no checksum for it; its sha256 is "
        + hashlib.sha256(TEXT).hexdigest()
    )


def test_get_says_that_a_set_is_complete(toy, capsys):
    main(["data", "get", "toy", "--from", str(toy / "elsewhere")])
    capsys.readouterr()
    assert main(["data", "get", "toy"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"  complete already in {toy / 'data/toy'}"


def test_get_as_json_is_json_alone(toy, capsys):
    assert main(["data", "get", "toy", "--from", str(toy / "elsewhere"), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["sets"]
    assert (entry["name"], entry["licence"], entry["folder"]) == ("toy", "CC0", str(toy / "data/toy"))
    assert entry["presence"] == "here"


def test_a_set_that_cannot_be_had_is_one_sentence_and_status_2(toy, capsys):
    assert main(["data", "get", "toy"]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("regard: a.txt of toy cannot be downloaded")
    assert "https://toys.example" in sentence
    assert "`regard data get toy --from DIR`" in sentence


def test_of_several_names_an_unknown_one_stops_before_anything_is_done(folder, capsys):
    assert main(["data", "get", "multi30k", "cmudcit"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "There is no data set 'cmudcit'; did you mean 'cmudict'?" in captured.err
    assert not (folder / "data").exists()


def test_check_reads_a_prepared_corpus_from_end_to_end(tmp_path, capsys):
    (tmp_path / "text.tsv").write_text("one two\tum dois\nthree\ttr\u00eas\n" * 2 + "four\tquatro\n", encoding="utf-8")
    options = {"train": str(tmp_path / "text.tsv"), "hold_out": 1, "tokeniser": {"kind": "words"}}
    prepare(check(PairData, options), tmp_path / "corpus")
    assert main(["data", "check", str(tmp_path / "corpus")]) == 0
    assert f"{tmp_path}/corpus is intact: 0.0 MB match their checksums." in capsys.readouterr().out
    shard = next((tmp_path / "corpus" / "shards").glob("*.bin"))
    shard.write_bytes(bytes(len(shard.read_bytes())))
    assert main(["data", "check", str(tmp_path / "corpus")]) == 2
    assert f"{shard.name} is missing, damaged or of another version" in capsys.readouterr().err
    assert main(["data", "check", str(tmp_path)]) == 2
    assert "holds no finished corpus" in capsys.readouterr().err
