"""Training from two files alone: sizes by the number of pairs, steps by their length."""

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.families import check_recipe
from regard.runs.from_text import defaults
from regard.runs.from_text.defaults import TextFiles, recipe_for
from regard.runs.from_text.expectations import brief_expectation, expectation


def _made(folder: Path, pairs: int, source: str, target: str, gpu: bool = False) -> tuple[dict[str, Any], str]:
    paths = folder / "text.en", folder / "text.pt"
    for path, line in zip(paths, (source, target), strict=True):
        path.write_text(f"{line}\n" * pairs, encoding="utf-8")
    table, sentences = recipe_for(TextFiles(paths), gpu)
    return table, " ".join(sentences)


@pytest.mark.parametrize(
    ("gpu", "preset", "steps"),
    [
        (False, "tiny", 1200),  # 150 passes over 3,200 pairs of 45 / 4.5 + 1 tokens, 4,096 at once: 1,289
        (True, "small", 1200),  # 300 passes, 8,192 at once
    ],
)
def test_steps_follow_from_pairs_and_lengths(tmp_path: Path, gpu: bool, preset: str, steps: int) -> None:
    table, remark = _made(tmp_path, 3200, "a" * 9, "a" * 45, gpu)
    assert (table["model"]["preset"], table["training"]["steps"]) == (preset, steps)
    assert "3,200 pairs of en and pt" in remark
    assert f"preset {preset}" in remark
    assert f"{steps:,} steps" in remark


def test_longer_sentences_are_learnt_in_more_steps(tmp_path: Path) -> None:
    short, long = (_made(tmp_path, 3200, "a", "a" * length)[0]["training"]["steps"] for length in (36, 72))
    assert (short, long) == (1000, 1900)  # 9 and 17 tokens


def test_wide_characters_are_more_tokens(tmp_path: Path) -> None:
    assert _made(tmp_path, 3200, "a", "語" * 15)[0]["training"]["steps"] == 1200  # 15 / 1.5 + 1 tokens


def test_accented_and_cyrillic_letters_are_letters_like_others(tmp_path: Path) -> None:
    plain = _made(tmp_path, 3200, "a" * 45, "a")[0]["training"]
    assert _made(tmp_path, 3200, "ã" * 45, "ж" * 45)[0]["training"] == plain


def test_batches_of_a_larger_model_are_larger_and_fewer(tmp_path: Path) -> None:
    table, remark = _made(tmp_path, 80_001, "a", "a" * 36, gpu=True)
    assert table["model"]["preset"] == "iwslt"
    assert table["training"]["steps"] == 1700  # 40 passes over 80,001 pairs of 9 tokens, 16,384 at once: 1,757
    assert "batch passed twice" in remark


def test_only_a_gpu_has_the_time_for_two_passes(tmp_path: Path) -> None:
    training = _made(tmp_path, 100, "a", "b")[0]["training"]
    assert "consistency" not in training
    assert training["patience"] == 8
    assert _made(tmp_path, 100, "a", "b", gpu=True)[0]["training"]["consistency"] == 5


def test_one_pair_is_one(tmp_path: Path) -> None:
    assert _made(tmp_path, 1, "a", "b")[1].startswith("1 pair of en and pt; training on the CPU.")


@pytest.mark.parametrize("place", range(4))
def test_a_pipe_is_refused_for_it_can_be_read_only_once(tmp_path: Path, place: int) -> None:
    paths = [tmp_path / name for name in ("a.en", "a.pt", "b.en", "b.pt")]
    for path in paths:
        path.write_text("a\n")
    paths[place].unlink()
    os.mkfifo(paths[place])
    with pytest.raises(Fault, match=f"{paths[place].name} is a pipe, but training reads its text more than once"):
        recipe_for(TextFiles(tuple(paths[:2]), tuple(paths[2:])), gpu=False)


def _spelled(folder: Path, source: str, target: str, gpu: bool) -> tuple[dict[str, Any], str]:
    """Return a recipe for 8,000 lines of six random symbols from each side's alphabet."""
    chance = random.Random(1)
    paths = folder / "words.src", folder / "words.tgt"
    for path, symbols in zip(paths, (source, target), strict=True):
        between = " " if " " in symbols else ""
        units = symbols.split() if between else list(symbols)
        path.write_text("".join(f"{between.join(chance.choices(units, k=6))}\n" for _ in range(8000)), encoding="utf-8")
    table, sentences = recipe_for(TextFiles(paths), gpu)
    return table, " ".join(sentences)


def test_spelled_out_text_has_a_token_for_each_symbol_and_a_small_model(tmp_path: Path) -> None:
    table, remark = _spelled(tmp_path, "a b c d e", "AA B K EH", gpu=True)
    assert table["data"]["tokeniser"] == {
        "kind": "unigram",
        "target_kind": "unigram",
        "shared": False,
        "vocabulary": 352,
    }
    assert table["model"]["preset"] == "small"
    assert table["training"]["best_by"] == "exact"
    assert "consistency" not in table["training"]
    assert table["training"]["steps"] == 2000  # 300 passes over 8,000 lines of seven tokens, 8,192 at once: 2,050
    assert "spelled out, with 5 and 4 symbols, about 6 and 6 of them per line" in remark
    check_recipe(table)


