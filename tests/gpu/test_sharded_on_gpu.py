"""Weights sharded by FSDP2 over one process with a GPU, the most a test can rely on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small import train_arguments, write_corpus

from regard.training.checkpoint import RunFolder
from regard.training.snapshot import Facts

TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1", "-m"]


def train_losses(arguments: list[str], *launcher: str) -> list[float]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        [sys.executable, *(launcher or ("-m",)), "regard", *arguments],
        capture_output=True, text=True, timeout=240, env=environment,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    facts = RunFolder(Path(arguments[arguments.index("--out") + 1])).facts()
    assert isinstance(facts, Facts)
    return [loss for _, loss in facts.losses]


def test_sharded_weights_learn_what_whole_ones_learn(tmp_path: Path) -> None:
    source, target = write_corpus(tmp_path)
    settings = {
        "training__pieces": 2,
        "training__precision": "float32",
        "training__final": "last",
        "model__dropout": 0.0,
    }
    whole = train_losses(train_arguments(source, target, tmp_path / "whole", **settings))
    sharded = train_arguments(source, target, tmp_path / "sharded", training__sharded="true", **settings)
    assert train_losses(sharded, *TORCHRUN) == pytest.approx(whole, rel=1e-3)
