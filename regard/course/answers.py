"""Checking the answers of exercises: numbers, choices and options of commands."""

import re
import shlex
import unicodedata
from collections.abc import Collection, Sequence

from regard.base.faults import Fault
from regard.course.sources import Exercise, Language
from regard.viewing.texts import read_texts

_LOOKALIKES = str.maketrans("асе", "ace")  # Cyrillic letters that look like the Latin ones of choices
_DASHES = str.maketrans({"\N{EN DASH}": "--", "\N{EM DASH}": "--"})
_BETWEEN_LETTERS = re.compile(r"[\s,;.)(]+")
_COMMA = re.compile(r",(?=\s|$)")  # between options, not within a value
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")


class NotAnAnswer(Fault):
    """An answer that cannot be read, which is neither right nor wrong; the page has its sentence in each language."""

    def __init__(self, name: str, **gaps: str) -> None:
        self._name, self._gaps = name, gaps
        super().__init__(self.sentence("en"))

    def sentence(self, language: Language) -> str:
        return str(read_texts()[language][f"refusals.{self._name}"]).format(**self._gaps)


def check_answer(exercise: Exercise, offered: Collection[str], given: float | str | Sequence[str]) -> bool:
    """Return True if an answer is right; refuse one that cannot be read, or a letter that is not offered."""
    if exercise.kind == "number":
        right = float(str(exercise.answer))
        readings = [float(given)] if isinstance(given, int | float) else _readings(str(given), right)
        if exercise.percent and not str(given).rstrip().endswith("%"):
            readings += [100 * reading for reading in readings]
        return any(abs(reading - right) <= exercise.tolerance + 1e-9 for reading in readings)
    if exercise.kind == "option":
        options, right_options = _options(str(given)), _options(str(exercise.answer))
        named = _options(exercise.given) if exercise.given else {}
        return {name: value for name, value in options.items() if named.get(name) != value} == right_options
    texts = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    chosen = {_letter(word) for text in texts for word in _BETWEEN_LETTERS.split(str(text)) if word}
    if not chosen:
        raise NotAnAnswer("course_choose")
    for letter in sorted(chosen - set(offered)):
        raise NotAnAnswer("course_letter", letter=letter)
    return chosen == {exercise.answer} if isinstance(exercise.answer, str) else chosen == set(_list(exercise.answer))


def _list(answer: float | list[str]) -> list[str]:
    return answer if isinstance(answer, list) else [str(answer)]


def _readings(text: str, right: float) -> list[float]:
    """Return what a number or a fraction such as 2/3 may mean; 67 % is 0.67 where the answer is a share."""
    text = unicodedata.normalize("NFKC", text).replace("\N{MINUS SIGN}", "-").strip().lower()
    top, slash, bottom = "".join(text.removesuffix("%").split()).partition("/")
    divisors = _numbers(bottom) if slash else [1.0]
    numbers = [number / divisor for number in _numbers(top) for divisor in divisors if divisor]
    if not numbers:
        raise NotAnAnswer("course_number", text=text) if text else NotAnAnswer("course_empty")
    return [number / 100 for number in numbers] if text.endswith("%") and abs(right) <= 1 else numbers


def _numbers(text: str) -> list[float]:
    """Return what a number may mean: of point and comma, one is the decimal sign and the other groups digits."""
    found = []
    for decimal, group in (".,", ",."):
        is_grouped = re.fullmatch(rf"[+-]?[1-9]\d{{0,2}}([{group}]\d{{3}})+([{decimal}]\d*)?", text)
        plain = (text.replace(group, "") if is_grouped else text).replace(decimal, ".")
        if _NUMBER.fullmatch(plain):
            found.append(float(plain))
    return found


def _letter(text: object) -> str:
    return unicodedata.normalize("NFKC", str(text)).strip().lower().translate(_LOOKALIKES)


def _options(text: str) -> dict[str, str]:
    """Return options and their values; words of the command before them do not count."""
    try:
        words = shlex.split(_COMMA.sub(" ", text.translate(_DASHES).replace("=", " ")))
    except ValueError:
        raise NotAnAnswer("course_quotes") from None
    options: dict[str, str] = {}
    last = ""
    for word in words:
        if word.startswith("-") and not _NUMBER.fullmatch(word):
            last = word
            options[last] = ""
        elif last:
            options[last] = f"{options[last]} {_plain(word)}".strip()
    if not options:
        raise NotAnAnswer("course_option")
    return options


def _plain(word: str) -> str:
    return f"{float(word):g}" if _NUMBER.fullmatch(word) else word
