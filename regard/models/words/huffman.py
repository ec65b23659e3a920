"""A Huffman tree over words: frequent words have short paths, so that few nodes are updated for each word."""

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Int32, Int64


class Tree(NamedTuple):
    """The path from the root to each word: `nodes[starts[w] : starts[w + 1]]`, with the sign of each turn.

    P(word) is the product of σ(sign · u_node · h) over its nodes (Mikolov et al. 2013, equation 3).
    """

    starts: Int64[np.ndarray, " word_and_end"]
    nodes: Int32[np.ndarray, " turn"]
    signs: Float32[np.ndarray, " turn"]


def huffman_tree(counts: Int64[np.ndarray, " word"]) -> Tree:
    """Build the tree with the shortest expected path for words with these counts (Huffman 1952)."""
    size = len(counts)
    heap = [(int(count), number) for number, count in enumerate(counts)]
    heapify(heap)
    parents, signs = np.zeros(2 * size - 1, np.int64), np.ones(2 * size - 1, np.float32)
    for node in range(size, 2 * size - 1):
        (less, one), (more, other) = heappop(heap), heappop(heap)
        parents[one], parents[other] = node, node
        signs[other] = -1
        heappush(heap, (less + more, node))
    paths = [_path(word, parents, 2 * size - 2) for word in range(size)]
    starts = np.concatenate([[0], np.cumsum([len(path) for path in paths])]).astype(np.int64)
    below = np.array([node for path in paths for node in path], np.int64)
    return Tree(starts, (parents[below] - size).astype(np.int32), signs[below])


def _path(word: int, parents: Int64[np.ndarray, " node"], root: int) -> list[int]:
    """Return the nodes on the path from the root to a word, without the root, with the word last."""
    path, node = [], word
    while node != root:
        path.append(node)
        node = int(parents[node])
    return path[::-1]
