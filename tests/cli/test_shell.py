"""The shell around the commands: real processes wherever pipes, signals, terminals or imports matter."""

import errno
import os
import pty
import signal
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

from regard import cli
from regard.base.faults import Fault
from regard.cli import main
from regard.commands import COMMANDS
from regard.verbs.table import Room

# A command line with two additional commands: `made`, which does what its test says, and `kit`, a sub-app.
MADE = """
import sys
from typing import Annotated
import typer
import regard.cli
from regard.base.faults import Fault
from regard.commands import COMMANDS
from regard.console import console_progress, remark
from regard.verbs.table import Room

def command(count: Annotated[int, typer.Option("--count", help="How [many].")] = 1) -> None:
    "Do as the test says."
    {body}

app = typer.Typer()

@app.command("list")
def listed(long: bool = False) -> None:
    print("a list")

@app.command("get")
def get(name: str) -> None:
    print("got", name)

if __name__ == "__main__":
    COMMANDS["made"] = Room("__main__:command", "Do as the test says.")
    COMMANDS["kit"] = Room("__main__:app", "A kit of commands.")
    regard.cli.run()
"""

QUIET = {name: value for name, value in os.environ.items() if name not in ("REGARD_TRACEBACK", "NO_COLOR")}


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def made(monkeypatch, capsys):
    """Run `regard` with the additional commands in this process; `body` is what `made` does."""
    monkeypatch.delenv("REGARD_TRACEBACK", raising=False)
    monkeypatch.setitem(COMMANDS, "made", Room("made:command", "Do as the test says."))
    monkeypatch.setitem(COMMANDS, "kit", Room("made:app", "A kit of commands."))

    def run(*arguments, body="pass", **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        module = types.ModuleType("made")
        monkeypatch.setitem(sys.modules, "made", module)
        exec(MADE.format(body=body), module.__dict__)
        return Done(main(arguments), *capsys.readouterr())

    return run


def program(folder: Path, body: str) -> Path:
    path = folder / "made.py"
    path.write_text(MADE.format(body=body), encoding="utf-8")
    return path


def regard(*arguments, **environment):
    command = [sys.executable, "-m", "regard", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=QUIET | environment, timeout=60)


def test_help_names_every_command_and_imports_none_of_them():
    code = (
        "import sys, regard.cli\n"
        "assert regard.cli.main(['--help']) == 0\n"
        "heavy = {'torch', 'numpy', 'pydantic', 'matplotlib', 'rich', 'sentencepiece'}\n"
        "ours = ('regard.cli.', 'regard.commands.', 'regard.console', 'regard.verbs.')\n"
        "print(sorted(heavy & set(sys.modules)), sorted(name for name in sys.modules if name.startswith(ours)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=QUIET, timeout=60)
    *help_lines, imported = done.stdout.splitlines()
    # Modules needed once no file can be opened: output of commands, remarks about models, and the rows.
    ours = ["cli.plugin_option", "cli.valid_text", "console", "console.refused", "verbs.table"]
    assert imported == f"[] {[f'regard.{name}' for name in ours]}"
    for name, room in COMMANDS.items():
        assert any(line.split() == [name, *room.summary.split()] for line in help_lines), f"{name} is cut off"


def test_importing_regard_leaves_torch_alone():
    code = "import sys, regard; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n"


def test_version():
    done = regard("--version")
    assert (done.returncode, done.stdout) == (0, f"regard {__import__('regard').__version__}\n")


def test_alone_it_shows_its_help():
    assert regard().stdout == regard("--help").stdout


def test_a_misspelt_command_is_refused_with_the_nearest(made):
    done = made("maade")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "regard: No such command 'maade'. Did you mean 'made'?",
        "regard: `regard --help` shows how to use it.",
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["made", "--cuont", "3"], "No such option: --cuont. Did you mean '--count'?"),
        (["made", "--zzz"], "No such option: --zzz."),
        (["kit", "lits"], "No such command 'lits'. Did you mean 'list'?"),
        (["kit", "list", "--lnog"], "No such option: --lnog. Did you mean '--long'?"),
        (["made", "--traceback"], "--traceback goes before the command, as in `regard --traceback made`."),
        (["--vershion"], "No such option: --vershion. Did you mean '--version'?"),
    ],
)
def test_near_misses(made, line, sentence):
    done = made(*line)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"regard: {sentence}")


def test_faults_of_usage(made):
    done = made("made", "--count", "many")
    assert done.returncode == 2
    assert "Invalid value for '--count': expected a whole number." in done.stderr
    assert "`regard made --help` shows how to use it." in done.stderr
    assert made("kit", "get").stderr.startswith("regard: Missing argument 'NAME'.")


def test_a_group_alone_shows_its_help_and_a_command_keeps_its_brackets(made):
    assert "list" in made("kit").stdout
    assert "How [many]." in made("made", "-h").stdout
    assert "kit get [OPTIONS] {NAME}" in made("kit", "get", "--help").stdout


