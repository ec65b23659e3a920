"""Files of pairs that are not two columns of text: trees and conversations."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from regard.base.faults import Fault
from regard.base.recipe import Options
from regard.data.corpora.turns import read_conversations, replies
from regard.data.trees.linear import Leaves, linearise
from regard.data.trees.tree import NoTree, normalise, read_tree

Pair = tuple[str, str]


class Form(Options):
    """Format of a file of pairs that is not two columns of text. The name of a form is enough."""

    kind: Literal["trees", "turns"] = Field(
        description="trees: one tree per line as treebanks write it, giving a sentence and its tree as text; turns: "
        "conversations, one turn per line, giving the preceding turns and the reply."
    )
    leaves: Leaves = Field(
        "tags", description="Leaves of a tree in place of its words: their parts of speech, or identical marks."
    )
    context: int = Field(2, ge=1, description="Most preceding turns that a reply is paired with.")
    first: int = Field(1, ge=1, description="Number of the first conversation to use.")
    last: int | None = Field(None, ge=1, description="Number of the last conversation to use; by default all.")

    @model_validator(mode="after")
    def _own_options(self) -> Self:
        others = _OPTIONS["turns" if self.kind == "trees" else "trees"]
        for name in others:
            if getattr(self, name) != Form.model_fields[name].default:
                raise ValueError(f"'{name}' does not apply to {self.kind}, which take {', '.join(_OPTIONS[self.kind])}")
        if self.last is not None and self.last < self.first:
            raise ValueError(f"the last conversation, {self.last}, comes before the first, {self.first}")
        return self

    @model_serializer(mode="wrap")
    def _only_own_options(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if name == "kind" or name in _OPTIONS[self.kind]}


_OPTIONS = {"trees": ("leaves",), "turns": ("context", "first", "last")}


def read_form(form: Form, lines: Iterable[str], name: str) -> Iterator[Pair]:
    """Yield the pairs in `lines`; `name` is their file, for faults."""
    return _READERS[form.kind](form, lines, name)


def _read_trees(form: Form, lines: Iterable[str], name: str) -> Iterator[Pair]:
    for number, line in enumerate(lines, 1):
        try:
            tree = normalise(read_tree(line))
        except NoTree as reason:
            raise Fault(f"{name}, line {number}: not a tree, because {reason}.") from None
        yield " ".join(leaf.word for leaf in tree.leaves()), linearise(tree, form.leaves)


def _read_turns(form: Form, lines: Iterable[str], name: str) -> Iterator[Pair]:
    for conversation in islice(read_conversations(lines, name), form.first - 1, form.last):
        yield from replies(conversation, form.context)


_READERS: dict[str, Callable[[Form, Iterable[str], str], Iterator[Pair]]] = {
    "trees": _read_trees,
    "turns": _read_turns,
}
