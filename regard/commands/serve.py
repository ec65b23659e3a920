"""`regard serve`: a web page for people and a REST API for programs."""

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
_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[^/\s]+")  # as browsers send it: nothing after the name and port

_Models = Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Model folders.")]
_Host = Annotated[
    str,
    typer.Option(
        help="Address to listen on; by default only this machine can connect. Beyond it, use --key-file or --public."
    ),
]
_Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")]
_Public = Annotated[bool, typer.Option("--public", help="Serve other machines without a key.")]
_KeyFile = Annotated[
    Path | None, typer.Option(help=f"A file with the API key that requests must send; or set the variable {_KEY}.")
]
_AllowHost = Annotated[
    list[str] | None, typer.Option(help="A host name that requests may use; repeatable.", metavar="NAME")
]
_AllowOrigin = Annotated[
    list[str] | None,
    typer.Option(
        help="A site whose pages may send requests, such as https://example.org; repeatable.", metavar="ORIGIN"
    ),
]
_Characters = Annotated[int | None, typer.Option(min=1, help="Maximum characters per request.")]
_Seconds = Annotated[float | None, typer.Option(min=0.1, max=3600, help="Maximum time per request.")]
_Requests = Annotated[
    int | None, typer.Option(min=0, help="Maximum requests per minute from one client; 0 is no limit.")
]
_Rows = Annotated[int | None, typer.Option(min=1, max=4096, help="Maximum sentences per batch.")]
_Patience = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Maximum seconds that a sentence waits to be batched with others (0.5)."),
]
_Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Another limit: limits.beam=8, limits.waiting=1000.", metavar="NAME=VALUE"),
]
_Processes = Annotated[int, typer.Option(min=1, max=256, help="Number of server processes.", metavar="N")]
_Quiet = Annotated[bool, typer.Option("--quiet", help="Do not log requests to standard error.")]
_LogTexts = Annotated[bool, typer.Option("--log-texts", help="Include the texts of requests in the log.")]


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
    """Serve models: a web page at http://127.0.0.1:5000, and a REST API that works with LibreTranslate clients."""
    from regard.base.recipe import apply_settings, check
    from regard.serving.options import ServingOptions

    limits = {"characters": characters, "seconds": seconds, "requests": requests}
    table = apply_settings({}, settings or [])
    _add(table, "limits", limits)
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
        raise Fault(f"{name} holds several settings; give one of them, as in --set {name}.{next(iter(values))}=…")
    inner |= {key: value for key, value in values.items() if value is not None}


def _access(host: str, public: bool, key: str | None, hosts: list[str], origins: list[str]) -> dict[str, object]:
    """Return the access rules; beyond this machine, a key or --public is needed."""
    local_names = ["localhost", "127.0.0.1", "::1"]
    is_local = _is_loopback(host)
    if not is_local and key is None and not public:
        raise Fault(
            f"At {host} other machines can reach the server; give a key with --key-file, or --public to let anyone in."
        )
    if public and key is not None:
        raise Fault("--public lets anyone in and --key-file only those with the key; give one of the two.")
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise Fault(
                f"--allow-origin is '{origin}', expected only a scheme and a host, such as https://example.org."
            )
    names = [*local_names, *([] if is_local or host in ("0.0.0.0", "::") else [host]), *hosts]
    return {"hosts": tuple(dict.fromkeys(names)), "any_address": not is_local, "origins": tuple(origins), "key": key}


def _is_loopback(host: str) -> bool:
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _key(file: Path | None) -> str | None:
    """Return the API key from the file or else the environment; error messages never show it."""
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

    def warn(message: str) -> None:
        remark(f"regard: {message}")

    listener = bind(host, port)
    address = address_of(listener)
    try:
        if processes > 1:
            from regard.serving.processes import Serving, serve_by_processes

            serving = Serving(models, engine, options, quiet)
            serve_by_processes(serving, processes, listener, lambda: warn(f"serving on {address}"), warn)
        else:
            from regard.serving.app import make_app

            guard = make_app(models, options, engine, None if quiet else write_line, warn)
            serve(guard, listener, options.limits.seconds, lambda: warn(f"serving on {address}"))
    finally:
        listener.close()
