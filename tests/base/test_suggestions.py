"""Suggested options: by other tools' names, by place, by letters."""

import pytest

from regard.base.suggestions import ELSEWHERE, paths_called, paths_meant
from regard.families import described_options

PATHS = ["seed", "model.width", "model.heads", "training.steps", "training.optimizer.learning_rate", "training.seed"]


@pytest.mark.parametrize(
    ("name", "section", "paths"),
    [
        ("lr", "", ["training.optimizer.learning_rate"]),
        ("learning-rate", "training", ["training.optimizer.learning_rate"]),
        ("epochs", "", ["training.steps"]),
        ("d_model", "model", ["model.width"]),
        ("widht", "model", ["model.width"]),
        ("widht", "", ["model.width"]),  # similar enough to match in another section
        ("hea", "model", ["model.heads"]),
        ("hea", "training", []),  # another section requires more similarity
        ("step", "", ["training.steps"]),
        ("sede", "model", []),  # and the top is not part of every section
        ("seed", "model", ["seed", "training.seed"]),
        ("nothing", "", []),
    ],
)
def test_what_is_meant(name: str, section: str, paths: list[str]) -> None:
    assert paths_meant(name, section, PATHS) == paths


def test_a_slip_of_the_keys_is_not_what_an_option_is_called() -> None:
    assert paths_called("widht", PATHS) == []
    assert paths_called("--Width", PATHS) == ["model.width"]


def test_every_name_of_another_tool_leads_to_an_option() -> None:
    paths = list(described_options())
    assert [name for name in ELSEWHERE if not paths_called(name, paths)] == []
