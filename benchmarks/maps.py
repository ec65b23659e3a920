"""Maps of vectors: our t-SNE beside scikit-learn's, on the same vectors and one core: seconds and what t-SNE minimises.

.venv/bin/python benchmarks/maps.py 300 1000
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.manifold import TSNE

from regard.viewing.planes import joint_probabilities, lay_out_neighbours

DEPTH, GROUPS, PERPLEXITY = 100, 12, 30.0


def vectors(count: int) -> np.ndarray:
    """Return vectors of length 1 in some groups."""
    numbers = np.random.default_rng(1)
    middles = numbers.standard_normal((GROUPS, DEPTH))
    rows = middles[numbers.integers(GROUPS, size=count)] + 0.7 * numbers.standard_normal((count, DEPTH))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def divergence(rows: np.ndarray, places: np.ndarray) -> float:
    """Return Kullback and Leibler's divergence of the map from the vectors, which both minimise."""
    wanted = joint_probabilities(rows, PERPLEXITY)
    near = 1 / (1 + np.square(places[:, None] - places[None]).sum(-1))
    np.fill_diagonal(near, 0)
    present = wanted > 0
    return float((wanted[present] * np.log(wanted[present] / (near / near.sum())[present])).sum())


def measure(name: str, lay_out: Callable[[np.ndarray], np.ndarray], rows: np.ndarray) -> None:
    start = time.process_time()
    places = lay_out(rows)
    print(
        f"{len(rows):6,} vectors  {name:26} {time.process_time() - start:7.2f} s  {divergence(rows, places):.4f} nats"
    )


def main(counts: list[int]) -> None:
    for count in counts:
        rows = vectors(count)
        measure("ours", lay_out_neighbours, rows)
        for method in ("exact", "barnes_hut"):
            theirs = TSNE(method=method, init="pca", perplexity=PERPLEXITY, random_state=1, max_iter=750)
            measure(f"scikit-learn, {method}", theirs.fit_transform, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int, default=[300, 1000], help="how many vectors to lay out")
    main(parser.parse_args().counts)
