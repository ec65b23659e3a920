"""Trees as lines of text that a translator can learn to write (Vinyals et al. 2015, Grammar as a Foreign Language).

    (S (NP DT NN )NP (VP VBZ )VP . )S

Both opening and closing brackets carry the label. Words are replaced by their part of speech or, as in the paper, by
XX. Punctuation marks keep their tags in both cases, since a parse is scored without them. The words are those of the
sentence, in order, so `fill` can put them back.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Literal

from regard.data.trees.tree import DEEPEST, NAMELESS_ROOT, Leaf, NoTree, Tree

Leaves = Literal["tags", "marks"]
Span = tuple[str, int, int]  # label, place of its first word, and place after its last

MARK = "XX"
PUNCTUATION = frozenset({",", ".", ":", "``", "''"})  # tags that EVALB ignores, by Collins' parameters


def linearise(tree: Tree, leaves: Leaves) -> str:
    """Return a tree as one line."""
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
    """Parse a line as a tree whose words are its leaves; refuse anything else."""
    tree, fault = _read(line)
    if fault:
        raise NoTree(fault)
    return tree


def mend_line(line: str) -> Tree:
    """Parse a line as a tree, repairing it if necessary.

    A closing bracket closes the innermost open phrase of its label and everything opened inside it; without such a
    phrase it is ignored. So is an opening bracket that is nested too deeply. Phrases open at the end are closed there,
    and phrases without words are removed. If several phrases or words remain side by side, they get a common root.
    """
    return _read(line)[0]


def _read(line: str) -> tuple[Tree, str]:
    """Return the repaired tree of a line, and the first fault, if any."""
    roots: list[Tree | Leaf] = []
    phrases: list[tuple[str, list[Tree | Leaf]]] = [("", roots)]  # open phrases with their content so far
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
                faults.append(f"more than {DEEPEST} phrases are nested")
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
    """Return the phrases of a tree, outer ones before those inside them."""
    phrases: list[Span] = []

    def walk(phrase: Tree, start: int) -> int:
        place, number = start, len(phrases)
        phrases.append((phrase.label, start, start))
        for child in phrase.children:
            place = walk(child, place) if isinstance(child, Tree) else place + 1
        phrases[number] = (phrase.label, start, place)
        return place

    walk(tree, 0)
    return phrases


def fill(line: str, words: Sequence[str]) -> str:
    """Return a line as treebanks write it, `(S (NP (DT The) (NN cat)) …)`, with the words of its sentence.

    A malformed line is repaired. Surplus words are left out; surplus leaves stay unchanged.
    """
    tree = mend_line(line)
    leaves = zip_longest(tree.leaves(), words)
    return str(with_leaves(tree, [Leaf(leaf.tag, word or leaf.word) for leaf, word in leaves if leaf]))


def with_leaves(tree: Tree, leaves: Sequence[Leaf]) -> Tree:
    """Return the phrases of a tree over other leaves, which must be as many."""
    following = iter(leaves)

    def put(phrase: Tree) -> Tree:
        children = (put(child) if isinstance(child, Tree) else next(following) for child in phrase.children)
        return Tree(phrase.label, tuple(children))

    return put(tree)
