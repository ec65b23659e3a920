"""Word alignments: links between source and target words, and the alignment error rate."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

import torch
from jaxtyping import Float
from torch import Tensor

from regard.base.faults import Fault

Link = tuple[int, int]  # numbers of a source word and of a target word, from 0
_WRITTEN = re.compile(r"([0-9]+)([-p?])([0-9]+)")


@dataclass(frozen=True)
class Alignment:
    """The sure and possible links of a sentence pair, as annotated by people; sure links are also possible.

    `line` is the line of the file they were read from, counted from 1, if any.
    """

    sure: frozenset[Link]
    possible: frozenset[Link]
    line: int | None = field(default=None, compare=False)

    def check_within(self, source_words: int, target_words: int) -> None:
        """Refuse a link to a word that the pair does not have: the links belong to another pair or count from 1."""
        for source, target in sorted(self.possible):
            for side, word, count in (("source", source, source_words), ("target", target, target_words)):
                if word >= count:
                    place = "An alignment" if self.line is None else f"Line {self.line} of the alignments"
                    mark = "-" if (source, target) in self.sure else "p"
                    raise Fault(
                        f"{place} has the link {source}{mark}{target}, but the {side} has {count} "
                        f"{'word' if count == 1 else 'words'}, counted from 0."
                    )


@dataclass(frozen=True)
class AlignmentErrors:
    """Counts of links, to be added up over sentences and finished once (Och and Ney 2003, section 5)."""

    found: int = 0  # |A|
    sure: int = 0  # |S|
    found_sure: int = 0  # |A ∩ S|
    found_possible: int = 0  # |A ∩ P|

    def __add__(self, other: "AlignmentErrors") -> "AlignmentErrors":
        return AlignmentErrors(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def precision(self) -> float:
        """|A ∩ P| / |A|."""
        return self.found_possible / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        """|A ∩ S| / |S|."""
        return self.found_sure / self.sure if self.sure else float("nan")

    @property
    def rate(self) -> float:
        """AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|): 0 is best, and NaN means that nothing was counted."""
        count = self.found + self.sure
        return 1 - (self.found_sure + self.found_possible) / count if count else float("nan")


def alignment_errors(found: Iterable[Link], given: Alignment) -> AlignmentErrors:
    """Compare the links found in a sentence pair with those given."""
    links = set(found)
    return AlignmentErrors(len(links), len(given.sure), len(links & given.sure), len(links & given.possible))


def links(weights: Float[Tensor, "query key"], query_words: Sequence[int], key_words: Sequence[int]) -> frozenset[Link]:
    """Return a link from each query word to the key word it looks at most, with weights summed over the tokens of both.

    `query_words` and `key_words` give each token's word number; −1 means that the token belongs to no word. Tokens past
    the end of the list (the end of a sentence, padding) belong to no word either.
    """
    queries, keys = max(query_words, default=-1) + 1, max(key_words, default=-1) + 1
    if not queries or not keys:
        return frozenset()
    of_query, of_key = (torch.tensor(words, device=weights.device) for words in (query_words, key_words))
    real = weights[: len(query_words), : len(key_words)][of_query >= 0][:, of_key >= 0].double()
    by_key = real.new_zeros(len(real), keys).index_add(1, of_key[of_key >= 0], real)
    by_word = real.new_zeros(queries, keys).index_add(0, of_query[of_query >= 0], by_key)
    return frozenset(
        (best, word) for word, best in enumerate(by_word.argmax(dim=1).tolist()) if by_word[word].sum() > 0
    )


def read_alignments(lines: Iterable[str]) -> list[Alignment]:
    """Read alignments in Pharaoh format, one line per pair: "0-0 1-2" are sure links, "1p2" and "1?2" possible ones."""
    return [_read(line, number) for number, line in enumerate(lines, 1)]


def _read(line: str, number: int) -> Alignment:
    sure, possible = set(), set()
    for text in line.split():
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise Fault(f"Line {number} of the alignments has '{text}', which is not a link such as 0-0 or 1p2.")
        link = int(match[1]), int(match[3])
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return Alignment(frozenset(sure), frozenset(possible), number)
