"""Translations into a file survive a kill: nothing is lost or repeated, and the bytes are those of one run."""

import os
import random
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from small import write_corpus

from regard.base.faults import Fault
from regard.cli import main
from regard.console.lines import TextInput, number_of_lines
from regard.verbs.translate import unfinished
from regard.verbs.translate.unfinished import Kept, hold_output, remark_finished

LINES, PORTION = 52, 8
SHORT = ("--set", "longest_ratio=0.1", "--set", "longest_extra=4")  # short outputs keep the tests short
NO_WISHES: dict[str, list[str]] = {"prefixes": [], "required": [], "forced": []}

# Runs a command line with small portions, and kills itself in the middle of its n-th write to a disk.
KILLED = """
import os, signal, sys
from regard.cli import main
from regard.verbs.translate import line_translator
from regard.verbs.translate import unfinished

unfinished.PORTION = line_translator.PORTION = int(sys.argv[1])
left, force = int(sys.argv[2]), unfinished._force

def dying(file):
    global left
    left -= 1
    if left == 0:
        file.flush()
        os.truncate(file.fileno(), os.fstat(file.fileno()).st_size - 3)  # what the disk had taken of it
        os.kill(os.getpid(), signal.SIGKILL)
    force(file)

unfinished._force = dying
sys.exit(main(sys.argv[3:]))
"""


