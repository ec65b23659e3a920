"""The use of a memory in a terminal: a column for each step, a line for each slot, more ink where a head is."""

from regard.viewing.canvas import show_word
from regard.viewing.slots.record import MemoryUse, is_writer
from regard.viewing.written import DOT, fit_text, legend_of_shades, shade_of

_ORANGE, _BLUE, _DIM, _PLAIN = "\x1b[33m", "\x1b[34m", "\x1b[2m", "\x1b[0m"
_MARGIN = 5  # cells for the number of a slot


def memory_lines(use: MemoryUse, width: int, colour: bool) -> list[str]:
    """The slots of each head under its name; steps that do not fit follow under the others."""
    lines = [fit_text(show_word(use.title), width)]
    room = max(width - _MARGIN - 1, 1)
    for first in range(0, len(use.steps), room):
        steps = range(first, min(first + room, len(use.steps)))
        for head, weights in zip(use.heads, use.weights, strict=True):
            lines += ["", fit_text(f"{head}, steps {steps.start + 1} to {steps.stop}, slot by slot", width)]
            ink = _ORANGE if is_writer(head) else _BLUE
            for slot in use.slots:
                cells = [_cell(weights[step, slot], ink if colour else "") for step in steps]
                lines.append(f"{slot:>{_MARGIN}} {''.join(cells)}")
    return [*lines, fit_text(f"{'':{_MARGIN}} {legend_of_shades()}", width)]


def _cell(weight: float, ink: str) -> str:
    shade = shade_of(weight)
    if not ink:
        return shade
    return f"{_DIM if shade == DOT else ink}{shade}{_PLAIN}"
