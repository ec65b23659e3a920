"""Results in a notebook: small tables, words and bars as self-contained HTML.

Every fragment has inline styles and no ids, so that a notebook can hold any number of them. Text from users or models
is escaped. A whole page, which has ids and a script, is put into a frame.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any, ClassVar, TypeVar

T = TypeVar("T")

_LIGHT = "opacity:.65"
_CELL = "padding:.15em .7em .15em 0;text-align:left;vertical-align:top;border:0;background:none"
_BAR = "display:inline-block;height:.7em;border-radius:2px;background:#4a90d9"
_HUE = "74,144,217"  # for probability or attention, over any background
_TALL = 640  # initial pixels of a frame, which can be enlarged


class Results(list[T]):
    """A list of results that a notebook shows one below another."""

    def _repr_html_(self) -> str:
        return stacked(_shown(result) for result in self)


class Pictured:
    """A result that a notebook shows as a page; the page module attaches it, since it lies in a higher layer."""

    in_notebook: ClassVar[Callable[[Any], str]]

    def _repr_html_(self) -> str:
        return self.in_notebook()


def _shown(result: object) -> str:
    """Return the HTML of a result, or of a list of them."""
    if isinstance(result, list):
        return stacked(_shown(inner) for inner in result)
    shows = getattr(result, "_repr_html_", None)
    return str(shows()) if shows else paragraph(repr(result))


def stacked(fragments: Iterable[str]) -> str:
    """Return fragments one below another."""
    return "".join(f'<div style="margin:.3em 0 .8em">{fragment}</div>' for fragment in fragments)


def paragraph(text: str, light: bool = False) -> str:
    """Return a paragraph of text, optionally in a lighter colour."""
    return f'<div dir="auto" style="white-space:pre-wrap;{_LIGHT if light else ""}">{escape(text)}</div>'


def table(rows: Iterable[Sequence[str]], columns: Sequence[str] = ()) -> str:
    """Return a table of fragments with optional column names; texts must be escaped already."""
    head = "".join(f'<th style="{_CELL};{_LIGHT}">{escape(name)}</th>' for name in columns)
    lines = [f"<tr>{head}</tr>"] if head else []
    for row in rows:
        cells = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return f'<table style="border-collapse:collapse;border:0">{"".join(lines)}</table>'


def bar(share: float) -> str:
    """Return a bar whose length is a share of one."""
    return f'<span style="{_BAR};width:{max(0.0, min(share, 1.0)) * 10:.2f}em"></span>'


def tinted(words: Sequence[str], shares: Sequence[float], titles: Sequence[str]) -> str:
    """Return words in a row, each on a background as strong as its share of one, with a tooltip."""
    spans = (
        f'<span dir="auto" title="{escape(title)}" style="padding:.1em .15em;border-radius:3px;'
        f'background:rgba({_HUE},{max(0.0, min(share, 1.0)):.2f})">{escape(word)}</span>'
        for word, share, title in zip(words, shares, titles, strict=True)
    )
    return f'<div style="line-height:1.9">{" ".join(spans)}</div>'


def tokens_by_probability(tokens: Sequence[str], log_probabilities: Sequence[float]) -> str:
    """Return tokens in a row, more probable ones stronger; empty if the probabilities are unknown.

    The end of a text may have a probability but no token.
    """
    if not tokens or len(log_probabilities) < len(tokens):
        return ""
    shares = [math.exp(value) for value in log_probabilities[: len(tokens)]]
    return tinted(tokens, [0.6 * share for share in shares], [f"{share:.1%} probable" for share in shares])


def ranked(names: Sequence[tuple[str, float]], shown: int = 10) -> str:
    """Return the first names with their values from 0 to 1 as bars, and how many others there are."""
    rows = [[escape(name), bar(value), f"{value:.3f}"] for name, value in names[:shown]]
    others = f"and {len(names) - shown:,} others" if len(names) > shown else ""
    return table(rows) + (paragraph(others, light=True) if others else "")


def frame(page: str, title: str) -> str:
    """Return a whole page in an isolated frame, with its own ids and script."""
    style = f"width:100%;height:{_TALL}px;border:1px solid rgba(128,128,128,.4);border-radius:6px;resize:vertical"
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" sandbox="allow-scripts allow-downloads" '
        f'loading="lazy" style="{style}"></iframe>'
    )
