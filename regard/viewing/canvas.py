"""Shared by all pictures: colours, fonts, and atomic writing of files.

Pictures use matplotlib's objects, never its global "current" figure, and matplotlib is imported only when something is
drawn.
"""

import io
import re
import textwrap
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
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
# Characters that reverse the text after them up to the end of a line; words are shown one by one.
_TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
FONT = "DejaVu Sans"  # included in matplotlib, with Latin, Cyrillic and Greek
_NOTES: ContextVar[tuple[str, ...]] = ContextVar("notes", default=())
_LARGE, _SMALL = 11, 8.5  # points of a title, and of one of more than two lines
_FEWEST = 20  # letters in a line of a title, also above a narrower picture
_LETTER, _LINE = 0.009, 0.018  # inches of a letter and of a line of a title, for each point of its size
_NOTE_LETTER, _SHORTEST_NOTE = 0.085, 40  # inches of a letter of a note, and letters that fit above any picture


def check_suffix(path: Path) -> None:
    """Refuse a file name whose suffix is not a picture format we can draw."""
    if path.suffix.lower() not in SUFFIXES:
        raise Fault(f"{path} does not end in {' or '.join(SUFFIXES)}, the picture formats that can be drawn.")


@contextmanager
def noted(lines: Sequence[str]) -> Iterator[None]:
    """Write these lines above every picture that is saved inside the block."""
    token = _NOTES.set(tuple(lines))
    try:
        yield
    finally:
        _NOTES.reset(token)


def noted_lines(letters: int) -> list[str]:
    """Return the lines to write above a picture, wrapped at this many letters."""
    return [line for note in _NOTES.get() for line in textwrap.wrap(show_word(note), max(letters, _SHORTEST_NOTE))]


@contextmanager
def canvas(texts: Iterable[str]) -> Iterator["type[Figure]"]:
    """Set up fonts that have the characters of these texts, and keep text in SVG as text; yield the Figure class.

    Drawing code gets the class from here, so that its import is delayed in one place.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    lacking = sorted(_lacking([*texts, *_NOTES.get()]))
    # The reader of an SVG may have none of these fonts; the last name asks for any sans-serif one.
    families = dict.fromkeys([FONT, *filter(None, map(_family_with, lacking)), "sans-serif"])
    fonts: dict[Any, Any] = {"font.family": list(families), "font.sans-serif": [FONT]}
    with rc_context({**fonts, "svg.fonttype": "none", "svg.hashsalt": "regard"}), warnings.catch_warnings():
        # Callers report missing glyphs once and by name, instead of a warning for each.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield Figure


def save_figure(figure: "Figure", path: Path) -> None:
    """Render a figure, cropped to the drawing, and write the file atomically."""
    check_suffix(path)
    kind = path.suffix.lower()[1:]
    picture = io.BytesIO()
    if _NOTES.get():
        _write_notes(figure)
    no_date = {"Date": None} if kind == "svg" else {}  # so that the same picture gives the same file
    figure.savefig(picture, format=kind, dpi=150, bbox_inches="tight", pad_inches=0.12, metadata=no_date)
    write_file(path, picture.getvalue())


def _write_notes(figure: "Figure") -> None:
    """Write the notes above the drawing, as wide as it is."""
    figure.draw_without_rendering()  # places what is laid out only when drawn
    figure.set_layout_engine("none")
    box = figure.get_tightbbox()
    figure.text(
        box.x0 / figure.get_figwidth(),
        (box.y1 + 0.1) / figure.get_figheight(),
        "\n".join(noted_lines(int(box.width / _NOTE_LETTER))),
        va="bottom",
        fontsize=9,
        color=INK,
        parse_math=False,
    )


def wrapped_title(title: str, wide: float) -> tuple[str, float, float]:
    """Return a title in lines that fit above a picture of this width in inches, its size in points, and its height."""
    large, small = (
        textwrap.wrap(title, max(_FEWEST, int(wide / (_LETTER * points))), break_on_hyphens=False)
        for points in (_LARGE, _SMALL)
    )
    lines, points = (large, _LARGE) if len(large) <= 2 else (small, _SMALL)
    return "\n".join(lines), points, _LINE * points * max(len(lines), 1)


def show_word(word: str) -> str:
    """Return a word with everything visible: spaces alone as signs, control characters as Python escapes."""
    if not word.strip(" "):
        return "␣" * max(len(word), 1)
    return "".join(_sign(character) for character in word)


def show_title(title: str, which: str) -> str:
    """Return a title followed by the block and head shown, if there are several."""
    return f"{show_word(title)} · {which}" if which else show_word(title)


_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # a byte of a letter that the vocabulary lacks
# Names for tokens that stand for no letters.
_SYMBOLS = {"</s>": "end of sentence", "<s>": "beginning", "<unk>": "unknown word", "▁": "space"}


def show_token(token: str) -> str:
    """Return a word or token for a picture: ▁ becomes the sign of a space, and tokens without letters get a name."""
    if byte := _BYTE.fullmatch(token):
        return f"byte {byte[1]}"
    return _SYMBOLS.get(token) or show_word(token).replace("▁", "␣")


def _sign(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cs", "Cn", "Zl", "Zp")
    turning = unicodedata.bidirectional(character) in _TURNING
    return character.encode("unicode_escape").decode() if hidden or turning else character


def word_widths(words: Iterable[str], size: float) -> list[float]:
    """Return the width in inches of each of these words in `size` points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font, measure = FontProperties(size=size), TextToPath()
    return [measure.get_text_width_height_descent(show_token(word), font, False)[0] / 72 for word in words]


def runs_leftwards(words: Iterable[str]) -> bool:
    """Return True if a sentence is read from right to left; the first letter with a direction decides."""
    directions = (unicodedata.bidirectional(character) for word in words for character in word)
    return next((direction for direction in directions if direction in ("L", "R", "AL")), "L") != "L"


def missing_glyphs(texts: Iterable[str]) -> set[str]:
    """Return the characters in these texts that no font on this machine can draw."""
    return {character for character in _lacking(texts) if _family_with(character) is None}


def _lacking(texts: Iterable[str]) -> set[str]:
    """Return the characters that our own font lacks, ignoring joiners and variation selectors, which have no shape."""
    from matplotlib.font_manager import findfont

    available = _characters(findfont(FONT))
    needed = {character for text in texts for character in show_token(text) if not _is_shapeless(character)}
    return {character for character in needed if ord(character) not in available}


def _is_shapeless(character: str) -> bool:
    return unicodedata.category(character) == "Cf" or "VARIATION SELECTOR" in unicodedata.name(character, "")


@lru_cache(maxsize=1024)
def _family_with(character: str) -> str | None:
    """Return an installed font family that has this character, preferring upright sans-serif fonts."""
    from matplotlib.font_manager import fontManager

    # The font of last resort has a box for every script, which is no better than a missing glyph.
    fonts = [font for font in fontManager.ttflist if "Last Resort" not in font.name]
    fonts.sort(key=lambda font: (font.style != "normal", "Sans" not in font.name, font.name))
    return next((font.name for font in fonts if ord(character) in _characters(font.fname)), None)


@lru_cache(maxsize=256)
def _characters(file: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    try:
        return frozenset(get_font(file).get_charmap())
    except (OSError, RuntimeError):  # an unreadable font has no characters
        return frozenset()
