"""The tokeniser files of a GPT-2: read and write `vocab.json` and `merges.txt`, or `tokenizer.json`."""

import json
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.data.tokenisers.byte_pairs import BytePairTokeniser, Pair, byte_symbols
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.data.tokenisers.symbols import NAMES
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.engines.gpt2.config import GPT2Config
from regard.engines.hugging_face.files import TOKENISER, read_json, read_listed, to_json

VOCABULARY, MERGES, WHOLE = "vocab.json", "merges.txt", "tokenizer.json"
_VERSION = "#version"  # starts the first line of merges.txt


def read_tokeniser(folder: Path, config: GPT2Config) -> BytePairTokeniser:
    """Read the tokeniser in a folder; refuse one of another model."""
    if (folder / VOCABULARY).is_file() and (folder / MERGES).is_file():
        vocabulary, names = (
            (read_json(folder / VOCABULARY), _read_merges(folder / MERGES)),
            f"{VOCABULARY} and {MERGES}",
        )
        added = _added_tokens(read_json(folder / WHOLE)) if (folder / WHOLE).is_file() else {}
    elif (folder / WHOLE).is_file():
        table, names = read_json(folder / WHOLE), WHOLE
        vocabulary, added = _read_whole(folder / WHOLE, table), _added_tokens(table)
    else:
        raise Fault(f"{folder} has neither {VOCABULARY} and {MERGES} nor {WHOLE}, so its tokens have no text.")
    numbers, pairs = vocabulary
    words = _words_by_number(numbers | added, folder, config.vocab_size, names)
    try:
        return BytePairTokeniser(words, pairs, config.eos_token_id, list(added.values()))
    except ValueError as error:
        raise Fault(f"The tokeniser in {folder} ({names}) cannot be used: {error}.") from None


def _words_by_number(numbers: dict[str, Any], folder: Path, tokens: int, names: str) -> list[str]:
    if any(not isinstance(number, int) for number in numbers.values()):
        raise Fault(f"{folder}: {names} gives a word something other than a number.")
    if len(numbers) != tokens or {*numbers.values()} != {*range(tokens)}:
        raise Fault(
            f"{folder}: {names} has {len(numbers):,} words, numbered up to {max(numbers.values(), default=-1):,}, but "
            f"config.json has a model of {tokens:,} tokens; the two belong to different models."
        )
    return sorted(numbers, key=numbers.__getitem__)


def _read_merges(path: Path) -> list[Pair]:
    """Read the pairs of `merges.txt`, one per line after a line with its version."""
    lines = read_listed(path)
    first = 1 if lines[0].startswith(_VERSION) else 0
    pairs = []
    for number, line in enumerate(lines[first:], first + 1):
        words = line.split(" ") if line else []
        if line and (len(words) != 2 or not all(words)):
            raise Fault(f"{path}, line {number:,} does not have two words with a space between them.")
        pairs += [(words[0], words[1])] if line else []
    return pairs


def _read_whole(path: Path, table: dict[str, Any]) -> tuple[dict[str, Any], list[Pair]]:
    """Read the words and pairs of `tokenizer.json`, if it is of GPT-2's kind."""
    model = table.get("model")
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict) or "merges" not in model:
        raise Fault(f"{path} holds no byte-pair encoding like GPT-2's.")
    pairs = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in model["merges"]]
    if any(len(pair) != 2 for pair in pairs):
        raise Fault(f"{path} has a merge that does not join two words.")
    return model["vocab"], [(one, two) for one, two in pairs]


def _added_tokens(table: dict[str, Any]) -> dict[str, int]:
    """Return the tokens that `tokenizer.json` has besides its words: the end, and any that were added."""
    added = table.get("added_tokens", [])
    return {str(token["content"]): int(token["id"]) for token in added if isinstance(token, dict)}


def as_byte_pairs(tokeniser: Tokeniser) -> BytePairTokeniser:
    """Return the tokeniser as byte pairs; single bytes are the case without pairs, others are refused."""
    if isinstance(tokeniser, BytePairTokeniser):
        return tokeniser
    if isinstance(tokeniser, ByteTokeniser):
        others = [tokeniser.pad, tokeniser.unknown, tokeniser.begin]
        return BytePairTokeniser([*NAMES, *byte_symbols()], [], tokeniser.end, others)
    raise Fault(
        "GPT-2 needs byte-pair tokens, and this model has others; train one with data.tokeniser.kind = "
        "'bytes', or start from an imported GPT-2."
    )


def tokeniser_files(tokeniser: BytePairTokeniser, context: int) -> dict[str, bytes]:
    """Return the files with which transformers tokenises text the same way."""
    words, (end,) = tokeniser.vocabulary(), tokeniser.pieces([tokeniser.end])
    merges = [f"{_VERSION}: 0.2", *(" ".join(pair) for pair in tokeniser.pairs), ""]
    marks = {f"{name}_token": end for name in ("bos", "eos", "unk")}
    about = {"tokenizer_class": "GPT2Tokenizer", "model_max_length": context, "add_prefix_space": False, **marks}
    return {
        VOCABULARY: json.dumps(words, ensure_ascii=False).encode(),
        MERGES: "\n".join(merges).encode(),
        TOKENISER: to_json(about),
        WHOLE: to_json(_whole(tokeniser, words)),
    }


def _whole(tokeniser: BytePairTokeniser, words: dict[str, int]) -> dict[str, Any]:
    """Return `tokenizer.json`, as the tokenizers library writes it."""
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    silent = sorted(tokeniser.silent)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": token, "content": word, **flags}
            for token, word in zip(silent, tokeniser.pieces(silent), strict=True)
        ],
        "normalizer": None,
        "pre_tokenizer": by_bytes,
        "post_processor": by_bytes,
        "decoder": by_bytes,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": words,
            "merges": [list(pair) for pair in tokeniser.pairs],
        },
    }
