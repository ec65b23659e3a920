"""The tokenisers of a Marian folder: read and write its SentencePiece models and vocabularies."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.files import read_bounded
from regard.data.corpora.options import PairData
from regard.data.tokenisers.marian import MarianTokeniser, MarianVocabulary
from regard.data.tokenisers.sentencepieces import MOST_BYTES
from regard.data.tokenisers.subwords import SubwordTokeniser
from regard.data.tokenisers.symbols import NAMES
from regard.data.tokenisers.tokeniser import CaselessTokeniser, Tokeniser
from regard.engines.hugging_face.files import TOKENISER, read_json
from regard.engines.marian.config import MarianConfig

SOURCE_PIECES, TARGET_PIECES = "source.spm", "target.spm"
VOCABULARY, TARGET_VOCABULARY = "vocab.json", "target_vocab.json"
_USUAL = {"pad": NAMES[0], "unk": NAMES[1], "eos": NAMES[3]}
_SHOWN_CODES = 5


def read_tokenisers(
    folder: Path, config: MarianConfig, code: str | None, remark: Callable[[str], None]
) -> tuple[MarianTokeniser, MarianTokeniser]:
    """Read the tokenisers of source and target; with a code, as in >>por<<, every source asks for that language."""
    about = _settings(folder)
    names = {kind: _name(about.get(f"{kind}_token"), usual) for kind, usual in _USUAL.items()}
    vocabulary = _numbers(folder / VOCABULARY, config.vocab_size)
    unknown = _number(vocabulary, names["unk"], folder / VOCABULARY)
    pad = vocabulary.get(names["pad"], config.pad_token_id)
    end = vocabulary.get(names["eos"], config.end)
    source = _vocabulary(folder / VOCABULARY, vocabulary, config.vocab_size, (pad, unknown, pad, end))
    source = _choose_code(source, code, folder, remark)
    place = folder / (TARGET_VOCABULARY if about.get("separate_vocabs") is True else VOCABULARY)
    if place.name != VOCABULARY:
        vocabulary = _numbers(place, config.target_tokens)
        unknown = _number(vocabulary, names["unk"], place)
    special = (config.pad_token_id, unknown, config.decoder_start_token_id, config.end)
    target = _vocabulary(place, vocabulary, config.target_tokens, special)
    return _tokeniser(folder / SOURCE_PIECES, source), _tokeniser(folder / TARGET_PIECES, target)


def languages(folder: Path, code: str | None) -> dict[str, str]:
    """Return the languages that a folder names, as data options."""
    about = _settings(folder)
    named = {"source_language": about.get("source_lang"), "target_language": code or about.get("target_lang")}
    return {name: value for name, value in named.items() if isinstance(value, str) and value}


def _settings(folder: Path) -> dict[str, Any]:
    return read_json(folder / TOKENISER) if (folder / TOKENISER).is_file() else {}


def _name(token: Any, usual: str) -> str:
    """Return a special token's name, which may be inside a table."""
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else usual


def _numbers(path: Path, most: int) -> dict[str, int]:
    table = read_json(path)
    if not all(type(number) is int and 0 <= number < most for number in table.values()):
        raise Fault(f"{path} is not the model's vocabulary: it does not give each piece a number below {most}.")
    if len(set(table.values())) < len(table):
        raise Fault(f"{path} is damaged: it gives several pieces the same number.")
    return table


def _number(vocabulary: dict[str, int], piece: str, path: Path) -> int:
    if piece not in vocabulary:
        raise Fault(f"{path} has no '{piece}', the piece for unknown words.")
    return vocabulary[piece]


def _vocabulary(path: Path, numbers: dict[str, int], size: int, special: tuple[int, int, int, int]) -> MarianVocabulary:
    """Return the pieces by number; `special` are pad, unknown, begin and end."""
    pieces = [""] * size
    for piece, number in numbers.items():
        pieces[number] = piece
    try:
        return MarianVocabulary(pieces, *special)
    except ValueError as error:
        raise Fault(f"{path} does not fit the model: {error}.") from None


def _choose_code(
    vocabulary: MarianVocabulary, code: str | None, folder: Path, remark: Callable[[str], None]
) -> MarianVocabulary:
    codes = list(vocabulary.codes)
    some = ", ".join(codes[:_SHOWN_CODES]) + (", …" if len(codes) > _SHOWN_CODES else "")
    if code is None:
        if codes:
            remark(f"The model writes several languages: begin each text with one of {some}, or import one language.")
        return vocabulary
    if f">>{code}<<" not in codes:
        raise Fault(f"{folder} has no code for the language '{code}'; it has {some or 'none'}.")
    return replace(vocabulary, code=f">>{code}<<")


def _tokeniser(path: Path, vocabulary: MarianVocabulary) -> MarianTokeniser:
    try:
        return MarianTokeniser(read_bounded(path, MOST_BYTES), vocabulary)
    except ValueError as error:
        raise Fault(f"{path} is damaged: {error}.") from None


def tokeniser_files(source: Tokeniser, target: Tokeniser, data: PairData, longest: int) -> dict[str, bytes]:
    """Return the tokeniser files of one of our models; refuse tokens that are not SentencePiece's."""
    models, numbers = zip(*(_describe(side, data) for side in (source, target)), strict=True)
    names = target.pieces([target.pad, target.unknown, target.begin, target.end])
    about = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": data.source_language,
        "target_lang": data.target_language,
        "separate_vocabs": numbers[0] != numbers[1],
        "model_max_length": longest,
        "clean_up_tokenization_spaces": False,
        **dict(zip(("pad_token", "unk_token", "bos_token", "eos_token"), names, strict=True)),
    }
    files = {VOCABULARY: numbers[0], TARGET_VOCABULARY: numbers[1], TOKENISER: about}
    if not about["separate_vocabs"]:
        del files[TARGET_VOCABULARY]
    written = {name: json.dumps(table, ensure_ascii=False, indent=1).encode() for name, table in files.items()}
    return {SOURCE_PIECES: models[0], TARGET_PIECES: models[1]} | written


def _describe(tokeniser: Tokeniser, data: PairData) -> tuple[bytes, dict[str, int]]:
    """Return the SentencePiece model of a tokeniser and the numbers of its pieces."""
    if isinstance(tokeniser, CaselessTokeniser):
        raise Fault("Marian is case-sensitive, so a model with data.tokeniser.ignore_case cannot be exported.")
    if not isinstance(tokeniser, SubwordTokeniser | MarianTokeniser):
        kinds = " and ".join(dict.fromkeys(side.kind for side in data.tokeniser.by_side()))
        raise Fault(f"Marian needs SentencePiece tokens, so data.tokeniser.kind = {kinds} cannot be exported.")
    pieces = tokeniser.pieces(range(tokeniser.size))
    return tokeniser.files("it")["it.model"], {piece: token for token, piece in enumerate(pieces) if piece}
