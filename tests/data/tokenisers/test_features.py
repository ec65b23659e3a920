"""Letters and features as tokens of a word to inflect."""

from pathlib import Path

import pytest

from regard.base.files import write_file
from regard.data.tokenisers.tokeniser import (
    Tokeniser,
    TokeniserOptions,
    load_tokeniser,
    split_features,
    train_tokeniser,
)

OPTIONS = TokeniserOptions(kind="features", target_kind="characters", shared=False)
LINES = ["walk V;PST", "Vater N;GEN;SG", "look up V;PST", "a;b V"]


@pytest.fixture
def tokeniser() -> Tokeniser:
    return train_tokeniser(OPTIONS, LINES)


def test_a_lemma_is_letters_and_its_features_follow() -> None:
    assert split_features("walk V;PST") == ["w", "a", "l", "k", ";V", ";PST"]
    assert split_features("look up V") == [*"look up", ";V"]
    assert split_features("walk") == [*"walk"]
    assert split_features("") == []


@pytest.mark.parametrize("line", LINES)
def test_what_was_seen_comes_back(tokeniser: Tokeniser, line: str) -> None:
    assert tokeniser.decode(tokeniser.encode(line)) == line


def test_a_feature_is_no_letter(tokeniser: Tokeniser) -> None:
    letter, feature = tokeniser.encode("Vater V")[0], tokeniser.encode("Vater V")[-1]
    assert tokeniser.pieces([letter, feature]) == ["V", ";V"]


def test_what_was_not_seen_is_unknown(tokeniser: Tokeniser) -> None:
    assert tokeniser.encode("x V;XX")[0] == tokeniser.encode("x V;XX")[-1] == tokeniser.unknown


def test_it_is_loaded_as_it_was_stored(tokeniser: Tokeniser, tmp_path: Path) -> None:
    for name, content in tokeniser.files("source").items():
        write_file(tmp_path / name, content)
    again = load_tokeniser(tmp_path, "source", OPTIONS.by_side()[0])
    assert [again.encode(line) for line in LINES] == [tokeniser.encode(line) for line in LINES]
