"""Arguments of Python functions: lists, settings, and faults in their terms, so that --valid-source is valid_source."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import tomli_w

from regard.base.faults import Fault
from regard.base.requests.fields import Held

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")
_OPTION = re.compile(r"`[^`]*`|regard \w+ … .*|--[a-z][a-z-]*")  # shell commands stay unchanged
# Arguments whose options have other names.
_OTHER_NAMES = {"settings": "set", "references": "reference", "metrics": "metric", "variants": "variant"}


def naming_arguments(function: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Wrap a function so that its faults name its arguments instead of options."""
    arguments: dict[str, str] = {}
    for name, parameter in signature(function).parameters.items():
        option = _OTHER_NAMES.get(name, name.strip("_").replace("_", "-"))
        arguments[f"--{option}"] = f"{name}=True" if parameter.default is False else name

    def reword(sentence: str) -> str:
        return _OPTION.sub(lambda match: arguments.get(match[0], match[0]), sentence)

    @wraps(function)
    def call(*values: _Given.args, **named: _Given.kwargs) -> _Found:
        try:
            return function(*values, **named)
        except Fault as fault:
            fault.sentences = tuple(map(reword, fault.sentences))
            fault.args = ("\n".join(fault.sentences),)
            raise

    return call


def settings_of(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield settings in the form of --set; nested tables are named with dots."""
    if not isinstance(table, Mapping):
        raise TypeError(f"settings are a {type(table).__name__}, expected a table such as {{'training.steps': 200}}")
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from settings_of(value, f"{above}{name}.")
        elif value is None:
            raise Fault(f"The setting {above}{name} is None; omit it to use its default.")
        else:
            try:
                yield f"{above}{name}={tomli_w.dumps({'value': _plain(value)}).partition('=')[2].strip()}"
            except TypeError:
                raise Fault(f"The setting {above}{name} is {value!r:.60}, which a recipe cannot hold.") from None


def _plain(value: Any) -> Any:
    """Return a value as a recipe holds it: paths as text, numbers and arrays of numpy and torch as plain numbers."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


def listed(argument: str, values: Sequence[Any]) -> list[Any]:
    """Return the values of an argument as a list; refuse a single one."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{argument} is {values!r:.40}, expected a list")
    return list(values)


def one_text(verb: str, text: str) -> str:
    """Return the text; refuse anything else, such as a list of texts."""
    if not isinstance(text, str):
        raise TypeError(f"{verb} takes one text, not {text!r:.40}")
    return text


def listed_texts(verb: str, texts: Sequence[str], noun: str = "text") -> list[str]:
    """Return texts as a list; refuse a single text, which would be read letter by letter, and what is no text."""
    listed = _listed(verb, noun, texts)
    for number, text in enumerate(listed):
        if not isinstance(text, str):
            raise TypeError(f"{noun}s[{number}] of {verb} is {text!r:.40}, expected a text")
    return listed


def held_items(verb: str, noun: str, items: Sequence[Any]) -> list[Held]:
    """Return items of any kind as fields of a request; refuse a single one, and None among them."""
    listed = _listed(verb, noun, items)
    for number, item in enumerate(listed):
        if item is None:
            raise TypeError(f"{noun}s[{number}] of {verb} is None")
    return [Held(item) for item in listed]


def _listed(verb: str, noun: str, items: Sequence[Any]) -> list[Any]:
    if isinstance(items, str | Path | bytes) or not isinstance(items, Iterable):
        raise TypeError(f"{verb} takes a list of {noun}s; write {verb}([{noun}])")
    return list(items)
