"""Recipes: TOML in, frozen typed options out; all faults are named at once, and unknown names are refused."""

import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar, Union, get_args, get_origin

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails

from regard.base.alternatives import OTHER_KIND, faults_of_kinds_meant
from regard.base.faults import Fault
from regard.base.parsing import MOST_BYTES, parse_toml
from regard.base.suggestions import paths_meant

Place = tuple[int | str, ...]

_DEEPEST = 8  # nested tables that a setting may name
_MOST_FAULTS = 20  # faults reported for one recipe
_LONGEST_SHOWN = 200  # characters of a wrong value or name
_TABLE = "a table"  # TOML's word for names with values


class Options(BaseModel, defer_build=True):  # most are parts of a recipe, and need no separate validator
    """A small frozen set of options; each field's description is its help text everywhere."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True, allow_inf_nan=False)

    # Options whose default is None, and what a new run records instead. A run whose recipe lacks such an option is
    # older than the option, and behaves as before.
    NEW_RUNS: ClassVar[Mapping[str, Any]] = {}

    @property
    def idle(self) -> tuple[str, ...]:
        """Options, here or at a path from here, that have no effect given the others."""
        return ()

    @field_validator("*")
    @classmethod
    def _check_bits(cls, value: Any) -> Any:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError(f"{_show(value)} has more than 64 bits")
        return value


class Recipe(Options):
    """Everything that decides a result; what `data`, `model`, `training` and other tables hold depends on the task.

    Its family sets the place of its network, and the function that checks the recipe of any other model.
    """

    network: ClassVar[str]
    check_other: ClassVar["CheckRecipe"]

    family: str = Field(default="transformer", description="Family of the model; `regard families` lists them.")
    task: str = Field(description="Task of the model; by default the family's first.")
    description: str = Field(
        default="",
        max_length=300,
        description="What the model knows, in a sentence for whoever tries it; `regard info` and servers show it.",
    )
    seed: int = Field(default=1, ge=0, lt=2**63, description="Seed of everything random.")
    start_from: str | None = Field(
        default=None,
        description="Model folder whose weights and tokenisers the run starts from; settings of model, "
        "tokenisers and search that this recipe omits are taken from there.",
    )
    data: Any = Field(description="Training data.")
    model: Any = Field(description="Architecture of the model.")
    training: Any = Field(description="How the model is trained.")

    @classmethod
    def bend(cls, table: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
        """Return a recipe's table with defaults adapted to what the user `said`, a separate table."""
        return table

    def inheritance(self) -> dict[str, Any]:
        """Return options besides the model that a recipe inherits when it starts from this one, unless it sets them."""
        return {}


CheckRecipe = Callable[[dict[str, Any]], Recipe]  # makes a recipe from a table, or reports everything wrong with it


class TextRecipe(Recipe):
    """A recipe of a task that reads text."""

    examples: int = Field(
        default=3,
        ge=0,
        le=10,
        description="Texts of the validation data to keep in the model folder, so that people can try the "
        "model with them; use 0 if the text is private or must not be passed on.",
    )


Kind = TypeVar("Kind", bound=Options)
Elsewhere = Callable[[str], str | None]  # what to say about an option, by its path, that belongs to other recipes


def read_table(path: Path) -> dict[str, Any]:
    """Read the raw contents of a recipe file."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_BYTES + 1)  # one more than allowed
    except FileNotFoundError:
        raise Fault(f"There is no recipe at {path}; `regard recipes` lists the included ones.") from None
    except UnicodeDecodeError as error:
        raise Fault(f"The recipe {path} is not UTF-8 text: {error.reason} at byte {error.start}.") from None
    except OSError as error:
        raise Fault(f"The recipe {path} cannot be read: {error.strerror}.") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> dict[str, Any]:
    """Parse the table in a recipe's text."""
    return parse_toml(text, f"The recipe {name}")


