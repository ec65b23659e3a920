"""What a recipe may say about its data, short and long, and what it may not."""

from typing import Any

import pytest

from regard.data.options import Corpus, DataOptions
from regard.faults import Fault
from regard.recipe import check

TWO_FILES = [Corpus(source="a.en", target="a.pt")]


@pytest.mark.parametrize(
    ("short", "meant"),
    [
        ("a.tsv", [Corpus(pairs="a.tsv")]),
        ("demo:train", [Corpus(pairs="demo:train")]),
        (["a.en", "a.pt"], TWO_FILES),
        ({"source": "a.en", "target": "a.pt"}, TWO_FILES),
        (
            [{"source": "a.en", "target": "a.pt"}, {"pairs": "b.tsv", "weight": 2}],
            [*TWO_FILES, Corpus(pairs="b.tsv", weight=2.0)],
        ),
    ],
)
def test_short_forms(short: Any, meant: list[Corpus]) -> None:
    assert check(DataOptions, {"train": short, "valid": short}).train == meant
    assert check(DataOptions, {"train": short, "valid": short}).valid == meant


@pytest.mark.parametrize(
    ("train", "sentence"),
    [
        ([], r"train is \[\], expected at least 1 of them"),
        (3, "train is 3, expected a list"),
        (["a.en"], "train: a list of names is one source file and one target file"),
        (["a.en", "a.pt", "b.en"], "train: a list of names"),
        (["a.en", {"pairs": "a.tsv"}], "train: a list of names"),
        ({"source": "a.en"}, r"train\[0\]: a corpus is either 'source' and 'target', or 'pairs'"),
        ({}, "a corpus is either"),
        ({"source": "a", "target": "b", "pairs": "c"}, "a corpus is either"),
        ({"pairs": "a.tsv", "weight": 0}, r"train\[0\].weight is 0, expected more than 0"),
        ({"pairs": "a.tsv", "wieght": 1}, r"train\[0\] has no 'wieght'; did you mean 'weight'\?"),
        ("demo:tests", "the generated corpus has no 'demo:tests', it has 'demo:train', 'demo:valid', 'demo:test'"),
        (["demo:train", "demo:train"], "the generated corpus has both sides in one"),
    ],
)
def test_refusals(train: Any, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        check(DataOptions, {"train": train})


def test_training_data_is_needed() -> None:
    with pytest.raises(Fault, match="needs 'train'"):
        check(DataOptions, {})
