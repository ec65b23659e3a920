"""The description of a run before training."""

from pathlib import Path

import pytest
from toys import TOYS

from regard.base.progress import silent
from regard.families import check_recipe
from regard.runs.open import describe, open_run


@pytest.mark.parametrize(("warmup", "told"), [(4000, True), (10, False)])
def test_a_run_that_ends_before_its_rate_has_risen_is_told(warmup: int, told: bool, tmp_path: Path) -> None:
    table = TOYS["draw"].table(tmp_path)
    training = table["training"] | {"steps": 10, "optimizer": {"warmup": warmup}}
    recipe = check_recipe(table | {"family": "draw", "training": training})
    run = open_run(recipe, tmp_path / "run", True, silent, lambda remark: None)
    rising = "the learning rate warms up for 4,000 steps (training.optimizer.warmup)"
    sentence = f"{rising}, so it stays below its peak in this run of 10 steps"
    assert (sentence in describe(run)) is told
    assert describe(run)[0].startswith("draw of ")
