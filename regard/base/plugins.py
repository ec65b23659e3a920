"""Packages from outside that add rows to the tables: how they are named, when they are imported, and what is refused.

A plugin is a function that returns a `Plugin`; nothing registers itself on import. There are three ways to name one:
`--plugin MODULE` (or REGARD_PLUGINS, which worker processes inherit), `regard.register(…)`, and the entry points of the
group `regard.plugins`. Installed entry points are imported only for a name that no built-in row has, and for lists of
all rows. A model folder can name a plugin, but never causes its import.
"""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from regard.base.faults import Fault

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PROGRAM = "regard"
GROUP = f"{PROGRAM}.plugins"  # group of entry points
VARIABLE = "REGARD_PLUGINS"  # environment variable: places, separated by commas
FUNCTION = "plugin"  # called if a place names only a module
PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*)?")
Key = TypeVar("Key")
Row = TypeVar("Row")


class PluginWarning(UserWarning):
    """An installed plugin that is left out, or that has another version than a model was trained with."""


@dataclass(frozen=True, eq=False)
class Plugin:
    """Rows that a package adds to the tables, each of the same class as the table's built-in rows."""

    families: Mapping[str, Any] = field(default_factory=dict)
    tasks: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    normalisers: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    views: Mapping[Any, Any] = field(default_factory=dict)
    verbs: Mapping[str, Any] = field(default_factory=dict)
    exports: Mapping[str, Any] = field(default_factory=dict)
    recipes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, rows in vars(self).items():
            if not isinstance(rows, Mapping):
                raise Fault(f"{name} is {rows!r:.60}, expected a dictionary of rows by name")


@dataclass(frozen=True)
class Source:
    """A plugin with its place, as module:function, and its installed package."""

    place: str
    plugin: Plugin
    installed: tuple[str, str] | None = None  # distribution and version, if it comes from an entry point

    @property
    def name(self) -> str:
        """Its argument for --plugin."""
        return self.place.removesuffix(f":{FUNCTION}")

    @property
    def package(self) -> tuple[str | None, str | None]:
        """Distribution and version of its package, as far as known."""
        if self.installed:
            return self.installed
        from importlib.metadata import version

        top = self.place.partition(":")[0].partition(".")[0]
        distribution = _distribution_of(top)
        module_version = getattr(sys.modules.get(top), "__version__", None)
        return distribution, module_version if distribution is None else version(distribution)


@cache
def _distribution_of(module: str) -> str | None:
    """Return the installed distribution of a top-level module; this reads the lists of files of all distributions."""
    from importlib.metadata import packages_distributions

    return next(iter(packages_distributions().get(module, [])), None)


_registered: list[Source] = []  # added by `regard.register` in this process


def register(plugin: str | Callable[[], Plugin] | Plugin) -> None:
    """Add the rows of a plugin to the tables: "MODULE", "MODULE:FUNCTION", a function that returns rows, or the rows.

    Worker processes also know plugins by name and functions of modules; rows themselves are known only in this process.
    """
    if isinstance(plugin, str):
        name_plugin(plugin)
    elif isinstance(plugin, Plugin):
        _registered.append(Source(f"given to register ({len(_registered) + 1})", plugin))
    elif (place := _place_of(plugin)) is not None:
        name_plugin(place)
    else:
        name = getattr(plugin, "__qualname__", "given to register")
        _registered.append(Source(name, _call(plugin, name)))


