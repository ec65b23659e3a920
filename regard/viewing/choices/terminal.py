"""The next token in a terminal: a line for each token, a bar for what the model gives it, a column for each panel."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from regard.viewing.choices.record import Choices, Panel
from regard.viewing.written import cell_len, fit_text, percent, visible

_EIGHTHS = " ▏▎▍▌▋▊▉"  # of a cell
_BAR = 16  # cells of a bar for all of the probability
_CUT, _GONE, _TAKEN = "cut", "–", "◂"  # by this panel, by one before it; and what the best output has
_BLUE, _BRIGHT, _DIM, _PLAIN = "\x1b[34m", "\x1b[1;36m", "\x1b[2m", "\x1b[0m"

Column = list[str]  # two lines of heading, a line for each token, one for all others, and two about the whole


def choices_lines(choices: Choices, width: int, colour: bool) -> list[str]:
    """The lines of a table, at most `width` cells wide; panels that do not fit follow under the others.

    Bars are left out where there is no room for them. With `colour`, what the best output has here stands out.
    """
    names = _names(choices, width // 3)
    panels = [_panel(choices, place) for place in range(len(choices.panels))]
    fixed = [names, _bars(choices)]
    if _width([*fixed, *panels]) > width:
        fixed = [names]
    written = " ".join(map(visible, choices.before))
    lines = [_cut_front(f"After {written}" if written else "At the beginning", width)]
    for part in _parts(panels, width - _width(fixed)):
        lines += _lines([*fixed, *part], choices, colour)
    if choices.taken is not None:
        lines.append(f"{_TAKEN} what the model's best output has here")
    return [*lines, *_nearest(choices, width)]


def _nearest(choices: Choices, width: int) -> list[str]:
    """The output vectors that lie nearest to the state, with their cosines."""
    if not choices.nearest:
        return []
    named = (f"{visible(token)} {cosine:.2f}" for token, cosine in choices.nearest)
    return ["", *textwrap.wrap(f"Output vectors nearest to the state, by cosine: {', '.join(named)}", max(20, width))]


def _names(choices: Choices, most: int) -> Column:
    tokens = [
        f"{visible(token)} {_TAKEN}" if place == choices.taken else visible(token)
        for place, token in enumerate(choices.tokens)
    ]
    others = f"{choices.unshown:,} others"
    return _pad(
        ["", "", *(fit_text(text, most) for text in tokens), others, "tokens left", "entropy, nats"], to_the_right=False
    )


def _bars(choices: Choices) -> Column:
    shares = _shares(choices, choices.panels[0])
    return _pad(["", "", *(_bar(share) for share in shares), "", ""], to_the_right=False, least=_BAR)


def _bar(share: float) -> str:
    whole, part = divmod(round(share * _BAR * 8), 8)
    return ("█" * whole + _EIGHTHS[part]).rstrip()


def _panel(choices: Choices, place: int) -> Column:
    panel, count = choices.panels[place], len(choices.tokens)
    cells = [percent(share) for share in _shares(choices, panel)]
    for token in np.flatnonzero(panel.probabilities[:count] == 0).tolist():
        cells[token] = _CUT if choices.was_cut(place, token) else _GONE
    return _pad([panel.name, panel.value, *cells, f"{panel.kept:,}", f"{panel.entropy:.2f}"], to_the_right=True)


def _shares(choices: Choices, panel: Panel) -> list[float]:
    """The probabilities of the tokens that are shown, and of all others together."""
    count = len(choices.tokens)
    return [*panel.probabilities[:count].tolist(), panel.others(count)]


def _pad(texts: Sequence[str], to_the_right: bool, least: int = 0) -> Column:
    width = max(least, *map(cell_len, texts))
    gaps = [" " * (width - cell_len(text)) for text in texts]
    return [gap + text if to_the_right else text + gap for text, gap in zip(texts, gaps, strict=True)]


def _width(columns: Iterable[Column]) -> int:
    return sum(cell_len(column[0]) + 2 for column in columns) - 2


def _parts(panels: list[Column], room: int) -> Iterator[list[Column]]:
    """Panels that stand beside each other, one at least."""
    part: list[Column] = []
    for panel in panels:
        if part and _width([*part, panel]) + 2 > room:
            yield part
            part = []
        part.append(panel)
    yield part


def _lines(columns: list[Column], choices: Choices, colour: bool) -> Iterator[str]:
    taken = None if choices.taken is None else choices.taken + 2
    for line, cells in enumerate(zip(*columns, strict=True)):
        styled = (_style(cell, line == taken) for cell in cells) if colour else cells
        yield "  ".join(styled).rstrip()


def _style(cell: str, is_taken: bool) -> str:
    style = _DIM if cell.strip() == _CUT else _BLUE if cell[:1] in ("█", *_EIGHTHS[1:]) else _BRIGHT if is_taken else ""
    return f"{style}{cell}{_PLAIN}" if style else cell


def _cut_front(text: str, width: int) -> str:
    """The end of a text, in at most `width` cells."""
    while cell_len(text) > width:
        text = "…" + text[2:]
    return text
