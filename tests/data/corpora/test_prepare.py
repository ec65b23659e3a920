"""Preparing a corpus: correct, reported, the same after interruptions, and refused in foreign folders."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.corpora import prepare as preparing
from regard.data.corpora import shards
from regard.data.corpora.options import PairData
from regard.data.corpora.prepare import open_prepared, prepare
from regard.data.corpora.prepared import are_learnt
from regard.data.corpora.shards import SIDES

WORDS = {"kind": "words", "vocabulary": 400}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write sixty pairs in two files and forty in a third, with a few that cleaning drops."""
    folder = tmp_path / "text"
    folder.mkdir()
    source = [f"The number {number} is here." for number in range(60)]
    target = [f"O número {number} está aqui." for number in range(60)]
    source[10], target[20], source[30], target[30] = "", " ", source[5], target[5]
    source[40] = "long " * 70
    target[50] = "a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5"
    (folder / "a.en").write_text("\n".join(source), encoding="utf-8")
    (folder / "a.pt").write_text("\n".join(target), encoding="utf-8")
    (folder / "b.tsv").write_text("".join(f"word {n}\tpalavra {n}\n" for n in range(40)), encoding="utf-8")
    (folder / "valid.tsv").write_text("the NUMBER 3 is here.\t\nsomething else\toutra coisa\n", encoding="utf-8")
    (folder / "test.tsv").write_text("unseen\tpalavra 7\n", encoding="utf-8")
    return folder


def options_for(files: Path, **more: Any) -> PairData:
    table: dict[str, Any] = {
        "train": [
            {"source": str(files / "a.en"), "target": str(files / "a.pt"), "weight": 1.0},
            {"pairs": str(files / "b.tsv"), "weight": 2.0},
        ],
        "valid": str(files / "valid.tsv"),
        "test": str(files / "test.tsv"),
        "cleaning": {"longest": 60},
        "tokeniser": WORDS,
    }
    return check(PairData, {**table, **more})


