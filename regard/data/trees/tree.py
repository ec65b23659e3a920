"""Phrase structure trees, as treebanks write them and as they are scored.

    ( (S (NP-SBJ (DT A) (NN cat)) (VP (VBZ naps))))

A treebank says more than parsers predict. `normalise` keeps what is scored, as users of EVALB do: it removes unspoken
words (tagged `-NONE-`) and phrases that hold nothing else, strips functions from labels (`NP-SBJ-1`, `PP=2`), keeps the
first of two labels (`ADVP|PRT`), and drops the nameless bracket around a tree.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

UNSAID = "-NONE-"
NAMELESS_ROOT = "TOP"  # for several trees side by side
DEEPEST = 200  # nested phrases; newspapers reach about thirty
_PIECES = re.compile(r"\(|\)|[^\s()]+")


class NoTree(ValueError):
    """The reason why a text is not a tree, as the end of a sentence."""


@dataclass(frozen=True)
class Leaf:
    """A word and its part of speech."""

    tag: str
    word: str

    def __str__(self) -> str:
        return f"({self.tag} {self.word})"


@dataclass(frozen=True)
class Tree:
    """A phrase: its label and its children."""

    label: str
    children: tuple[Union["Tree", Leaf], ...]

    def leaves(self) -> Iterator[Leaf]:
        """Yield its words, in order."""
        for child in self.children:
            if isinstance(child, Leaf):
                yield child
            else:
                yield from child.leaves()

    def __str__(self) -> str:
        return f"({' '.join([self.label, *map(str, self.children)])})"


def read_tree(text: str) -> Tree:
    """Parse the tree in a text, unchanged."""
    open_labels: list[str] = []
    open_children: list[list[Tree | Leaf]] = [[]]
    pieces = _PIECES.findall(text)
    place = 0
    while place < len(pieces):
        piece, *following = pieces[place : place + 4]
        if piece == "(" and len(following) == 3 and following[2] == ")" and not {"(", ")"} & set(following[:2]):
            open_children[-1].append(Leaf(following[0], following[1]))
            place += 4
        elif piece == "(":
            is_named = bool(following) and following[0] not in "()"
            open_labels.append(following[0] if is_named else "")
            if len(open_labels) > DEEPEST:
                raise NoTree(f"more than {DEEPEST} phrases are nested")
            open_children.append([])
            place += 2 if is_named else 1
        elif piece == ")":
            if not open_labels:
                raise NoTree("a bracket is closed that was not opened")
            children = open_children.pop()
            open_children[-1].append(Tree(open_labels.pop(), tuple(children)))
            place += 1
        else:
            raise NoTree(f"'{piece}' is not in brackets with a tag")
    if open_labels:
        raise NoTree(f"{len(open_labels)} of its brackets are not closed")
    roots = open_children[0]
    if len(roots) != 1 or not isinstance(roots[0], Tree):
        raise NoTree("it is not one phrase")
    return roots[0]


def normalise(tree: Tree) -> Tree:
    """Return the tree as it is scored; raise NoTree if it has no spoken word."""
    children = tuple(_said(tree.children))
    if not children:
        raise NoTree("it has no words")
    if not tree.label:
        (only, *others) = children
        return only if isinstance(only, Tree) and not others else Tree(NAMELESS_ROOT, children)
    return Tree(_bare(tree.label), children)


def _said(children: tuple[Tree | Leaf, ...]) -> Iterator[Tree | Leaf]:
    for child in children:
        if isinstance(child, Leaf):
            if child.tag != UNSAID:
                yield child
        elif inner := tuple(_said(child.children)):
            yield Tree(_bare(child.label), inner)


def _bare(label: str) -> str:
    return re.split(r"[-=|]", label, maxsplit=1)[0] or label
