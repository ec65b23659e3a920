"""A file in shards: joined they equal the output of one process, whoever translates them, and a kill loses nothing."""

import gzip
import re
import signal
import subprocess
import sys
from pathlib import Path

import capital_translator
import pytest
import zstandard
from small import write_corpus

from regard.cli import main
from regard.data.lines import LineRange, read_lines
from regard.verbs.translate import line_translator, unfinished
from regard.verbs.translate.bulk import workers
from regard.verbs.translate.bulk.shards import cut_into_shards

TEXT = b"\xef\xbb\xbfone\r\n\n  two \nthree\n\nfour\nfive\n\xc3\xa9ight\nnine"  # nine lines, without an end
JOINED = "ONE\n\n  TWO \nTHREE\n\nFOUR\nFIVE\nÉIGHT\nNINE\n"


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    (tmp_path / "in").write_bytes(TEXT)
    return [str(capital_translator.write_model(tmp_path / "model")), str(tmp_path / "in"), "-o", str(tmp_path / "out")]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run_workers(*arguments: str) -> tuple[int, str]:
    """Run separate processes, since workers import the module that started them."""
    command = [sys.executable, capital_translator.__file__, *arguments]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    return process.returncode, process.stderr


def test_shards_begin_where_portions_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "PORTION", 2)
    path, packed = tmp_path / "in", tmp_path / "in.gz"
    path.write_bytes(TEXT)
    packed.write_bytes(gzip.compress(TEXT))
    shards = cut_into_shards(path, 3)
    assert [shard.lines for shard in shards] == [LineRange(0, 2, 0), LineRange(2, 4, 9), LineRange(6, 3, 28)]
    assert [shard.name for shard in shards] == ["1-of-3", "2-of-3", "3-of-3"]
    assert str(shards[1]) == "lines 3 to 6"
    squeezed = tmp_path / "in.zst"
    squeezed.write_bytes(zstandard.compress(TEXT))
    for source in (path, packed, squeezed):
        parts = [line for shard in cut_into_shards(source, 3) for line in read_lines(source, part=shard.lines)]
        assert parts == list(read_lines(source))
    assert len(cut_into_shards(path, None)) == 5  # a portion each
    assert [shard.lines.count for shard in cut_into_shards(path, 7)] == [0, 2, 2, 0, 2, 2, 1]
    path.write_bytes(b"")
    assert [str(shard) for shard in cut_into_shards(path, None)] == ["no lines"]