def _place_of(function: Any) -> str | None:
    """Return where other processes find a function; None if it is in a script or in another function."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    return None if module in (None, "__main__") or not name.isidentifier() else f"{module}:{name}"


def name_plugin(place: str) -> None:
    """Load the plugin at a place, MODULE or MODULE:FUNCTION, for this process and those it starts."""
    whole = whole_place(place)
    _load(whole)
    places = _named_places()
    if whole not in places:
        os.environ[VARIABLE] = ",".join([*places, whole])


def whole_place(place: str) -> str:
    """Return a place with its function; refuse anything but the name of a module or of a function in one."""
    place = place.strip()
    if place.endswith(".py") or os.sep in place:
        raise Fault(
            f"--plugin takes the name of a module, not the file {place[:100]}; "
            f"give --plugin {Path(place).stem[:60]} in the folder that holds it."
        )
    if not PLACE.fullmatch(place):
        raise Fault(f"--plugin {place[:100]!r} is not the name of a module; give MODULE, or MODULE:FUNCTION.")
    return place if ":" in place else f"{place}:{FUNCTION}"


def _named_places() -> list[str]:
    return [whole_place(place) for place in os.environ.get(VARIABLE, "").split(",") if place.strip()]


@cache
def _load(place: str) -> Plugin:
    """Import a module and call its function; any error becomes one sentence."""
    module, _, function = place.partition(":")
    _refuse_model_folder(module)
    _find_in_current_folder(module.partition(".")[0])
    try:
        imported = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise _broken(f"The plugin {module} cannot be imported", error) from None
        raise Fault(
            f"There is no module {error.name} for the plugin {module}; "
            "install its package, or run regard in the folder that holds it."
        ) from None
    except (Exception, SystemExit) as error:
        raise _broken(f"The plugin {module} cannot be imported", error) from None
    if not callable(factory := getattr(imported, function, None)):
        raise Fault(f"The plugin {module} has no function {function}(), which returns its rows as a Plugin.")
    return _call(factory, place)


def _refuse_model_folder(module: str) -> None:
    """Refuse a module inside a model folder below the current folder: code there is never run."""
    folder = Path.cwd()
    for part in module.split("."):
        folder /= part
        if (folder / "manifest.json").exists():
            raise Fault(f"The module {module} lies in the model folder {folder}, whose code is never run.")


def _find_in_current_folder(module: str) -> None:
    """Let Python look for a module in the current folder, as `python -m regard` does, if it is nowhere else."""
    from importlib.util import find_spec

    if module not in sys.modules and find_spec(module) is None:
        sys.path.append(str(Path.cwd()))


@cache
def _call(function: Callable[[], Any], place: str) -> Plugin:
    try:
        plugin = function()
    except Fault as fault:
        raise Fault(f"The plugin {place} is wrong: {'; '.join(fault.sentences)}.") from None
    except (Exception, SystemExit) as error:
        raise _broken(f"The function {place} fails", error) from None
    if not isinstance(plugin, Plugin):
        raise Fault(f"The function {place} returns a {type(plugin).__name__}, expected a Plugin.")
    return plugin


def _broken(what: str, error: BaseException) -> Fault:
    if os.environ.get("REGARD_TRACEBACK", "0") not in ("", "0"):
        traceback.print_exception(error)
    first = next(iter(str(error).splitlines()), "")
    return Fault(f"{what}: {type(error).__name__}: {first}".rstrip(": ") + ".")


def named_sources() -> list[Source]:
    """Return the plugins given to this process by name or by `register`, which all tables consult."""
    return [*(Source(place, _load(place)) for place in _named_places()), *_registered]


@cache
def installed_entry_points() -> "tuple[EntryPoint, ...]":
    """Return the entry points of installed plugins without importing them."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))


def installed_sources() -> list[Source]:
    """Import all installed plugins that are not also named; leave out a broken one with a warning."""
    named = [source.plugin for source in named_sources()]
    sources = (_installed(entry) for entry in installed_entry_points())
    return [source for source in sources if source and not any(source.plugin is plugin for plugin in named)]


@cache
def _installed(entry: "EntryPoint") -> Source | None:
    package = None if entry.dist is None else (entry.dist.name, entry.dist.version)
    try:
        place = whole_place(entry.value.replace(" ", ""))
        return Source(place, _load(place), package)
    except Fault as fault:
        owner = package[0] if package else entry.name
        warnings.warn(f"{' '.join(fault.sentences)} The package {owner} is left out.", PluginWarning, stacklevel=2)
        return None


def plugin_of(module: str) -> str | None:
    """Return the top-level package of the plugin that a module is part of; None for any other module."""
    top = module.partition(".")[0]
    places = [*_named_places(), *(entry.value for entry in installed_entry_points())]
    return top if top in {place.partition(":")[0].partition(".")[0].strip() for place in places} else None


def environment_of_plugins() -> dict[str, str]:
    """Return environment variables with which a new Python process finds the plugins named here."""
    return {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)} if _named_places() else {}


