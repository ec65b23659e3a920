"""All doors can do the same: what Python and the command line take, the server takes too."""

import inspect
from collections.abc import Iterator

import pytest

import regard
from regard.base.places import find_place
from regard.base.requests.rules import VerbRequest
from regard.verbs.table import ROOMS, verb_doors

# Parameters and options that are fields of another name in a body.
SAMPLING = dict.fromkeys(("temperature", "top_k", "top_p", "seed"), "sample")
FIELDS: dict[str, dict[str, str]] = {
    "translate": SAMPLING | {"texts": "text", "together": "with", "settings": "search", "constraints": "required"},
    "generate": SAMPLING | {"prompts": "prompt", "settings": "search"},
    "caption": SAMPLING,
    "speak": {"texts": "text"},
    "embed": {"texts": "text", "source": "text"},
    "look": {"inputs": "input", "side": "sides", "layer": "layers", "head": "heads", "width": "beam", "lines": "mode"},
}
FILES = {"context", "out", "overwrite", "as_json"}  # of the command itself, and of what it writes
DRAWN = {"rings", "sheet", "following", "bars", "min_p", "typical", "temperature", "top_k", "top_p", "contexts"}
# What no client can ask for.
NOT_SERVED: dict[str, set[str]] = {
    "translate": {"precision", "resume", "workers", "shard", "join", "on"},  # of this machine and its files
    "answer": {"spans"},  # which every answer has
    "draw": {"frames"},  # a file of what every answer has
    "look": DRAWN,  # pictures of numbers that answers have whole
    **{verb: {"vocabulary"} for verb in ("neighbours", "analogy", "map")},  # how much of a file of vectors is read
}
OF_LOOKING = {"attention", "next", "beam"}  # addresses that are views of one command


def names_of(verb: str) -> Iterator[str]:
    """Every parameter of a verb in Python, and every option of its command."""
    method = getattr(regard.Model, verb, None)
    for way in (method, find_place(ROOMS[verb].command)):
        yield from () if way is None else (name for name in inspect.signature(way).parameters if name != "self")


def fields_of(kind: type[VerbRequest]) -> set[str]:
    return {field.alias or name for name, field in kind.model_fields.items()}


def bodies_of(verb: str) -> list[type[VerbRequest]]:
    can = {verb, *(OF_LOOKING if verb == "look" else ())}
    return [door.body for door in verb_doors() if door.path == f"/v1/{verb}" or door.can in can]


def lacking(verb: str) -> list[str]:
    """What a verb can be asked for elsewhere, and not at the server."""
    served = {name for kind in bodies_of(verb) for name in fields_of(kind)}
    excused = FILES | NOT_SERVED.get(verb, set())
    return [
        name for name in names_of(verb) if name not in excused and FIELDS.get(verb, {}).get(name, name) not in served
    ]


@pytest.mark.parametrize("verb", ROOMS)
def test_the_server_can_do_what_python_and_the_command_line_can(verb: str) -> None:
    assert lacking(verb) == []


def test_what_is_lacking_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Captions drawn at random, and the speaker of a look, were once not to be had at the server."""
    without = {"caption": {"sample"}, "look": {"speaker"}}
    known = fields_of
    for verb, names in without.items():
        monkeypatch.setitem(globals(), "fields_of", lambda kind, names=names: known(kind) - names)
        assert {FIELDS[verb].get(name, name) for name in lacking(verb)} == names
