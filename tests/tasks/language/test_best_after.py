"""The fast guess of an n-gram model: a token that was seen there, with the probability that a step gives it."""

from pathlib import Path

import pytest
import torch
from counted_language import LINES, counted_in

from regard.tasks.language.batches import Prompts


def test_the_guess_has_the_probability_of_a_step(tmp_path: Path) -> None:
    task = counted_in(tmp_path)
    for line in LINES:
        tokens = task.tokeniser.encode(line)
        for count in range(len(tokens) + 1):
            found = task.best_after(tokens[:count])
            scores, _ = task.step(torch.tensor([task.begin]), task.start(Prompts([tokens[:count]])))
            assert found is not None
            assert found[1] == pytest.approx(float(scores[0, found[0]].exp()), rel=1e-5)
            assert found[0] in (*task.tokeniser.encode(" ".join(LINES)), task.end)


def test_guesses_on_paper(tmp_path: Path) -> None:
    task = counted_in(tmp_path)
    read = task.tokeniser.encode

    def guess(text: str) -> str:
        found = task.best_after(read(text))
        return "" if found is None else task.tokeniser.decode([found[0]])

    assert guess("the dog sat") == "on"  # twice "sat on", once "sat ."
    assert guess("the walrus sat") == "on"  # after the longest end that was seen
    assert guess("a cat and") == "a"
    first = task.best_after([])
    assert first == task.best_after([*read("the cat"), task.end])  # every line begins anew
    assert first is not None
