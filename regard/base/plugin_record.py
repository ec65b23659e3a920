"""Record of the plugins that a model folder needs; it is read without importing anything it names."""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from regard.base.faults import Fault
from regard.base.parsing import parse_json
from regard.base.plugins import PLACE, PluginWarning, Source, installed_entry_points, named_sources, whole_place

PLUGINS = "plugins.json"  # in the folder of a model that needs plugins
_LONGEST = 100  # characters of the name of a package or a version


class Needed(NamedTuple):
    """A plugin named by a folder, with the package and version that the model was trained with."""

    name: str
    package: str | None
    version: str | None


def record_of(rows: Mapping[str, tuple[str, Source | None]]) -> bytes | None:
    """Return the record of the plugins that rows come from, by kind and name; None if there are none."""
    plugins: dict[str, dict[str, Any]] = {}
    for kind, (name, source) in rows.items():
        if source is not None:
            package, version = source.package
            entry = plugins.setdefault(source.name, {"plugin": source.name, "package": package, "version": version})
            entry[kind] = name
    return json.dumps({"plugins": list(plugins.values())}, indent=1).encode() if plugins else None


def check_plugins(folder: Path, content: bytes) -> None:
    """Refuse a model whose plugins are missing; refuse or remark on other versions."""
    for needed in _read(content, str(folder / PLUGINS)):
        is_known, version = _find(needed)
        if not is_known:
            package = f" of the package {_packaged(needed)}" if needed.package else ""
            raise Fault(
                f"{folder} needs the plugin {needed.name}{package}, which is not loaded; "
                f"install it, or give --plugin {needed.name}."
            )
        if needed.version and version and version != needed.version:
            _compare_versions(folder, needed, version)


def _compare_versions(folder: Path, needed: Needed, version: str) -> None:
    """Refuse another major version, which may interpret the weights differently; remark on any other."""
    differs = f"{folder} was trained with {_packaged(needed)}, but {version} is installed"
    if version.partition(".")[0] != str(needed.version).partition(".")[0]:
        major = str(needed.version).partition(".")[0]
        raise Fault(f"{differs}, another major version; install version {major} of it, or train again.")
    warnings.warn(f"{differs}.", PluginWarning, stacklevel=2)


def _packaged(needed: Needed) -> str:
    return f"{needed.package or needed.name} {needed.version or ''}".rstrip()


def _find(needed: Needed) -> tuple[bool, str | None]:
    """Return True and the version if a plugin was named or is installed, without importing installed ones."""
    place = whole_place(needed.name)
    for source in named_sources():
        if source.place == place or (needed.package and source.package[0] == needed.package):
            return True, source.package[1]
    for entry in installed_entry_points():
        package = (None, None) if entry.dist is None else (entry.dist.name, entry.dist.version)
        if entry.value.replace(" ", "") == place or (needed.package and package[0] == needed.package):
            return True, package[1]
    return False, None


def _read(content: bytes, name: str) -> Sequence[Needed]:
    listed = parse_json(content, name)
    plugins = listed.get("plugins") if isinstance(listed, dict) else None
    entries = [_needed(entry) for entry in plugins] if isinstance(plugins, list) else []
    needed = [entry for entry in entries if entry is not None]
    if not needed or len(needed) < len(entries):
        raise Fault(f"{name} is damaged: it does not list plugins by their names, packages and versions.")
    return needed


def _needed(entry: Any) -> Needed | None:
    if not isinstance(entry, dict):
        return None
    needed = Needed(entry.get("plugin", ""), entry.get("package"), entry.get("version"))
    is_short = all(text is None or (isinstance(text, str) and len(text) <= _LONGEST) for text in needed)
    return needed if is_short and needed.name and PLACE.fullmatch(needed.name) else None