def apply_settings(table: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Return a copy of `table` changed by settings such as `training.steps=200`; a value that is no TOML is text."""
    changed = _copy(table)
    for setting in settings:
        path, equals, text = setting.partition("=")
        *parents, name = [part.strip() for part in path.split(".")]
        if not equals or not all([*parents, name]) or len(parents) > _DEEPEST:
            raise Fault(f"--set {_short(setting)} must have the form name=value, as in --set training.steps=200.")
        inner = changed
        for parent in parents:
            inner = inner.setdefault(parent, {})
            if not isinstance(inner, dict):
                raise Fault(f"--set {setting}: {parent} is a single value and has nothing inside it.")
        try:
            inner[name] = parse_toml(f"value = {text}", setting)["value"]
        except Fault:
            inner[name] = text.strip()
    return changed


def merge_tables(table: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of `table` with `changes` merged into it, at any depth."""
    both = dict(table)
    for name, value in changes.items():
        inner = both.get(name)
        both[name] = merge_tables(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return both


def value_at(table: dict[str, Any], *path: str) -> Any:
    """Return the value at a path of a raw table, or None if nothing is there."""
    value: Any = table
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _copy(table: dict[str, Any]) -> dict[str, Any]:
    return {name: _copy(value) if isinstance(value, dict) else value for name, value in table.items()}


def path_of(place: Place) -> str:
    """Return the place of a value as written in a recipe: model.width, data.train[0]."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{_short(part)}" for part in place).lstrip(".")


def check(
    kind: type[Kind],
    table: dict[str, Any],
    whole: str = "the recipe",
    name_place: Callable[[Place], str] = path_of,
    context: Any = None,
    elsewhere: Elsewhere = lambda path: None,
    table_word: str = _TABLE,
) -> Kind:
    """Make a `kind` from `table`, or raise one Fault that lists everything wrong with it.

    `name_place` names the place of a wrong value, `elsewhere` says what to report about an option that belongs to
    others, and `table_word` is the word for a table. Validators of the kind may use the `context`.
    """
    try:
        return kind.model_validate(table, context=context)
    except ValidationError as error:
        raise _fault(kind, error.errors(), whole, elsewhere, name_place, table_word) from None


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Report faults of the block as faults of this file."""
    try:
        yield
    except Fault as fault:
        raise Fault(*(f"{path}: {sentence}" for sentence in fault.sentences)) from None


def check_alone(kind: type[Options], table: dict[str, Any], elsewhere: Elsewhere = lambda path: None) -> None:
    """Refuse names and values in `table` that are wrong whatever else a recipe says.

    Missing values, and values that contradict each other, are not checked.
    """
    try:
        kind.model_validate(table)
    except ValidationError as error:
        if faults := [fault for fault in error.errors() if fault["type"] not in ("missing", "value_error")]:
            raise _fault(kind, faults, "the recipe", elsewhere) from None


def _fault(
    kind: type[Options],
    faults: list[ErrorDetails],
    whole: str,
    elsewhere: Elsewhere,
    name_place: Callable[[Place], str] = path_of,
    table_word: str = _TABLE,
) -> Fault:
    faults = faults_of_kinds_meant(kind, faults)
    sentences = dict.fromkeys(
        _sentence(kind, fault, whole, elsewhere, name_place, table_word) for fault in faults[:_MOST_FAULTS]
    )
    return Fault(*sentences, *([f"and {more:,} more"] if (more := len(faults) - _MOST_FAULTS) > 0 else []))


def _sentence(
    kind: type[Options],
    fault: ErrorDetails,
    whole: str,
    elsewhere: Elsewhere,
    name_place: Callable[[Place], str],
    table_word: str,
) -> str:
    place: Place = fault["loc"]
    path, value, about = name_place(place), _show(fault["input"]), fault.get("ctx", {})
    match fault["type"]:
        case "extra_forbidden":
            belongs = None if _stands_deeper(kind, place) else elsewhere(path)
            return belongs or _no_such_name(kind, place, whole)
        case "missing":
            return f"{path_of(place[:-1]) or whole} needs '{place[-1]}'"
        case "value_error":
            return f"{path or whole}: {about['error']}"
    expected = _expected(fault, table_word)
    if _is_secret(kind, place):
        return f"{path} is not {expected or 'valid'}"
    return f"{path} is {value}, expected {expected}" if expected else f"{path} is {value}: {fault['msg']}"


def _is_secret(kind: type[Options], place: Place) -> bool:
    """Return True if the value at a place is a key or password, which must never be printed."""
    if not place:
        return False
    field = _kind_at(kind, place[:-1]).model_fields.get(str(place[-1]))
    return field is not None and SecretStr in (field.annotation, *get_args(field.annotation))


def _expected(fault: ErrorDetails, table_word: str) -> str | None:
    """Describe the expected value, if there are words for it."""
    about = fault.get("ctx", {})
    match fault["type"]:
        case "literal_error":
            expected = about["expected"].replace(" or ", ", ")
            return f"one of {expected}" if ", " in expected else str(expected)
        case "model_type" | "model_attributes_type" | "dict_type":
            return table_word
        case kind if kind == OTHER_KIND:
            *others, last = dict.fromkeys(_expected(other, table_word) or other["msg"] for other in about["kinds"])
            return f"{', '.join(others)} or {last}" if others else last
        case fault_type if fault_type in _EXPECTED:
            return _EXPECTED[fault_type].format(**about)
    return None


_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a text in quotes",
    "list_type": "a list",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "finite_number": "a finite number",
    "too_short": "at least {min_length} of them",
}


def _show(value: Any) -> str:
    return _short(json.dumps(value) if value is None or isinstance(value, bool) else repr(value))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _stands_deeper(kind: type[Options], place: Place) -> bool:
    """Return True if the section of a wrong name has that name in one of its own sections."""
    *parents, name = place
    return any(path.endswith(f".{name}") for path in describe_options(_kind_at(kind, tuple(parents))))


def _no_such_name(kind: type[Options], place: Place, whole: str) -> str:
    *parents, name = place
    section_kind, section = _kind_at(kind, tuple(parents)), path_of(tuple(parents))
    inside = {f"{section}.{path}".lstrip("."): path for path in describe_options(section_kind)}
    near = paths_meant(str(name), section, list(describe_options(kind) | inside))
    # A name of the same section is shown alone, one from elsewhere with its path.
    named = " or ".join(f"'{path if '.' in inside.get(path, '.') else inside[path]}'" for path in near)
    hint = f"did you mean {named}?" if near else f"it has {', '.join(section_kind.model_fields)}"
    return f"{section or whole} has no '{_short(str(name))}'; {hint}"


def describe_options(kind: type[Options], section: str = "") -> dict[str, str]:
    """Return all options at any depth by dotted path, with their descriptions, except members of lists."""
    descriptions: dict[str, str] = {}
    for name, field in kind.model_fields.items():
        path = f"{section}.{field.alias or name}".lstrip(".")
        descriptions[path] = field.description or ""
        if get_origin(field.annotation) is not list:
            for inner in _options_in(field.annotation):
                descriptions |= describe_options(inner, path)
    return descriptions


def _kind_at(kind: type[Options], parents: Place) -> type[Options]:
    for part in parents:
        if isinstance(part, str) and part in kind.model_fields:
            kind = next(_options_in(kind.model_fields[part].annotation), kind)
    return kind


def _options_in(annotation: Any) -> Iterator[type[Options]]:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        if issubclass(annotation, Options):
            yield annotation
    elif get_origin(annotation) in (list, Union, types.UnionType):
        for inner in get_args(annotation):
            yield from _options_in(inner)


def differences(old: Options, new: Options) -> list[str]:
    """Return the places at which two sets of options differ, each with both values."""
    return list(_differences(old, new, ""))


def _differences(old: Any, new: Any, path: str) -> Iterator[str]:
    if isinstance(old, Options) and isinstance(new, Options):
        for name, field in (type(old).model_fields | type(new).model_fields).items():
            inner = f"{path}.{field.alias or name}".lstrip(".")
            yield from _differences(getattr(old, name, None), getattr(new, name, None), inner)
    elif old != new:
        yield f"{path} was {_write_value(old)} and is now {_write_value(new)}"


def _write_value(value: Any) -> str:
    """Return a value as written in a recipe, without defaults."""
    if value is None:
        return "not given"
    if isinstance(value, list):
        return f"[{', '.join(map(_write_value, value))}]" if value else "empty"
    return _inline(value.model_dump(exclude_defaults=True) if isinstance(value, Options) else value)


def write(options: Options, header: str) -> str:
    """Return the options as TOML, with every default written out and every field explained."""
    lines = [f"# {line}".rstrip() for line in header.splitlines()]
    return "\n".join([*lines, "", *_lines(options, "")]) + "\n"


def _lines(options: Options, path: str) -> Iterator[str]:
    tables = []
    for name, field in type(options).model_fields.items():
        value = getattr(options, name)
        if isinstance(value, Options):
            tables.append((f"{path}.{name}".lstrip("."), value))
        elif value is not None:
            if field.description:
                yield f"# {field.description}"
            yield f"{field.alias or name} = {_inline(value)}"
    for inner_path, inner in tables:
        yield f"\n[{inner_path}]"
        yield from _lines(inner, inner_path)


def _inline(value: Any) -> str:
    """Return a value on one line; None is left out, since TOML has no word for it."""
    if isinstance(value, Options):
        value = {field.alias or name: getattr(value, name) for name, field in type(value).model_fields.items()}
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_inline(v)}" for name, v in value.items() if v is not None) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(inner) for inner in value) + "]"
    return tomli_w.dumps({"value": value}).partition("=")[2].strip()


def _key(name: str) -> str:
    """Return a name as a TOML key, in quotes if necessary."""
    return tomli_w.dumps({name: 1}).rpartition(" = ")[0]
