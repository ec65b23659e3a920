"""The command line: looks a command up in the table and imports it only when it is used.

Results go to standard output, everything else to standard error. The exit status is 0 for success, 2 for a fault that
the user can fix, 1 for a fault of ours, 130 after Ctrl-C, and 141 when the reader of our output has gone away.
"""

import atexit
import gc
import os
import re
import select
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache, wraps
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from regard.base.faults import Fault
from regard.base.model_folder import WEIGHTS
from regard.base.places import find_place
from regard.base.plugins import name_plugin, plugin_of
from regard.base.version import __version__
from regard.cli.plugin_option import Plugins, remark_on_plugins, take_plugins
from regard.cli.valid_text import refuse_invalid_text
from regard.commands import COMMANDS, SETS_RECIPE
from regard.console import remark
from regard.console.refused import refusal_sentence
from regard.hardware.memory import is_out_of_memory
from regard.training.pace import read_course
from regard.verbs.table import ROOMS

# Number of new objects after which the garbage collector runs. Python's default of 700 makes it run a thousand times
# while torch is imported. That takes a tenth of the time and frees nothing, because modules keep what they create.
_YOUNG = 20_000
MODELS = ("model", "models")  # the parameters of commands that name model folders
_EXPECTED = [  # what typer says of a wrong value, and what we say
    (re.compile(theirs), ours)
    for theirs, ours in (
        (r"(Input should be a valid|Unable to parse input string as an) integer, .*", "expected a whole number"),
        (r"Input should be a valid number, .*|Input should be a finite number", "expected a number"),
        (r"Input should be greater than or equal to (.*\w)", r"expected \1 or more"),
        (r"Input should be less than or equal to (.*\w)", r"expected \1 or less"),
        (r"Input should be greater than (.*\w)", r"expected more than \1"),
        (r"Input should be less than (.*\w)", r"expected less than \1"),
    )
]
_HABITS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Deferred(TyperCommand):
    """A command from the table; its module is imported when its arguments are parsed."""

    def __init__(self, name: str, place: str, summary: str) -> None:
        super().__init__(name, help=summary, rich_markup_mode=None)
        self.place = place

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        command = self._load()
        if isinstance(command, TyperGroup) and not args and not extra.get("resilient_parsing"):
            args = ["--help"]
        return command.make_context(info_name, args, parent=parent, **extra)

    def _load(self) -> Any:
        return _command_of(find_place(self.place), self.name, self.help)


@cache
def _command_of(target: Any, name: str | None, summary: str | None) -> Any:
    """Return a function or a group of functions as a command; cached, so that many command lines run quickly."""
    if not isinstance(target, typer.Typer):
        app = typer.Typer(add_completion=False)
        app.command(name, help=None if target.__doc__ else summary)(target)
        target = app
    # Plain help is four times faster than rich's and leaves square brackets in help texts alone.
    target.rich_markup_mode = None
    command = get_command(target)
    command.context_settings = {**_HABITS, **command.context_settings}
    _write_arguments_in_capitals(command)
    _caution_first(command)
    refuse_invalid_text(command)
    take_plugins(command)
    return command


def _write_arguments_in_capitals(command: Any) -> None:
    """Show arguments in capitals, MODEL rather than model, as the documents do."""
    for inner in getattr(command, "commands", {}).values():
        _write_arguments_in_capitals(inner)
    for parameter in command.params:
        if parameter.param_type_name == "argument" and parameter.metavar is None:
            parameter.metavar = parameter.name.upper()


def _caution_first(command: Any) -> None:
    """Make a command, or each command of a group, warn if a model it is given has hardly been trained."""
    for inner in getattr(command, "commands", {}).values():
        _caution_first(inner)
    plain = command.callback
    if plain is None or not any(parameter.name in MODELS for parameter in command.params):
        return

    @wraps(plain)
    def callback(**arguments: Any) -> Any:
        for name in MODELS:
            _caution(_places(arguments.get(name)))
        return plain(**arguments)

    command.callback = callback


def _places(value: Any) -> list[Path]:
    values = value if isinstance(value, list | tuple) else [value]
    return [place for place in values if isinstance(place, Path)]