@pytest.mark.usefixtures("capitals")
@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)])
def test_shards_in_any_order_are_joined(asked: list[str], tmp_path: Path, order: tuple[int, ...]) -> None:
    for number in order:
        assert main(["translate", *asked, "--shard", f"{number}/3"]) == 0
        assert not (tmp_path / "out").exists()
    assert main(["translate", *asked, "--join"]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == JOINED
    assert files(tmp_path) == ["in", "model", "out"]


@pytest.mark.usefixtures("capitals")
def test_only_what_belongs_together_is_joined(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, folder = tmp_path / "in", tmp_path / "out.shards"

    def refuses(words: str, *arguments: str) -> None:
        assert main(["translate", *asked, *arguments]) == 2
        assert words in capsys.readouterr().err

    refuses("There are no shards in", "--join")
    for number in (1, 2):
        assert main(["translate", *asked, "--shard", f"{number}/3"]) == 0
    capsys.readouterr()
    refuses("1 of 3 shards of", "--join")
    refuses("1-of-3 was begun or is done; give --resume to continue, or --overwrite", "--shard", "1/3")
    refuses("was divided into 3 shards; give --shard I/3, or delete it.", "--shard", "1/4")
    refuses("was begun differently: --beam was not given and is now 2", "--shard", "1/3", "--resume", "--beam=2")
    refuses("1-of-3 was begun differently: --beam was not given and is now 2", "--join", "--beam", "2")
    refuses("out was begun in shards; continue with --workers and --resume")
    assert main(["translate", *asked, "--shard", "3/3", "--resume"]) == 0
    source.write_bytes(TEXT.replace(b"one", b"two"))
    refuses("holds translations of other lines than the input (lines 1 to 2)", "--join")
    source.write_bytes(TEXT + b"\nten\n")
    refuses("its place in the input has changed", "--join")
    source.write_bytes(TEXT)
    (folder / "2-of-3").write_text("  TOW \n")
    refuses("2-of-3 is damaged", "--join")
    assert main(["translate", *asked, "--shard", "2/3", "--resume"]) == 0
    assert "2-of-3 is damaged; its lines are translated again." in capsys.readouterr().err
    (folder / "2-of-3.done").write_text("{}")
    assert main(["translate", *asked, "--shard", "2/3", "--resume"]) == 0
    assert main(["translate", *asked, "--join"]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == JOINED


@pytest.mark.usefixtures("capitals")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shard", "4/3"], "--shard is '4/3'; give the number of a shard and the number of shards, as in 3/8."),
        (["--shard", "first"], "--shard is 'first'; give the number"),
        (["--shard", "1/2", "--join"], "--shard and --join do not go together; omit one of them."),
        (["--workers", "2", "--shard", "1/2"], "--workers and --shard do not go together"),
        (["--shard", "1/2", "--on", "ray"], "--shard and --on do not go together"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(
    asked: list[str], tmp_path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", *asked, *arguments]) == 2
    assert words in capsys.readouterr().err
    assert files(tmp_path) == ["in", "model"]


def test_shards_are_of_files(asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, source, *_ = asked
    for arguments, words in (
        (
            [model, "-o", str(tmp_path / "out")],
            "--workers divides a file into shards; name a file as INPUT, or omit --workers.",
        ),
        ([model, source], "--workers writes a file; name it with -o."),
        ([model, str(tmp_path)], "part by part, but it is not a file; write it to a file first, or omit --workers."),
        ([model, source, "--prefixes", "/dev/null"], "--workers reads /dev/null part by part, but it is not a file"),
        ([model, source, "-o", "/dev/null"], "--workers writes a file; name it with -o."),
        ([model, source, "-o", str(tmp_path / "none" / "out")], "There is no folder"),
        ([model, str(tmp_path / "none"), "-o", str(tmp_path / "out")], "There is no file"),
    ):
        assert main(["translate", *arguments, "--workers", "2"]) == 2
        assert words in capsys.readouterr().err


def test_workers_that_die_are_replaced(asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(TEXT.replace(b"four", b"die once").replace(b"five", b"long 5") + b"\nlong 10")
    status, message = run_workers(*asked, "--workers", "2")
    assert status == 0, message
    right = JOINED.replace("FOUR", "DIE ONCE").replace("FIVE", "LONG 5") + "LONG 10\n"
    assert (tmp_path / "out").read_text(encoding="utf-8") == right
    assert "1 worker died and was replaced; 12 lines were translated, counting repeats." in message
    assert "2 lines are longer than any in the training data (3 tokens), such as line 7;" in message
    assert message.count("begins with a byte order mark") == 1
    assert files(tmp_path) == ["in", "model", "out"]


@pytest.mark.long
def test_workers_without_a_sign_of_life_are_named_killed_and_replaced(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOK", "0.2")
    (tmp_path / "in").write_bytes(TEXT.replace(b"one", b"hang once").replace(b"four", b"stop once"))
    status, message = run_workers(*asked, "--workers", "2")
    assert status == 0, message
    right = JOINED.replace("ONE", "HANG ONCE").replace("FOUR", "STOP ONCE")
    assert (tmp_path / "out").read_text(encoding="utf-8") == right
    for why, lines in (("hangs", "lines 1 to 2"), ("was stopped", "lines 5 to 6")):
        words = rf"{why}: no activity for 1 seconds\. It is killed, and another continues with {lines}\."
        assert re.search(rf"Worker \d \(process \d+\) {words}", message), message
    assert files(tmp_path) == ["in", "model", "out"]


@pytest.mark.long
@pytest.mark.usefixtures("capitals")
def test_a_line_that_kills_every_worker_ends_the_job_and_what_is_done_is_kept(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_bytes(TEXT.replace(b"nine", b"die"))
    status, message = run_workers(*asked, "--workers", "1")
    assert status == 2
    place = re.escape(str(tmp_path / "in"))
    assert re.search(
        rf"{workers.MOST_DEATHS} workers died one after the other at the same place in lines 9 to 9 of {place}; "
        r"the last was killed by SIGKILL, saying 'something is wrong'\. What is done is kept",
        message,
    )
    assert "4 of 5 shards are done; the same command with --resume continues from there." in message
    assert main(["translate", *asked, "--workers", "1"]) == 2
    assert "out was begun in shards; give --resume to continue" in capsys.readouterr().err
    (tmp_path / "in").write_bytes(TEXT)
    assert main(["translate", *asked, "--shard", "5/5", "--resume"]) == 0  # workers and --shard share their shards
    assert main(["translate", *asked, "--join"]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == JOINED


@pytest.mark.long
def test_a_job_that_is_killed_goes_on(asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(TEXT.replace(b"five", b"end the job"))
    assert run_workers(*asked, "--workers", "1")[0] == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert len(list((tmp_path / "out.shards").glob("*.done"))) == 3
    assert run_workers(*asked, "--workers", "2", "--resume")[0] == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == JOINED.replace("FIVE", "END THE JOB")
    assert files(tmp_path) == ["in", "model", "out"]


@pytest.fixture
def shards_done(asked: list[str], capitals: None) -> None:
    for number in (1, 2, 3):
        assert main(["translate", *asked, "--shard", f"{number}/3"]) == 0


@pytest.mark.usefixtures("shards_done")
def test_a_kill_after_joining_leaves_nothing_to_do(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output is in place, and the shards are not yet removed."""
    out, folder = tmp_path / "out", tmp_path / "out.shards"
    out.write_text(JOINED[:-1], encoding="utf-8")
    assert main(["translate", *asked, "--workers", "1", "--resume"]) == 2  # it is someone else's
    assert "out exists already; give --overwrite" in capsys.readouterr().err
    out.write_text(JOINED, encoding="utf-8")
    assert main(["translate", *asked, "--workers", "1", "--resume"]) == 0
    assert "with as many lines as this input gives; nothing was done." in capsys.readouterr().err
    assert not folder.exists()


def test_lines_with_constraints_and_keys_are_those_of_one_process(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples depend on the number of a line, and a line's prefix is in another file."""
    monkeypatch.setattr(line_translator, "PORTION", 4)
    monkeypatch.setattr(unfinished, "PORTION", 4)
    source, target = write_corpus(tmp_path, 11)
    (tmp_path / "prefixes").write_text("".join(f"{line[:3]}\n" for line in read_lines(target)), encoding="utf-8")
    command = ["translate", str(trained), str(source), "--sample", "--json", "--prefixes", str(tmp_path / "prefixes")]
    assert main([*command, "-o", str(tmp_path / "one")]) == 0
    for number in (1, 2):
        assert main([*command, "-o", str(tmp_path / "two"), "--shard", f"{number}/2"]) == 0
    assert main([*command, "-o", str(tmp_path / "two"), "--join"]) == 0
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()
