"""Trees as lines of text that a translator can learn to write (Vinyals et al. 2015, Grammar as a Foreign Language).

    (S (NP DT NN )NP (VP VBZ )VP . )S

An opening bracket carries its label and so does the closing one. Words are not repeated: in their place stands the part
of speech, or, as in the paper, XX. Punctuation marks keep their tags in both, for a parse is scored without them. The
words are those of the sentence, in its order, so `fill` can put them back.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Literal

from regard.data.trees.tree import DEEPEST, NAMELESS_ROOT, Leaf, NoTree, Tree

Leaves = Literal["tags", "marks"]
Span = tuple[str, int, int]  # a label, the place of its first word, and the place behind its last

MARK = "XX"
PUNCTUATION = frozenset({",", ".", ":", "``", "''"})  # the tags that EVALB leaves out, by Collins' parameters


def linearise(tree: Tree, leaves: Leaves) -> str:
    """A tree as one line."""
    return " ".join(_tokens(tree, leaves))


def _tokens(tree: Tree, leaves: Leaves) -> Iterator[str]:
    yield f"({tree.label}"
    for child in tree.children:
        if isinstance(child, Tree):
            yield from _tokens(child, leaves)
        else:
            yield child.tag if leaves == "tags" or child.tag in PUNCTUATION else MARK
    yield f"){tree.label}"


def read_line(line: str) -> Tree:
    """The tree of a line, whose words are the leaves as they stand there; what is no tree is refused."""
    tree, fault = _read(line)
    if fault:
        raise NoTree(fault)
    return tree


def mend_line(line: str) -> Tree:
    """The tree of a line, mended where it is none.

    A closing bracket closes the innermost open phrase of its label and all that were opened inside it; without such a
    phrase it is ignored, and so is an opening bracket inside too many others. What is open at the end is closed there,
    and phrases without words are removed. Over several phrases or words that are left side by side a root is put.
    """
    return _read(line)[0]


def _read(line: str) -> tuple[Tree, str]:
    """The mended tree of a line, and the first thing that had to be mended, if anything."""
    roots: list[Tree | Leaf] = []
    phrases: list[tuple[str, list[Tree | Leaf]]] = [("", roots)]  # the open ones, each with what it holds so far
    faults: list[str] = []

    def close() -> None:
        label, children = phrases.pop()
        if children:
            phrases[-1][1].append(Tree(label, tuple(children)))
        else:
            faults.append(f"'({label}' has no words")

    for token in line.split():
        if token.startswith("(") and len(token) > 1:
            if len(phrases) <= DEEPEST:
                phrases.append((token[1:], []))
            else:
                faults.append(f"more than {DEEPEST} phrases are inside one another")
        elif token.startswith(")") and len(token) > 1:
            if token[1:] != phrases[-1][0]:
                faults.append(f"'{token}' does not close what was opened last")
            if token[1:] in (label for label, _ in phrases):
                while phrases[-1][0] != token[1:]:
                    close()
                close()
        else:
            phrases[-1][1].append(Leaf(token, token))
    if len(phrases) > 1:
        faults.append(f"'({phrases[-1][0]}' stays open")
    while len(phrases) > 1:
        close()
    if len(roots) == 1 and isinstance(roots[0], Tree):
        return roots[0], next(iter(faults), "")
    return Tree(NAMELESS_ROOT, tuple(roots)), next(iter(faults), "it is not one phrase")


def spans(tree: Tree) -> list[Span]:
    """The phrases of a tree, outer ones before those inside them."""
    found: list[Span] = []

    def walk(phrase: Tree, start: int) -> int:
        place, number = start, len(found)
        found.append((phrase.label, start, start))
        for child in phrase.children:
            place = walk(child, place) if isinstance(child, Tree) else place + 1
        found[number] = (phrase.label, start, place)
        return place

    walk(tree, 0)
    return found


def fill(line: str, words: Sequence[str]) -> str:
    """A line as a treebank writes it, `(S (NP (DT The) (NN cat)) …)`, with the words of its sentence.

    A line that is no tree is mended. Words beyond its leaves are left out; leaves beyond the words stay as they are.
    """
    tree = mend_line(line)
    leaves = zip_longest(tree.leaves(), words)
    return str(with_leaves(tree, [Leaf(leaf.tag, word or leaf.word) for leaf, word in leaves if leaf]))


def with_leaves(tree: Tree, leaves: Sequence[Leaf]) -> Tree:
    """Return the phrases over other leaves, as many as it has."""
    following = iter(leaves)

    def put(phrase: Tree) -> Tree:
        children = (put(child) if isinstance(child, Tree) else next(following) for child in phrase.children)
        return Tree(phrase.label, tuple(children))

    return put(tree)
