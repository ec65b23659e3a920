"""A run takes the fast path unless its recipe forbids it or asks for float32."""

from pathlib import Path

import pytest
from small import train_arguments, undrawn, write_corpus

from regard.cli import main
from regard.tasks.translation.task import Translation


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("precision", "fast", "allowed"), [("auto", "true", True), ("float32", "true", False), ("auto", "false", False)]
)
def test_who_may_take_it(
    precision: str, fast: str, allowed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capacities = []

    def spy(task: Translation, *given: object) -> None:
        learn_from(task, *given)
        capacities.append(task.pairs.capacity > 0)

    learn_from = Translation.learn_from
    monkeypatch.setattr(Translation, "learn_from", spy)
    settings = {"training__steps": 1, "training__validate_every": 1, "training__save_every": 1}
    chosen = {"training__precision": precision, "training__fast": fast}
    with undrawn():
        assert main(train_arguments(*write_corpus(tmp_path), tmp_path / "run", **settings, **chosen)) == 0
    assert capacities == [allowed]
