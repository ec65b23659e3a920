"""Data options of a recipe, short and long, and refusals."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import regard
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.corpora.options import Corpus, PairData

TWO_FILES = [Corpus(source="a.en", target="a.pt")]


@pytest.mark.parametrize(
    ("short", "meant"),
    [
        ("a.tsv", [Corpus(pairs="a.tsv")]),
        ("demo:train", [Corpus(pairs="demo:train")]),
        (["a.en", "a.pt"], TWO_FILES),
        ({"source": "a.en", "target": "a.pt"}, TWO_FILES),
        ([{"source": "a.en", "target": "a.pt"}, {"pairs": "b.tsv"}], [*TWO_FILES, Corpus(pairs="b.tsv")]),
    ],
)
def test_short_forms(short: Any, meant: list[Corpus]) -> None:
    assert check(PairData, {"train": short, "valid": short}).train == meant
    assert check(PairData, {"train": short, "valid": short}).valid == meant


@pytest.mark.parametrize(
    ("train", "sentence"),
    [
        ([], r"train is \[\], expected at least 1 of them"),
        (3, "train is 3, expected a list"),
        (["a.en"], "train: a list of names must be one source file and one target file"),
        (["a.en", "a.pt", "b.en"], "train: a list of names"),
        (["a.en", {"pairs": "a.tsv"}], "train: a list of names"),
        ({"source": "a.en"}, r"train\[0\]: a corpus is either 'source' and 'target', or 'pairs'"),
        ({}, "a corpus is either"),
        ({"source": "a", "target": "b", "pairs": "c"}, "a corpus is either"),
        ({"pairs": "a.tsv", "weight": 0}, r"train\[0\].weight is 0, expected more than 0"),
        ({"pairs": "a.tsv", "wieght": 1}, r"train\[0\] has no 'wieght'; did you mean 'weight'\?"),
        ("demo:tests", "the generated corpus has no 'demo:tests', it has 'demo:train', 'demo:valid', 'demo:test'"),
        (["demo:train", "demo:train"], "a generated corpus has both sides in one; write pairs = 'demo:train'"),
        ({"pairs": "a.txt", "separator": ""}, r"train\[0\]: separator is '', expected some text on one line"),
        ({"pairs": "a.txt", "separator": "\n\n"}, r"separator is '\\n\\n', expected some text on one line"),
        ({"source": "a", "target": "b", "separator": "|"}, "'separator' is only for files of pairs"),
        ({"pairs": "demo:train", "separator": "|"}, "'separator' is only for files of pairs"),
        ([{"pairs": "a"}, {"pairs": "b", "weight": 2}], "train: some corpora have a weight and some have none"),
    ],
)
def test_refusals(train: Any, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        check(PairData, {"train": train})


def test_weights_are_for_corpora_that_are_mixed() -> None:
    weighed = [{"pairs": "a.tsv", "weight": 1.0}, {"pairs": "b.tsv", "weight": 2.0}]
    assert [corpus.weight for corpus in check(PairData, {"train": weighed}).train] == [1.0, 2.0]
    assert check(PairData, {"train": weighed[1]}).train[0].weight is None
    assert check(PairData, {"train": "a.tsv", "valid": weighed[0]}).valid[0].weight is None
    with pytest.raises(Fault, match="test: only training corpora have a weight"):
        check(PairData, {"train": "a.tsv", "test": weighed})


def test_training_data_is_needed() -> None:
    with pytest.raises(Fault, match="needs 'train'"):
        check(PairData, {})


def test_models_from_spelling_to_sounds_are_compared_on_the_same_data() -> None:
    recipes = sorted((Path(regard.__file__).parent / "recipes").glob("cmudict-g2p*.toml"))
    data = [check(PairData, tomllib.loads(path.read_text(encoding="utf-8"))["data"]) for path in recipes]
    assert len(data) > 1
    assert all(options == data[0] for options in data)