class _Rows(NamedTuple):
    """Rows of plugins with the source of each, and refusals for names that two plugins have."""

    rows: dict[Any, tuple[Any, Source]]
    clashes: dict[Any, str]


class Table(Mapping[Key, Row], Generic[Key, Row]):
    """Built-in rows and those of plugins; no row replaces another.

    `name` is the plugins' field, and `noun` what people call a row. Listing all rows, or looking up a name that no
    built-in row has, imports installed plugins; nothing else does.
    """

    def __init__(
        self,
        name: str,
        noun: str,
        kind: type[Row],
        rows: Mapping[Key, Row],
        check: Callable[[Row], str | None] = lambda row: None,
    ) -> None:
        self.shipped, self._name, self._noun, self._kind, self._check = dict(rows), name, noun, kind, check
        self._joined: dict[tuple[Plugin, ...], _Rows] = {}

    def __getitem__(self, key: Key) -> Row:
        self._join(named_sources(), [])  # refuses named plugins that are wrong
        if key in self.shipped:
            return self.shipped[key]
        row: Row = self._find(key)[0]
        return row

    def __iter__(self) -> Iterator[Key]:
        yield from self.shipped
        yield from self._all().rows

    def __len__(self) -> int:
        return len(self.shipped) + len(self._all().rows)

    def named(self) -> dict[Key, Row]:
        """Return the built-in rows and those of named plugins, without importing installed ones."""
        return self.shipped | {key: row for key, (row, _) in self._join(named_sources(), []).rows.items()}

    def source(self, key: Key) -> Source | None:
        """Return the plugin that a row comes from; None for a built-in row."""
        return None if key in self.shipped else self._find(key)[1]

    def _find(self, key: Key) -> tuple[Any, Source]:
        rows, clashes = self._all()
        if key in clashes:
            raise Fault(clashes[key])
        return rows[key]

    def _all(self) -> _Rows:
        return self._join(named_sources(), installed_sources())

    def _join(self, named: list[Source], installed: list[Source]) -> _Rows:
        """Return the rows of some plugins; leave out wrong rows of installed plugins with a warning."""
        plugins = tuple(source.plugin for source in (*named, *installed))
        if plugins not in self._joined:
            joined = self._joined[plugins] = _Rows({}, {})
            try:
                for source in named:
                    self._add(source, joined, is_named=True)
            except Fault:
                del self._joined[plugins]
                raise
            for source in installed:
                self._add(source, joined, is_named=False)
        return self._joined[plugins]

    def _add(self, source: Source, joined: _Rows, is_named: bool) -> None:
        for key, row in getattr(source.plugin, self._name).items():
            fault, clash = self._fault(key, row, source), self._clash(key, source, joined)
            if is_named and (sentence := fault or clash):
                raise Fault(sentence)
            if fault:
                warnings.warn(f"{fault} It is left out.", PluginWarning, stacklevel=2)
            elif clash:
                joined.clashes[key] = clash
                joined.rows.pop(key, None)
            else:
                joined.rows[key] = row, source

    def _fault(self, key: Any, row: Any, source: Source) -> str | None:
        """Return what is wrong with a row of a plugin, in a sentence, or None."""
        what = f"The plugin {source.name} has the {self._noun} {_shown(key)}"
        if not isinstance(row, self._kind):
            return f"{what} as {_a(type(row))}, expected {_a(self._kind)}."
        if key in self.shipped:
            return f"{what}, but regard has one of that name; give it another."
        try:
            sentence = self._check(row)
        except Fault as fault:
            return " ".join(fault.sentences)
        return f"{what}, but {sentence}." if sentence else None

    def _clash(self, key: Any, source: Source, joined: _Rows) -> str | None:
        if key in joined.clashes:
            return joined.clashes[key]
        if key not in joined.rows:
            return None
        both = f"The plugins {joined.rows[key][1].name} and {source.name} both have the {self._noun} {_shown(key)}"
        return f"{both}; give one of them another name, or uninstall one."


def _shown(key: Any) -> str:
    """Return the name of a row; that of a view is the manner of an attention and the kinds of its two sides."""
    return f"'{key}'" if isinstance(key, str) else " ".join(getattr(part, "__name__", str(part)) for part in key)


def _a(kind: type) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOaeio' else 'a'} {kind.__name__}"