@pytest.mark.parametrize("count", [100, 800])
def test_spelled_out_text_is_recognised_in_small_files(tmp_path: Path, count: int) -> None:
    chance = random.Random(3)
    for name, units in (
        ("words.sp", ["a", "b", "c", "d", "e", "f", "g", "h"]),
        ("words.ph", ["AA1", "B", "K", "EH0", "T"]),
    ):
        lines = [" ".join(chance.choices(units, k=chance.randint(3, 9))) for _ in range(count)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    table, sentences = recipe_for(TextFiles((tmp_path / "words.sp", tmp_path / "words.ph")), gpu=False)
    assert "Both sides are spelled out, with 8 and 5 symbols" in sentences[0]
    assert table["training"]["best_by"] == "exact"


def test_one_alphabet_is_shared_and_characters_need_no_spaces(tmp_path: Path) -> None:
    tokeniser = _spelled(tmp_path, "abcdefghij", "abcdefghij", gpu=False)[0]["data"]["tokeniser"]
    assert tokeniser == {"kind": "characters", "vocabulary": 350}
    tokeniser = _spelled(tmp_path, "abcdefghij", "AA B K EH", gpu=False)[0]["data"]["tokeniser"]
    assert (tokeniser["kind"], tokeniser["target_kind"]) == ("characters", "unigram")


def test_a_large_amount_of_it_is_not_read_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defaults, "SPELLED", replace(defaults.SPELLED, most_tokens=10_000_000))
    assert _spelled(tmp_path, "a b c", "d e f", gpu=True)[0]["training"]["steps"] == 1200  # 10,000,000 / 8,192


@pytest.mark.parametrize(
    ("pairs", "words"),
    [(6000, "5,000 captions reached about 21 to 23 BLEU"), (200_000, "reached about 52 BLEU"), (100, "")],
)
def test_what_may_be_expected_is_what_was_measured(pairs: int, words: str) -> None:
    sentence = expectation(pairs, spelled=False)
    assert words in sentence
    assert bool(sentence) == bool(words)
    assert "76 to 77 % exact" in expectation(100_000, spelled=True)


def test_a_brief_run_is_told_what_one_as_long_reached() -> None:
    assert "28 BLEU" in brief_expectation(25_000, 1_500_000)
    assert "36 BLEU" in brief_expectation(40_000, 4_000_000)
    assert "19 BLEU" in brief_expectation(7_000, 2_000_000)
    assert brief_expectation(25_000, 100_000) == ""  # nothing this short was measured
    assert brief_expectation(500_000, 1_500_000) == ""  # nor anything this large


ENGLISH = ["The old man walks to the market with his dog.", "She has never seen such a beautiful garden before."]
PORTUGUESE = ["O velho vai ao mercado com o seu cachorro.", "Ela nunca tinha visto um jardim tão bonito antes."]


def _text(folder: Path, source: list[str], target: list[str], *names: str) -> TextFiles:
    paths = tuple(folder / name for name in names or ("a.txt", "b.txt"))
    for path, lines in zip(paths, (source, target), strict=True):
        numbered = [f"{line} {number}" for number in range(30) for line in lines]
        path.write_text("\n".join(numbered) + "\n", encoding="utf-8")
    return TextFiles(paths)


def test_languages_that_nobody_names_are_found_in_the_text(tmp_path: Path) -> None:
    table, sentences = recipe_for(_text(tmp_path, ENGLISH, PORTUGUESE), gpu=False)
    assert (table["data"]["source_language"], table["data"]["target_language"]) == ("en", "pt")
    assert "The languages were detected from the text; if they are not en and pt, give --languages." in sentences[0]


def test_languages_that_are_named_are_not_looked_for(tmp_path: Path) -> None:
    files = _text(tmp_path, ENGLISH, PORTUGUESE)
    assert replace(files, languages="de-fr").pair_of_languages() == ("de", "fr")
    table, sentences = recipe_for(_text(tmp_path, ENGLISH, PORTUGUESE, "a.xx", "a.yy"), gpu=False)
    assert table["data"]["source_language"] == "xx"
    assert "detected from the text" not in sentences[0]


def test_pairs_in_one_file_and_one_language_on_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{ENGLISH[n % 2]} {n}\t{PORTUGUESE[n % 2]} {n}\n" for n in range(40)), encoding="utf-8")
    assert TextFiles((path,)).pair_of_languages() == ("en", "pt")
    assert _text(tmp_path, ENGLISH, ENGLISH[::-1]).pair_of_languages() == ("en", "en")


@pytest.mark.parametrize(
    "lines",
    [
        ["w o r d", "l e t t e r", "a n o t h e r w o r d", "m a n y l e t t e r s"],
        ["1 2 3 4 5 6 7 8 9 10", "3.14159 2.71828 1.41421"],
    ],
)
def test_what_is_in_no_language_has_none(tmp_path: Path, lines: list[str]) -> None:
    files = _text(tmp_path, lines, lines[::-1])
    assert files.pair_of_languages() == ("src", "tgt")
    assert "could not be detected from the text; name them with --languages" in recipe_for(files, gpu=False)[1][0]


def test_a_few_words_are_too_few_to_tell_a_language_by(tmp_path: Path) -> None:
    for name, line in (("a.txt", "the cat"), ("b.txt", "o gato")):
        (tmp_path / name).write_text(f"{line}\n" * 500)
    assert TextFiles((tmp_path / "a.txt", tmp_path / "b.txt")).pair_of_languages() == ("src", "tgt")
