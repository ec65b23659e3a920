"""Trees of phrases, as treebanks write them and as they are scored: `( (S (NP-SBJ (DT A) (NN cat)) (VP (VBZ naps))))`.

A treebank says more than parsers are asked for. `normalise` keeps what is scored, as EVALB's users do: words that were
never said (tagged `-NONE-`) and phrases that hold nothing else are removed, the functions behind a label (`NP-SBJ-1`,
`PP=2`) are cut off, of two labels (`ADVP|PRT`) the first stays, and the nameless bracket around a tree goes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

UNSAID = "-NONE-"
NAMELESS_ROOT = "TOP"  # of a tree that consists of several
DEEPEST = 200  # phrases in one another; those of newspapers are some thirty
_PIECES = re.compile(r"\(|\)|[^\s()]+")


class NoTree(ValueError):
    """Why a text is no tree, as the end of a sentence."""


@dataclass(frozen=True)
class Leaf:
    """A word and its part of speech."""

    tag: str
    word: str

    def __str__(self) -> str:
        return f"({self.tag} {self.word})"


@dataclass(frozen=True)
class Tree:
    """A phrase: its label and what it consists of."""

    label: str
    children: tuple[Union["Tree", Leaf], ...]

    def leaves(self) -> Iterator[Leaf]:
        """Its words, in order."""
        for child in self.children:
            if isinstance(child, Leaf):
                yield child
            else:
                yield from child.leaves()

    def __str__(self) -> str:
        return f"({' '.join([self.label, *map(str, self.children)])})"


def read_tree(text: str) -> Tree:
    """The tree that a text holds, as it stands there."""
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
                raise NoTree(f"more than {DEEPEST} phrases are inside one another")
            open_children.append([])
            place += 2 if is_named else 1
        elif piece == ")":
            if not open_labels:
                raise NoTree("a bracket closes that was not opened")
            children = open_children.pop()
            open_children[-1].append(Tree(open_labels.pop(), tuple(children)))
            place += 1
        else:
            raise NoTree(f"'{piece}' stands in no bracket of its own")
    if open_labels:
        raise NoTree(f"{len(open_labels)} of its brackets stay open")
    roots = open_children[0]
    if len(roots) != 1 or not isinstance(roots[0], Tree):
        raise NoTree("it is not one phrase")
    return roots[0]


def normalise(tree: Tree) -> Tree:
    """The tree as it is scored; one without a word that was said is none."""
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
