"""WordPiece as BERT has it: words and punctuation marks first, then the longest pieces that a vocabulary knows.

Case, accents and spacing are lost as its options say, and a word that cannot be spelt by pieces is unknown as a whole.
A character is classed by Python's version of Unicode; other tools may have another, older one.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.data.tokenisers.subwords import SubwordTokeniser, train_subwords
from regard.data.tokenisers.symbols import NAMES

PAD, UNKNOWN, CLASS, SEPARATOR, MASK = MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
INSIDE = "##"  # begins a piece that goes on with a word
LONGEST_WORD = 100  # characters; a longer word is unknown
_MARK = re.compile("|".join(map(re.escape, MARKS)))
_SPACE = "▁"  # SentencePiece's
_CACHED = 2**17  # texts between two spaces that are remembered
_HIDDEN = ("Cc", "Cf", "Co")  # categories of characters that stand for nothing to be read
# Ideographs, each of which is a word: blocks of Unicode, first and last.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPieceOptions(BaseModel):
    """Normalisation before cutting; without `strip_accents`, accents are stripped where case is."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    lower_case: bool = True
    strip_accents: bool | None = None
    part_ideographs: bool = True

    @property
    def strips_accents(self) -> bool:
        return self.lower_case if self.strip_accents is None else self.strip_accents


class _Stored(BaseModel):
    """A tokeniser as a model folder keeps it."""

    model_config = ConfigDict(strict=True)

    options: WordPieceOptions
    pieces: list[str] = Field(min_length=len(MARKS))


def split_text(text: str, options: WordPieceOptions) -> list[str]:
    """The words and punctuation marks of a text, spelt as the options say (Devlin et al. 2019, in their code)."""
    spelt = "".join(_spelling(character, options) for character in text)
    if options.strips_accents:
        spelt = "".join(each for each in unicodedata.normalize("NFD", spelt) if unicodedata.category(each) != "Mn")
    if options.lower_case:  # one by one: a sigma at the end of a word is as any other
        spelt = spelt.lower() if spelt.isascii() else "".join(map(str.lower, spelt))
    return [part for word in spelt.split() for part in _parts(word)]


def _spelling(character: str, options: WordPieceOptions) -> str:
    kind = _kind(character)
    if kind == "ideograph":
        return f" {character} " if options.part_ideographs else character
    return {"space": " ", "hidden": ""}.get(kind, character)


@lru_cache(maxsize=_CACHED)
def _kind(character: str) -> str:
    """Return the kind of a character for cutting text."""
    code, category = ord(character), unicodedata.category(character)
    if character in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
        return "space"
    if category in _HIDDEN or category == "Cs" or character in "\0\ufffd":
        return "hidden"
    if any(first <= code <= last for first, last in _IDEOGRAPHS):
        return "ideograph"
    is_mark = category.startswith("P") or (code < 0x7F and not character.isalnum())  # $ + < = > ^ ` | ~ too
    return "punctuation" if is_mark else "other"


def _parts(word: str) -> Iterator[str]:
    """A word, and each of the punctuation marks in it and around it by itself."""
    if word.isalnum():
        yield word
        return
    first = 0
    for place, character in enumerate(word):
        if _kind(character) == "punctuation":
            if first < place:
                yield word[first:place]
            yield character
            first = place + 1
    if first < len(word):
        yield word[first:]


