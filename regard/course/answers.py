"""Checking the answers of exercises: numbers, choices and options of commands."""

import re
import shlex
import unicodedata
from collections.abc import Sequence

from regard.base.faults import Fault
from regard.course.sources import Exercise

_LOOKALIKES = str.maketrans("асе", "ace")  # Cyrillic letters that look like the Latin ones of choices
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")


class NotAnAnswer(Fault):
    """An answer that cannot be read, which is neither right nor wrong."""


def check_answer(exercise: Exercise, given: float | str | Sequence[str]) -> bool:
    """Return True if an answer is right; refuse one that cannot be read."""
    if exercise.kind == "number":
        right = float(str(exercise.answer))
        readings = [float(given)] if isinstance(given, int | float) else _readings(str(given), right)
        return any(abs(reading - right) <= exercise.tolerance + 1e-9 for reading in readings)
    if exercise.kind == "option":
        return _options(str(given)) == _options(str(exercise.answer))
    letters = [given] if isinstance(given, str) else given if isinstance(given, Sequence) else [str(given)]
    chosen = {_letter(letter) for letter in letters}
    if not chosen:
        raise NotAnAnswer("Choose an answer first.")
    return chosen == {exercise.answer} if isinstance(exercise.answer, str) else chosen == set(_list(exercise.answer))


def _list(answer: float | list[str]) -> list[str]:
    return answer if isinstance(answer, list) else [str(answer)]


def _readings(text: str, right: float) -> list[float]:
    """Return what a number may mean: a comma may be a decimal one, and 67 % is 0.67 where the answer is a share."""
    text = unicodedata.normalize("NFKC", text).replace("\N{MINUS SIGN}", "-").strip().lower()
    bare = "".join(text.removesuffix("%").split())
    commas = {bare.replace(",", ".")} if bare.count(",") == 1 and "." not in bare else set()
    if re.search(r"\d,\d{3}(\D|$)", bare):
        commas.add(bare.replace(",", ""))
    numbers = [number for form in commas or {bare} for number in _quotient(form)]
    if not numbers:
        raise NotAnAnswer(f"{text or 'Nothing'} is not a number.")
    return [number / 100 for number in numbers] if text.endswith("%") and abs(right) <= 1 else numbers


def _quotient(text: str) -> list[float]:
    """Return the number that a text is, or a fraction such as 2/3."""
    top, slash, bottom = text.partition("/")
    if not _NUMBER.fullmatch(top) or (slash and not _NUMBER.fullmatch(bottom)):
        return []
    if not slash:
        return [float(top)]
    return [float(top) / float(bottom)] if float(bottom) else []


def _letter(text: object) -> str:
    return unicodedata.normalize("NFKC", str(text)).strip().lower().translate(_LOOKALIKES)


def _options(text: str) -> dict[str, str]:
    """Return options and their values; words of the command before them do not count."""
    try:
        words = shlex.split(text.replace("\N{EN DASH}", "--").replace("\N{EM DASH}", "--").replace("=", " "))
    except ValueError:
        raise NotAnAnswer("The quotation marks of this answer do not match.") from None
    options: dict[str, str] = {}
    last = ""
    for word in words:
        if word.startswith("-") and not _NUMBER.fullmatch(word):
            last = word
            options[last] = ""
        elif last:
            options[last] = f"{options[last]} {_plain(word)}".strip()
    if not options:
        raise NotAnAnswer("Answer with an option as you would type it, such as --beam 5.")
    return options


def _plain(word: str) -> str:
    return f"{float(word):g}" if _NUMBER.fullmatch(word) else word
