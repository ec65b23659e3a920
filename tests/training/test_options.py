"""Training options and the tasks they belong to."""

from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.tasks.translation.options import TranslationTraining
from regard.training.options import CountingOptions, TextTraining, TrainingOptions


def test_each_task_has_the_options_of_the_wider_one_and_its_own() -> None:
    shared, text, translation = (
        kind.model_fields.keys() for kind in (TrainingOptions, TextTraining, TranslationTraining)
    )
    assert text - shared == {"batch_tokens", "label_smoothing"}
    taught = {"teachers", "teacher_weight", "teacher_temperature", "teacher_checksums"}
    own = {"consistency", "freeze", "fast", "validation_beam", "log_attention", "quantise"}
    assert translation - text == own | taught
    assert shared < text < translation


def test_an_option_of_text_is_none_of_all_tasks() -> None:
    with pytest.raises(Fault, match="has no 'batch_tokens'"):
        check(TrainingOptions, {"batch_tokens": 512})


def test_counting_has_no_steps() -> None:
    with pytest.raises(Fault, match="has no 'steps'; it has save_every"):
        check(CountingOptions, {"steps": 100, "save_every": 10})
    assert check(CountingOptions, {"save_every": 10}).save_every == 10


@pytest.mark.parametrize("optimizer", [3, [1], "sgd"])
def test_an_optimiser_is_a_table(optimizer: Any) -> None:
    with pytest.raises(Fault, match=r"optimizer is .+, expected a table"):
        check(TrainingOptions, {"optimizer": optimizer})


def test_a_short_run_may_ask_for_a_mean_by_default() -> None:
    assert check(TrainingOptions, {"steps": 5, "final": "average"}).final == "average"
