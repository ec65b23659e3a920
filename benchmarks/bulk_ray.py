"""A file translated on a Ray cluster of two nodes of which one is removed in the middle, beside one process.

The cluster is made on this machine: a head without work of its own, and two nodes with a core each. When a quarter of
the shards are done one node is removed, and Ray gives its work to the other. In the end the two outputs are compared.

    .venv/bin/python benchmarks/bulk_ray.py runs/demo --lines 100000
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from bulk import write_lines
from ray.cluster_utils import Cluster

from regard.cli import main as regard
from regard.console import say_table

LOOK = 0.05  # seconds between two looks at how much is done


def done(folder: Path) -> int:
    """Shards that have their marks."""
    return len(list(folder.glob("*.done"))) if folder.is_dir() else 0


def measure(model: Path, lines: int, folder: Path) -> None:
    source, alone, together = folder / "lines", folder / "alone", folder / "together"
    shards = folder / "together.shards"
    write_lines(source, lines, seed=1)
    asked = ["translate", str(model), str(source), "--beam", "1"]
    if regard([*asked, "-o", str(alone)]):
        sys.exit("one process failed")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    os.environ["RAY_ADDRESS"] = cluster.address
    removed_at: list[int] = []
    is_over = threading.Event()

    def remove_a_node() -> None:
        while not is_over.wait(LOOK):
            if done(shards) * 4 >= min(64, -(-lines // 1024)):
                removed_at.append(done(shards))
                cluster.remove_node(nodes[0], allow_graceful=False)
                return

    watcher = threading.Thread(target=remove_a_node)
    watcher.start()
    began = time.monotonic()
    status = regard([*asked, "-o", str(together), "--on", "ray", "--workers", "2"])
    took = time.monotonic() - began
    is_over.set()
    watcher.join()
    cluster.shutdown()
    if status:
        sys.exit("the cluster failed")
    same = alone.read_bytes() == together.read_bytes()
    removed = f"after {removed_at[0]} shards" if removed_at else "never"
    say_table(
        ["lines", "nodes", "one removed", "seconds", "bytes"],
        [[f"{lines:,}", "2", removed, f"{took:.0f}", "the same" if same else "DIFFERENT"]],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--lines", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(given.model, given.lines, Path(folder))


if __name__ == "__main__":
    main()