def test_a_fault_is_sentences_and_status_2(made):
    done = made("made", body="raise Fault('The one thing is wrong.', 'So is the other.')")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "regard: The one thing is wrong.\nregard: So is the other.\n"


def test_with_standard_error_closed_nothing_strays_into_the_results(monkeypatch, made):
    monkeypatch.setattr(sys, "stderr", None)
    done = made("made", body="remark('a remark'); raise Fault('Wrong.')")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_fault_of_ours_is_short_and_says_where_to_report_it(made):
    done = made("made", body="raise ValueError('two and two\\nmake five')")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "regard: this is a bug in regard: ValueError: two and two",
        "regard: please report it in the project's issue tracker, with what `regard --traceback COMMAND …` prints.",
    ]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("raise MemoryError", "There is not enough memory for this; give less at a time, or use a smaller model."),
        (
            "raise OSError(5, 'Input/output error', 'shard.bin')",
            "The device of shard.bin reports an input/output error; check the disk.",
        ),
        (
            "raise OSError(5, 'Input/output error')",
            "The device of a file reports an input/output error; check the disk.",
        ),
    ],
)
def test_what_the_machine_cannot_do_is_no_fault_of_ours(made, body, sentence):
    done = made("made", body=body)
    assert (done.returncode, done.stderr) == (2, f"regard: {sentence}\n")


def test_the_traceback_is_shown_when_asked_for(made):
    by_option = made("--traceback", "made", body="raise ValueError('five')")
    by_environment = made("made", body="raise ValueError('five')", REGARD_TRACEBACK="1")
    for done in (by_option, by_environment):
        assert done.returncode == 1
        assert "Traceback (most recent call last)" in done.stderr
        assert done.stderr.endswith("issue tracker, with the lines above.\n")
    assert "Traceback" not in made("made", body="raise ValueError('five')", REGARD_TRACEBACK="0").stderr


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EACCES, "here.txt may not be read or written by you (permission denied)."),
        (errno.ENOENT, "There is no file or folder here.txt."),
        (errno.EISDIR, "here.txt is a folder, and a file is needed."),
        (errno.ENOSPC, "No space is left on the device of here.txt; make room and try again."),
        (errno.EFBIG, "here.txt would exceed the largest file size allowed there (`ulimit -f` shows your limit)."),
        (errno.EROFS, "here.txt is on a read-only file system."),
    ],
)
def test_what_the_disk_refuses_is_the_users_to_mend(made, number, sentence):
    done = made("made", body=f"raise OSError({number}, 'words of the system', 'here.txt')")
    assert (done.returncode, done.stderr) == (2, f"regard: {sentence}\n")


def test_an_error_of_the_system_that_names_no_file_is_ours(made):
    assert made("made", body=f"raise OSError({errno.ENOENT}, 'no such thing')").returncode == 1


def test_a_missing_package_is_named(made):
    done = made("made", body="import no_such_package.inner")
    assert done.returncode == 2
    assert done.stderr.startswith("regard: no_such_package is not installed; `regard doctor`")


def test_ctrl_c_while_a_compiled_module_is_imported_is_ctrl_c(made):
    done = made("made", body="raise ImportError('initialization failed') from KeyboardInterrupt()")
    assert (done.returncode, done.stderr) == (130, "regard: stopped.\n")


def test_bytes_of_an_argument_that_are_no_utf_8_are_named(made):
    done = made("made", body="'caf\\udce9'.encode()")
    assert done.returncode == 2
    assert done.stderr == "regard: The byte 0xe9 in your input is not UTF-8; give text and names in UTF-8.\n"


def test_letters_the_terminal_cannot_write_are_named(tmp_path):
    command = [sys.executable, program(tmp_path, "print('não')"), "made"]
    ascii_only = QUIET | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=ascii_only, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("regard: '\\xe3' cannot be written in the encoding ascii; set PYTHONUTF8=1")


def test_a_full_disk_under_the_output_is_told_once(tmp_path):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, program(tmp_path, "print(count)"), "made"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=QUIET, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "regard: No space is left on the device of the output; make room and try again.\n"


def test_a_page_of_frames_from_torch_about_bf16_is_not_shown(made):
    """Seen on an ARM CPU without bf16: torch falls back by itself and warns with all its C++ frames."""
    message = "mkldnn_matmul failed, switching to BLAS gemm: no bf16\\nframe #0: c10::Error"
    assert made("made", body=f"import warnings; warnings.warn('{message}')").stderr == ""
    assert "another" in made("made", body="import warnings; warnings.warn('another')").stderr


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_reader_that_left_is_nobodys_fault(tmp_path, lines):
    """One line fails only in the last flush, many fail within the command; both end silently."""
    reading, writing = os.pipe()
    os.close(reading)
    body = f"print('line\\n' * {lines})"
    command = [sys.executable, program(tmp_path, body), "made"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, env=QUIET, timeout=60)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_pipe_that_broke_elsewhere_is_ours(made):
    assert made("made", body="raise BrokenPipeError(32, 'a worker died')").returncode == 1


