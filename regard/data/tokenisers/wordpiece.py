"""WordPiece as in BERT: split into words and punctuation marks, then into the longest known pieces.

Case, accents and spacing are lost as the options say. A word that cannot be spelled by pieces is unknown as a whole.
Characters are classified by Python's version of Unicode; other tools may use an older one.
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
INSIDE = "##"  # prefix of a piece that continues a word
LONGEST_WORD = 100  # characters; a longer word is unknown
_MARK = re.compile("|".join(map(re.escape, MARKS)))
_SPACE = "▁"  # SentencePiece's
_CACHED = 2**17  # texts between two spaces to cache
_HIDDEN = ("Cc", "Cf", "Co")  # categories of invisible characters
# Ideographs, each a word: Unicode blocks, first and last.
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
    """Normalisation before splitting; by default, accents are stripped if case is."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    lower_case: bool = True
    strip_accents: bool | None = None
    part_ideographs: bool = True

    @property
    def strips_accents(self) -> bool:
        return self.lower_case if self.strip_accents is None else self.strip_accents


class _Stored(BaseModel):
    """A tokeniser as stored in a model folder."""

    model_config = ConfigDict(strict=True)

    options: WordPieceOptions
    pieces: list[str] = Field(min_length=len(MARKS))


def split_text(text: str, options: WordPieceOptions) -> list[str]:
    """Return the words and punctuation marks of a text, spelled as the options say (Devlin et al. 2019, their code)."""
    spelled = "".join(_spelling(character, options) for character in text)
    if options.strips_accents:
        spelled = "".join(
            character_part
            for character_part in unicodedata.normalize("NFD", spelled)
            if unicodedata.category(character_part) != "Mn"
        )
    if options.lower_case:  # one by one, so that a final sigma is like any other
        spelled = spelled.lower() if spelled.isascii() else "".join(map(str.lower, spelled))
    return [part for word in spelled.split() for part in _parts(word)]


def _spelling(character: str, options: WordPieceOptions) -> str:
    kind = _kind(character)
    if kind == "ideograph":
        return f" {character} " if options.part_ideographs else character
    return {"space": " ", "hidden": ""}.get(kind, character)


@lru_cache(maxsize=_CACHED)
def _kind(character: str) -> str:
    """Return the kind of a character for splitting text."""
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
    """Yield a word and each punctuation mark in or around it separately."""
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
    """Pieces of words from a vocabulary; [CLS] and [SEP] take the roles of begin and end.

    The marks of `MARKS` are recognised anywhere in a text.
    """

    spells = False

    def __init__(self, pieces: Sequence[str], options: WordPieceOptions) -> None:
        """Check and index the pieces; raise ValueError if something is wrong with them."""
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
        """Return word numbers; every punctuation mark is a word, since its spacing is unknown."""
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
        """Return the letters of a token, without the continuation prefix."""
        return self._pieces[token].removeprefix(INSIDE) if self.goes_on(token) else self._pieces[token]

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Return what `encode` does: there is only one way to tokenise a text."""
        return self.encode(text)

    def files(self, name: str) -> dict[str, bytes]:
        stored = _Stored(options=self.options, pieces=self._pieces)
        return {f"{name}.json": json.dumps(stored.model_dump(), ensure_ascii=False, indent=0).encode()}

    def _is_silent(self, token: int) -> bool:
        return token in (self.pad, self.begin, self.end)

    def _fragments(self, tokens: Sequence[int]) -> Iterator[str]:
        """Yield each token's text with the space before it, if any."""
        is_first = True
        for token in tokens:
            if self._is_silent(token):
                continue
            text = self.spelling(token)
            yield text if is_first or self.goes_on(token) else f" {text}"
            is_first = False

    def _encode_words(self, text: str) -> list[int]:
        # Spaces always separate words, so the text between two of them is split once and cached.
        return [token for chunk in text.split(" ") for token in self._remembered(chunk)]

    def _encode_chunk(self, text: str) -> tuple[int, ...]:
        return tuple(token for word in split_text(text, self.options) for token in self._cut(word))

    def _cut(self, word: str) -> tuple[int, ...]:
        """Return the longest piece that begins the word, then the longest that continues it, and so on."""
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
    """Read a tokeniser that `files` stored; raise ValueError for anything else."""
    try:
        stored = _Stored.model_validate_json(contents)
    except ValidationError:
        raise ValueError("it does not hold a list of pieces with its options") from None
    return WordPieceTokeniser(stored.pieces, stored.options)


def learn_wordpieces(texts: Iterable[str], vocabulary: int, options: WordPieceOptions) -> WordPieceTokeniser:
    """Learn a vocabulary of at most `vocabulary` pieces, as a pure function of the arguments.

    Its pieces are byte-pair merges within words, as in public trainers; the authors' trainer, which chooses merges by
    likelihood, is not public. Every learnt letter can both begin and continue a word.
    """
    split = lru_cache(maxsize=_CACHED)(partial(split_text, options=options))
    lines = [" ".join(word for chunk in _MARK.sub(" ", text).split(" ") for word in split(chunk)) for text in texts]
    room = vocabulary - len(MARKS)
    merges = SubwordTokeniser(train_subwords("bpe", room, False, lines), "bpe", 0.0)
    pieces = merges.pieces(range(len(NAMES), merges.size))
    letters = [piece for piece in pieces if len(piece) == 1 and piece != _SPACE]
    spelled = [piece.removeprefix(_SPACE) if piece.startswith(_SPACE) else INSIDE + piece for piece in pieces]
    distinct = dict.fromkeys([*letters, *(INSIDE + letter for letter in letters), *filter(None, spelled)])
    return WordPieceTokeniser([*MARKS, *list(distinct)[:room]], options)
