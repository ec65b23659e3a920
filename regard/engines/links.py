"""Which word stands for which, from attention weights in plain lists: `regard.attention.alignments` without torch."""

from collections.abc import Sequence


def word_links(
    weights: Sequence[Sequence[float]], query_words: Sequence[int], key_words: Sequence[int]
) -> list[tuple[int, int]]:
    """For each word that looks the word it looks at most, its weights summed over the tokens of both.

    The links are (word looked at, word that looks), in the order of the latter. The words are given by their number,
    token by token; -1 is a token of no word, and tokens past the end of a list count as such.
    """
    keys = max(key_words, default=-1) + 1
    sums = [[0.0] * keys for _ in range(max(query_words, default=-1) + 1)]
    for query, row in zip(query_words, weights, strict=False):
        for key, weight in zip(key_words, row, strict=False):
            if query >= 0 and key >= 0:
                sums[query][key] += weight
    return [(row.index(max(row)), word) for word, row in enumerate(sums) if sum(row) > 0]
