"""Arguments of Python functions: lists of them, and faults in their terms, so that --valid-source is valid_source."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

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


def listed_texts(verb: str, texts: Sequence[str]) -> list[str]:
    """Return texts as a list; refuse a single text, which would be read letter by letter, and what is no text."""
    listed = _listed(verb, "text", texts)
    for number, text in enumerate(listed):
        if not isinstance(text, str):
            raise TypeError(f"texts[{number}] of {verb} is {text!r:.40}, expected a text")
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
