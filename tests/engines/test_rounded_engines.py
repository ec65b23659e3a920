"""Networks rounded in training compute what engines compute with their saved weights in 8 bits."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from spared import spare
from test_ctranslate2_spec import forced_by_them, forced_by_us
from untrained_export import opened, translation

from regard.engines.onnx.engine import load_graphs
from regard.engines.onnx.export import export_onnx
from regard.families import check_recipe
from regard.models.rounding import round_weights


@pytest.mark.one_in(3)
@torch.no_grad()
@pytest.mark.parametrize(
    "options",
    [{}, {"norm": "before", "activation": "gelu"}, {"tied": False}, {"output_bias": True}, {"positions": "rotary"}],
    ids=str,
)
def test_ctranslate2_in_int8_gives_every_token_the_same_probability(options: dict[str, Any], tmp_path: Path) -> None:
    task, exported = translation(**options), translation(**options)  # an export rounds the weights that it is given
    network: Any = task.model
    for each in (task, exported):
        spare(each.model)
    theirs = forced_by_them(exported, opened(exported, tmp_path, "int8"))
    plain = forced_by_us(task)
    network.round_as("int8")
    for ours, other, unrounded in zip(forced_by_us(task), theirs, plain, strict=True):
        torch.testing.assert_close(ours, other, rtol=1e-5, atol=2e-5)
        assert not torch.allclose(unrounded, other, rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_weights_that_are_rounded_before_make_the_same_graphs(tmp_path: Path) -> None:
    """onnxruntime rounds weights in the same way; its states have one scale for all places, and a zero of their own."""
    recipe = check_recipe({"data": {"train": "x.tsv", "tokeniser": {"kind": "bytes"}}, "model": {}})
    task = translation(width=64, feed_forward=128)
    network: Any = task.model
    for name in ("plain", "rounded"):
        export_onnx(SimpleNamespace(task=task, recipe=recipe), tmp_path / name, "int8")  # type: ignore[arg-type]
        for weight in network.parameters():
            if weight.dim() == 2:
                weight.copy_(round_weights(weight, "int8"))
    first, second = (load_graphs(tmp_path / name, task.target) for name in ("plain", "rounded"))
    steps = [graphs.read([9, 77, 30, 54, 3]).step([2], [0], 260) for graphs in (first, second)]
    assert steps[0].tokens.tolist() == steps[1].tokens.tolist()
    np.testing.assert_allclose(steps[0].values, steps[1].values, rtol=1e-5, atol=1e-5)