def interrupted(path: Path, *moments: str) -> tuple[int, str]:
    """Press Ctrl-C after each of these lines of the made program. Return its status and output."""
    command = [sys.executable, path, "made"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=QUIET) as process:
        assert process.stdout is not None
        for moment in moments:
            assert process.stdout.readline() == f"{moment}\n"
            process.send_signal(signal.SIGINT)
        _, remarks = process.communicate(timeout=60)
    return process.returncode, remarks


IN_PYTHON = "print('ready', flush=True); import time; time.sleep(60)"
TIDYING = """import time
    try:
        print('ready', flush=True)
        time.sleep(60)
    finally:
        print('tidying', flush=True)
        time.sleep(60)"""
# Python's exit stops such threads in a way that C++ treats as an error, and aborts.
THREADS_IN_TORCH = """import threading, time, torch
    def work():
        while True:
            square = torch.randn(64, 64, requires_grad=True)
            (square @ square).sum().backward()
    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)
    print('ready', flush=True)
    time.sleep(60)"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("body", "moments"),
    [(IN_PYTHON, ["ready"]), (TIDYING, ["ready", "tidying"]), (THREADS_IN_TORCH, ["ready"])],
    ids=["once", "twice", "threads in torch"],
)
def test_ctrl_c_ends_with_130_and_one_line(tmp_path, body, moments):
    assert interrupted(program(tmp_path, body), *moments) == (130, "regard: stopped.\n")


def complete(*words: str) -> list[str]:
    environment = {
        "_REGARD_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["regard", *words]),
        "COMP_CWORD": str(len(words)),
    }
    return regard(**environment).stdout.split()


def test_completion_knows_the_table_and_what_lies_behind_it():
    assert complete("do") == ["doctor"]
    assert set(COMMANDS) == set(complete(""))
    assert complete("doctor", "--js") == ["--json"]


def test_completion_can_be_shown():
    done = regard("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_REGARD_COMPLETE=complete_bash" in done.stdout


def on_a_terminal(path: Path, **environment: str) -> str:
    """Return what `made` writes to standard error on a terminal, with nothing on standard output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, path, "made"], stdout=subprocess.PIPE, stderr=theirs, env=QUIET | environment
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 4096):
            seen += piece
    except OSError:  # how a terminal says that everybody has hung up
        pass
    os.close(ours)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, b"a result\n")
    return seen.decode()


PROGRESS = """with console_progress() as progress:
        for done in range(1001):
            progress('tokenising', done, 1000)
        remark('a remark')
        print('a result')"""


def test_on_a_terminal_progress_is_a_bar_and_elsewhere_a_line(tmp_path, made):
    path = program(tmp_path, PROGRESS)
    bar = on_a_terminal(path, TERM="xterm-256color")
    assert "━━" in bar
    assert "1,000 of 1,000" in bar
    assert "a remark" in bar
    assert "\x1b[38;5;" in bar  # colours
    done = made("made", body=PROGRESS, FORCE_COLOR="1")
    assert done.stderr == "a remark\ntokenising 1,000 of 1,000\n"


def test_no_color_leaves_the_bar_and_takes_the_colours(tmp_path):
    bar = on_a_terminal(program(tmp_path, PROGRESS), TERM="xterm-256color", NO_COLOR="1")
    assert "━━" in bar
    assert "\x1b[38;5;" not in bar


def test_a_dumb_terminal_gets_lines(tmp_path):
    assert "\x1b" not in on_a_terminal(program(tmp_path, PROGRESS), TERM="dumb")


def test_recipes_lists_them_and_refuses_an_unknown_one(tmp_path, monkeypatch, capsys):
    from regard.commands import recipes

    (tmp_path / "demo.toml").write_text("# The small translator\nfamily = 'transformer'\n", encoding="utf-8")
    monkeypatch.setattr("regard.runs.recipes.RECIPES.shipped", {"demo": tmp_path / "demo.toml"})
    recipes.command()
    assert capsys.readouterr().out.splitlines() == ["recipe  what it is", "demo    The small translator"]
    recipes.command("demo")
    assert capsys.readouterr().out == "# The small translator\nfamily = 'transformer'\n"
    recipes.command(as_json=True)
    assert '"title": "The small translator"' in capsys.readouterr().out
    with pytest.raises(Fault, match=r"There is no recipe 'dmeo'; did you mean 'demo'\?"):
        recipes.command("dmeo")
    with pytest.raises(Fault, match=r"There is no recipe '\.\./demo'"):
        recipes.command("../demo")


def test_a_file_that_may_not_be_written_is_named_as_it_was_asked_for(capsys):
    for hidden in ("/here/.x.pt.unfinished", "/here/.x.pt.partial"):
        assert cli._explain(PermissionError(errno.EACCES, "no", hidden)) == 2
        assert capsys.readouterr().err == "regard: /here/x.pt may not be read or written by you (permission denied).\n"
