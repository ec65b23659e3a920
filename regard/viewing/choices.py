"""The distribution of the next token: a line for each token, a column for each sampling step."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_word, word_widths
from regard.viewing.sealed import SealedPage, named_language
from regard.viewing.written import cell_len, fit_text, percent, visible, visible_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("page.css", "next.css")
SCRIPT = "next-page.js"
_DIGITS = 6  # decimals of a log-probability
KEPT = 400  # tokens listed with their own probability at each place of an output
_SIZE = 10.0  # points of a token
_ROW, _PANEL, _BETWEEN = 0.27, 1.75, 0.2  # inches: a token's line, a panel, the gap before the next
_AIR = 0.5  # inches after the longest bar, for its number
_BLUE, _PALE, _SOFT, _GREY = "#1f5fa8", "#b9d0ea", "#6b7480", "#c9ced4"
_EIGHTHS = " ▏▎▍▌▋▊▉"  # of a cell
_BAR = 16  # cells of a bar of probability 1
_CUT, _GONE, _TAKEN = "cut", "–", "◂"  # cut by this panel, cut by an earlier one, taken by the best output
_BLUE_INK, _BRIGHT, _DIM, _PLAIN = "\x1b[34m", "\x1b[1;36m", "\x1b[2m", "\x1b[0m"
Column = list[str]  # two lines of heading, one for each token, one for all others, and two of totals


@dataclass(frozen=True)
class Panel:
    """A distribution over the tokens, in the order of the model's probabilities; 0 is a token that was cut."""

    name: str  # "temperature", or another step
    value: str  # its setting
    options: dict[str, float]  # all steps so far, as sampling options
    probabilities: np.ndarray

    @property
    def title(self) -> str:
        return f"{self.name} {self.value}".strip()

    @property
    def kept(self) -> int:
        """Number of tokens that may still be sampled."""
        return int((self.probabilities > 0).sum())

    @property
    def entropy(self) -> float:
        """-Σ p ln p, in nats: 0 for one token, ln n for n equally likely tokens."""
        possible = self.probabilities[self.probabilities > 0]
        return max(0.0, float(-(possible * np.log(possible)).sum()))

    def others(self, shown: int) -> float:
        """Return the probability of all tokens after the first `shown`."""
        return float(self.probabilities[shown:].sum())

    def shares(self, shown: int) -> list[float]:
        """Return the probabilities of the first `shown` tokens, and of all others together."""
        return [*self.probabilities[:shown].tolist(), self.others(shown)]


@dataclass(frozen=True)
class Choices:
    """The next token at one place of an output: the most likely tokens, and their distribution in several panels.

    The first panel is the model's own distribution over the whole vocabulary; each other panel is made from an earlier
    one, its origin. A language model has no source.
    """

    source: str
    before: Sequence[str]  # the tokens written so far
    written: str  # the same as text
    tokens: Sequence[str]  # the tokens shown, most likely first
    numbers: Sequence[int]  # their numbers in the vocabulary
    panels: Sequence[Panel]
    origins: Sequence[int]  # for each panel, the one it was made from
    taken: int | None = None  # the place in `tokens` of the best output's token, if known
    nearest: Sequence[tuple[str, float]] = ()  # tokens whose output vectors are nearest to the state, with the cosines

    def __post_init__(self) -> None:
        if not self.tokens or not self.panels or len(self.panels) != len(self.origins):
            raise ValueError("choices need at least a token and a panel, and an origin for each panel")
        if any(origin > place for place, origin in enumerate(self.origins)):
            raise ValueError("a panel comes after its origin")

    @property
    def vocabulary(self) -> int:
        return len(self.panels[0].probabilities)

    @property
    def unshown(self) -> int:
        """Number of tokens that are possible and not shown."""
        return max(0, self.panels[0].kept - len(self.tokens))

    def was_cut(self, panel: int, token: int) -> bool:
        """Return True if this panel cut a token that its origin still had."""
        before, after = self.panels[self.origins[panel]], self.panels[panel]
        return bool(before.probabilities[token] > 0 and not after.probabilities[token] > 0)


def choices_to_json(choices: Choices) -> dict[str, Any]:
    """Return the choices as plain values, with unrounded numbers."""
    count = len(choices.tokens)
    shares = choices.panels[0].probabilities
    nearest = [{"token": token, "cosine": cosine} for token, cosine in choices.nearest]
    return {
        "text": choices.source or choices.written,
        "before": list(choices.before),
        "written": choices.written,
        "vocabulary": choices.vocabulary,
        "tokens": [
            {"token": token, "number": number, "probability": float(shares[place]), "taken": place == choices.taken}
            for place, (token, number) in enumerate(zip(choices.tokens, choices.numbers, strict=True))
        ],
        "panels": [
            {
                "title": panel.title,
                "options": panel.options,
                "kept": panel.kept,
                "entropy": panel.entropy,
                "probabilities": panel.probabilities[:count].tolist(),
                "others": panel.others(count),
            }
            for panel in choices.panels
        ],
    } | ({"nearest": nearest} if nearest else {})


