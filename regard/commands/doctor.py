"""`regard doctor`: check what is installed, what is missing, and suggest the next command."""

import importlib
import os
import platform
import re
import shutil
import sys
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.base.extras import EXTRAS, how_to_install
from regard.base.faults import Fault
from regard.base.version import __version__
from regard.console import print_json

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_DEMO = Path("runs/demo")
_UNINSTALLED = ", not installed; run `make setup` or `pip install .` in its checkout"


@dataclass(frozen=True)
class Dependency:
    """A package that regard needs: its name, the minimum version ("" for any) and the installed one."""

    name: str
    needed: str
    found: str | None

    @property
    def will_do(self) -> bool:
        return self.found is not None and _numbers(self.found) >= _numbers(self.needed)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])[:3]))


def dependencies(extra: str = "") -> list[Dependency]:
    """List the requirements of the package or of an extra; empty if regard is not installed."""
    try:
        requirements = metadata.requires("regard") or []
    except metadata.PackageNotFoundError:
        return []
    selected = [line for line in requirements if (f'extra == "{extra}"' in line if extra else "extra ==" not in line)]
    return [_dependency(requirement) for requirement in selected]


def _is_installed() -> bool:
    try:
        return bool(metadata.version("regard"))
    except metadata.PackageNotFoundError:
        return False


def _dependency(requirement: str) -> Dependency:
    name, needed = re.findall(r"^([\w.-]+)(?:.*?>=\s*([\d.]+))?", requirement)[0]
    try:
        found: str | None = metadata.version(name)
    except metadata.PackageNotFoundError:
        found = None
    return Dependency(name, needed, found)


def examine() -> dict[str, Any]:
    """Return all findings as plain values."""
    needed = dependencies()
    unmet = [dependency for dependency in needed if not dependency.will_do]
    return {
        "regard": __version__,
        "folder": str(Path(__file__).parents[1]),
        "installed": _is_installed(),
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "dependencies": [asdict(dependency) | {"will_do": dependency.will_do} for dependency in needed],
        "missing": [dependency.name for dependency in unmet],
        "extras": {extra: _works(extra) for extra in EXTRAS},
        "torch": _torch(),
        "data": _data(),
        "chromium": next(filter(None, map(shutil.which, _BROWSERS)), None),
        "encoding": (sys.stdout and sys.stdout.encoding) or "none",
        "next": _next(unmet),
    }


def _works(extra: str) -> bool:
    needed = dependencies(extra)
    return bool(needed) and all(dependency.will_do for dependency in needed)


def _torch() -> dict[str, Any]:
    """Describe the devices that torch can use, or why torch cannot be loaded."""
    try:
        torch = importlib.import_module("torch")
    except (ImportError, OSError) as error:
        return {"fault": str(error)}
    cuda = [torch.cuda.get_device_name(place) for place in range(torch.cuda.device_count())]
    from regard.hardware.sharing import advice_on_sharing, is_shared
    from regard.hardware.threads import threads_beside_gpu
    from regard.kernels import obstacle

    return {
        "version": torch.__version__,
        "cuda": cuda,
        "threads": torch.get_num_threads(),
        "threads_beside_gpu": threads_beside_gpu(),
        "kernels": obstacle(),
        "shared": is_shared(),
        "sharing": advice_on_sharing(),
    }


def _data() -> dict[str, Any] | None:
    """Return which data sets are on this machine; None if the catalogue needs a package that is missing."""
    try:
        from regard.data.catalogue.entries import data_folder, entries, presence
    except ImportError:
        return None
    folder = data_folder()
    here = {name: presence(entry) == "here" for name, entry in entries().items()}
    return {
        "folder": str(folder),
        "writable": can_write(folder),
        "here": [name for name, is_here in here.items() if is_here],
        "absent": [name for name, is_here in here.items() if not is_here],
    }


def can_write(folder: Path) -> bool:
    """Return True if files can be written there, creating the folder if need be."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _next(unmet: list[Dependency]) -> str:
    if unmet:
        packages = (f"'{dependency.name}>={dependency.needed}'".replace(">='", "'") for dependency in unmet)
        return f"{sys.executable} -m pip install {' '.join(packages)}"
    return f'echo "I love books." | regard translate {_DEMO}' if _DEMO.is_dir() else "regard demo"


def report_lines(findings: dict[str, Any]) -> list[str]:
    """Return the report for people, one finding per line."""
    rows = [
        ("regard", f"{findings['regard']} in {findings['folder']}{'' if findings['installed'] else _UNINSTALLED}"),
        ("python", f"{findings['python']} on {findings['system']}"),
        *((dependency["name"], _finding(dependency)) for dependency in findings["dependencies"]),
        ("computes on", _computes_on(findings["torch"])),
        *(_gpu_rows(findings["torch"]) if findings["torch"].get("cuda") else []),
        *((f"extra {name}", "works" if works else _absence(name)) for name, works in findings["extras"].items()),
        *(_data_rows(findings["data"]) if findings["data"] else []),
        ("chromium", findings["chromium"] or "not found; only the browser tests need it"),
        ("encoding", findings["encoding"]),
    ]
    width = max(len(name) for name, _ in rows)
    return [f"{name:{width}}  {finding}" for name, finding in rows]


def _gpu_rows(torch: dict[str, Any]) -> list[tuple[str, str]]:
    sharing = "share the GPU by MPS" if torch["shared"] else torch["sharing"] or "take turns on the GPU"
    return [("fast kernels", torch["kernels"] or "work"), ("several runs", sharing)]


def _absence(extra: str) -> str:
    return f"not installed; `{how_to_install(extra)}` installs it, only for {EXTRAS[extra].purpose}"


def _finding(dependency: dict[str, Any]) -> str:
    if dependency["will_do"]:
        return str(dependency["found"])
    needed = f"; {dependency['needed']} or newer is needed" if dependency["needed"] else ""
    return f"{dependency['found'] or 'missing'}{needed}"


def _data_rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("data folder", data["folder"] + ("" if data["writable"] else ", which is not writable")),
        ("data sets", ", ".join(data["here"]) or "none yet"),
        ("not here", f"{', '.join(data['absent']) or 'none'} (`regard data get NAME` downloads one)"),
    ]


def _computes_on(torch: dict[str, Any]) -> str:
    if "fault" in torch:
        return f"nothing: torch cannot be loaded: {torch['fault']}"
    processor = f"the CPU, {torch['threads']} threads"
    if not torch["cuda"]:
        return f"{processor}; no CUDA device"
    return f"{', '.join([*torch['cuda'], processor])} ({torch['threads_beside_gpu']} next to a GPU)"


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Print what is installed, what is missing, and which command to run next."""
    findings = examine()
    if as_json:
        print_json(findings)
    else:
        print(*report_lines(findings), "", f"Next: {findings['next']}", sep="\n")
    if findings["missing"]:
        raise Fault(f"Missing or too old: {', '.join(findings['missing'])}; the last line says how to install it.")
    if "fault" in findings["torch"]:
        raise Fault(f"torch is installed but cannot be loaded: {findings['torch']['fault']}.")