def contents(folder: Path) -> dict[str, bytes]:
    """Return everything prepared, without the lock and the verification note."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_corpus_is_cleaned_tokenised_and_told_about(files: Path, tmp_path: Path) -> None:
    prepared = prepare(options_for(files), tmp_path / "prepared")
    assert prepared.report[0] == (
        "read 100 pairs, kept 93 (dropped 2 empty, 1 duplicate, 2 shared with validation or test, "
        "1 too long, 1 too uneven in length)"
    )
    assert f"too long, for example {files / 'a.en'}, line 41: long long" in prepared.report[4]
    assert len(prepared.train) == 93
    assert prepared.train.corpora == [(0, 54, 1.0), (54, 39, 2.0)]
    assert prepared.source is prepared.target
    decoded = [prepared.source.decode(prepared.train.tokens("target", row).tolist()) for row in (0, 54, 61)]
    assert decoded == ["O número 0 está aqui.", "palavra 0", "palavra 8"]
    lengths = prepared.train.source_lengths, prepared.train.target_lengths
    assert [int(side[0]) for side in lengths] == [6, 6]


def test_validation_and_test_data_stay_as_they_are(files: Path, tmp_path: Path) -> None:
    prepared = prepare(options_for(files), tmp_path / "prepared")
    assert prepared.valid == [("the NUMBER 3 is here.", ""), ("something else", "outra coisa")]
    assert prepared.test == [("unseen", "palavra 7")]


def test_without_validation_data_some_is_held_out(files: Path, tmp_path: Path) -> None:
    prepared = prepare(options_for(files, valid=[], hold_out=3), tmp_path / "prepared")
    assert len(prepared.valid) == prepared.cleaning.held_out == 3
    assert len(prepared.train) == prepared.cleaning.kept == 91
    trained_on = {prepared.train.tokens("source", row).tobytes() for row in range(91)}
    for source, target in prepared.valid:
        assert target.split(" ")[1] == source.split(" ")[-1] or "número" in target
        tokens = prepared.source.encode(source)
        assert shards.np.array(tokens, "<u2").tobytes() not in trained_on


@pytest.mark.parametrize("kind", ["unigram", "bytes"])
def test_vocabularies_can_be_separate_and_text_is_kept_for_sampling(files: Path, tmp_path: Path, kind: str) -> None:
    sampling = 0.5 if kind == "unigram" else 0.0
    tokeniser = {"kind": kind, "shared": False, "vocabulary": 320, "sampling": sampling}
    prepared = prepare(options_for(files, tokeniser=tokeniser, cleaning={}), tmp_path / "prepared")
    assert prepared.source is not prepared.target
    tokens = prepared.train.tokens("target", 1).tolist()
    assert prepared.target.decode(tokens) == "O número 1 está aqui."
    if sampling:
        assert prepared.train.text("target", 1) == "O número 1 está aqui."


def test_sides_can_be_cut_each_in_its_own_way(files: Path, tmp_path: Path) -> None:
    tokeniser = {"kind": "characters", "target_kind": "words", "shared": False, "ignore_case": True}
    options = options_for(files, train=str(files / "b.tsv"), tokeniser=tokeniser)
    prepared_corpus, opened = prepare(options, tmp_path / "prepared"), open_prepared(tmp_path / "prepared")
    for prepared in (prepared_corpus, opened):
        spelled, sounds = (prepared.train.tokens(side, 0).tolist() for side in ("source", "target"))
        assert prepared.source.pieces(spelled) == [*"▁word▁0"]
        assert prepared.target.pieces(sounds) == ["palavra", "0"]
        assert prepared.source.encode("WORD 0") == spelled
        assert prepared.target.encode("PALAVRA 0")[0] == prepared.target.unknown


def test_what_is_learnt_from_is_known_again_whatever_its_case(files: Path, tmp_path: Path) -> None:
    prepared = prepare(options_for(files, valid=[], hold_out=3), tmp_path / "prepared")
    held_out, dropped = prepared.valid[0][0], "word 7"  # its translation is test data
    sentences = ["THE number 4 is here. ", "word 8", "word 88", held_out, dropped, ""]
    assert are_learnt(prepared.folder, sentences) == [True, True, False, False, False, False]
    assert are_learnt(tmp_path / "gone", sentences) == [False] * 6


def test_what_is_dropped_for_its_length_is_not_learnt_from(files: Path, tmp_path: Path) -> None:
    """The pair with seventy words is too long, and the one with thirty-one for five too uneven."""
    folder = tmp_path / "prepared"
    prepare(options_for(files), folder)
    assert are_learnt(folder, ["long " * 70, "The number 50 is here.", "The number 51 is here."]) == [
        False,
        False,
        True,
    ]


def test_spaces_at_the_ends_of_lines_are_not_learnt(tmp_path: Path) -> None:
    """Comparison ignores them, so two of the pairs are equal."""
    lines = [f" The number {number} is here. \tO número {number} está aqui.\u3000" for number in range(50)]
    lines += ["The number 7 is here.\tO número 7 está aqui. "]
    (tmp_path / "train.tsv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "valid.tsv").write_text("Something else. \tOutra coisa. \n", encoding="utf-8")
    table = {"train": str(tmp_path / "train.tsv"), "tokeniser": {"kind": "bytes"}}
    prepared = prepare(check(PairData, table | {"valid": str(tmp_path / "valid.tsv")}), tmp_path / "prepared")
    assert len(prepared.train) == 50
    assert prepared.cleaning.dropped["duplicate"].count == 1
    for row in range(50):
        source, target = (prepared.source.decode(prepared.train.tokens(side, row).tolist()) for side in SIDES)
        assert (source, target) == (source.strip(), target.strip())
    assert prepared.valid == [("Something else. ", "Outra coisa. ")]  # never changed
    held_out = prepare(check(PairData, table | {"hold_out": 2}), tmp_path / "other").valid
    assert [(source.strip(), target.strip()) for source, target in held_out] == held_out


def test_pairs_with_a_separator_of_their_own(files: Path, tmp_path: Path) -> None:
    (files / "dictionary").write_text("'EM  AH M\nABBY  AE B IY\n", encoding="utf-8")
    dictionary = {"pairs": str(files / "dictionary"), "separator": "  "}
    prepared = prepare(options_for(files, train=dictionary), tmp_path / "prepared")
    assert prepared.target.decode(prepared.train.tokens("target", 1).tolist()) == "AE B IY"
    with pytest.raises(Fault, match=r'prepared from something else: data\.train was .*separator = "  ".* and is now'):
        prepare(options_for(files, train=dictionary | {"separator": " "}), tmp_path / "prepared")


def test_a_finished_preparation_is_opened_not_made_again(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    prepare(options_for(files), folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    remarks: list[str] = []
    again = prepare(options_for(files, prepared=str(folder)), folder, lambda what, done, total: remarks.append(what))
    assert remarks == []
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert again.cleaning == open_prepared(folder).cleaning
    assert len(again.train) == len(open_prepared(folder).train)


def make_old(folder: Path) -> None:
    """Turn a corpus into one of format version 2: equal weights, and no checksums."""
    purpose = json.loads((folder / "purpose.json").read_text())
    purpose["format"] = 2
    for corpus in (table for split in ("train", "valid", "test") for table in purpose["options"][split]):
        corpus["weight"] = 1.0
    for source in purpose["inputs"]:
        del source["checksum"]
    finished = json.loads((folder / "finished.json").read_text())
    del finished["files"], finished["sha256"], purpose["sha256"]
    (folder / "purpose.json").write_text(json.dumps(purpose))
    (folder / "finished.json").write_text(json.dumps(finished))


def test_a_corpus_without_checksums_is_opened_with_a_remark(files: Path, tmp_path: Path) -> None:
    folder, remarks = tmp_path / "prepared", list[str]()
    options = options_for(files, train=str(files / "b.tsv"))
    prepare(options, folder)
    make_old(folder)
    os.utime(files / "b.tsv", (1, 1))
    assert len(prepare(options, folder, remark=remarks.append).train) == 39
    assert "b.tsv has a different date than when an older version of regard prepared it" in remarks[0]
    assert "prepared by an older version of regard without checksums" in remarks[1]
    with (files / "b.tsv").open("a") as file:
        file.write("one more\tmais um\n")
    assert f"The file {files / 'b.tsv'} has changed" in refusal(options, folder)


def test_what_an_older_version_prepared_is_opened_and_its_equal_weights_mean_none(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    both = [{"source": str(files / "a.en"), "target": str(files / "a.pt")}, {"pairs": str(files / "b.tsv")}]
    prepare(options_for(files, train=both), folder)
    make_old(folder)
    counts = [count for _, count, _ in prepare(options_for(files, train=both), folder).train.corpora]
    assert [weight for _, _, weight in open_prepared(folder).train.corpora] == counts
    halves = [corpus | {"weight": 1.0} for corpus in both]
    assert "prepared from something else: data.train was" in refusal(options_for(files, train=halves), folder)


def test_progress_is_told(files: Path, tmp_path: Path) -> None:
    reports: list[tuple[str, int, int | None]] = []
    prepare(options_for(files), tmp_path / "prepared", lambda *what: reports.append(what))
    assert reports[0] == ("reading the corpus", 60, None)
    assert reports[-1] == ("preparing the corpus", 100, 100)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "_CHUNK", 32)
    monkeypatch.setattr(preparing, "_SMALLEST_SHARD", 16)


class Killed(BaseException):
    """Ends a preparation as a signal would: nothing in the library catches it."""


def run_until_written(options: PairData, folder: Path, files: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Prepare, but stop while writing a file after this many others. Return True if it finished."""
    left = iter(range(files))

    def sync(descriptor: int) -> None:
        if next(left, None) is None:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", sync)
        try:
            prepare(options, folder)
        except Killed:
            return False
    return True


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("more", [{}, {"valid": []}])
def test_killed_at_every_write_and_continued_gives_the_same_bytes(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    options = options_for(files, **more)
    prepare(options, tmp_path / "whole")
    written = 0
    while not run_until_written(options, tmp_path / str(written), written, monkeypatch):
        prepare(options, tmp_path / str(written))
        assert contents(tmp_path / str(written)) == contents(tmp_path / "whole")
        written += 1
    assert written > 15


SCRIPT = """
import sys
from pathlib import Path
from regard.data.corpora import prepare as preparing
from regard.data.corpora.options import PairData

def told(what, done, total):
    print(what, done, flush=True)

if __name__ == "__main__":
    preparing._SMALL, preparing._CHUNK, preparing._SMALLEST_SHARD = 0, 16, 16
    options = PairData.model_validate_json(sys.argv[1])
    preparing.prepare(options, Path(sys.argv[2]), told)
"""


@pytest.mark.long
@pytest.mark.usefixtures("small_pieces")
def test_workers_killed_with_their_main_process_and_continued_give_the_same_bytes(files: Path, tmp_path: Path) -> None:
    options = options_for(files)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, options.model_dump_json(), tmp_path / "killed"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any("preparing the corpus" in line for line in lines)
        process.send_signal(signal.SIGKILL)
        process.stdout.read()  # ends when the last worker does
    assert not (tmp_path / "killed" / "finished.json").exists()
    prepare(options, tmp_path / "killed")
    prepare(options, tmp_path / "whole")
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_a_script_without_a_main_guard_is_told(files: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace('__name__ == "__main__"', "True"))
    command = [sys.executable, script, options_for(files).model_dump_json(), tmp_path / "prepared"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "A worker process ended early" in ended.stderr
    assert "A script must call regard under `if __name__ == '__main__':`" in ended.stderr


def refusal(options: PairData, folder: Path) -> str:
    with pytest.raises(Fault) as caught:
        prepare(options, folder)
    return str(caught.value)


def test_a_folder_of_something_else_is_refused(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    prepare(options_for(files), folder)
    other = refusal(options_for(files, cleaning={"longest": 70}), folder)
    assert "prepared from something else: data.cleaning.longest was 60 and is now 70." in other
    assert "Name another folder as data.prepared, or delete this one." in other
    whole = (files / "b.tsv").read_bytes()
    (files / "b.tsv").write_bytes(whole.replace(b"word 1\t", b"word 0\t"))
    assert f"The file {files / 'b.tsv'} has changed" in refusal(options_for(files), folder)
    (files / "b.tsv").write_bytes(whole + b"\n")
    assert f"The file {files / 'b.tsv'} has changed" in refusal(options_for(files), folder)
    assert "text holds other files" in refusal(options_for(files), files)
    assert "cannot be created" in refusal(options_for(files), files / "a.en" / "prepared")


def test_files_with_another_date_are_the_same_and_files_that_are_gone_are_not_needed(
    files: Path, tmp_path: Path
) -> None:
    folder, remarks = tmp_path / "prepared", list[str]()
    finished = prepare(options_for(files), folder)
    os.utime(files / "b.tsv", (1, 1))
    again = prepare(options_for(files), folder, remark=remarks.append)
    (files / "a.en").unlink()
    assert remarks == []
    without = prepare(options_for(files), folder, remark=remarks.append)
    assert remarks == [f"{files / 'a.en'} no longer exists; continuing with what was prepared from it."]
    assert finished.cleaning == again.cleaning == without.cleaning


@pytest.mark.usefixtures("small_pieces")
def test_an_unfinished_preparation_goes_on_with_files_of_another_date(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not run_until_written(options_for(files), tmp_path / "prepared", 13, monkeypatch)
    shard = tmp_path / "prepared" / "shards" / "000-00000.bin"
    before = shard.stat().st_ino
    os.utime(files / "b.tsv", (1, 1))
    assert prepare(options_for(files), tmp_path / "prepared").cleaning.read == 100
    assert shard.stat().st_ino == before  # it was not made again


@pytest.mark.usefixtures("small_pieces")
def test_an_unfinished_preparation_gives_way_when_a_file_is_mended(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "prepared"
    whole = (files / "b.tsv").read_bytes()
    (files / "b.tsv").write_bytes(whole + b"no tab\n")
    assert "b.tsv, line 41: there is no tab" in refusal(options_for(files), folder)
    (files / "b.tsv").write_bytes(whole)
    assert not run_until_written(options_for(files), folder, 12, monkeypatch)
    assert len(list((folder / "shards").glob("*.bin"))) == 2
    assert "data.hold_out was 1000 and is now 5" in refusal(options_for(files, hold_out=5), folder)
    (files / "b.tsv").write_bytes(whole + b"one more\tmais um\n")
    assert prepare(options_for(files), folder).cleaning.read == 101


def test_what_is_damaged_is_refused(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    with pytest.raises(Fault, match="holds no finished corpus"):
        open_prepared(folder)
    prepare(options_for(files), folder)
    for name in ("finished.json", "purpose.json", "valid.json"):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[:-2])
        assert f"{name} is missing, damaged or of another version" in refusal(options_for(files), folder)
        (folder / name).write_bytes(whole)
    next((folder / "shards").glob("*.bin")).unlink()
    assert f".bin is missing, damaged or of another version; delete {folder} " in refusal(options_for(files), folder)


@pytest.fixture
def faults(files: Path, tmp_path: Path) -> Callable[..., str]:
    """Write a file of pairs. Return the refusal of a corpus that trains on it."""

    folders = (tmp_path / f"refused {number}" for number in count())

    def refused(pairs: bytes, **more: Any) -> str:
        (files / "c.tsv").write_bytes(pairs)
        return refusal(options_for(files, train=str(files / "c.tsv"), **more), next(folders))

    return refused


def test_faults_of_the_text(faults: Callable[..., str], files: Path, tmp_path: Path) -> None:
    assert "c.tsv, line 2: not valid UTF-8" in faults(b"a\tb\n\xff\tb\n")
    missing = options_for(files, test=str(files / "none.tsv"))
    assert f"There is no file {files / 'none.tsv'}" in refusal(missing, tmp_path / "missing")
    assert f"{files} is a folder; name a text" in refusal(options_for(files, test=str(files)), tmp_path / "missing")
    assert not (tmp_path / "missing").exists()


def test_nothing_left_is_refused_with_the_reasons(faults: Callable[..., str]) -> None:
    message = faults(b"\t\n\tb\nunseen\tb\n")
    assert message == "No training pair is left: read 3 pairs, dropped 2 empty, 1 shared with validation or test."
    assert faults(b"") == "No training pair is left: read 0 pairs, dropped none."
    message = faults(b"a b\tc d\ne f\tg h\n", cleaning={"longest": 1})
    assert message.startswith("No training pair is left: read 2 pairs, kept 0 (dropped 2 too long).")
    assert "c.tsv, line 1: a b | c d" in message


def test_no_pairs_at_all(faults: Callable[..., str], files: Path, tmp_path: Path) -> None:
    (files / "none.tsv").write_bytes(b"")
    assert "data.test is given but holds no pairs" in refusal(
        options_for(files, test=str(files / "none.tsv")), tmp_path / "a"
    )
    assert faults(b"", valid=[]) == "No training pair is left: read 0 pairs, dropped none."
    assert faults(b"\t\n\t\n", valid=[]) == "No training pair is left: read 2 pairs, dropped 2 empty."


def test_pairs_to_hold_out_that_are_too_long_are_no_validation_data(files: Path, tmp_path: Path) -> None:
    """One of two pairs is held out; with the other seed it is the one that is too long."""
    outcomes = []
    for number, pairs in enumerate(("a\tc d e f\nb\tg\n", "a\tc\nb\td e f g\n")):
        (files / "c.tsv").write_text(pairs)
        options = options_for(files, train=str(files / "c.tsv"), valid=[], cleaning={"longest": 2})
        outcomes.append(refusal(options, tmp_path / str(number)))
    assert sorted(outcome.split(":")[0] for outcome in outcomes) == [
        "All pairs held out for validation are too long or too uneven; give some as data.valid.",
        "No training pair is left",
    ]