@dataclass(frozen=True)
class ChoicesStart:
    """Initial state of a page, and the examples it offers, as sampling options by name."""

    options: Mapping[str, float] = field(default_factory=dict)
    examples: Sequence[Mapping[str, float]] = ()
    shown: int = 12  # tokens


def choices_page(
    choices: Choices, languages: tuple[str, str] = ("", ""), start: ChoicesStart | None = None
) -> SealedPage:
    """Return the page of a next token; all listed tokens can be shown, and all others count.

    The languages of source and target let a browser shape and read the texts correctly.
    """
    return SealedPage(SCRIPT, STYLES, _data(choices, languages, start or ChoicesStart()))


def _data(choices: Choices, languages: tuple[str, str], start: ChoicesStart) -> dict[str, Any]:
    source, target = map(named_language, languages)
    shares = _possible(choices)
    return {
        "source": {"text": show_word(choices.source) if choices.source else "", "language": source},
        "target": {"text": show_word(choices.written) if choices.written else "", "language": target},
        "before": [visible(token) for token in choices.before],
        "tokens": [visible(token) for token in choices.tokens[: len(shares)]],
        "log_probabilities": np.log(shares).round(_DIGITS).tolist(),
        "taken": choices.taken,
        "nearest": [[visible(token), round(cosine, _DIGITS)] for token, cosine in choices.nearest],
        "start": dict(start.options),
        "examples": [dict(example) for example in start.examples],
        "shown": min(start.shown, len(choices.tokens), len(shares)),
    }


def place_data(choices: Choices, kept: int = KEPT) -> dict[str, Any]:
    """Return the data of one place of an output: the most likely tokens, and the rest together."""
    shares = _possible(choices)
    return {
        "tokens": [visible(token) for token in choices.tokens[: len(shares)]],
        "log_probabilities": np.log(shares[:kept]).round(_DIGITS).tolist(),
        "rest": {"count": len(shares[kept:]), "probability": round(float(shares[kept:].sum()), 2 * _DIGITS)},
        "taken": choices.taken,
    }


def _possible(choices: Choices) -> np.ndarray:
    """Return the model's own probabilities, without the tokens that it never writes, which come last."""
    probabilities = choices.panels[0].probabilities
    return probabilities[probabilities > 0]


def draw_choices(choices: Choices, path: Path) -> set[str]:
    """Draw the panels side by side; return the characters that no font here can draw.

    A thin outline shows the token's probability in the panel's origin.
    """
    check_suffix(path)
    names = [*map(visible_name, choices.tokens), f"{choices.unshown:,} others"]
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
    longest = max(max(other.shares(count)) for other in choices.panels)  # one scale for all panels
    shares, before = panel.shares(count), origin.shares(count)
    rows = range(count + 1)
    colours = [*[_BLUE] * count, _PALE]
    axes.barh(rows, shares, color=colours, height=0.62)
    if origin is not panel:
        axes.barh(rows, before, facecolor="none", edgecolor=_GREY, linewidth=0.8, height=0.62)
    for row, (share, earlier) in enumerate(zip(shares, before, strict=True)):
        is_gone = row < count and not share
        text = "cut" if is_gone and earlier else "" if is_gone else percent(share)
        style: dict[str, Any] = {"color": _SOFT, "style": "italic"} if is_gone else {"color": INK}
        along = (max(share, earlier if origin is not panel else 0.0), row)
        axes.annotate(
            text, along, xytext=(3, 0), textcoords="offset points", fontsize=8, va="center_baseline",
            annotation_clip=False, **style,
        )  # fmt: skip
    axes.set(xlim=(0, longest / (1 - _AIR / _PANEL)), ylim=(count + 0.5, -0.5), xticks=[], yticks=[])
    for side, spine in axes.spines.items():
        spine.set(color=FAINT, linewidth=0.8, visible=side == "left")
    axes.axhline(count - 0.5, color="#e4e8ee", linewidth=0.8)
    axes.set_title(panel.title, fontsize=9.5, color=INK, loc="left", pad=6, fontweight="bold", parse_math=False)
    totals = f"{panel.kept:,} token{'s' * (panel.kept != 1)}\nentropy {panel.entropy:.2f} nats"
    axes.set_xlabel(totals, fontsize=8, color=_SOFT, loc="left", linespacing=1.4)


