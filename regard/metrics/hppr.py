"""HPPR: compare the phrases of a translation with those of its source, without a reference (Han et al. 2013).

A tree becomes the sequence of its phrase labels, in the order in which their brackets open, and each label becomes one
of nine universal tags. For the tags of the output and of the source,

    HPPR = (w_s + w_p + w_r) / (w_s / Ps + w_p / P + w_r / R)

    Ps  exp(−NPD), NPD the mean over the output's tags of |i/n − j/m|, i of n and its partner j of m; j is 0 without one
    P   1/6 P₁ + 2/6 P₂ + 3/6 P₃, P_n the share of the output's n-grams of tags that the source has too
    R   the same shares of the source's n-grams

The weights w_s, w_p, w_r are 1, 9 and 1. The value is the mean over sentences, from 0 to 1.

The formula, its weights and the tag tables for English and French come from the authors' program; partners are found as
in our LEPOR. The program starts from files of tags, so the order in which a tree is read is our choice.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from regard.base.faults import Fault
from regard.data.trees.tree import NoTree, Tree, normalise, read_tree
from regard.metrics.errors import normal
from regard.metrics.lepor import partners
from regard.metrics.summed import Summed, mean_of_best

_LABELS = {  # labels of the Penn Treebank, the French Treebank and German's Negra, by universal tag
    "NP": "NP NAC NX WHNP QP CNP MPN NM",
    "VP": "VP VN VPpart VPinf CVP VZ CVZ",
    "AJP": "ADJP WHADJP AP AA CAP MTA",
    "AVP": "ADVP WHADVP PRT AdP AVP CAVP",
    "PP": "PP WHPP CAC CPP CCP",
    "S": "S SBAR SBARQ SINV SQ PRN FRAG RRC SENT Ssub Sint Srel CS CH DL",
    "CONJP": "CONJP",
    "COP": "UCP COORD CO",
}
_OTHER = "X"
UNIVERSAL = {label: tag for tag, labels in _LABELS.items() for label in labels.split()}
_SHARES = {1: 1 / 6, 2: 2 / 6, 3: 3 / 6}
_ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}


def hppr(position: float = 1.0, precision: float = 9.0, recall: float = 1.0) -> Summed:
    """Return HPPR as a metric of trees, one per line; its arguments are the weights of its three parts."""
    how = f"unit:phrase|tags:universal|ref:best|mean:text|weights:{position:g},{precision:g},{recall:g}|range:0-1"

    def compare(output: str, source: str) -> float:
        written, wanted = phrase_tags(_read(output, "output")), phrase_tags(_read(source, "source"))
        place = math.exp(-_place_difference(written, wanted))
        shared = {order: _shares(written, wanted, order) for order in _SHARES}
        ours, theirs = (sum(_SHARES[order] * pair[side] for order, pair in shared.items()) for side in (0, 1))
        if not ours or not theirs:
            return 0.0
        return (position + precision + recall) / (position / place + precision / ours + recall / theirs)

    return mean_of_best(compare, lambda: how)


def phrase_tags(tree: Tree) -> list[str]:
    """Return the universal tags of a tree's phrases, in the order in which their brackets open."""
    return [UNIVERSAL.get(label, _OTHER) for label in _labels(tree)]


def _labels(tree: Tree) -> Iterator[str]:
    yield tree.label
    for child in tree.children:
        if isinstance(child, Tree):
            yield from _labels(child)


def _place_difference(written: Sequence[str], wanted: Sequence[str]) -> float:
    places = dict(partners(written, wanted))
    differences = (
        abs((i + 1) / len(written) - ((places[i] + 1) / len(wanted) if i in places else 0)) for i in range(len(written))
    )
    return sum(differences) / len(written)


def _shares(written: Sequence[str], wanted: Sequence[str], order: int) -> tuple[float, float]:
    """Return the share of output n-grams that are in the source, and the share of source n-grams in the output."""
    ours, theirs = (Counter(zip(*(side[k:] for k in range(order)), strict=False)) for side in (written, wanted))
    common = (ours & theirs).total()
    return common / (ours.total() or 1), common / (theirs.total() or 1)


def _read(line: str, side: str) -> Tree:
    try:
        return normalise(read_tree(line))
    except NoTree as reason:
        raise Fault(
            f"HPPR compares trees, but this {side} is not one, because {reason}: '{line[:60]}'. Expected a "
            "line such as '(S (NP (DT A) (NN cat)) (VP (VBZ naps)))'."
        ) from None


def check_trees(name: str, trees: Sequence[str], sentences_name: str, sentences: Sequence[str]) -> None:
    """Refuse trees whose words differ from their sentences, ignoring spaces."""
    if len(trees) != len(sentences):
        raise Fault(f"{name} has {len(trees)} trees but {sentences_name} has {len(sentences)} sentences.")
    for number, (line, sentence) in enumerate(zip(trees, sentences, strict=True), 1):
        words = [_ESCAPED.get(leaf.word, leaf.word) for leaf in _read(line, "line").leaves()]
        if _letters("".join(words)) != _letters(sentence):
            raise Fault(
                f"{name}, line {number}: the words of the tree are '{' '.join(words)[:60]}', but line {number} of "
                f"{sentences_name} is '{sentence[:60]}'."
            )


def _letters(text: str) -> str:
    """Return a text without white space and with plain quotation marks."""
    plain = unicodedata.normalize("NFKC", normal(text)).replace("``", '"').replace("''", '"')
    return "".join(plain.replace("“", '"').replace("”", '"').split())
