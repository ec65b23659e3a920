"""Subwords and characters with SentencePiece: training, splitting, sampling, and exact decoding."""

import io
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from regard.data.tokenisers.random_pieces import DropoutSampler, Sampler, UnigramSampler, chances
from regard.data.tokenisers.sentencepieces import open_model
from regard.data.tokenisers.symbols import (
    BEGIN,
    END,
    NAMES,
    PAD,
    SILENT,
    UNKNOWN,
    UNKNOWN_TEXT,
    clean,
    join_fragments,
    word_numbers,
)

SubwordKind = Literal["unigram", "bpe", "characters"]

# SentencePiece writes a space as ▁, so a ▁ of the text is disguised: as an escape character, which no text should
# contain, and a digit. An escape character in the text is escaped too.
_SPACE, _ESCAPE = "▁", "\U0010ffff"
_ESCAPED_ESCAPE, _ESCAPED_SPACE = _ESCAPE + "0", _ESCAPE + "1"

_MODEL_TYPES = {"unigram": "unigram", "bpe": "bpe", "characters": "char"}
_COVERAGE = 0.9999  # share of the sample's characters; the rarest are spelled as bytes
_LINE = 1000  # characters: at most 4000 bytes, and SentencePiece skips lines of more than 4192
_BOUNDARY = "\t"  # no piece crosses it in SentencePiece's training, or contains it
_RESERVED = frozenset({_SPACE, _ESCAPE, "▅"})  # ▅ stands for rare characters inside SentencePiece's trainer


class SubwordTokeniser:
    """A SentencePiece model that distinguishes the text's own ▁ from spaces, with keyed sampling."""

    pad, unknown, begin, end = PAD, UNKNOWN, BEGIN, END

    def __init__(self, model: bytes, kind: SubwordKind, sampling: float) -> None:
        """Open `model` as SentencePiece serialises it; raise ValueError if something is wrong with it."""
        self._model, self._kind, self._sampling = model, kind, sampling
        self.spells = kind == "characters"
        self._processor = processor = _open_model(model)
        self.size: int = processor.get_piece_size()
        everything = list(range(self.size))
        self._names: list[str] = processor.id_to_piece(everything)
        is_byte: list[bool] = processor.is_byte(everything)
        spelled = [token for token in everything if is_byte[token]]
        self._bytes = {int(self._names[token][3:5], 16): token for token in spelled}
        self._tokens = {
            name: token for token, name in enumerate(self._names) if token >= len(NAMES) and not is_byte[token]
        }
        self._fragments = [b"", UNKNOWN_TEXT.encode(), b"", b""]
        self._fragments += [name.replace(_SPACE, " ").encode() for name in self._names[len(NAMES) :]]
        for value, token in self._bytes.items():
            self._fragments[token] = bytes([value])
        self._sampler = self._make_sampler() if sampling else None

    def __reduce__(self) -> tuple[type["SubwordTokeniser"], tuple[bytes, SubwordKind, float]]:
        """Pickle for worker processes."""
        return SubwordTokeniser, (self._model, self._kind, self._sampling)

    def encode(self, text: str) -> list[int]:
        tokens: list[int] = self._processor.encode(self._prepare_text(text))
        return tokens

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        tokens: list[list[int]] = self._processor.encode([self._prepare_text(text) for text in texts], num_threads=1)
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        # Like `_token_texts`, but at once: silent tokens have no text, so a leading space is the first word's.
        text = join_fragments([self._fragments[token] for token in tokens]).removeprefix(" ")
        if _ESCAPE in text:
            text = text.replace(_ESCAPED_SPACE, _SPACE).replace(_ESCAPED_ESCAPE, _ESCAPE)
        return text

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        return [self._names[token] for token in tokens]

    def words(self, tokens: Sequence[int]) -> list[int]:
        return word_numbers(tokens, self._token_texts(tokens))

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        if self._sampler is None:
            return self.encode(text)
        prepared, chance = self._prepare_text(text), chances(key)
        words = [_SPACE + word for word in prepared.split(" ")] if prepared else []
        return self._looked_up(self._sampler.cut(words, chance))

    def files(self, name: str) -> dict[str, bytes]:
        return {f"{name}.model": self._model}

    def _prepare_text(self, text: str) -> str:
        text = clean(text)
        if _SPACE in text or _ESCAPE in text:
            if not self._bytes:
                return text.replace(_SPACE, _ESCAPE)  # unknown, since nothing can be spelled in bytes
            text = text.replace(_ESCAPE, _ESCAPED_ESCAPE).replace(_SPACE, _ESCAPED_SPACE)
        return text

    def _token_texts(self, tokens: Sequence[int]) -> Iterator[bytes]:
        """Yield the text of each token, without the space that SentencePiece adds before the first word."""
        started = False
        for token in tokens:
            fragment = self._fragments[token]
            if not started and token not in SILENT:
                started = True
                fragment = fragment.removeprefix(b" ")
            yield fragment

    def _looked_up(self, pieces: list[str]) -> list[int]:
        """Return the tokens of `pieces`; unknown characters are spelled, or become one unknown token per run."""
        token_of = self._tokens
        try:
            return [token_of[piece] for piece in pieces]
        except KeyError:
            tokens: list[int] = []
        for piece in pieces:
            token = token_of.get(piece)
            if token is not None:
                tokens.append(token)
            elif self._bytes:
                tokens += [self._bytes[value] for value in piece.encode()]
            elif not tokens or tokens[-1] != UNKNOWN:
                tokens.append(UNKNOWN)
        return tokens

    def _make_sampler(self) -> Sampler:
        scores = dict(zip(self._names, self._processor.get_score(list(range(self.size))), strict=True))
        piece_scores = {piece: scores[piece] for piece in self._tokens}
        if self._kind == "bpe":
            return DropoutSampler({piece: -score for piece, score in piece_scores.items()}, self._sampling)
        return UnigramSampler(piece_scores, self._sampling)


