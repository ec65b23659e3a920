"""Python, the command line and the server accept the same options."""

import inspect
from collections.abc import Iterator

import pytest

import regard
from regard.base.doors import LanguagesBody, ModelBody
from regard.base.places import find_place
from regard.base.requests.rules import VerbRequest
from regard.verbs.table import ROOMS, verb_doors

# Parameters and options whose field in a body has another name.
SAMPLING = dict.fromkeys(("temperature", "top_k", "top_p", "seed"), "sample")
VIEWED = {"side": "sides", "layer": "layers", "head": "heads", "width": "beam", "lines": "mode", "bars": "shown"}
FIELDS: dict[str, dict[str, str]] = {
    "translate": SAMPLING | {"texts": "text", "together": "with", "settings": "search"},
    "generate": SAMPLING | {"prompts": "prompt", "settings": "search"},
    "caption": SAMPLING,
    "speak": {"texts": "text"},
    "embed": {"texts": "text", "source": "text"},
    "look": VIEWED
    | {"inputs": "input", "target": "output", "edit": "edits", "zero_head": "edits", "why": "method", "other": "from"},
}
# Further Python methods of a verb: each is a view, or one field of a request by itself.
METHODS = {
    "look": ("look_next", "look_beam", "look_contexts", "look_examples", "why"),
    "translate": ("together", "translate_as"),
}
# Parameters of such methods, and one that stands for several fields.
IN_PYTHON: dict[str, dict[str, tuple[str, ...]]] = {
    "translate": {
        "constraints": ("prefix", "required", "forbidden", "vocabulary"),
        "others": ("with",),
        "outputs": ("forced",),
    },
    "look": {
        "text": ("input", "text"),
        "word": ("contexts", "word"),
        "texts": (),
        "count": ("examples",),
        "item": ("input",),
        "sample": ("temperature", "top_k", "top_p", "min_p", "typical"),
    },
}
# Part of the command itself: what follows MODEL, which has a different name in each body, and the output.
FILES = {"context", "model", "inputs", "text", "out", "overwrite", "as_json", "save_edit"}
DRAWN = {"rings", "sheet", "following", "min_p", "typical", "temperature", "top_k", "top_p"}
# Requests that no client can make; in Python they are not part of a verb either.
NOT_SERVED: dict[str, set[str]] = {
    "translate": {"precision", "resume", "workers", "shard", "join", "on"},  # about this machine and its files
    "answer": {"spans"},  # every answer has it
    "draw": {"frames"},  # a file of what every answer has
    "look": DRAWN | {"contexts"},  # pictures of numbers that answers contain in full
    **{verb: {"vocabulary"} for verb in ("neighbours", "analogy", "map")},  # how much of a vector file to read
}
# Fields without a command-line option.
NOT_TYPED: dict[str, set[str]] = {
    "translate": {"before", "stream"},  # before: for one text, by token names, and a command translates lines
    "generate": {"stream"},  # a terminal shows it anyway
    "caption": {"attention"},  # --json prints it
    "answer": {"unfold"},  # several aspects in one text, for a page that has one field
    # By token names, as a page knows them; how many to send; and a continuation, which `generate` writes elsewhere.
    "look": {"before", "kept", "write"},
}
# Fields without a Python parameter.
NOT_IN_PYTHON: dict[str, set[str]] = {
    "translate": {"explain", "stream"},  # translations are explained when someone looks
    "generate": {"stream"},
    "answer": {"unfold"},
    "look": {"before", "kept", "write"},
}
VIEWS = {"look": {"attention", "next", "beam", "why", "examples"}}  # addresses that are views of one command


def parameters(place: object) -> list[str]:
    return [name for name in inspect.signature(place).parameters if name != "self"]  # type: ignore[arg-type]


def python_fields(verb: str) -> set[str]:
    """Return the fields that Python can request."""
    from regard.model import model_class

    kinds = [regard.Model, *(model_class(task) for task in ("translation", "language"))]
    names = [verb, *METHODS.get(verb, ())]
    methods = [next(getattr(kind, name) for kind in kinds if hasattr(kind, name)) for name in names]
    several = IN_PYTHON.get(verb, {})
    return {
        field
        for method in methods
        for name in parameters(method)
        for field in several.get(name, (FIELDS.get(verb, {}).get(name, name),))
    }


def command_fields(verb: str) -> set[str]:
    """Return the fields that a command has options for, and what follows MODEL."""
    return {FIELDS.get(verb, {}).get(name, name) for name in parameters(find_place(ROOMS[verb].command))} - FILES


def fields_of(kind: type[VerbRequest]) -> set[str]:
    return {field.alias or name for name, field in kind.model_fields.items()}


def bodies_of(verb: str) -> Iterator[type[VerbRequest]]:
    """Yield the bodies of a verb's addresses."""
    for door in verb_doors():
        if door.path == f"/v1/{verb}" or door.path.removeprefix("/v1/") in VIEWS.get(verb, ()):
            yield door.body


def served_fields(verb: str) -> set[str]:
    """Return the fields that the server accepts, without the model and the caller."""
    names = {name for kind in bodies_of(verb) for name in fields_of(kind)} - fields_of(LanguagesBody)
    return {FIELDS.get(verb, {}).get(name, name) for name in names}


def read_fields(verb: str) -> set[str]:
    """Return the fields that a command fills with what follows MODEL, or with --text."""
    return {"text", "input", "inputs", "prompt", "pictures", "sounds", "words"} & served_fields(verb)


def lacking(verb: str) -> dict[str, set[str]]:
    """Return, by door, the fields of a verb that other doors accept and this one lacks."""
    python, command, served = python_fields(verb), command_fields(verb), served_fields(verb)
    by_door = {
        "server": (python | command) - served - FILES - NOT_SERVED.get(verb, set()),
        "command": (python | served) - command - read_fields(verb) - NOT_TYPED.get(verb, set()),
        "python": (command | served) - python - NOT_SERVED.get(verb, set()) - NOT_IN_PYTHON.get(verb, set()),
    }
    return {door: names for door, names in by_door.items() if names}


@pytest.mark.parametrize("verb", ROOMS)
def test_every_door_can_do_what_the_others_can(verb: str) -> None:
    assert lacking(verb) == {}


def test_the_forward_pass_takes_the_options_of_its_lesson() -> None:
    from regard.commands.show.attention import forward
    from regard.verbs.look.door import ForwardBody

    typed = {{"target": "output"}.get(name, name) for name in parameters(forward)} - FILES
    served = fields_of(ForwardBody) - fields_of(ModelBody)
    # A page opens layers one by one where a terminal has a depth, and knows tokens by name.
    assert served == typed - {"depth"} | {"text", "tokens", "opened"}


@pytest.mark.parametrize(
    ("door", "verb", "name"),
    [
        ("served_fields", "caption", "sample"),
        ("served_fields", "look", "speaker"),
        ("python_fields", "generate", "past_end"),
        ("python_fields", "translate", "search"),
        ("command_fields", "generate", "when_full"),
    ],
)
def test_what_a_door_lacks_is_found(door: str, verb: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of these were once missing."""
    fields_of = globals()[door]
    monkeypatch.setitem(globals(), door, lambda verb: fields_of(verb) - {name})
    assert lacking(verb) == {{"served": "server"}.get(door.split("_")[0], door.split("_")[0]): {name}}
