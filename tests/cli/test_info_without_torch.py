"""`regard info` without torch: from a folder's files, with the same content as the loaded model's."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from test_cold_start import HEAVY, modules_after, ours
from toys import open_trained_toy

from regard.base.faults import Fault
from regard.base.model_folder import WEIGHTS, read_folder, update_folder
from regard.cli import main
from regard.families.model_folder import describe_folder
from regard.loading import Loaded, load_as

KINDS: list[tuple[str, dict[str, Any]]] = [
    ("transformer", {}),
    ("transformer", {"tied": False}),
    ("transformer", {"shared_embeddings": False}),
    ("transformer", {"decoder_heads": 4, "decoder_feed_forward": 10, "key_value_heads": 1}),
    ("transformer", {"join": "averaged", "shared_key_value": True, "score": "bilinear"}),
    ("transformer", {"score": "additive", "key_value_heads": 2, "positions": "rotary"}),
    ("transformer", {"positions": "learned", "norm": "before", "longest": 300}),
    ("transformer", {"output_bias": True, "positions": "alibi"}),
    ("transformer", {"copies": True}),
    ("transformer", {"ctc": 0.3, "ctc_frames": 3}),
    ("gpt", {}),
    ("gpt", {"tied": False, "key_value_heads": 1}),
    ("gpt", {"positions": "alibi", "norm": "after", "feed_forward": 5}),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("family", "model"), KINDS)
def test_a_folder_says_what_the_loaded_model_says(family: str, model: dict[str, Any], tmp_path: Path) -> None:
    open_trained_toy(family, tmp_path, **model)
    loaded = load_as(Loaded, tmp_path / "run")
    for size in (1, 32):
        described = describe_folder(tmp_path / "run", size)
        assert described is not None
        assert described.facts == loaded.facts()
        assert list(described.facts) == list(loaded.facts())
        assert described.cost == loaded.task.cost(size)
        assert described.recipe == loaded.recipe


def test_a_family_that_must_be_loaded_is_left_to_the_loader(tmp_path: Path) -> None:
    open_trained_toy("recurrent", tmp_path)
    assert describe_folder(tmp_path / "run", 32) is None
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        assert main(["info", str(tmp_path / "run"), "--json"]) == 0
    loaded = load_as(Loaded, tmp_path / "run")
    facts = json.loads(stream.getvalue())
    assert {name: facts[name] for name in loaded.facts()} == loaded.facts()
    assert facts["cost"] == loaded.task.cost(32)
    assert facts["verbs"] == loaded.verbs


@pytest.mark.parametrize("family", ["transformer", "gpt"])
def test_info_imports_no_torch(family: str, tmp_path: Path) -> None:
    open_trained_toy(family, tmp_path)
    modules = modules_after("info", str(tmp_path / "run"))
    assert not modules & {"torch", *HEAVY}
    assert len(ours(modules)) <= 90, ours(modules)


def test_damaged_weights_are_refused_unloaded_too(tmp_path: Path) -> None:
    open_trained_toy("transformer", tmp_path)
    folder = tmp_path / "run"
    weights = read_folder(folder, [WEIGHTS])[WEIGHTS]
    (folder / WEIGHTS).write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    with pytest.raises(Fault, match=r"weights\.safetensors is damaged: its checksum is not the one"):
        describe_folder(folder, 32)
    head = json.dumps({"model.x": {"dtype": "F32", "shape": [10**4], "data_offsets": [0, 4]}}).encode()
    update_folder(folder, {WEIGHTS: len(head).to_bytes(8, "little") + head + bytes(4)})
    with pytest.raises(Fault, match="its header lists more numbers than it can hold"):
        describe_folder(folder, 32)
    update_folder(folder, {WEIGHTS: b"\xff" * 20})
    with pytest.raises(Fault, match="does not hold tensors"):
        describe_folder(folder, 32)
