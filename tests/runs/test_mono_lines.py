"""Cleaning lines before they are translated, and noise in what a model wrote."""

import gzip
from itertools import pairwise
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.runs.mono.lines import clean_lines
from regard.runs.mono.noise import BLANK, REACH, add_noise

TEXT = "One cat.\n\n  two\tdogs \nONE CAT.\na b c d e f\none cat.\nlast"


def words(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def test_empty_long_and_repeated_lines_are_dropped_and_counted(tmp_path: Path) -> None:
    text, out = tmp_path / "mono.txt.gz", tmp_path / "lines.txt"
    text.write_bytes(gzip.compress(TEXT.encode()))
    result = clean_lines(text, out, words, 5, silent)
    assert out.read_text() == "One cat.\ntwo dogs\nlast\n"
    assert (result.read, result.kept) == (7, 3)
    assert result.dropped == {"empty": 1, "too long for the model": 1, "repeated": 2}


def test_lines_are_cleaned_once_and_another_text_is_refused(tmp_path: Path) -> None:
    text, out = tmp_path / "mono.txt", tmp_path / "lines.txt"
    text.write_text(TEXT)
    first = clean_lines(text, out, words, 5, silent)

    def never(texts: list[str]) -> list[int]:
        raise AssertionError("the text was read again")

    assert clean_lines(text, out, never, 5, silent) == first
    out.write_text("damaged")
    assert clean_lines(text, out, words, 5, silent) == first
    text.write_text("other")
    with pytest.raises(Fault, match="not the text that was begun with"):
        clean_lines(text, out, words, 5, silent)


def test_a_text_without_usable_lines_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("\n\na b c\n")
    with pytest.raises(Fault, match="of 3 lines 2 empty, 1 too long for the model"):
        clean_lines(tmp_path / "mono.txt", tmp_path / "lines.txt", words, 2, silent)


def test_noise_drops_blanks_and_shuffles_a_tenth_of_the_words_nearby() -> None:
    text = [f"w{number}" for number in range(10)]
    kept = blanked = 0
    for line in range(1000):
        noisy = add_noise(" ".join(text), 1, line).split()
        kept += len(noisy)
        blanked += noisy.count(BLANK)
        places = [text.index(word) for word in noisy if word != BLANK]
        assert len(places) == len(set(places))
        # A word moves fewer than REACH places, so a word can only come after one from less than that further on.
        assert all(after > before - REACH for before, after in pairwise(places))
    assert kept == pytest.approx(9000, rel=0.03)
    assert blanked == pytest.approx(900, rel=0.15)


def test_noise_depends_on_seed_and_line_alone_and_never_empties_a_text() -> None:
    text = "a b c d e f g h"
    assert add_noise(text, 1, 5) == add_noise(text, 1, 5)
    assert len({add_noise(text, seed, line) for seed in range(5) for line in range(5)}) > 10
    assert add_noise("alone", 1, 1) == "alone"
    assert all(add_noise("a b", 3, line) for line in range(300))
