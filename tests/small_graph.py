"""A small graph of two groups of friends in plain files, and a recipe that learns the groups in seconds."""

import random
from pathlib import Path
from typing import Any

GROUPS, SIZE = ("blue", "green"), 12
NODES = len(GROUPS) * SIZE


def write_small_graph(folder: Path, seed: int = 1) -> dict[str, str]:
    """Write edges mostly within a group, and features that say little about one node. Return the `data` table."""
    chance = random.Random(seed)
    group = [node // SIZE for node in range(NODES)]
    edges = [(node, node // SIZE * SIZE + (node + 1) % SIZE) for node in range(NODES)]  # a ring for each group
    edges += [(a, b) for a in range(NODES) for b in range(a) if group[a] == group[b] and chance.random() < 0.3]
    edges += [(0, SIZE)]
    features = [[chance.random() + (group[node] == column) * 0.5 for column in (0, 1, 2)] for node in range(NODES)]
    splits = ["train" if node % SIZE < 3 else "valid" if node % SIZE < 6 else "test" for node in range(NODES)]
    lines = {
        "edges": [f"{a}\t{b}" for a, b in edges],
        "features": ["\t".join(f"{value:.3f}" for value in row) for row in features],
        "labels": [GROUPS[index] for index in group],
        "split": splits,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in lines.items():
        (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return {name: str(folder / name) for name in lines}


def small_recipe(folder: Path, members: int = 1, seed: int = 1, **training: Any) -> dict[str, Any]:
    """Return the table of a recipe on that graph."""
    return {
        "family": "gat",
        "task": "nodes",
        "seed": seed,
        "data": {**write_small_graph(folder, seed), "normalise": False},
        "model": {"heads": 2, "width": 4, "dropout": 0.2, "weight_dropout": 0.2, "value_dropout": 0.2},
        "training": {"steps": 60, "members": members, **training},
    }
