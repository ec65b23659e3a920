"""Split paragraphs into sentences, and sentences too long for a model into parts, without losing anything.

sentencex finds the ends of sentences. It knows the marks and abbreviations of many languages and treats others as
English. Where it splits too early, the parts are joined again: two sentences in one still translate well, half a
sentence hardly does. The end of a line always ends a sentence.

Nothing is cut inside what people see as one character (a grapheme cluster of Unicode's annex 29): a letter keeps its
accents, a flag its two halves.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise
from math import ceil
from typing import NamedTuple

import regex
import sentencex

from regard.base.faults import Fault


class Sentence(NamedTuple):
    """A sentence translated in one piece, and the white space around it; only the first has any before it."""

    before: str
    text: str
    after: str


# Abbreviations that sentencex takes for the end of a sentence; all of them precede something.
_ABBREVIATIONS = {
    "de": "Abb Abs Bd Dipl Frl Hrn Kap Tab Tel bspw exkl geb inkl zzgl",
    "en": "Eq Eqs Figs Ms Sts Tel Vol approx",
    "es": "Cnel Dña Dres Excma Fr Ilma Ilmo Mons Pbro Pdte Profa Srs St Tte aprox",
    "fr": "Dr Me Mgr Pr St Ste bd",
    "pt": "Arq Av Cap Cel Dep Exa Exma Fr Gov Ilma Ilmo Lic Mons Obs Pe Pres Profa Profª Pça Rod Srta Sta Sto Tel Ten "
    "aprox cap cf ed ex n núm nº obs p pp pág págs séc tel vol",
    "ru": "англ бул вып гл дер доц е изд им корп лат наб напр нем ок пл пос ред рис род св ср ст т.е табл ум фр",
}
_SENTENCE, _CLAUSE, _PHRASE, _SPACE, _UNSPACED, _ANYWHERE, _NOWHERE = range(7)  # places to cut at, best first
_MARKS = dict.fromkeys(";:；：؛", _CLAUSE) | dict.fromkeys(",，、،", _PHRASE)
_ZERO_WIDTH_SPACE = "\u200b"  # separates words in Khmer; Python does not count it as white space

_CJK = r"\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\uff00-\uffef\U0001b000-\U0001b16f\U00020000-\U0003ffff"
_CHINESE = regex.compile(f"[{_CJK}]")
_WITHOUT_SPACES = regex.compile(rf"[{_CJK}\p{{Thai}}\p{{Lao}}\p{{Khmer}}\p{{Myanmar}}\p{{Tibetan}}]")
# A virama joins the letter after it to the one before; annex 29 covers this for some scripts only.
_CLUSTER = regex.compile(r"\X(?:(?<=\p{ccc=virama})(?=\p{L})\X)*")
_ENDS_SENTENCE = regex.compile(r"[.?!…][\p{Pe}\p{Pf}\"']*$")
_IN_A_WORD = 32  # tokens of a part of text that is too long and has no words
_NEAR = 40  # characters examined on either side
_FIRST_LETTER = regex.compile(r"[\p{L}\p{N}]")


def split_sentences(text: str, language: str) -> list[Sentence]:
    """Return the sentences of a text; joined with the white space around them, they are the text again.

    `language` is a code; of pt-BR only the first half counts. A text without sentences is one empty sentence.
    """
    clusters = _CLUSTER.findall(text)
    return _assemble(clusters, _sentence_starts(clusters, language))


def rejoin(sentences: Sequence[Sentence], texts: Iterable[str]) -> str:
    """Join other texts, one for each sentence, with the white space of the sentences.

    Chinese has no space between sentences, English has one. If the texts are of the other kind than the sentences,
    spaces are added or left out.
    """
    return "".join(before + text + after for before, text, after in replace_texts(sentences, texts))


def replace_texts(sentences: Sequence[Sentence], texts: Iterable[str]) -> list[Sentence]:
    """Return the sentences with other texts, and the white space those need between them."""
    both = list(zip(sentences, texts, strict=True))
    gaps = [_gap(one.after, (one.text, two.text), (above, below)) for (one, above), (two, below) in pairwise(both)]
    gaps += [sentence.after for sentence in sentences[-1:]]
    return [Sentence(one.before, text, gap) for (one, text), gap in zip(both, gaps, strict=True)]


_WORD_END = regex.compile(r"(?<=\S)(?=\s|$)")


def truncate(text: str, measure: Callable[[str], int], longest: int) -> str:
    """Return the longest beginning of a text, in whole words, that measures at most `longest`."""
    ends = [match.start() for match in _WORD_END.finditer(text)]
    fitting = bisect_right(ends, longest, key=lambda end: measure(text[:end]))
    if not fitting:
        raise Fault(f"A text cannot be truncated to {longest} tokens: {text[:20]!r} begins with a longer word.")
    return text[: ends[fitting - 1]]


def split_long(text: str, measure: Callable[[str], int], longest: int, language: str = "") -> list[Sentence]:
    """Split a text into parts that each measure at most `longest`, as even as the places to cut allow.

    A text that is too long is cut near the middle (or near a third for three parts, and so on), and the parts again if
    needed. The best place is between sentences, then after ; or :, then after a comma, then at white space, then
    between letters of a script without spaces. A word is cut elsewhere only as a last resort, and then into parts about
    as long as words: models know nothing longer, and would write about a long one until their output is full, in a time
    that grows with the square of its length.
    """
    clusters = _CLUSTER.findall(text)
    kinds = _kinds(clusters, frozenset(_sentence_starts(clusters, language)))
    starts: list[int] = []
    pending = [(_first(clusters), len(clusters), longest)]
    while pending:
        start, end, limit = pending.pop()
        part = "".join(clusters[start : _last(clusters, start, end)])
        size = measure(part)
        if size > limit and _is_of_no_words(kinds, start, end, size):
            limit = min(limit, _IN_A_WORD)
        middle = None if size <= limit else _middle(kinds, start, end, ceil(size / max(1, limit)))
        if middle is not None:
            pending += [(middle, end, limit), (start, middle, limit)]
        elif size <= longest:
            starts.append(start)
        else:
            raise Fault(f"A text cannot be cut into parts of at most {longest} tokens: {part[:20]!r} alone has {size}.")
    return _assemble(clusters, starts)


# Starts of sentences


def _sentence_starts(clusters: Sequence[str], language: str) -> list[int]:
    """Return the places of the clusters that begin sentences."""
    borders = set(_borders("".join(clusters), language.lower().replace("_", "-").partition("-")[0]))
    offsets = accumulate(map(len, clusters), initial=0)
    starts, begins = [], False
    for place, (cluster, offset) in enumerate(zip(clusters, offsets, strict=False)):
        begins = begins or offset in borders  # a border inside a cluster does not count
        if begins and not cluster.isspace():
            starts.append(place)
            begins = False
    return starts


def _borders(text: str, language: str) -> Iterator[int]:
    """Yield where in a text sentences begin, or the white space before them."""
    abbreviations = frozenset(_ABBREVIATIONS.get(language, "").split())
    end = 0
    for line in text.splitlines(keepends=True):
        start = end
        yield start
        for piece in sentencex.segment(language, line.translate(_plain())):
            if start < end and not _goes_on(text, start, end, abbreviations):
                start = end
                yield start
            end += len(piece)


@cache
def _plain() -> dict[int, str]:
    """Map white space to spaces and lone surrogates to U+FFFD, since some of both make sentencex fail."""
    spaces = [code for code in range(0x3001) if chr(code).isspace()]
    return dict.fromkeys(spaces, " ") | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def _goes_on(text: str, start: int, border: int, abbreviations: frozenset[str]) -> bool:
    """Return True if the sentence that begins at `start` continues after what looks like its end.

    It continues after an initial or an abbreviation, and before a lower-case letter if it did not begin with one.
    """
    last = text[max(start, border - _NEAR) : border].rstrip()
    word = last.split()[-1].lstrip("([{«“„‘\"'—–-") if last else ""
    if word.endswith(".") and (word[:-1] in abbreviations or (len(word) == 2 and word[0].isupper())):
        return True
    firsts = (_FIRST_LETTER.search(text, place, place + _NEAR) for place in (start, border))
    was_small, is_small = (letter is not None and letter[0].islower() for letter in firsts)
    return is_small and not was_small and bool(_ENDS_SENTENCE.search(last))


# Places to cut long text


def _kinds(clusters: Sequence[str], sentence_starts: frozenset[int]) -> list[int]:
    """Rate how well a part can begin at each cluster; it cannot at white space and the first word."""
    kinds, last, spaced = [], "", False
    for place, cluster in enumerate(clusters):
        if cluster.isspace():
            spaced = True
            kinds.append(_NOWHERE)
            continue
        kinds.append(_kind(last, spaced, cluster, place in sentence_starts) if last else _NOWHERE)
        last, spaced = cluster, False
    return kinds


def _kind(last: str, spaced: bool, cluster: str, begins_sentence: bool) -> int:
    """Return the kind of the place between two clusters, with or without white space between them."""
    if begins_sentence:
        return _SENTENCE
    if last in _MARKS and (spaced or _WITHOUT_SPACES.match(last)):  # not those in 10:30 and 1,000
        return _MARKS[last]
    if spaced or last == _ZERO_WIDTH_SPACE:
        return _SPACE
    is_unspaced = _WITHOUT_SPACES.match(last) or _WITHOUT_SPACES.match(cluster)
    return _UNSPACED if is_unspaced and cluster[0].isalnum() else _ANYWHERE  # no part begins with a closing mark


def _is_of_no_words(kinds: Sequence[int], start: int, end: int, size: int) -> bool:
    """Return True if a stretch of `size` tokens is one endless word, or in letters that the model does not know.

    Letters without tokens of their own are spelled in bytes, so they have more tokens than characters.
    """
    inside = set(kinds[start + 1 : end])
    return inside <= {_ANYWHERE, _NOWHERE} or (inside <= {_UNSPACED, _ANYWHERE, _NOWHERE} and size > 2 * (end - start))


def _middle(kinds: Sequence[int], start: int, end: int, parts: int) -> int | None:
    """Return the best place within half a part of the middle (for three parts, the end of the first), or overall."""
    parts, length = max(2, parts), end - start
    middle, reach = start + length * (parts // 2) / parts, length / parts / 2
    places = [place for place in range(start + 1, end) if kinds[place] != _NOWHERE]
    near = [place for place in places if abs(place - middle) <= reach and kinds[place] != _ANYWHERE]
    return min(near or places, key=lambda place: (kinds[place], abs(place - middle)), default=None)


# Joining


def _assemble(clusters: Sequence[str], starts: Sequence[int]) -> list[Sentence]:
    """Build sentences from the places where they begin."""
    first = _first(clusters)
    sentences = []
    for start, end in pairwise([*(starts or [first]), len(clusters)]):
        last = _last(clusters, start, end)
        sentences.append(Sentence("", "".join(clusters[start:last]), "".join(clusters[last:end])))
    return [sentences[0]._replace(before="".join(clusters[:first])), *sentences[1:]]


def _first(clusters: Sequence[str]) -> int:
    """Return the place of the first cluster that is not white space."""
    return next((place for place, cluster in enumerate(clusters) if not cluster.isspace()), len(clusters))


def _last(clusters: Sequence[str], start: int, end: int) -> int:
    """Return the place after the last cluster that is not white space."""
    return next((place for place in range(end, start, -1) if not clusters[place - 1].isspace()), start)


def _gap(gap: str, sentences: tuple[str, str], texts: tuple[str, str]) -> str:
    """Return the separator for two texts where `gap` stood between two sentences."""
    was, now = (one[-2:] + two[:2] for one, two in (sentences, texts))
    if not gap and _WITHOUT_SPACES.search(was) and not _WITHOUT_SPACES.search(now):
        return " "
    return "" if gap == " " and _CHINESE.search(now) and not _CHINESE.search(was) else gap
