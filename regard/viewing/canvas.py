"""Shared by all pictures: the ink, the fonts, and a file that is written whole or not at all.

Pictures are made with matplotlib's objects alone, never with its global "current" figure, and its import waits until
something is drawn.
"""

import io
import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.faults import Fault
from regard.base.files import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
INK = "#222222"
FAINT = "#b8b8b8"
SOFT = "#6a6a6a"
PALETTE = ("#1f5fa8", "#d1622b", "#3a8f5c", "#8a5aa8", "#b8902a", "#5b6770", "#c04a6b", "#2a9aa8")
# Characters that turn about what stands behind them, up to the end of a line; words are shown one by one.
_TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
FONT = "DejaVu Sans"  # comes with matplotlib, and has Latin, Cyrillic and Greek


def check_suffix(path: Path) -> None:
    """Refuse a file name that asks for a kind of picture we cannot draw."""
    if path.suffix.lower() not in SUFFIXES:
        raise Fault(f"{path} does not end in {' or '.join(SUFFIXES)}, which are the pictures that can be drawn.")


@contextmanager
def canvas(texts: Iterable[str]) -> Iterator["type[Figure]"]:
    """Draw these texts in fonts that have their characters, and keep text in SVG as text; gives the class of figures.

    Whoever draws takes the class from here, so that its import waits in one place.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    lacking = sorted(_lacking(texts))
    # Whoever opens an SVG may have none of these fonts; the last name asks for any without serifs.
    families = dict.fromkeys([FONT, *filter(None, map(_family_with, lacking)), "sans-serif"])
    fonts: dict[Any, Any] = {"font.family": list(families), "font.sans-serif": [FONT]}
    with rc_context({**fonts, "svg.fonttype": "none", "svg.hashsalt": "regard"}), warnings.catch_warnings():
        # Callers are told of missing glyphs once and by name, not by a warning for each.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield Figure


def save_figure(figure: "Figure", path: Path) -> None:
    """Render a figure, cut to what is drawn, and put the file in its place in one step."""
    check_suffix(path)
    kind = path.suffix.lower()[1:]
    picture = io.BytesIO()
    no_date = {"Date": None} if kind == "svg" else {}  # the same picture is the same file
    figure.savefig(picture, format=kind, dpi=150, bbox_inches="tight", pad_inches=0.12, metadata=no_date)
    write_file(path, picture.getvalue())


def show_word(word: str) -> str:
    """A word as it can be seen: a word of spaces as signs, a control character as Python would write it."""
    if not word.strip(" "):
        return "␣" * max(len(word), 1)
    return "".join(_sign(character) for character in word)


def show_title(title: str, which: str) -> str:
    """A title, and behind it which block and head is shown, where there are several."""
    return f"{show_word(title)} · {which}" if which else show_word(title)


_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # a part of a letter that a vocabulary lacks
# Tokens that stand for no letters, as people call them.
_SYMBOLS = {"</s>": "end of sentence", "<s>": "beginning", "<unk>": "unknown word", "▁": "space"}


def show_token(token: str) -> str:
    """A word or a token as pictures have it: ▁ is the sign of a space, and what stands for no letters has a name."""
    if byte := _BYTE.fullmatch(token):
        return f"byte {byte[1]}"
    return _SYMBOLS.get(token) or show_word(token).replace("▁", "␣")


def _sign(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cs", "Cn", "Zl", "Zp")
    turning = unicodedata.bidirectional(character) in _TURNING
    return character.encode("unicode_escape").decode() if hidden or turning else character


def word_widths(words: Iterable[str], size: float) -> list[float]:
    """Inches that each of these words fills when it is written in `size` points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font, measure = FontProperties(size=size), TextToPath()
    return [measure.get_text_width_height_descent(show_token(word), font, False)[0] / 72 for word in words]


def runs_leftwards(words: Iterable[str]) -> bool:
    """Return True if a sentence is read from right to left; the first letter with a direction decides."""
    directions = (unicodedata.bidirectional(character) for word in words for character in word)
    return next((direction for direction in directions if direction in ("L", "R", "AL")), "L") != "L"


def missing_glyphs(texts: Iterable[str]) -> set[str]:
    """The characters in these texts that no font on this machine can draw."""
    return {character for character in _lacking(texts) if _family_with(character) is None}


def _lacking(texts: Iterable[str]) -> set[str]:
    """The characters that our own font lacks; what joins others or varies their look has no shape of its own."""
    from matplotlib.font_manager import findfont

    own = _characters(findfont(FONT))
    drawn = {character for text in texts for character in show_token(text) if not _is_shapeless(character)}
    return {character for character in drawn if ord(character) not in own}


def _is_shapeless(character: str) -> bool:
    return unicodedata.category(character) == "Cf" or "VARIATION SELECTOR" in unicodedata.name(character, "")


@lru_cache(maxsize=1024)
def _family_with(character: str) -> str | None:
    """An installed family of fonts that has this character, upright ones for running text first."""
    from matplotlib.font_manager import fontManager

    # The font of last resort has a box for every script, which says no more than a missing glyph does.
    fonts = [font for font in fontManager.ttflist if "Last Resort" not in font.name]
    fonts.sort(key=lambda font: (font.style != "normal", "Sans" not in font.name, font.name))
    return next((font.name for font in fonts if ord(character) in _characters(font.fname)), None)


@lru_cache(maxsize=256)
def _characters(file: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    try:
        return frozenset(get_font(file).get_charmap())
    except (OSError, RuntimeError):  # a font that cannot be read has nothing to offer
        return frozenset()
