"""How tokens and numbers are written where people read them."""

import unicodedata

from rich.cells import cell_len, set_cell_size

from regard.viewing.canvas import show_word

_JOINING = "\u200c\u200d"  # no-break and break between letters: unseen, but they shape what stands around them
_WHOLE = 0.0995  # a probability from here on needs no decimals
_LEAST = 0.001  # and one below this is told as less than that


def visible(piece: str) -> str:
    """A token as it can be seen, whatever it is of: odd spaces and unseen signs are spelled, a lone mark gets a letter.

    A token is shown by itself, so what would only be seen by its effect on neighbours has nothing to be seen by.
    """
    alone = all(character in _JOINING for character in piece)
    text = show_word("".join(_spell(each) if alone or _is_unseen(each) else each for each in piece))
    return f"◌{text}" if unicodedata.category(text[0]).startswith("M") else text


def _is_unseen(character: str) -> bool:
    category = unicodedata.category(character)
    return (category == "Zs" and character != " ") or (category == "Cf" and character not in _JOINING)


def _spell(character: str) -> str:
    return character.encode("unicode_escape").decode()


def fit_text(text: str, width: int) -> str:
    """Text in at most `width` cells of a terminal, with … where some of it had to go."""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def signed_number(value: float) -> str:
    """A log-probability or a score: two decimals, a minus as wide as a plus, and none before a zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def percent(probability: float) -> str:
    """A probability in percent, as exactly as one reads it."""
    if 0 < probability < _LEAST:
        return f"<{_LEAST * 100:.1f}\u202f%"
    return f"{probability * 100:.{0 if probability >= _WHOLE or not probability else 1}f}\u202f%"
