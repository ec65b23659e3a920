"""Two classifiers are compared example by example, by their contributions to a measure's sums."""

from pathlib import Path

import pytest
from toys import open_trained_toy

import regard
from regard.base.progress import silent
from regard.metrics.significance import difference
from regard.runs.evaluate import measure_on, sums_on


def test_the_sums_of_examples_are_those_of_the_measures_and_can_be_paired(tmp_path: Path) -> None:
    results = []
    for family in ("bag", "averaging"):
        place = tmp_path / family
        place.mkdir()
        run = open_trained_toy(family, place)
        model, names = regard.load(run.folder.folder, device="cpu"), ["accuracy", "f1"]
        measures = measure_on(model, run.folder.folder, "valid", names, silent, lambda text: None)
        sums = sums_on(model, run.folder.folder, "valid", names, silent)
        assert {name: total.value() for name, total in sums.items()} == pytest.approx(
            {name: measure.value for name, measure in measures.items()}
        )
        results.append(sums["accuracy"])
    apart = difference(results[:1], results[1:])
    assert apart.value == pytest.approx(results[1].value() - results[0].value())
    assert difference(results[:1], results[:1]).randomisation == 1.0
