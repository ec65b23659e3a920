"""What a step of a machine costs by the slots of its memory: seconds, and bytes that are kept for the backward pass.

    python benchmarks/memory_size.py --out memory-size.png

Each machine reads some steps forward and goes back through them, as in training. A line for each size has the
milliseconds of a step, how often as many as with the fewest slots, and the same of the bytes that a step keeps for its
gradients; of sparse access also the milliseconds of its searches alone, which look at every slot. The memory itself,
and a table of its gradients, are made once for a sequence and not counted as kept by a step.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.console import say_table
from regard.models.machines.addressing import cosines
from regard.models.machines.dnc import DNC, DNCOptions
from regard.models.machines.ntm import NTM, NTMOptions
from regard.models.machines.sam import SAM, SAMOptions
from regard.viewing.canvas import INK, PALETTE, SOFT, canvas, save_figure

CHANNELS = 9
MOST_LINKS = 2048  # slots of a DNC: it has a number for each pair of them
MACHINES: dict[str, Callable[[int], Any]] = {
    "ntm": lambda slots: NTM(NTMOptions(slots=slots), CHANNELS, CHANNELS),
    "dnc": lambda slots: DNC(DNCOptions(slots=slots), CHANNELS, CHANNELS),
    "sam": lambda slots: SAM(SAMOptions(slots=slots), CHANNELS, CHANNELS),
}


class Cost(NamedTuple):
    """Of one step: milliseconds, kibibytes kept for the backward pass, and milliseconds of searching alone."""

    time: float
    kept: float
    search: float | None


def main() -> None:
    parser = argparse.ArgumentParser(description="What a step costs by the slots of the memory.")
    parser.add_argument("--slots", type=int, nargs="*", default=[2**power for power in range(6, 17, 2)])
    parser.add_argument("--rows", type=int, default=1, help="memories side by side")
    parser.add_argument("--steps", type=int, default=10, help="steps of a sequence")
    parser.add_argument("--turns", type=int, default=3, help="sequences that are timed; the median counts")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, help="a .png or .svg to draw it")
    given = parser.parse_args()
    torch.set_num_threads(1)
    costs: dict[str, dict[int, Cost]] = {}
    for name in MACHINES:
        sizes = [slots for slots in given.slots if name != "dnc" or slots <= MOST_LINKS]
        costs[name] = {slots: measure(name, slots, given) for slots in sizes}
        say_table(
            [name, "slots", "ms a step", "ratio", "KiB kept a step", "ratio", "ms of searching"], _rows(costs[name])
        )
    if given.out:
        draw(costs, given.out, given.device)


def measure(name: str, slots: int, given: argparse.Namespace) -> Cost:
    """The cost of a step of this machine."""
    torch.manual_seed(1)
    machine = MACHINES[name](slots).to(given.device)
    inputs = torch.rand(1, given.rows, given.steps, CHANNELS, device=given.device)
    kept = KeptStorage()
    with kept:
        machine(inputs).sum().backward()
    kept_bytes = kept.forget()
    seconds = statistics.median(
        timed(lambda: machine(inputs).sum().backward(), given.device) for _ in range(given.turns)
    )
    search = None
    if isinstance(machine, SAM):
        memory = torch.rand(given.rows, slots, machine.options.depth, device=given.device)
        key, last_used = memory[:, :1].clone(), torch.arange(slots, device=given.device).expand(given.rows, -1)

        def look_everywhere() -> None:
            cosines(key, memory).topk(machine.options.nearest, dim=-1)
            last_used.argmin(dim=1)

        look_everywhere()
        search = 1000 * statistics.median(timed(look_everywhere, given.device) for _ in range(5 * given.turns))
    return Cost(1000 * seconds / given.steps, kept_bytes / 1024 / given.steps, search)


def timed(work: Callable[[], None], device: str) -> float:
    """Seconds that some work takes: on a CPU those of one core, which hardly change when others use the machine."""
    on_gpu = torch.device(device).type == "cuda"
    clock = time.perf_counter if on_gpu else time.process_time
    if on_gpu:
        torch.cuda.synchronize()
    began = clock()
    work()
    if on_gpu:
        torch.cuda.synchronize()
    return clock() - began


class KeptStorage(torch.autograd.graph.saved_tensors_hooks):
    """Counts the bytes that are kept for the backward pass; what several operations keep together counts once."""

    def __init__(self) -> None:
        self._found: dict[int, Tensor] = {}
        super().__init__(self._keep, lambda saved: saved)

    def _keep(self, saved: Tensor) -> Tensor:
        self._found[saved.untyped_storage().data_ptr()] = saved
        return saved

    def forget(self) -> int:
        """How many bytes were kept; they are let go."""
        count = sum(each.untyped_storage().nbytes() for each in self._found.values())
        self._found.clear()
        return count


def _rows(costs: dict[int, Cost]) -> list[list[str]]:
    first = next(iter(costs.values()))
    return [
        [
            "",
            f"{slots:,}",
            f"{cost.time:.2f}",
            f"{cost.time / first.time:.1f}",
            f"{cost.kept:,.0f}",
            f"{cost.kept / first.kept:.1f}",
            "" if cost.search is None else f"{cost.search:.3f}",
        ]
        for slots, cost in costs.items()
    ]


def draw(costs: dict[str, dict[int, Cost]], path: Path, device: str) -> None:
    """Time and kept bytes by the slots, both on scales on which a growth in proportion is a straight line."""
    titles = {
        "time": f"milliseconds a step ({'one core' if device == 'cpu' else device})",
        "kept": "KiB kept a step for the backward pass",
    }
    with canvas(titles.values()):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3.6), layout="constrained")
        for axes, (part, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
            for (name, own), colour in zip(costs.items(), PALETTE, strict=False):
                values = [getattr(cost, part) for cost in own.values()]
                axes.plot(list(own), values, "o-", color=colour, markersize=4, label=name)
                axes.annotate(
                    name, (list(own)[-1], values[-1]), (5, 0), textcoords="offset points", color=colour, va="center"
                )
            searches = [cost.search for cost in costs["sam"].values()]
            if part == "time":
                axes.plot(list(costs["sam"]), searches, ":", color=PALETTE[2])
                axes.annotate(
                    "its search", (list(costs["sam"])[-1], searches[-1]), (5, 0), textcoords="offset points",
                    color=PALETTE[2], va="center",
                )  # fmt: skip
            axes.set(xscale="log", yscale="log")
            axes.set_xlabel("slots", color=SOFT)
            axes.set_title(title, fontsize=10.5, color=INK)
            axes.margins(x=0.14)
            axes.spines[["top", "right"]].set_visible(False)
        save_figure(figure, path)


if __name__ == "__main__":
    main()