def _caution(folders: Iterable[Path]) -> None:
    folders = list(folders)
    for folder in folders:
        if not (folder / WEIGHTS).is_file():
            continue  # the command itself refuses it
        if (course := read_course(folder / "training")) and (caution := course.caution()):
            remark(caution if len(folders) == 1 else f"{folder}: {caution}")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"regard {__version__}")
        raise typer.Exit


def _start(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
    traceback: Annotated[
        bool,
        typer.Option("--traceback", help="Print the traceback of an internal error; REGARD_TRACEBACK=1 does too."),
    ] = False,
    plugin: Plugins = None,
) -> None:
    """Train, run and look inside attention models."""
    if traceback:
        os.environ["REGARD_TRACEBACK"] = "1"


class _Root(TyperGroup):
    """All commands. Verbs of plugins named by --plugin are listed; those of installed plugins can be called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *(name for name in ROOMS.named() if name not in self.commands)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is None and (room := ROOMS.get(cmd_name)) is not None:
            return _Deferred(cmd_name, room.command, room.summary)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        for word, following in pairwise(args):
            if word == "--plugin" and args[0] not in self.commands:  # the plugin may provide it
                name_plugin(following)
        return super().resolve_command(ctx, args)


def _root() -> TyperGroup:
    app = typer.Typer(cls=_Root, rich_markup_mode=None, context_settings=_HABITS)
    app.callback(epilog="`regard COMMAND --help` explains a command; start with `regard demo`.")(_start)
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    for name, room in COMMANDS.items():
        group.add_command(_Deferred(name, room.command, room.summary))
    return group


def run() -> NoReturn:
    """Run the program and exit with the status of its command line.

    After Ctrl-C, skip Python's own shutdown: it would stop threads that a second Ctrl-C left inside torch, and C++
    would abort with a message.
    """
    status = 130
    gc.set_threshold(_YOUNG)

    def leave_at_once() -> None:
        if status == 130:
            _wait_for_gpu()
            os._exit(status)

    atexit.register(leave_at_once)  # registered first, so called last
    threading.excepthook = _hear_thread
    with suppress(KeyboardInterrupt):  # a second one, while the first is being reported
        status = main()
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    sys.exit(status)


def _wait_for_gpu() -> None:
    """Wait for GPU work to finish, if there is any; otherwise import nothing this late."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        from regard.hardware.devices import wait_for_gpu

        wait_for_gpu()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status; no exception escapes."""
    from regard.console import NoOutput, remarks_on_text

    if sys.stdout is None:
        sys.stdout = NoOutput()
    try:
        with warnings.catch_warnings(), remarks_on_text():
            # On a CPU without bf16, torch falls back to another path and warns with a page of its own stack frames.
            warnings.filterwarnings("ignore", "mkldnn_matmul failed, switching to BLAS")
            remark_on_plugins()
            status = _run(sys.argv[1:] if arguments is None else list(arguments))
        if sys.stdout:
            sys.stdout.flush()  # here, where a full disk or a closed pipe can still be reported
    except (Exception, KeyboardInterrupt) as error:
        status = _explain(error)
    _silence_what_cannot_be_written()
    return status


def _hear_thread(failure: threading.ExceptHookArgs) -> None:
    """Ignore errors in TensorBoard's threads: it raises them again where we call it."""
    if not type(failure.thread).__module__.startswith("tensorboard"):
        threading.__excepthook__(failure)


def _run(arguments: list[str]) -> int:
    root = _root()
    try:
        if "_REGARD_COMPLETE" in os.environ:
            root.main(prog_name="regard")
        with root.make_context("regard", arguments or ["--help"]) as context:
            root.invoke(context)
    except typer.Exit as request:
        return request.exit_code
    except SystemExit as request:
        return request.code if isinstance(request.code, int) else int(request.code is not None)
    return 0


def _explain(error: BaseException) -> int:
    """Report in sentences what happened, and return the matching exit status."""
    if sys.stdout:
        with suppress(OSError, ValueError):
            sys.stdout.flush()  # earlier output comes before the sentences
    match error:
        case ImportError() if isinstance(error.__cause__, KeyboardInterrupt):  # how compiled modules report it
            return _explain(error.__cause__)
        case KeyboardInterrupt() | typer.Abort():
            # The terminal has just written ^C, so the sentence starts on a new line.
            _tell("stopped.", before="\n" if sys.stderr and sys.stderr.isatty() else "")
            return 130
        case Fault():
            return _tell(*error.sentences)
        case typer.TyperException():
            return _tell(*_usage(error))
        case BrokenPipeError() if _reader_is_gone():
            return 141
        case UnicodeEncodeError():
            return _tell(_unwritable(error.object[error.start], error.encoding))
        case Exception() if sentence := refusal_sentence(error):
            return _tell(sentence)
        case ModuleNotFoundError() if error.name and error.name.partition(".")[0] != "regard":
            return _tell(f"{error.name} is not installed; `regard doctor` lists what is missing.")
        case MemoryError() | RuntimeError() if is_out_of_memory(error):
            return _tell("There is not enough memory for this; give less at a time, or use a smaller model.")
    return _own_fault(error)


