"""The comparisons shipped with regard, and their documents."""

from pathlib import Path

import pytest
import torch

from regard.base.recipe import read_table
from regard.families import FAMILIES
from regard.runs.compare.plan import CompareOptions, make_plan

ROOT = Path(__file__).parents[3]
SHIPPED = sorted((ROOT / "regard" / "recipes").glob("compare-*.toml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_comparison_that_comes_with_regard_is_good(path: Path) -> None:
    plan = make_plan(read_table(path), path.stem)
    assert f"`regard compare {path.stem}`" in path.read_text(encoding="utf-8")
    assert all(recipe.training.steps for variant in plan.variants for recipe in variant.recipes)


def test_the_families_are_compared_at_equal_parameters() -> None:
    plan = make_plan(read_table(ROOT / "regard" / "recipes" / "compare-families.toml"), "families")
    counts = {}
    for variant in plan.variants:
        recipe = variant.recipes[0]
        network, _ = FAMILIES[recipe.family].load()
        size = recipe.data.tokeniser.vocabulary
        with torch.device("meta"):
            model = network(recipe.model, size, size, recipe.data.tokeniser.shared, 0)
        counts[variant.name] = sum(parameter.numel() for parameter in model.parameters())
    assert len({variant.recipes[0].family for variant in plan.variants}) == 2
    assert max(counts.values()) < 1.02 * min(counts.values()), counts


def test_every_option_is_explained_in_the_document() -> None:
    text = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    for name, field in CompareOptions.model_fields.items():
        assert f"| `{name}` |" in text
        assert str(field.description) in text
