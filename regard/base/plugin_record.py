"""Record of the plugins that a model folder needs; it is read, and nothing it names is imported."""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from regard.base.faults import Fault
from regard.base.parsing import parse_json
from regard.base.plugins import PLACE, PluginWarning, Source, installed_entry_points, named_sources, whole_place

PLUGINS = "plugins.json"  # in the folder of a model that needs some
_LONGEST = 100  # characters of the name of a package or a version


class Needed(NamedTuple):
    """A plugin as a folder names it, with the package and the version that the model was trained with."""

    name: str
    package: str | None
    version: str | None


def record_of(rows: Mapping[str, tuple[str, Source | None]]) -> bytes | None:
    """Return the record of the plugins that rows come from, by the kind and name of each; None if there are none."""
    plugins: dict[str, dict[str, Any]] = {}
    for kind, (name, source) in rows.items():
        if source is not None:
            package, version = source.package
            entry = plugins.setdefault(source.name, {"plugin": source.name, "package": package, "version": version})
            entry[kind] = name
    return json.dumps({"plugins": list(plugins.values())}, indent=1).encode() if plugins else None


def check_plugins(folder: Path, content: bytes) -> None:
    """Refuse a model whose plugins are not here; one of another version is refused or remarked on."""
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
    """Refuse another major version, which may mean something else by the same weights; remark on any other."""
    differs = f"{folder} was trained with {_packaged(needed)}, and {version} is installed"
    if version.partition(".")[0] != str(needed.version).partition(".")[0]:
        major = str(needed.version).partition(".")[0]
        raise Fault(f"{differs}, another major version; install version {major} of it, or train again.")
    warnings.warn(f"{differs}.", PluginWarning, stacklevel=2)


def _packaged(needed: Needed) -> str:
    return f"{needed.package or needed.name} {needed.version or ''}".rstrip()


def _find(needed: Needed) -> tuple[bool, str | None]:
    """Return True and a version if a plugin was named or is installed; installed ones are not imported for this."""
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
    found = [_needed(each) for each in plugins] if isinstance(plugins, list) else []
    needed = [each for each in found if each is not None]
    if not needed or len(needed) < len(found):
        raise Fault(f"{name} is damaged: it does not list plugins by their names, packages and versions.")
    return needed


def _needed(entry: Any) -> Needed | None:
    if not isinstance(entry, dict):
        return None
    needed = Needed(entry.get("plugin", ""), entry.get("package"), entry.get("version"))
    is_short = all(each is None or (isinstance(each, str) and len(each) <= _LONGEST) for each in needed)
    return needed if is_short and needed.name and PLACE.fullmatch(needed.name) else None