def _open_model(model: bytes) -> Any:
    """Return the SentencePiece processor of a model that regard trained."""
    processor = open_model(model)
    special = (processor.pad_id(), processor.unk_id(), processor.bos_id(), processor.eos_id())
    if special != (PAD, UNKNOWN, BEGIN, END) or processor.piece_to_id(_SPACE) == UNKNOWN:
        raise ValueError("it is not a model that regard trained")
    return processor


def train_subwords(kind: SubwordKind, vocabulary: int, byte_fallback: bool, texts: Sequence[str]) -> bytes:
    """Train a SentencePiece model of at most `vocabulary` tokens, as a pure function of the arguments.

    Equal lines count once: SentencePiece's time grows with the square of a run of equal lines.
    """
    from sentencepiece import SentencePieceTrainer

    room = vocabulary - len(NAMES) - (256 if byte_fallback else 0)
    most = room if kind == "characters" else room // 2
    lines = [text[start : start + _LINE] for text in texts for start in range(0, len(text), _LINE)]
    table = _Boundaries(_frequent_characters(lines, most - 1, _COVERAGE if byte_fallback else 1.0))
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(dict.fromkeys(line.translate(table) for line in lines)),
        model_writer=model,
        model_type=_MODEL_TYPES[kind],
        vocab_size=vocabulary,
        hard_vocab_limit=False,
        byte_fallback=byte_fallback,
        character_coverage=1.0,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        pad_id=PAD,
        unk_id=UNKNOWN,
        bos_id=BEGIN,
        eos_id=END,
        num_threads=4,  # fixed: another number of threads rounds sums differently
        minloglevel=2,
    )
    return model.getvalue()


def _frequent_characters(lines: Sequence[str], most: int, coverage: float) -> set[str]:
    """Return the most frequent characters that make up this share of the lines, at most `most`."""
    counts = Counter[str]()
    for line in lines:
        counts.update(line)
    for character in [*counts]:
        if character == " " or character in _RESERVED or unicodedata.category(character) == "Cc":
            del counts[character]
    enough, characters = coverage * counts.total(), set[str]()
    covered = 0
    for character in sorted(counts, key=lambda character: (-counts[character], character))[:most]:
        if covered >= enough:
            break
        covered += counts[character]
        characters.add(character)
    return characters


class _Boundaries(dict[int, str]):
    """For `str.translate`: keeps spaces and the given characters, and turns all others into a boundary."""

    def __init__(self, characters: set[str]) -> None:
        super().__init__((ord(character), character) for character in characters | {" "})

    def __missing__(self, code: int) -> str:
        return _BOUNDARY
