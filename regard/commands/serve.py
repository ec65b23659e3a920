"""`regard serve`: a page for people and an interface for programs."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.faults import Fault
from regard.console import remark
from regard.console.options import Engine

if TYPE_CHECKING:
    from regard.engines.fast import Choice
    from regard.serving.options import ServingOptions

_KEY = "REGARD_API_KEY"
_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[^/\s]+")  # as browsers write it: nothing behind the name and its port

_Models = Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Model folders.")]
_Host = Annotated[str, typer.Option(help="The address to listen at; the default is this machine alone.")]
_Port = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 is any that is free.")]
_Public = Annotated[bool, typer.Option("--public", help="Serve other machines without asking for a key.")]
_KeyFile = Annotated[
    Path | None, typer.Option(help=f"A file with the key that requests must know; so does the variable {_KEY}.")
]
_AllowHost = Annotated[
    list[str] | None, typer.Option(help="A name under which the server may be called.", metavar="NAME")
]
_AllowOrigin = Annotated[
    list[str] | None, typer.Option(help="A site whose pages may ask, as https://example.org.", metavar="ORIGIN")
]
_Characters = Annotated[int | None, typer.Option(min=1, help="Characters of a request at most.")]
_Seconds = Annotated[float | None, typer.Option(min=0.1, max=3600, help="Time for a request at most.")]
_Requests = Annotated[int | None, typer.Option(min=0, help="Requests a minute of one client; 0 is no limit.")]
_Rows = Annotated[int | None, typer.Option(min=1, max=4096, help="Sentences in a batch at most.")]
_Patience = Annotated[
    float | None, typer.Option(min=0, max=1, help="Seconds that a sentence waits for others at most (0.5).")
]
_Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any other limit: limits.beam=8, limits.waiting=1000.", metavar="NAME=VALUE"),
]
_Processes = Annotated[int, typer.Option(min=1, max=256, help="Server processes behind the port.", metavar="N")]
_Quiet = Annotated[bool, typer.Option("--quiet", help="No line on standard error for each request.")]
_LogTexts = Annotated[bool, typer.Option("--log-texts", help="Write the texts of requests into these lines.")]


def command(
    models: _Models,
    host: _Host = "127.0.0.1",
    port: _Port = 5000,
    engine: Engine = "auto",
    public: _Public = False,
    key_file: _KeyFile = None,
    allow_host: _AllowHost = None,
    allow_origin: _AllowOrigin = None,
    characters: _Characters = None,
    seconds: _Seconds = None,
    requests: _Requests = None,
    rows: _Rows = None,
    patience: _Patience = None,
    settings: _Set = None,
    processes: _Processes = 1,
    quiet: _Quiet = False,
    log_texts: _LogTexts = False,
) -> None:
    """Serve models: a page at http://127.0.0.1:5000, and the interface that LibreTranslate's clients speak."""
    from regard.base.recipe import apply_settings, check
    from regard.serving.options import ServingOptions

    named = {"characters": characters, "seconds": seconds, "requests": requests}
    table = apply_settings({}, settings or [])
    _add(table, "limits", named)
    _add(table, "batching", {"rows": rows, "patience": patience})
    if "access" in table:
        raise Fault("Access is set with --host, --public, --key-file, --allow-host and --allow-origin, not with --set.")
    table["access"] = _access(host, public, _key(key_file), allow_host or [], allow_origin or []) | {
        "log_texts": log_texts
    }
    _serve(models, host, port, engine, check(ServingOptions, table, "the server"), quiet, processes)


def _add(table: dict[str, Any], name: str, values: Mapping[str, Any]) -> None:
    inner = table.setdefault(name, {})
    if not isinstance(inner, dict):
        raise Fault(f"{name} holds several settings; give one of them, as --set {name}.{next(iter(values))}=…")
    inner |= {key: value for key, value in values.items() if value is not None}


def _access(host: str, public: bool, key: str | None, hosts: list[str], origins: list[str]) -> dict[str, object]:
    """Return the access rules. Beyond this machine, a key is needed or --public."""
    own = ["localhost", "127.0.0.1", "::1"]
    is_near = _is_loopback(host)
    if not is_near and key is None and not public:
        raise Fault(
            f"At {host} other machines can reach the server; give a key with --key-file, or say --public to let "
            "anyone in."
        )
    if public and key is not None:
        raise Fault("--public lets anyone in, and --key-file those who know the key; give one of the two.")
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise Fault(f"--allow-origin is '{origin}', expected a scheme and a name alone, as in https://example.org.")
    names = [*own, *([] if is_near or host in ("0.0.0.0", "::") else [host]), *hosts]
    return {"hosts": tuple(dict.fromkeys(names)), "any_address": not is_near, "origins": tuple(origins), "key": key}


def _is_loopback(host: str) -> bool:
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _key(file: Path | None) -> str | None:
    """Return the key that requests must know, from the file or else the environment; a refusal never shows it."""
    from regard.serving.options import SHORTEST_KEY

    if file is None:
        key, where = os.environ.get(_KEY, ""), f"the variable {_KEY}"
    else:
        key, where = _read_key(file), f"the file {file}"
    if 0 < len(key) < SHORTEST_KEY:
        raise Fault(f"The key in {where} is too short; a key has at least {SHORTEST_KEY} characters.")
    return key or None


def _read_key(file: Path) -> str:
    try:
        key = file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise Fault(f"The key file {file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Fault(f"The key file {file} is not UTF-8 text.") from None
    if not key:
        raise Fault(f"The key file {file} is empty; write a key into it.")
    return key


def _serve(
    models: list[Path],
    host: str,
    port: int,
    engine: "Choice",
    options: "ServingOptions",
    quiet: bool,
    processes: int,
) -> None:
    from regard.serving.http.guard import write_line
    from regard.serving.http.server import address_of, bind, serve

    def warn(said: str) -> None:
        remark(f"regard: {said}")

    listening = bind(host, port)
    address = address_of(listening)
    try:
        if processes > 1:
            from regard.serving.processes import Serving, serve_by_processes

            serving = Serving(models, engine, options, quiet)
            serve_by_processes(serving, processes, listening, lambda: warn(f"serving on {address}"), warn)
        else:
            from regard.serving.app import make_app

            guard = make_app(models, options, engine, None if quiet else write_line, warn)
            serve(guard, listening, options.limits.seconds, lambda: warn(f"serving on {address}"))
    finally:
        listening.close()
