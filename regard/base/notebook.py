"""Results in a notebook: small tables, words and bars as self-contained HTML.

Every fragment has its style in itself and no ids, so that any number of them can stand in one notebook; what people or
models wrote is escaped. A whole page, which has ids and a script, stands in a frame of its own.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any, ClassVar, TypeVar

T = TypeVar("T")

_LIGHT = "opacity:.65"
_CELL = "padding:.15em .7em .15em 0;text-align:left;vertical-align:top;border:0;background:none"
_BAR = "display:inline-block;height:.7em;border-radius:2px;background:#4a90d9"
_HUE = "74,144,217"  # of what is probable or looked at, over whatever the ground is
_TALL = 640  # pixels of a frame, which can be pulled larger


class Results(list[T]):
    """A list of results that a notebook shows one below the other."""

    def _repr_html_(self) -> str:
        return stacked(_shown(each) for each in self)


class Pictured:
    """A result that a notebook shows as a page; as the page stands above whoever makes the result, it is attached."""

    in_notebook: ClassVar[Callable[[Any], str]]

    def _repr_html_(self) -> str:
        return self.in_notebook()


def _shown(result: object) -> str:
    """A result as it shows itself; a list of them in the same way."""
    if isinstance(result, list):
        return stacked(_shown(each) for each in result)
    shows = getattr(result, "_repr_html_", None)
    return str(shows()) if shows else paragraph(repr(result))


def stacked(fragments: Iterable[str]) -> str:
    """Fragments one below the other."""
    return "".join(f'<div style="margin:.3em 0 .8em">{each}</div>' for each in fragments)


def paragraph(text: str, light: bool = False) -> str:
    """A text by itself, perhaps in a lighter ink."""
    return f'<div dir="auto" style="white-space:pre-wrap;{_LIGHT if light else ""}">{escape(text)}</div>'


def table(rows: Iterable[Sequence[str]], columns: Sequence[str] = ()) -> str:
    """Rows of fragments, and names for the columns; texts are to be escaped before."""
    head = "".join(f'<th style="{_CELL};{_LIGHT}">{escape(name)}</th>' for name in columns)
    lines = [f"<tr>{head}</tr>"] if head else []
    for row in rows:
        cells = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return f'<table style="border-collapse:collapse;border:0">{"".join(lines)}</table>'


def bar(share: float) -> str:
    """A bar as long as a share of one."""
    return f'<span style="{_BAR};width:{max(0.0, min(share, 1.0)) * 10:.2f}em"></span>'


def tinted(words: Sequence[str], shares: Sequence[float], titles: Sequence[str]) -> str:
    """Words in a row, each on a ground as strong as its share of one, with a title to point at."""
    spans = (
        f'<span dir="auto" title="{escape(title)}" style="padding:.1em .15em;border-radius:3px;'
        f'background:rgba({_HUE},{max(0.0, min(share, 1.0)):.2f})">{escape(word)}</span>'
        for word, share, title in zip(words, shares, titles, strict=True)
    )
    return f'<div style="line-height:1.9">{" ".join(spans)}</div>'


def tokens_by_probability(tokens: Sequence[str], log_probabilities: Sequence[float]) -> str:
    """Tokens in a row, the more probable the stronger; nothing where nobody knows how probable they are.

    What ends a text may have a probability, and no token.
    """
    if not tokens or len(log_probabilities) < len(tokens):
        return ""
    shares = [math.exp(each) for each in log_probabilities[: len(tokens)]]
    return tinted(tokens, [0.6 * share for share in shares], [f"{share:.1%} probable" for share in shares])


def ranked(names: Sequence[tuple[str, float]], shown: int = 10) -> str:
    """The first of some names with what each is worth from 0 to 1, as bars, and how many there are besides."""
    rows = [[escape(name), bar(value), f"{value:.3f}"] for name, value in names[:shown]]
    others = f"and {len(names) - shown:,} others" if len(names) > shown else ""
    return table(rows) + (paragraph(others, light=True) if others else "")


def frame(page: str, title: str) -> str:
    """A whole page in a frame of its own: its ids and its script are its own, and it reaches nothing around it."""
    style = f"width:100%;height:{_TALL}px;border:1px solid rgba(128,128,128,.4);border-radius:6px;resize:vertical"
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" sandbox="allow-scripts allow-downloads" '
        f'loading="lazy" style="{style}"></iframe>'
    )
