"""What grows with a corpus, at sizes that nobody has text for: comparing all pairs, and the order of an epoch.

    python benchmarks/hundred_million.py FOLDER --pairs 1000000 10000000 100000000 --out hundred-million.png

Hashes of pairs are drawn at random, one pair in fifty one of 2,000 that recur, and judged as `regard` judges those
of text; lengths are drawn too, and the order of an epoch's batches is made of them up to its first batch. These are the
two steps of which one process has to do the whole; what worker processes do is by pieces of a fixed size
(benchmarks/preparing.py). Each size is measured by a process of its own, in seconds of one core and in the most memory.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from regard.console import say_table
from regard.data.corpora.batching import BatchPlan
from regard.data.corpora.cleaning import Fate, judge
from regard.data.corpora.hashes import COLUMNS, HASH, HashedPairs
from regard.data.corpora.options import Cleaning
from regard.viewing.canvas import INK, PALETTE, SOFT, canvas, save_figure

PIECE = 20_000
RECURRING, SHARE = 2000, 0.02
STEPS = {"compare": "comparing all pairs", "plan": "the order of an epoch"}
BUDGET = 25_000  # tokens of a batch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where hashes and lengths may lie: 32 bytes a pair")
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000])
    parser.add_argument("--out", type=Path, help="a .png or .svg to draw it")
    parser.add_argument("--one", choices=list(STEPS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps({"compare": compare, "plan": plan}[given.one](given.folder)))
        return
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in STEPS}
    for pairs in given.pairs:
        given.folder.mkdir(parents=True)
        write_drawn(given.folder, pairs)
        for name, own in found.items():
            own.append(
                json.loads(subprocess.check_output([sys.executable, __file__, str(given.folder), "--one", name]))
            )
            print(name, own[-1], flush=True)
        shutil.rmtree(given.folder)
    for name, own in found.items():
        rows = [[f"{each['pairs']:,}", f"{each['seconds']:.1f}", f"{each['memory']:,.0f}"] for each in own]
        say_table([STEPS[name], "seconds of one core", "MB"], rows)
    if given.out:
        draw(found, given.out)


def write_drawn(folder: Path, pairs: int) -> None:
    """Hashes in the files that workers write, and lengths of both sides."""
    (folder / "hashes").mkdir()
    generator = np.random.default_rng(1)
    with (folder / "source.lengths").open("wb") as source, (folder / "target.lengths").open("wb") as target:
        for number, first in enumerate(range(0, pairs, PIECE)):
            size = min(PIECE, pairs - first)
            drawn = generator.integers(0, 2**64, (len(COLUMNS), size), HASH)
            recurs = generator.random(size) < SHARE
            drawn[:, recurs] = generator.integers(0, RECURRING, int(recurs.sum())).astype(HASH) << np.uint64(50)
            (folder / "hashes" / f"{number:07}").write_bytes(drawn.tobytes())
            lengths = 30 * np.exp(0.6 * generator.standard_normal(size))
            for file, scale in ((source, 1.0), (target, 0.95)):
                file.write(np.clip(scale * lengths, 1, 250).astype(np.int32).tobytes())


def compare(folder: Path) -> dict[str, Any]:
    """Judge all pairs by their hashes, and hold some out."""
    before = time.process_time()
    hashes = HashedPairs(sorted((folder / "hashes").iterdir()))
    fates = judge(hashes, np.arange(6000, dtype=HASH), Cleaning(), hold_out=3000)
    dropped = int(np.count_nonzero(fates == Fate.DUPLICATE))
    return _measured(len(hashes), before) | {"duplicates": dropped}


def plan(folder: Path) -> dict[str, Any]:
    """Put all pairs in the order of an epoch, as far as its first batch."""
    before = time.process_time()
    lengths = [np.asarray(np.memmap(folder / f"{side}.lengths", np.int32, "r")) for side in ("source", "target")]
    pairs = len(lengths[0])
    first = next(BatchPlan(*lengths, BUDGET, [(0, pairs, float(pairs))]).batches(1, 0))
    return _measured(pairs, before) | {"first batch": len(first)}


def _measured(pairs: int, before: float) -> dict[str, Any]:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return {"pairs": pairs, "seconds": time.process_time() - before, "memory": memory}


def draw(found: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Both by the number of pairs, on scales on which a growth in proportion is a straight line."""
    titles = {"seconds": "seconds of one core", "memory": "most memory, MB"}
    with canvas([*titles.values(), *STEPS.values()]):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3.6), layout="constrained")
        for axes, (part, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
            for (name, own), colour in zip(found.items(), PALETTE, strict=False):
                sizes, values = ([each[key] for each in own] for key in ("pairs", part))
                axes.plot(sizes, values, "o-", color=colour, markersize=4, label=STEPS[name])
            axes.set(xscale="log", yscale="log")
            axes.set_xlabel("pairs", color=SOFT)
            axes.set_title(title, fontsize=10.5, color=INK)
            axes.legend(frameon=False, fontsize=8, labelcolor=INK)
            axes.spines[["top", "right"]].set_visible(False)
        save_figure(figure, path)


if __name__ == "__main__":
    main()
