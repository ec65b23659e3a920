"""A model in a mapped file: same numbers, immediate opening, and no damage accepted."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from counted import BEGIN, counts_of, possible, tokens_of, vocabulary

from regard.base.faults import Fault
from regard.base.model_folder import is_mapped
from regard.models.ngram import NgramOptions, Ngrams
from regard.models.ngram.mapped import open_mapped, write_mapped
from regard.models.ngram.smoothing import estimate
from regard.models.ngram.stored import model_as_arrays

LINES = ["a b a c", "a b", "c c a b", "a", "b b b b a"]
FILES = {"tokeniser.json": b'{"words": ["a", "b", "c"]}'}


def made(path: Path, order: int = 3) -> Ngrams:
    counts = counts_of(LINES, order)
    options = NgramOptions(order=order, discount_fallback=True)
    model = estimate(options, counts, BEGIN, possible(counts.trie.size))
    write_mapped(path, model, "family = 'ngram'", FILES)
    return model


@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_model_comes_back_to_the_bit_and_scores_the_same(order: int, tmp_path: Path) -> None:
    path = tmp_path / "model.ngrams"
    model = made(path, order)
    assert is_mapped(path)
    mapped = open_mapped(path)
    mapped.check(possible(model.trie.size))
    assert mapped.recipe == "family = 'ngram'"
    assert mapped.files == FILES
    for name, array in model_as_arrays(mapped.model).items():
        assert isinstance(array, np.memmap)
        np.testing.assert_array_equal(array, model_as_arrays(model)[name])
    for mine, theirs in zip(mapped.model.trie.firsts, model.trie.firsts, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    text = tokens_of(["a b c", "c a x"], vocabulary(LINES))
    np.testing.assert_array_equal(mapped.model.score(text, text == BEGIN), model.score(text, text == BEGIN))


def test_the_file_is_a_function_of_the_model(tmp_path: Path) -> None:
    made(tmp_path / "one")
    made(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def refused(path: Path, size: int) -> str:
    """Return the refusal of a file that cannot be opened or has wrong numbers."""
    with pytest.raises(Fault) as caught:
        open_mapped(path).check(possible(size))
    return str(caught.value)


def test_every_byte_that_changes_and_every_byte_that_is_missing_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "model.ngrams"
    size = made(path).trie.size
    content = path.read_bytes()
    head_end = 48 + int.from_bytes(content[8:16], "little")
    arrays = json.loads(content[48:head_end])["arrays"]
    first = -(-head_end // 64) * 64
    places = [0, 9, 20, 60, *(first + part["start"] + part["size"] // 2 for part in arrays.values())]
    for place in places:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert "is damaged" in refused(path, size)
    for length in (0, 7, 47, 100, len(content) - 1):
        path.write_bytes(content[:length])
        assert "is damaged" in refused(path, size)
    path.write_bytes(content + b"x")
    assert "its length differs from what its head says" in refused(path, size)


def with_head(content: bytes, **changes: object) -> bytes:
    """Return the file with another head and a matching checksum; contents stay where the old head puts them."""
    end = 48 + int.from_bytes(content[8:16], "little")
    head = json.loads(content[48:end]) | changes
    written = json.dumps(head, separators=(",", ":")).encode()
    body = content[-(-end // 64) * 64 :]
    begin = content[:8] + len(written).to_bytes(8, "little") + hashlib.sha256(written).digest() + written
    return begin + bytes(-len(begin) % 64) + body


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": 2}, "was written by another version of regard"),
        ({"order": 2}, "its arrays do not match its order"),
        ({"order": 99}, "its head is not that of a mapped n-gram model"),
        ({"arrays": {}}, "its length differs from what its head says"),
        ({"more": 1}, "its head is not that of a mapped n-gram model"),
    ],
)
def test_a_head_that_makes_no_sense_is_refused(changes: dict[str, object], sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "model.ngrams"
    size = made(path).trie.size
    path.write_bytes(with_head(path.read_bytes(), **changes))
    assert sentence in refused(path, size)


def test_numbers_whose_checksum_fits_are_checked_for_sense(tmp_path: Path) -> None:
    path = tmp_path / "model.ngrams"
    size = made(path).trie.size
    content = path.read_bytes()
    end = 48 + int.from_bytes(content[8:16], "little")
    arrays, first = json.loads(content[48:end])["arrays"], -(-end // 64) * 64
    for name, sentence in (("firsts.2", "does not belong to its n-grams"), ("keys.2", "are not in order")):
        part = arrays[name]
        place = slice(first + part["start"], first + part["start"] + part["size"])
        forged = np.frombuffer(content[place], np.int64)[::-1].tobytes()
        changed = arrays | {name: part | {"checksum": hashlib.sha256(forged).hexdigest()}}
        path.write_bytes(with_head(content[: place.start] + forged + content[place.stop :], arrays=changed))
        assert sentence in refused(path, size)