@pytest.fixture(scope="module")
def exported(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resumed") / "run"
    shutil.copytree(trained, folder)
    assert main(["export", str(folder), "--to", "ctranslate2"]) == 0
    return folder


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return write_corpus(tmp_path, LINES)[0]


@pytest.fixture
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.verbs.translate.line_translator.PORTION", PORTION)
    monkeypatch.setattr("regard.verbs.translate.unfinished.PORTION", PORTION)


def run(killed_at: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", KILLED, str(PORTION), str(killed_at), "translate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.mark.usefixtures("small_portions")
@pytest.mark.parametrize(
    ("more", "kills"),
    [
        (("--json", "--n-best", "2"), 2),
        pytest.param(("--beam", "1"), 3, marks=pytest.mark.long),
        pytest.param(
            ("--engine", "torch", "--sample", "--seed", "5", "--n-best", "2", *SHORT), 1, marks=pytest.mark.long
        ),
    ],
)
def test_killed_and_resumed_is_never_killed(
    exported: Path, text: Path, tmp_path: Path, more: tuple[str, ...], kills: int
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert main(["translate", str(exported), str(text), "-o", str(whole), *more]) == 0
    arguments = (str(exported), str(text), "-o", str(out), "--resume", *more)
    for _ in range(kills):
        assert run(random.randint(2, 5), *arguments).returncode == -signal.SIGKILL
        assert not out.exists()
    assert main(["translate", *arguments]) == 0
    assert out.read_bytes() == whole.read_bytes()
    assert hidden(tmp_path) == []


EVERY_MOMENT = """
import os, signal, sys
from pathlib import Path
from regard.verbs.translate import unfinished

unfinished.PORTION, force, left = 2, unfinished._force, 0
nothing = {"prefixes": [], "required": [], "forced": []}

def dying(file):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)  # before anything of it is on the disk
    force(file)

def write(out):
    with unfinished.hold_output(out) as place, place.growing({"--beam": 4}, place.read_kept()) as file:
        kept = file.kept_lines
        for first in range(0, 9, 2):
            portion = [f"line {number}" for number in range(first, min(9, first + 2))]
            file.take_note(portion, nothing)
            if first + len(portion) > kept:
                for line in portion:
                    file.write(line.upper())
                file.keep()

unfinished._force, moment, folder = dying, 0, Path(sys.argv[1])
while True:
    moment += 1
    for again in (0, 1):  # killed at this moment, and so once more, before it may end
        child = os.fork()
        if child == 0:
            left = moment
            write(folder / "out")
            os._exit(0)
        died = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert (folder / "out").exists() != died
        if not died:
            break
    left = 0
    if died:
        write(folder / "out")
    print(moment, (folder / "out").read_text().split("\\n"), sorted(path.name for path in folder.iterdir()))
    (folder / "out").unlink()
    if not died and not again:
        break
"""


def test_no_moment_of_a_kill_loses_or_repeats_a_line(tmp_path: Path) -> None:
    process = subprocess.run([sys.executable, "-c", EVERY_MOMENT, str(tmp_path)], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
    right = [f"LINE {number}" for number in range(9)] + [""]
    moments = process.stdout.splitlines()
    assert moments == [f"{number} {right} ['out']" for number in range(1, len(moments) + 1)]
    assert len(moments) == 1 + 2 * 4 + 1 + 1  # the request, four portions and their records, the end; then none


@pytest.mark.usefixtures("small_portions")
def test_what_is_asked_must_be_the_same(
    exported: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    paths = (str(exported), str(text), "-o", str(out))
    assert run(7, *paths, "--beam", "2").returncode == -signal.SIGKILL
    before = {name: (tmp_path / name).read_bytes() for name in hidden(tmp_path)}
    assert sorted(before) == [".out.unfinished", ".out.unfinished.jsonl"]
    shorter, other = tmp_path / "shorter.en", tmp_path / "other.en"
    every = text.read_text(encoding="utf-8").splitlines(keepends=True)
    shorter.write_text("".join(every[:5]), encoding="utf-8")
    other.write_text("".join(["Other.\n", *every[1:]]), encoding="utf-8")
    cases = [
        ((*paths, "--beam", "2"), "out was begun and has 16 translated lines; give --resume"),
        ((*paths, "--beam", "3", "--resume"), "out was begun differently: --beam was 2 and is now 3"),
        ((*paths, "--resume"), "--beam was 2 and is now not given"),
        ((*paths, "--beam", "2", "--json", "--resume"), "--json was not given and is now True"),
        (
            (*paths, "--beam", "2", "--set", "stop=first", "--resume"),
            "--set was not given and is now ['stop=first']",
        ),
        ((*paths, "--beam", "2", "--engine", "torch", "--resume"), "--engine was 'auto' and is now 'torch'"),
        ((*paths, "--beam", "2", "--vocabulary", str(text), "--resume"), "the text of --vocabulary has changed"),
        ((*paths, "--beam", "2", "--prefixes", str(text), "--resume"), "--prefixes was not given and is now True"),
        ((str(exported), str(other), *paths[2:], "--beam", "2", "--resume"), "lines 1 to 16 of the input are not"),
        ((str(exported), str(shorter), *paths[2:], "--beam", "2", "--resume"), "lines 1 to 16 of the input are"),
    ]
    for arguments, words in cases:
        assert main(["translate", *arguments]) == 2, arguments
        message = capsys.readouterr().err
        assert words in message, message
        assert "the same command with --resume" not in message
        assert {name: (tmp_path / name).stat().st_size >= 100 for name in hidden(tmp_path)} == dict.fromkeys(
            before, True
        )
    assert main(["translate", *paths, "--beam", "2", "--resume"]) == 0
    assert hidden(tmp_path) == []


@pytest.mark.usefixtures("small_portions")
def test_another_model_is_refused(
    exported: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copied"
    shutil.copytree(exported, folder)
    arguments = ("translate", str(folder), str(text), "-o", str(tmp_path / "out"))
    assert run(7, *arguments[1:]).returncode == -signal.SIGKILL
    assert main(["export", str(folder), "--to", "ctranslate2", "--quantisation", "float32", "--overwrite"]) == 0
    assert main([*arguments, "--resume"]) == 2
    assert "its export has changed" in capsys.readouterr().err
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"tokeniser.model"', '"renamed.model"'))
    assert main([*arguments, "--resume"]) == 2
    assert "the model has changed" in capsys.readouterr().err


@pytest.mark.usefixtures("small_portions")
def test_after_a_fault_the_input_can_be_mended(
    exported: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only translated lines must stay the same: a line that stopped a long run is corrected, and the run resumes."""
    good, out, whole = text.read_text(encoding="utf-8"), tmp_path / "out", tmp_path / "whole"
    every = good.splitlines(keepends=True)
    text.write_text("".join([*every[:20], "the red house " * 700 + "\n", *every[21:]]), encoding="utf-8")
    assert main(["translate", str(exported), str(text), "-o", str(out)]) == 2
    message = capsys.readouterr().err
    assert "Line 21: " in message
    assert "Kept 16 translated lines; the same command with --resume continues from there." in message
    text.write_text(good, encoding="utf-8")
    assert main(["translate", str(exported), str(text), "-o", str(out), "--resume"]) == 0
    assert main(["translate", str(exported), str(text), "-o", str(whole)]) == 0
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.usefixtures("small_portions")
def test_what_resuming_and_overwriting_mean(
    exported: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["translate", str(exported), str(text), "-o", str(out)]
    assert main([*command, "--resume"]) == 0  # there is nothing to resume, so it begins
    content = out.read_bytes()
    capsys.readouterr()
    assert main([*command, "--resume"]) == 0
    assert "out exists with as many lines as this input gives; nothing was done." in capsys.readouterr().err
    text.write_text(text.read_text(encoding="utf-8") + "One more.\n", encoding="utf-8")
    assert main([*command, "--resume"]) == 2
    assert f"out exists with {LINES} lines, but this input gives {LINES + 1}" in capsys.readouterr().err
    assert (
        main([*command[:2], str(write_corpus(tmp_path, LINES // 2)[0]), *command[3:], "--resume", "--n-best", "2"]) == 0
    )
    assert main([*command[:2], "-", *command[3:], "--resume"]) == 0
    assert "out exists and is not unfinished; nothing was done." in capsys.readouterr().err
    write_corpus(tmp_path, LINES)
    assert main([*command, "--overwrite", "--resume"]) == 0
    assert out.read_bytes() == content
    out.write_text("old\n")
    for killed_at in (2, 7):  # before anything is kept, and after
        assert run(killed_at, *command[1:], "--overwrite").returncode == -signal.SIGKILL
        assert out.read_text() == "old\n"
        assert main([*command, "--resume"]) == 2
        assert "exists already; give --overwrite" in capsys.readouterr().err
    assert main([*command, "--overwrite", "--resume"]) == 0
    assert out.read_bytes() == content
    out.unlink()
    assert run(7, *command[1:]).returncode == -signal.SIGKILL
    assert main([*command, "--overwrite"]) == 0  # starts again
    assert out.read_bytes() == content
    assert main(["translate", str(exported), str(text), "--resume"]) == 2
    assert "--resume continues a file; name it with -o." in capsys.readouterr().err
    assert main(["translate", str(exported), str(text), "-o", "/dev/null", "--resume"]) == 2


@pytest.mark.usefixtures("small_portions")
def test_who_was_stopped_by_a_line_too_long_can_go_on_with_it_split(
    exported: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with text.open("a", encoding="utf-8") as file:
        file.write("the red house and " * 400 + "\n")
    out, whole = tmp_path / "out", tmp_path / "whole"
    command = ["translate", str(exported), str(text), "--beam", "1", *SHORT]
    assert main([*command, "-o", str(out)]) == 2
    message = capsys.readouterr().err
    assert f"Kept {LINES - LINES % PORTION} translated lines" in message
    assert f"Line {LINES + 1}: 'the red house" in message
    assert "at most; split it, or give --too-long split." in message
    assert main([*command, "-o", str(out), "--resume", "--too-long", "split"]) == 0
    assert main([*command, "-o", str(whole), "--too-long", "split"]) == 0
    assert out.read_bytes() == whole.read_bytes()


def begin(out: Path, portions: int = 1) -> tuple[Path, Path]:
    """Write an unfinished output of some portions: its text and its record."""
    with suppress(KeyboardInterrupt), hold_output(out) as place, place.growing({}, Kept()) as file:
        for first in range(portions):
            portion = [f"{first} {number}" for number in range(unfinished.PORTION)]
            file.take_note(portion, NO_WISHES)
            for line in portion:
                file.write(line)
            file.keep()
        raise KeyboardInterrupt
    return place.text, Path(place.record.name)


def kept(out: Path) -> Kept:
    with hold_output(out) as place:
        return place.read_kept()


def test_damaged_records_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _, record = begin(out)
    whole = record.read_bytes()
    record.write_bytes(whole + b'{"lines": 20')  # torn, and never vouched for
    assert kept(out).lines == unfinished.PORTION
    wrong = (b"[\n[\n", b"[]\n{}\n", b'{}\n{"rows": 3}\n', b"[" * 100_000 + b"\n[]\n", whole.replace(b"1024", b"2048"))
    for damage in wrong:
        record.write_bytes(damage)
        with pytest.raises(
            Fault, match="is damaged or was written by another version of regard; give --overwrite without"
        ):
            kept(out)


def test_every_flipped_bit_of_an_unfinished_output_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The part before the damage stays, and the result equals that of one unbroken run."""
    monkeypatch.setattr("regard.verbs.translate.unfinished.PORTION", 2)
    out = tmp_path / "out"
    text, record = begin(out, portions=3)
    whole, right = record.read_bytes(), text.read_bytes()
    assert right == b"0 0\n0 1\n1 0\n1 1\n2 0\n2 1\n"
    for bit in range(8 * len(right)):
        damaged = bytearray(right)
        damaged[bit // 8] ^= 1 << bit % 8
        text.write_bytes(damaged)
        assert kept(out).lines == bit // 64 * 2
        assert f"is damaged; only {bit // 64 * 2} translated lines of it can be kept" in capsys.readouterr().err
    text.write_bytes(right[:-1])  # shorter than it was
    assert kept(out).lines == 4
    with hold_output(out) as place, place.growing({}, place.read_kept()) as file:
        for first in range(3):
            file.take_note([f"{first} 0", f"{first} 1"], NO_WISHES)
            if 2 * first >= 4:  # the first two portions are kept
                file.write(f"{first} 0")
                file.write(f"{first} 1")
                file.keep()
        assert record.read_bytes() == whole
    assert out.read_bytes() == right
    assert hidden(tmp_path) == []


def test_lines_are_counted_without_reading_them(tmp_path: Path) -> None:
    path = tmp_path / "text"
    for content, count in ((b"", 0), (b"a", 1), (b"a\n", 1), (b"a\n\nb\r", 3)):
        path.write_bytes(content)
        assert number_of_lines(path) == count
    (tmp_path / "broken.gz").write_bytes(b"no")
    os.mkfifo(tmp_path / "pipe")
    assert [number_of_lines(tmp_path / name) for name in ("none", "broken.gz", "pipe")] == [None] * 3


MEASURED = """
import resource, sys
from regard.cli import main
from regard.verbs.translate import line_translator
from regard.verbs.translate import unfinished
unfinished.PORTION = line_translator.PORTION = 128
assert main(sys.argv[1:]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.long
def test_memory_does_not_grow_with_the_input(exported: Path, tmp_path: Path) -> None:
    def peak(count: int) -> int:
        text = tmp_path / f"{count}.en"
        text.write_text("".join(f"I see {number} red houses.\n" for number in range(count)), encoding="utf-8")
        command = ["translate", str(exported), str(text), "-o", str(tmp_path / f"{count}.pt"), "--beam", "1", *SHORT]
        process = subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True)
        assert process.stderr.endswith(f"translating {count:,} of {count:,}\n")
        return int(process.stdout)

    assert peak(40 * 128) < peak(8 * 128) + 4096  # in KiB


def test_an_output_whose_lines_cannot_be_counted_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out.gz"
    out.write_bytes(b"not packed\n")
    source = write_corpus(tmp_path, 2)[0]
    with pytest.raises(Fault, match=r"out\.gz exists but cannot be read; give --overwrite to replace it\."):
        remark_finished(out, TextInput(file=source), 1)