class WordPieceTokeniser:
    """Pieces of words from a vocabulary; [CLS] and [SEP] are what other tokenisers call begin and end.

    The marks of `MARKS` are known wherever they stand in a text.
    """

    spells = False

    def __init__(self, pieces: Sequence[str], options: WordPieceOptions) -> None:
        """A ValueError says what is wrong with the pieces."""
        self._pieces, self.options = list(pieces), options
        self._tokens = {piece: token for token, piece in enumerate(pieces)}
        if len(self._tokens) != len(self._pieces):
            twice = next(piece for piece, count in Counter(pieces).items() if count > 1)
            raise ValueError(f"it holds the piece '{twice}' twice")
        if missing := [mark for mark in MARKS if mark not in self._tokens]:
            raise ValueError(f"it has no {missing[0]}, which BERT's vocabularies have")
        self.size = len(self._pieces)
        self.pad, self.unknown, self.begin, self.end, self.mask = (self._tokens[mark] for mark in MARKS)
        self._longest = max(map(len, self._pieces))
        self._remembered = lru_cache(maxsize=_CACHED)(self._encode_chunk)

    def __reduce__(self) -> tuple[type["WordPieceTokeniser"], tuple[list[str], WordPieceOptions]]:
        """Pickle for worker processes."""
        return WordPieceTokeniser, (self._pieces, self.options)

    def encode(self, text: str) -> list[int]:
        tokens: list[int] = []
        first = 0
        for mark in _MARK.finditer(text) if "[" in text else ():
            tokens += self._encode_words(text[first : mark.start()])
            tokens.append(self._tokens[mark[0]])
            first = mark.end()
        return tokens + self._encode_words(text[first:])

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(self._fragments(tokens))

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        return [self._pieces[token] for token in tokens]

    def words(self, tokens: Sequence[int]) -> list[int]:
        """Every punctuation mark is a word here, for how it was spaced is not known."""
        numbers, word = [], -1
        for token in tokens:
            silent = self._is_silent(token)
            word += not silent and (word < 0 or not self.goes_on(token))
            numbers.append(-1 if silent else word)
        return numbers

    def goes_on(self, token: int) -> bool:
        """Return True if a token continues the word before it."""
        return self._pieces[token].startswith(INSIDE) and len(self._pieces[token]) > len(INSIDE)

    def spelling(self, token: int) -> str:
        """The letters of a token, without the sign that it goes on with a word."""
        return self._pieces[token].removeprefix(INSIDE) if self.goes_on(token) else self._pieces[token]

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """There is only one way to cut a text, whatever the key."""
        return self.encode(text)

    def files(self, name: str) -> dict[str, bytes]:
        stored = _Stored(options=self.options, pieces=self._pieces)
        return {f"{name}.json": json.dumps(stored.model_dump(), ensure_ascii=False, indent=0).encode()}

    def _is_silent(self, token: int) -> bool:
        return token in (self.pad, self.begin, self.end)

    def _fragments(self, tokens: Sequence[int]) -> Iterator[str]:
        """Each token's text with the space before it, if any."""
        is_first = True
        for token in tokens:
            if self._is_silent(token):
                continue
            text = self.spelling(token)
            yield text if is_first or self.goes_on(token) else f" {text}"
            is_first = False

    def _encode_words(self, text: str) -> list[int]:
        # Spaces always part words, so what stands between two of them is cut once and remembered.
        return [token for chunk in text.split(" ") for token in self._remembered(chunk)]

    def _encode_chunk(self, text: str) -> tuple[int, ...]:
        return tuple(token for word in split_text(text, self.options) for token in self._cut(word))

    def _cut(self, word: str) -> tuple[int, ...]:
        """The longest piece that begins the word, then the longest that goes on with it, and so on."""
        if len(word) > LONGEST_WORD:
            return (self.unknown,)
        tokens, first = [], 0
        while first < len(word):
            before = INSIDE if first else ""
            for last in range(min(len(word), first + self._longest), first, -1):
                if (token := self._tokens.get(before + word[first:last])) is not None:
                    break
            else:
                return (self.unknown,)
            tokens.append(token)
            first = last
        return tuple(tokens)


def read_wordpieces(contents: bytes) -> WordPieceTokeniser:
    """A tokeniser that `files` stored; a ValueError says that the contents are none."""
    try:
        stored = _Stored.model_validate_json(contents)
    except ValidationError:
        raise ValueError("it holds no list of pieces with its options") from None
    return WordPieceTokeniser(stored.pieces, stored.options)


def learn_wordpieces(texts: Iterable[str], vocabulary: int, options: WordPieceOptions) -> WordPieceTokeniser:
    """A vocabulary of at most so many pieces, as a pure function of the arguments.

    Its pieces are the merges of byte-pair encoding within words, as in the trainers that are public; that of the
    authors, which chooses merges by likelihood, is not. Every letter that is learnt can begin a word and go on with
    one.
    """
    split = lru_cache(maxsize=_CACHED)(partial(split_text, options=options))
    lines = [" ".join(word for chunk in _MARK.sub(" ", text).split(" ") for word in split(chunk)) for text in texts]
    room = vocabulary - len(MARKS)
    learnt = SubwordTokeniser(train_subwords("bpe", room, False, lines), "bpe", 0.0)
    pieces = learnt.pieces(range(len(NAMES), learnt.size))
    letters = [piece for piece in pieces if len(piece) == 1 and piece != _SPACE]
    spelt = [piece.removeprefix(_SPACE) if piece.startswith(_SPACE) else INSIDE + piece for piece in pieces]
    known = dict.fromkeys([*letters, *(INSIDE + letter for letter in letters), *filter(None, spelt)])
    return WordPieceTokeniser([*MARKS, *list(known)[:room]], options)
