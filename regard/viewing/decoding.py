"""One prompt by several ways of decoding: bars of what each keeps of the next token, and the texts they write."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.viewing.canvas import (
    FAINT,
    INK,
    SOFT,
    canvas,
    check_suffix,
    missing_glyphs,
    save_figure,
    show_word,
    word_widths,
)
from regard.viewing.lesson_page import LessonTable
from regard.viewing.written import percent, visible, visible_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "One prompt, five ways of decoding"
_ROW, _PANEL, _BETWEEN, _LINE = 0.27, 1.45, 0.3, 0.24  # inches: a token, a panel, the gap after it, a line of text
_TEXT = 2.5  # inches before a text
_BLUE, _PALE = "#1f5fa8", "#e3e7ec"
_CUT = "cut"


@dataclass(frozen=True)
class Way:
    """A way of decoding: what it keeps of the shown tokens, of how many tokens in all, and the text it writes."""

    name: str
    kept: Sequence[float]  # 0 is a token that was cut
    count: int
    text: str
    log_probability: float  # of the continuation, by the model itself


@dataclass(frozen=True)
class Decoding:
    """The most likely next tokens after a prompt, with the model's own probabilities, and the ways."""

    prompt: str
    tokens: Sequence[str]
    probabilities: Sequence[float]
    ways: Sequence[Way]


def decoding_to_json(decoding: Decoding) -> dict[str, Any]:
    """Return the ways as plain values."""
    return {
        "prompt": decoding.prompt,
        "tokens": list(decoding.tokens),
        "probabilities": list(decoding.probabilities),
        "ways": [{**vars(way), "kept": list(way.kept)} for way in decoding.ways],
    }


def decoding_tables(decoding: Decoding) -> list[LessonTable]:
    """Return a table of the next token by all ways, and one of the texts."""
    columns = ["token", "model", *(way.name for way in decoding.ways)]
    rows = [
        [
            visible(token),
            percent(own),
            *(percent(way.kept[place]) if way.kept[place] else _CUT for way in decoding.ways),
        ]
        for place, (token, own) in enumerate(zip(decoding.tokens, decoding.probabilities, strict=True))
    ]
    caption = (
        "Greedy search takes the best token. A beam carries on with its best tokens and decides later, by whole texts. "
        "Temperature sharpens or flattens; top-k and top-p cut the tail, and the rest is sampled."
    )
    texts = [[way.name, f"{way.count:,}", f"{way.log_probability:.2f}", _one_line(way.text)] for way in decoding.ways]
    return [
        LessonTable(f"The next token after “{show_word(decoding.prompt)}”", columns, rows, caption),
        LessonTable("What each way writes", ["way", "tokens kept", "log p", "text"], texts),
    ]


def _share(kept: float) -> str:
    return percent(kept) if kept else _CUT


def _one_line(text: str) -> str:
    return show_word(text.replace("\n", " ⏎ "))


def draw_decoding(decoding: Decoding, path: Path) -> set[str]:
    """Draw a panel of bars for each way, and its text below them."""
    check_suffix(path)
    names = [visible_name(token) for token in decoding.tokens]
    texts = [decoding.prompt, *names, *(way.text for way in decoding.ways)]
    with canvas(texts) as new_figure:
        margin, height = max(word_widths(names, 10)) + 0.2, _ROW * len(names)
        width = margin + len(decoding.ways) * (_PANEL + _BETWEEN)
        figure = new_figure(figsize=(width, height))
        for place, way in enumerate(decoding.ways):
            left = (margin + place * (_PANEL + _BETWEEN)) / width
            axes = figure.add_axes((left, 0, _PANEL / width, 1))
            _draw_way(axes, decoding, way)
            axes.set_yticks(range(len(names)), names if not place else [""] * len(names), fontsize=10, parse_math=False)
        prompt = textwrap.shorten(show_word(decoding.prompt), int(width * 11), placeholder=" …")
        figure.text(0, 1 + 0.62 / height, TITLE, fontsize=12.5, color=INK)
        figure.text(
            0,
            1 + 0.38 / height,
            f"after “{prompt}”; grey: the model's own probability",
            fontsize=9.5,
            color=SOFT,
            parse_math=False,
        )
        down = 0.5
        for way in decoding.ways:
            lines = textwrap.wrap(_one_line(way.text), int((width - _TEXT) * 13)) or [""]
            style: dict[str, Any] = {"va": "top", "linespacing": 1.4, "parse_math": False, "fontsize": 9.5}
            score = f"log p {way.log_probability:.2f}"
            for inches, text, colour in ((0.0, way.name, _BLUE), (1.35, score, SOFT), (_TEXT, "\n".join(lines), INK)):
                figure.text(inches / width, -down / height, text, color=colour, **style)
            down += _LINE * len(lines) + 0.06
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_way(axes: "Axes", decoding: Decoding, way: Way) -> None:
    """Draw what a way keeps in blue, over the model's own probabilities in grey."""
    rows, most = range(len(decoding.tokens)), max(max(other.kept) for other in decoding.ways)
    longest = max(most, *decoding.probabilities)
    axes.barh(rows, decoding.probabilities, color=_PALE, height=0.7)
    axes.barh(rows, way.kept, color=_BLUE, height=0.42)
    for row, (kept, own) in enumerate(zip(way.kept, decoding.probabilities, strict=True)):
        text, colour = (percent(kept), INK) if kept else (_CUT, SOFT)
        axes.annotate(
            text, (max(kept, own), row), xytext=(3, 0), textcoords="offset points", fontsize=8, va="center_baseline",
            color=colour, annotation_clip=False,
        )  # fmt: skip
    axes.set(xlim=(0, longest * 1.25), ylim=(len(decoding.tokens) - 0.5, -0.5), xticks=[])
    axes.tick_params(axis="y", length=0)
    for side, spine in axes.spines.items():
        spine.set(color=FAINT, linewidth=0.8, visible=side == "left")
    axes.set_title(way.name, fontsize=9.5, color=INK, loc="left", pad=6, fontweight="bold", parse_math=False)
    axes.set_xlabel(f"keeps {way.count:,} token{'s' * (way.count != 1)}", fontsize=8, color=SOFT, loc="left")
