"""Presets: named sets of sizes, and sizes that follow those that are set."""

from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.recipe import Options, check, parse
from regard.models.bert.options import BertOptions
from regard.models.from_gates import FromGatesOptions
from regard.models.gpt.options import GPTOptions
from regard.models.transformer.options import TransformerOptions
from regard.runs.recipes import recipe_text


@pytest.mark.parametrize(
    ("options", "table", "inside"),
    [
        (TransformerOptions, {}, 2048),
        (TransformerOptions, {"width": 64}, 256),
        (TransformerOptions, {"preset": "tiny"}, 256),
        (TransformerOptions, {"preset": "tiny", "width": 64}, 128),
        (TransformerOptions, {"preset": "tiny", "width": 64, "feed_forward": 100}, 100),
        (TransformerOptions, {"preset": "tiny", "feed_forward": 100}, 100),
        (BertOptions, {}, 2048),
        (BertOptions, {"width": 128}, 512),
        (BertOptions, {"preset": "base", "width": 96, "feed_forward": 100}, 100),
    ],
)
def test_feed_forward_nets_follow_a_width_that_is_set(
    options: type[TransformerOptions | BertOptions], table: dict[str, Any], inside: int
) -> None:
    assert check(options, table).feed_forward == inside


@pytest.mark.parametrize("options", [GPTOptions, FromGatesOptions])
def test_those_of_language_models_always_did(options: type[GPTOptions]) -> None:
    assert check(options, {"width": 24, "heads": 2}).inside == 96


@pytest.mark.parametrize("options", [TransformerOptions, BertOptions])
@pytest.mark.parametrize("width", [0, -8, 2**17, "wide", None, 1.5])
def test_only_the_width_is_refused_where_it_is_wrong(options: type[Options], width: object) -> None:
    with pytest.raises(Fault) as refused:
        check(options, {"width": width})
    assert "width" in str(refused.value)
    assert "feed_forward" not in str(refused.value)


def test_a_recipe_that_compares_widths_keeps_one_size_of_feed_forward_nets() -> None:
    """Its published numbers were measured so."""
    model = parse(recipe_text("claim-scaling"), "claim-scaling")["model"]
    sizes = {check(TransformerOptions, model | {"width": width}).feed_forward for width in (64, 256, 512)}
    assert sizes == {1024}
