"""`regard doctor`: what this machine has, what it lacks, and which command to type next."""

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
_UNINSTALLED = ", not installed; `make setup` or `pip install .` in its checkout does that"


@dataclass(frozen=True)
class Dependency:
    """A package regard needs: its name, the least version that will do ("" for any) and the one found."""

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
    wanted = [each for each in requirements if (f'extra == "{extra}"' in each if extra else "extra ==" not in each)]
    return [_dependency(requirement) for requirement in wanted]


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
    """Everything the doctor looks at, as plain values."""
    needed = dependencies()
    poor = [dependency for dependency in needed if not dependency.will_do]
    return {
        "regard": __version__,
        "folder": str(Path(__file__).parents[1]),
        "installed": _is_installed(),
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "dependencies": [asdict(dependency) | {"will_do": dependency.will_do} for dependency in needed],
        "missing": [dependency.name for dependency in poor],
        "extras": {extra: _works(extra) for extra in EXTRAS},
        "torch": _torch(),
        "data": _data(),
        "chromium": next(filter(None, map(shutil.which, _BROWSERS)), None),
        "encoding": (sys.stdout and sys.stdout.encoding) or "none",
        "next": _next(poor),
    }


def _works(extra: str) -> bool:
    needed = dependencies(extra)
    return bool(needed) and all(dependency.will_do for dependency in needed)


def _torch() -> dict[str, Any]:
    """Describe the devices that torch can use; a broken torch says so itself."""
    try:
        torch = importlib.import_module("torch")
    except (ImportError, OSError) as error:
        return {"fault": str(error)}
    cuda = [torch.cuda.get_device_name(place) for place in range(torch.cuda.device_count())]
    from regard.hardware.threads import threads_beside_gpu
    from regard.kernels import obstacle

    return {
        "version": torch.__version__,
        "cuda": cuda,
        "threads": torch.get_num_threads(),
        "threads_beside_gpu": threads_beside_gpu(),
        "kernels": obstacle(),
    }


def _data() -> dict[str, Any] | None:
    """Which data sets lie here; None when the catalogue itself cannot be read for want of a package."""
    try:
        from regard.data.catalogue.entries import data_folder, entries, presence
    except ImportError:
        return None
    folder = data_folder()
    here = {name: presence(entry) == "here" for name, entry in entries().items()}
    return {
        "folder": str(folder),
        "writable": can_write(folder),
        "here": [name for name, there in here.items() if there],
        "absent": [name for name, there in here.items() if not there],
    }


def can_write(folder: Path) -> bool:
    """Return True if files can be made there; a folder that does not exist yet can be made if one above is writable."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _next(poor: list[Dependency]) -> str:
    if poor:
        wanted = (f"'{dependency.name}>={dependency.needed}'".replace(">='", "'") for dependency in poor)
        return f"{sys.executable} -m pip install {' '.join(wanted)}"
    return f'echo "I love books." | regard translate {_DEMO}' if _DEMO.is_dir() else "regard demo"


def report_lines(found: dict[str, Any]) -> list[str]:
    """Return the report for people, one finding per line."""
    rows = [
        ("regard", f"{found['regard']} in {found['folder']}{'' if found['installed'] else _UNINSTALLED}"),
        ("python", f"{found['python']} on {found['system']}"),
        *((dependency["name"], _finding(dependency)) for dependency in found["dependencies"]),
        ("computes on", _computes_on(found["torch"])),
        *([("fast kernels", found["torch"]["kernels"] or "work")] if found["torch"].get("cuda") else []),
        *((f"extra {name}", "works" if works else _absence(name)) for name, works in found["extras"].items()),
        *(_data_rows(found["data"]) if found["data"] else []),
        ("chromium", found["chromium"] or "not found; only the browser tests need it"),
        ("encoding", found["encoding"]),
    ]
    width = max(len(name) for name, _ in rows)
    return [f"{name:{width}}  {finding}" for name, finding in rows]


def _absence(extra: str) -> str:
    return f"not here; `{how_to_install(extra)}` brings it, for {EXTRAS[extra].purpose} alone"


def _finding(dependency: dict[str, Any]) -> str:
    if dependency["will_do"]:
        return str(dependency["found"])
    needed = f"; {dependency['needed']} or newer is needed" if dependency["needed"] else ""
    return f"{dependency['found'] or 'missing'}{needed}"


def _data_rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("data folder", data["folder"] + ("" if data["writable"] else ", which may not be written to")),
        ("data sets", ", ".join(data["here"]) or "none yet"),
        ("not here", f"{', '.join(data['absent']) or 'none'} (`regard data get NAME` brings one)"),
    ]


def _computes_on(torch: dict[str, Any]) -> str:
    if "fault" in torch:
        return f"nothing, torch cannot be loaded: {torch['fault']}"
    processor = f"the processor, {torch['threads']} threads"
    if not torch["cuda"]:
        return f"{processor}; no CUDA device"
    return f"{', '.join([*torch['cuda'], processor])}, of which {torch['threads_beside_gpu']} beside a GPU"


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say what is installed, what is missing and which command to type next."""
    found = examine()
    if as_json:
        print_json(found)
    else:
        print(*report_lines(found), "", f"Next: {found['next']}", sep="\n")
    if found["missing"]:
        raise Fault(f"Missing or too old: {', '.join(found['missing'])}; the last line says how to get it.")
    if "fault" in found["torch"]:
        raise Fault(f"torch is installed and cannot be loaded: {found['torch']['fault']}.")
