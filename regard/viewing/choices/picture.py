"""The next token as a picture: a line of bars for each token, a column for each panel, and what was cut left empty."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.viewing.canvas import (
    FAINT,
    INK,
    canvas,
    check_suffix,
    missing_glyphs,
    save_figure,
    show_token,
    show_word,
    word_widths,
)
from regard.viewing.choices.record import Choices, Panel
from regard.viewing.written import percent, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = 10.0  # points of a token
_ROW, _PANEL, _BETWEEN = 0.27, 1.75, 0.2  # inches: a token's line, a panel, the gap before the next
_AIR = 0.5  # inches behind the longest bar, for its number
_BLUE, _PALE, _SOFT, _GREY = "#1f5fa8", "#b9d0ea", "#6b7480", "#c9ced4"


def draw_choices(choices: Choices, path: Path) -> set[str]:
    """Draw the panels beside each other; gives the characters that no font here can draw.

    A thin outline is what the panel's origin gave a token, so that one sees what was taken and what was added.
    """
    check_suffix(path)
    names = [*map(_name, choices.tokens), f"{choices.unshown:,} others"]
    texts = [choices.source, *choices.before, *names, *(token for token, _ in choices.nearest)]
    with canvas(texts) as new_figure:
        margin, height = max(word_widths(names, _SIZE)) + 0.2, _ROW * len(names)
        width = margin + len(choices.panels) * (_PANEL + _BETWEEN)
        figure = new_figure(figsize=(width, height))
        for place in range(len(choices.panels)):
            left = margin + place * (_PANEL + _BETWEEN)
            axes = figure.add_axes((left / width, 0, _PANEL / width, 1))
            _draw_panel(axes, choices, place)
            if not place:
                _write_names(axes, choices, names)
        _write_head(figure, choices, width, height)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_panel(axes: "Axes", choices: Choices, place: int) -> None:
    panel, origin, count = choices.panels[place], choices.panels[choices.origins[place]], len(choices.tokens)
    longest = max(max(_shares(each, count)) for each in choices.panels)  # one scale for all panels
    shares, before = _shares(panel, count), _shares(origin, count)
    rows = range(count + 1)
    colours = [*[_BLUE] * count, _PALE]
    axes.barh(rows, shares, color=colours, height=0.62)
    if origin is not panel:
        axes.barh(rows, before, facecolor="none", edgecolor=_GREY, linewidth=0.8, height=0.62)
    for row, (share, was) in enumerate(zip(shares, before, strict=True)):
        is_gone = row < count and not share
        text = "cut" if is_gone and was else "" if is_gone else percent(share)
        style: dict[str, Any] = {"color": _SOFT, "style": "italic"} if is_gone else {"color": INK}
        along = (max(share, was if origin is not panel else 0.0), row)
        axes.annotate(
            text, along, xytext=(3, 0), textcoords="offset points", fontsize=8, va="center_baseline",
            annotation_clip=False, **style,
        )  # fmt: skip
    axes.set(xlim=(0, longest / (1 - _AIR / _PANEL)), ylim=(count + 0.5, -0.5), xticks=[], yticks=[])
    for side, spine in axes.spines.items():
        spine.set(color=FAINT, linewidth=0.8, visible=side == "left")
    axes.axhline(count - 0.5, color="#e4e8ee", linewidth=0.8)
    axes.set_title(panel.title, fontsize=9.5, color=INK, loc="left", pad=6, fontweight="bold", parse_math=False)
    told = f"{panel.kept:,} token{'s' * (panel.kept != 1)}\nentropy {panel.entropy:.2f} nats"
    axes.set_xlabel(told, fontsize=8, color=_SOFT, loc="left", linespacing=1.4)


def _shares(panel: Panel, count: int) -> list[float]:
    """The probabilities of the tokens that are shown, and of all others together."""
    return [*panel.probabilities[:count].tolist(), panel.others(count)]


def _write_names(axes: "Axes", choices: Choices, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    for place, label in enumerate(axes.get_yticklabels()):
        is_taken, is_last = place == choices.taken, place == len(names) - 1
        label.set(fontsize=_SIZE, color=_SOFT if is_last else _BLUE if is_taken else INK, parse_math=False)
        label.set_fontweight("bold" if is_taken else "normal")


def _write_head(figure: "Figure", choices: Choices, width: float, height: float) -> None:
    """What was read, and what is written so far."""
    letters = max(50, int(13 * width))
    before = " ".join(map(_name, choices.before)) or "nothing"
    lines = textwrap.wrap(show_word(choices.source), letters) if choices.source else []
    figure.text(0, 1 + 0.62 / height, "\n".join(lines), fontsize=11, color=INK, linespacing=1.4, parse_math=False)
    told = textwrap.shorten(before[::-1], letters, placeholder=" …")[::-1]
    figure.text(0, 1 + 0.38 / height, f"written so far: {told}", fontsize=9, color=_SOFT, parse_math=False)
    notes = [] if choices.taken is None else ["The token in blue is what the model's best output has here."]
    if len(choices.panels) > 1:
        stepwise = choices.origins[-1] > 0
        notes.append(f"Outlined is {'the panel before' if stepwise else 'what the model itself gives'}.")
    below = [" ".join(notes)] if notes else []
    if choices.nearest:
        nearest = ", ".join(f"{_name(token)} {cosine:.2f}" for token, cosine in choices.nearest)
        below += textwrap.wrap(f"Output vectors nearest to the state, by cosine: {nearest}", int(1.4 * letters))
    style: dict[str, Any] = {"fontsize": 8, "color": _SOFT, "va": "top", "linespacing": 1.5, "parse_math": False}
    figure.text(0, -0.56 / height, "\n".join(below), **style)


def _name(token: str) -> str:
    return show_token(visible(token))