def _write_names(axes: "Axes", choices: Choices, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    for place, label in enumerate(axes.get_yticklabels()):
        is_taken, is_last = place == choices.taken, place == len(names) - 1
        label.set(fontsize=_SIZE, color=_SOFT if is_last else _BLUE if is_taken else INK, parse_math=False)
        label.set_fontweight("bold" if is_taken else "normal")


def _write_head(figure: "Figure", choices: Choices, width: float, height: float) -> None:
    """Write the source text and the text written so far."""
    letters = max(50, int(13 * width))
    before = " ".join(map(visible_name, choices.before)) or "nothing"
    lines = textwrap.wrap(show_word(choices.source), letters) if choices.source else []
    figure.text(0, 1 + 0.62 / height, "\n".join(lines), fontsize=11, color=INK, linespacing=1.4, parse_math=False)
    shortened = textwrap.shorten(before[::-1], letters, placeholder=" …")[::-1]
    figure.text(0, 1 + 0.38 / height, f"written so far: {shortened}", fontsize=9, color=_SOFT, parse_math=False)
    notes = [] if choices.taken is None else ["The blue token is that of the model's best output."]
    if len(choices.panels) > 1:
        stepwise = choices.origins[-1] > 0
        notes.append(f"The outline is {'the panel before' if stepwise else 'the probability of the model itself'}.")
    below = [" ".join(notes)] if notes else []
    if choices.nearest:
        nearest = ", ".join(f"{visible_name(token)} {cosine:.2f}" for token, cosine in choices.nearest)
        below += textwrap.wrap(f"Output vectors nearest to the state, by cosine: {nearest}", int(1.4 * letters))
    style: dict[str, Any] = {"fontsize": 8, "color": _SOFT, "va": "top", "linespacing": 1.5, "parse_math": False}
    figure.text(0, -0.56 / height, "\n".join(below), **style)


def choices_lines(choices: Choices, width: int, colour: bool) -> list[str]:
    """Return the lines of a table, at most `width` cells wide; panels that do not fit follow below the others.

    Bars are omitted if there is no room. With `colour`, the token of the best output stands out.
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
        lines.append(f"{_TAKEN} token of the model's best output")
    return [*lines, *_nearest(choices, width)]


def _nearest(choices: Choices, width: int) -> list[str]:
    """Return lines with the output vectors nearest to the state, and their cosines."""
    if not choices.nearest:
        return []
    entries = (f"{visible(token)} {cosine:.2f}" for token, cosine in choices.nearest)
    return ["", *textwrap.wrap(f"Output vectors nearest to the state, by cosine: {', '.join(entries)}", max(20, width))]


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
    shares = choices.panels[0].shares(len(choices.tokens))
    return _pad(["", "", *(_bar(share) for share in shares), "", ""], to_the_right=False, least=_BAR)


def _bar(share: float) -> str:
    whole, part = divmod(round(share * _BAR * 8), 8)
    return ("█" * whole + _EIGHTHS[part]).rstrip()


def _panel(choices: Choices, place: int) -> Column:
    panel, count = choices.panels[place], len(choices.tokens)
    cells = [percent(share) for share in panel.shares(count)]
    for token in np.flatnonzero(panel.probabilities[:count] == 0).tolist():
        cells[token] = _CUT if choices.was_cut(place, token) else _GONE
    return _pad([panel.name, panel.value, *cells, f"{panel.kept:,}", f"{panel.entropy:.2f}"], to_the_right=True)


def _pad(texts: Sequence[str], to_the_right: bool, least: int = 0) -> Column:
    width = max(least, *map(cell_len, texts))
    gaps = [" " * (width - cell_len(text)) for text in texts]
    return [gap + text if to_the_right else text + gap for text, gap in zip(texts, gaps, strict=True)]


def _width(columns: Iterable[Column]) -> int:
    return sum(cell_len(column[0]) + 2 for column in columns) - 2


def _parts(panels: list[Column], room: int) -> Iterator[list[Column]]:
    """Yield groups of panels that fit side by side, at least one in each."""
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
        shown = (_style(cell, line == taken) for cell in cells) if colour else cells
        yield "  ".join(shown).rstrip()


def _style(cell: str, is_taken: bool) -> str:
    style = (
        _DIM if cell.strip() == _CUT else _BLUE_INK if cell[:1] in ("█", *_EIGHTHS[1:]) else _BRIGHT if is_taken else ""
    )
    return f"{style}{cell}{_PLAIN}" if style else cell


def _cut_front(text: str, width: int) -> str:
    """Return the end of a text, in at most `width` cells."""
    while cell_len(text) > width:
        text = "…" + text[2:]
    return text


@dataclass(frozen=True)
class DrawnChoices:
    """Choices as a drawing: a picture, the terminal and JSON show `start.shown` tokens, and a page shows all."""

    choices: Choices
    start: ChoicesStart
    languages: tuple[str, str] = ("", "")  # of source and target

    @property
    def _few(self) -> Choices:
        shown, choices = self.start.shown, self.choices
        taken = None if choices.taken is None or choices.taken >= shown else choices.taken
        return replace(choices, tokens=choices.tokens[:shown], numbers=choices.numbers[:shown], taken=taken)

    def draw(self, path: Path) -> set[str]:
        return draw_choices(self._few, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return choices_lines(self._few, width, colour)

    def numbers(self) -> dict[str, Any]:
        return choices_to_json(self._few)

    def page(self) -> SealedPage:
        return choices_page(self.choices, self.languages, self.start)
