"""Recognise a first line that names the columns of a table, so that it is never used as an example."""

import re
from collections.abc import Sequence

# Words that head columns, in the usual languages of such files.
_HEADINGS = """
aspect author body category chunk class comment content count context date description document feature features feats
file form frequency from gloss gold head heading hypothesis id idx index input intent inflected key label labels lang
language lemma license licence line meaning message msd name ner notes number output paragraph phrase phoneme phonemes
polarity pos premise pronunciation prompt question answer rank rating reference response review score segment sentence
sentences sentiment source spam split src stars summary tag tags target text tgt title to token tokens topic transcript
transcription translation tweet type upos url user utterance value word words xpos
english german french spanish portuguese russian italian chinese japanese polish dutch czech arabic hindi turkish
categoria classe etiqueta forma frase fonte idioma lema nota origem palavra rotulo rótulo sentença sentimento texto
titulo título traço traços traducao tradução alvo destino português inglês russo espanhol
категория класс лемма метка оценка перевод предложение признаки слово текст тег тема тональность форма источник цель
английский русский португальский
"""
# Language codes that head columns and are rarely words of a text, unlike it, es, he or no.
_LANGUAGES = """
ar bg cs da de el en et eu fa fi fr ga hi hr hu ja ka ko lt lv nl pl pt ro ru sk sl sv th tr uk vi zh
ara ces deu eng fas fra hin ita jpn kor nld pol por rus spa swe tur ukr zho
"""
_KNOWN = frozenset((_HEADINGS + _LANGUAGES).split())
_WORD = re.compile(r"[A-ZА-ЯÀ-Þ]?[a-zа-яà-ÿ]+|[A-ZА-ЯÀ-Þ]+")  # splits sourceText in two
_NAME = re.compile(r"\w+")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_LONGEST = 40  # most characters of a name
_FEWEST = 3  # rows of numbers below that make a first row without any a header


def looks_like_header(first: Sequence[str], below: Sequence[Sequence[str]] = ()) -> bool:
    """Return True if the cells of a first row are column names rather than an example.

    They are if all consist of words that head columns, and no row below does; or if all could be names, one is such a
    word, and a column below holds only numbers.
    """
    cells = [cell.strip() for cell in first]
    if not all(cells) or len({cell.rstrip("s") for cell in cells}) < len(cells):  # "word" with "words" is an example
        return False
    if any(len(cell) > _LONGEST or _NUMBER.fullmatch(cell) for cell in cells):
        return False
    if all(map(is_heading, cells)):
        return not any(all(map(is_heading, row)) for row in below)
    could_be_names = all(map(_NAME.fullmatch, cells))
    return could_be_names and any(map(is_heading, cells)) and _numbers_below(below)


def is_heading(cell: str) -> bool:
    """Return True if a cell consists of words that head columns."""
    words = _WORD.findall(cell)
    return bool(words) and all(word.lower() in _KNOWN for word in words)


def _numbers_below(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if some column of the rows holds only numbers."""
    if len(rows) < _FEWEST:
        return False
    width = min(map(len, rows))
    return any(all(_NUMBER.fullmatch(row[place].strip()) for row in rows) for place in range(width))
