"""The use of a memory as a picture: steps from left to right, what is given and answered, the slots of each head."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from regard.viewing.canvas import FAINT, INK, SOFT, canvas, check_suffix, missing_glyphs, save_figure, show_word
from regard.viewing.slots.record import MemoryUse, is_writer
from regard.viewing.written import fit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _HIGH = 0.16, 0.1  # inches of a step, and of a slot or a channel
_LONGEST, _TALLEST = 14.0, 4.0  # inches of all steps, and of the slots of a head
_MOST_NUMBERED = 8  # slots of a head, or steps
_LETTERS = 11  # of a title, in an inch


def draw_memory_use(use: MemoryUse, path: Path) -> set[str]:
    """Draw the steps; gives the characters that no font here can draw."""
    check_suffix(path)
    texts = [use.title, *use.heads]
    slots = use.slots
    both = {"given": use.given, "answered": use.answered}
    strips = [(name, numbers) for name, numbers in both.items() if numbers is not None]
    heights = [max(numbers.shape[1] * _HIGH, 0.3) for _, numbers in strips]
    heights += [min(max(len(slots) * _HIGH, 0.5), _TALLEST)] * len(use.heads)
    with canvas(texts) as new_figure:
        width = min(max(len(use.steps) * _WIDE, 3.5), _LONGEST)
        figure = new_figure(figsize=(width + 1.0, sum(heights) + 0.22 * len(heights) + 0.8), layout="constrained")
        panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (name, numbers) in zip(panels, strips, strict=False):
            _draw_strip(axes, name, numbers)
        for axes, head, weights in zip(panels[len(strips) :], use.heads, use.weights, strict=True):
            _draw_head(axes, head, weights[:, slots], slots)
        numbered = range(0, len(use.steps), max(1, -(-len(use.steps) // _MOST_NUMBERED)))
        panels[-1].set_xticks(list(numbered), [str(step + 1) for step in numbered])
        panels[-1].set_xlabel("step", fontsize=9, color=SOFT)
        figure.suptitle(
            fit_text(show_word(use.title), int(_LETTERS * (width + 1))),
            x=0.01,
            ha="left",
            fontsize=10.5,
            color=INK,
            parse_math=False,
        )
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_strip(axes: "Axes", name: str, numbers: np.ndarray) -> None:
    """Numbers of each step, a row for each channel."""
    lowest = min(0.0, float(numbers.min(initial=0.0)))
    axes.imshow(numbers.T, cmap="Greys", vmin=lowest, vmax=1, aspect="auto", interpolation="nearest")
    axes.set_yticks([])
    _dress(axes, name)


def _draw_head(axes: "Axes", head: str, weights: np.ndarray, slots: list[int]) -> None:
    """The weights (step, slot) of one head, the first slot on top."""
    colours = "Oranges" if is_writer(head) else "Blues"
    axes.imshow(weights.T, cmap=colours, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    places = range(0, len(slots), max(1, -(-len(slots) // _MOST_NUMBERED)))
    axes.set_yticks(list(places), [str(slots[place]) for place in places])
    _dress(axes, f"{head}\nslot")


def _dress(axes: "Axes", name: str) -> None:
    axes.set_ylabel(name, fontsize=9, color=INK, rotation=0, ha="right", va="center")
    axes.tick_params(length=2, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)
