"""Word links from attention weights in plain lists: `regard.attention.alignments` without torch."""

from collections.abc import Sequence


def word_links(
    weights: Sequence[Sequence[float]], query_words: Sequence[int], key_words: Sequence[int]
) -> list[tuple[int, int]]:
    """Return for each query word the key word with the largest weight, summed over the tokens of both.

    The links are (key word, query word), ordered by query word. Words are given by number, token by token; -1 is a
    token of no word, and so are tokens past the end of a list.
    """
    keys = max(key_words, default=-1) + 1
    sums = [[0.0] * keys for _ in range(max(query_words, default=-1) + 1)]
    for query, row in zip(query_words, weights, strict=False):
        for key, weight in zip(key_words, row, strict=False):
            if query >= 0 and key >= 0:
                sums[query][key] += weight
    return [(row.index(max(row)), word) for word, row in enumerate(sums) if sum(row) > 0]
