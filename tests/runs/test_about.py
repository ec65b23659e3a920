"""A model folder's description of its model: training data, and examples to try."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.base.model_folder import ABOUT, update_folder
from regard.data.examples import Amount, beginnings, choose_examples
from regard.data.texts.prepare import PreparedText
from regard.data.tokenisers.words import WordTokeniser
from regard.runs.about import About, about_data, about_in_words, data_names, read_about

PAIRS = Amount(12_000, "pairs")


@dataclass(frozen=True)
class Given:
    """Data as a run finds it."""

    texts: list[str]
    report: tuple[str, ...] = ()
    amount: Amount = PAIRS

    def unlearnt_texts(self) -> list[str]:
        return self.texts

    def files(self) -> dict[str, bytes]:
        return {}


def test_examples_are_of_a_handy_length_and_spread_over_the_texts() -> None:
    texts = [f"sentence {number} is of six words" for number in range(6)]
    others = ["too short", " ".join(["long"] * 20), texts[0]]
    assert choose_examples([*others, *texts], 3) == [texts[1], texts[3], texts[5]]
    assert choose_examples([*others, *texts], 1) == [texts[3]]
    assert choose_examples(iter([]), 3) == []


def test_where_no_text_is_handy_the_shortest_are_examples_but_none_that_fills_the_page() -> None:
    assert choose_examples(["Oi", "Oi!", "word " * 100], 3) == ["Oi", "Oi!"]
    assert choose_examples(["a \t b", "a b", "x\x00y", ""], 3) == ["a b"]


def test_examples_for_prompts_are_beginnings() -> None:
    assert list(beginnings(["one two three four five six", "too short to go on"])) == ["one two three four five"]
    about = about_data(Given(["one two three four five six"] * 2), None, 3, "language")
    assert about.examples == ["one two three four five"]


def test_examples_for_masks_hide_the_longest_word() -> None:
    about = about_data(Given(["the elephants drink at noon"]), None, 3, "masked")
    assert about.examples == ["the [MASK] drink at noon"]


def test_examples_can_be_kept_out() -> None:
    about = about_data(Given(["This text is private, keep it"]), 7, 0, "classification")
    assert about == About(amount=PAIRS, parameters=7, examples=[])
    assert b"private" not in about.to_bytes()


def test_lines_of_text_are_examples_unless_a_word_is_unknown() -> None:
    tokeniser = WordTokeniser(["a", "b", "c"])
    lines = ["a b", "c a", "b"]
    tokens = [token for line in lines for token in (*tokeniser.encode(line), tokeniser.end)]
    tokens[3] = tokeniser.unknown
    text = PreparedText(Path(), tokeniser, {"train": np.arange(9), "valid": np.array(tokens)}, [])
    assert list(text.unlearnt_texts()) == ["a b", "b"]
    assert text.amount == Amount(9, "tokens")
    assert list(PreparedText(Path(), tokeniser, {"train": np.arange(9)}, []).unlearnt_texts()) == []


def test_data_is_named_without_where_it_lies() -> None:
    assert data_names({"data": {"train": "demo:train"}}) == ["demo:train"]
    files = [{"source": "/home/ana/secret/a.en", "target": "/home/ana/secret/a.pt"}, "b.txt", {"pairs": "x/demo.tsv"}]
    assert data_names({"data": {"train": files}}) == ["a.en", "a.pt", "b.txt", "demo.tsv"]
    assert data_names({"data": {"graph": "cora:"}}) == []


def test_a_folder_says_what_it_holds_and_an_older_one_nothing(tmp_path: Path) -> None:
    update_folder(tmp_path, {"other": b""})
    assert read_about(tmp_path) == About()
    about = About(amount=Amount(30_000, "pairs"), parameters=12, examples=["Ana sees the red house."])
    update_folder(tmp_path, {ABOUT: about.to_bytes()})
    assert read_about(tmp_path) == about
    recipe = {"description": "Short sentences.", "data": {"train": "demo:train"}}
    assert about_in_words(about, recipe) == {
        "knows": "Short sentences.",
        "learnt from": "30,000 pairs of demo:train",
        "try": "Ana sees the red house.",
    }
    assert about_in_words(About(), {"data": {}}) == {}


@pytest.mark.parametrize("content", ["{", "[]", '{"examples": 3}', '{"amount": {"count": 1, "unit": "miles"}}'])
def test_what_is_no_such_record_is_refused(content: str, tmp_path: Path) -> None:
    update_folder(tmp_path, {ABOUT: content.encode()})
    with pytest.raises(Fault, match=r"about\.json is damaged"):
        read_about(tmp_path)


def test_numbers_in_the_record_are_numbers() -> None:
    assert json.loads(About(parameters=3).to_bytes()) == {"amount": None, "parameters": 3, "examples": None}
