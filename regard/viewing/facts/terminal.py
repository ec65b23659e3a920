"""Hops through a story in a terminal: a line for each fact, and beside it how much each hop looks at it."""

from regard.viewing.canvas import show_word
from regard.viewing.facts.record import Hops, forgotten_in_words
from regard.viewing.written import cell_len, fit_text, percent, shade_of

_BRIGHT, _PLAIN = "\x1b[1;36m", "\x1b[0m"
_CELL = 8  # of a hop: a shade and a percentage


def facts_lines(hops: Hops, width: int, colour: bool) -> list[str]:
    """The story with its hops, at most `width` cells wide; with `colour`, what a hop looks at most stands out."""
    facts = [show_word(fact) for fact in hops.facts]
    room = max(8, width - _CELL * len(hops.hops) - 1)
    longest = min(room, max(map(cell_len, facts)))
    head = "".join(f"{fit_text(name, _CELL - 1):>{_CELL}}" for name in hops.hops)
    lines = [f"{'':{longest}} {head}"]
    if forgotten := forgotten_in_words(hops):
        lines.append(fit_text(f"({forgotten})", width))
    for place, fact in enumerate(facts):
        shown = fit_text(fact, longest)
        cells = "".join(_cell(weights[place], weights.max() == weights[place], colour) for weights in hops.weights)
        lines.append(f"{shown}{' ' * (longest - cell_len(shown))} {cells}")
    return [*lines, fit_text(f"{show_word(hops.question)} {show_word(hops.answer)}", width)]


def _cell(weight: float, is_most: bool, colour: bool) -> str:
    text = f"{shade_of(weight)} {percent(max(weight, 0.0))}"
    padded = " " * max(0, _CELL - cell_len(text)) + text
    return f"{_BRIGHT}{padded}{_PLAIN}" if colour and is_most else padded