def _unwritable(character: str, encoding: str) -> str:
    if "\udc80" <= character <= "\udcff":  # how Python keeps bytes that it could not decode
        return f"The byte {ord(character) - 0xDC00:#x} in your input is not UTF-8; give text and names in UTF-8."
    return f"{character!a} cannot be written in the encoding {encoding}; set PYTHONUTF8=1 to write UTF-8."


def _usage(error: typer.TyperException) -> list[str]:
    """Return sentences that say what is wrong with a command line, the nearest correct name, and where to find help."""
    context = getattr(error, "ctx", None)
    option, near = getattr(error, "option_name", None), getattr(error, "possibilities", None)
    message = _plain(error.message if near or option else error.format_message())
    if near and option:  # compare the letters alone: the shared hyphens would make any two options look alike
        near = [name for name in near if get_close_matches(option.lstrip("-"), [name.lstrip("-")])]
        near = get_close_matches(option, near, 1, 0.0)
    if option and context and (hint := _hint(context, option)):
        message = f"{message}. {hint}"
    elif near:
        message = f"{message}. Did you mean {', '.join(repr(name) for name in sorted(near))}?"
    if message[-1:].isalnum():
        message += "."
    if context is None:
        return [message]
    if option in ("--traceback", "--version") and context.parent:
        message = f"{option} goes before the command, as in `regard {option} {context.info_name}`."
    return [message, f"`{context.command_path} --help` shows how to use it."]


def _plain(message: str) -> str:
    """Return a message with what typer expects of a value in our words."""
    message = message.replace("Value error, ", "")
    for theirs, ours in _EXPECTED:
        message = theirs.sub(ours, message)
    return message


def _hint(context: Any, option: str) -> str | None:
    """Return a hint for an option that other tools name differently: this command's option, or a recipe key."""
    from regard.base.suggestions import paths_called

    options = {
        name.strip("-").replace("-", "_"): name for parameter in context.command.params for name in parameter.opts
    }
    if names := paths_called(option, list(options)):
        return f"Did you mean '{options[names[0]]}'?"
    if context.info_name not in SETS_RECIPE:
        return None
    from regard.families import described_options

    keys = described_options()
    return (
        " ".join(f"Give --set {key}=VALUE ({keys[key].rstrip('.')})." for key in paths_called(option, list(keys)))
        or None
    )


def _own_fault(error: BaseException) -> int:
    if os.environ.get("REGARD_TRACEBACK", "0") not in ("", "0"):
        with suppress(OSError):
            traceback.print_exception(error, file=sys.stderr)
        how = "with the lines above"
    else:
        how = "with what `regard --traceback COMMAND …` prints"
    what = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}".rstrip(": ")
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    if plugin := next(filter(None, map(plugin_of, reversed(modules))), None):
        _tell(f"the plugin {plugin} failed: {what}", f"please report it to its authors, {how}.")
    else:
        _tell(f"this is a bug in regard: {what}", f"please report it in the project's issue tracker, {how}.")
    return 1


def _tell(*sentences: str, before: str = "") -> int:
    if sys.stderr:  # print(file=None) would write to standard output
        with suppress(OSError):
            for sentence in sentences:
                print(f"{before}regard: {sentence}", file=sys.stderr, flush=True)
    return 2


def _reader_is_gone() -> bool:
    """Return True if nobody reads our output any more; a pipe that broke elsewhere is a bug of ours."""
    pipes = select.poll()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError, ValueError):
            pipes.register(stream.fileno(), 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in pipes.poll(0))


def _silence_what_cannot_be_written() -> None:
    """Redirect streams that cannot be flushed, so that Python's last flush does not report the same error again."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
