"""Questions to networks over long sequences, which describe their decisions themselves."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
from why_models import toy_model

from regard.base.faults import Fault
from regard.seeing.why.maps import log_probabilities, map_of
from regard.seeing.why.question import ask


def test_symbols_share_one_and_later_steps_are_not_read(tmp_path: Path) -> None:
    model = toy_model("recurrent", tmp_path)
    first, last = ask(model, "1 2", place=0), ask(model, "1 2")
    assert len(last.names) == len(first.names) + 1
    assert last.output == model.task.answers(model.task.read(["1 2"]))[0].answer
    asked = [ask(model, "1 2", symbol) for symbol in model.task.job.classes]
    shares = [log_probabilities(question, question.inputs[None]).exp() for question in asked]
    torch.testing.assert_close(sum(shares), torch.ones(1, dtype=torch.float64))
    both = sum(float(log_probabilities(own, own.inputs[None])) for own in (first, last))
    answer = model.task.answers(model.task.read(["1 2"]))[0]
    assert both == pytest.approx(torch.tensor(answer.probability, dtype=torch.float64).log().item())


def test_a_step_that_is_left_out_was_not_read(tmp_path: Path) -> None:
    question = ask(toy_model("recurrent", tmp_path), "1 2")
    assert question.without is not None
    other = ask(toy_model("recurrent", tmp_path), "3 2", question.chosen)
    assert other.without is not None
    assert question.without([0]) == pytest.approx(other.without([0]), abs=1e-12)
    assert question.without([1]) != pytest.approx(other.without([1]), abs=1e-9)
    assert len(map_of(question, "leave-one-out").scores) == len(question.names)


def test_what_has_no_probability_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adding").mkdir()
    with pytest.raises(Fault, match="answers with a number, which has no probability"):
        ask(toy_model("decoder", tmp_path / "adding"), "0.3 0.5* 0.2*")
    model = toy_model("recurrent", tmp_path)
    for asked, sentence in (
        ({"place": 2}, "The answer has 2 places, counted from 1"),
        ({"word": "1"}, "choose one of them, or omit place and word"),
        ({"output": "9"}, "There is no answer '9'; the answers are –, 1"),
    ):
        with pytest.raises(Fault, match=sentence):
            ask(model, "1 2", **asked)
