"""bf16 where torch supports it: unsupported parts are refused before anything is written."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from small import write_recurrent_recipe
from torch import nn
from toys import TOYS

from regard.base.faults import Fault
from regard.base.recipe import apply_settings, read_table
from regard.cli import main
from regard.families import check_recipe
from regard.hardware.precision import has_bf16_lstm
from regard.runs import open as runs

IN_BF16 = ["training.precision=bf16", "training.device=cpu"]
REFUSED = (
    "training.precision is 'bf16', but on this CPU torch has no LSTM in bf16. "
    "Omit training.precision, or set model.cell to 'gru'."
)


def settings(*more: str) -> list[str]:
    return [word for setting in (*IN_BF16, *more) for word in ("--set", setting)]


def test_what_torch_lacks_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("regard.hardware.precision.has_bf16_lstm", lambda device: False)
    recipe = write_recurrent_recipe(tmp_path, cell="lstm")
    assert main(["train", str(recipe), "--out", str(tmp_path / "run"), *settings()]) == 2
    assert REFUSED in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "setting", ["model.cell=gru", "model.cell=vanilla", "training.precision=float32", "training.precision=auto"]
)
def test_what_needs_no_lstm_in_bf16_is_possible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setattr("regard.hardware.precision.has_bf16_lstm", lambda device: False)
    table = read_table(write_recurrent_recipe(tmp_path, cell="lstm"))
    assert runs.check_possible(check_recipe(apply_settings(table, [*IN_BF16, setting]))) == torch.device("cpu")


def test_a_cell_that_does_nothing_is_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Transformer has an LSTM only if its encoder is recurrent, and a decoder of tanh layers has none."""
    monkeypatch.setattr("regard.hardware.precision.has_bf16_lstm", lambda device: False)
    transformer = TOYS["transformer"].table(tmp_path) | {"family": "transformer"}
    assert runs.check_possible(check_recipe(apply_settings(transformer, IN_BF16))) == torch.device("cpu")
    with pytest.raises(Fault, match="on this CPU torch has no LSTM in bf16"):
        runs.check_possible(check_recipe(apply_settings(transformer, [*IN_BF16, "model.encoder=recurrent"])))
    tanh = [*IN_BF16, "model.encoder=transformer", "model.decoder=tanh", "model.encoder_heads=1"]
    table = read_table(write_recurrent_recipe(tmp_path, cell="lstm"))
    assert runs.check_possible(check_recipe(apply_settings(table, tanh))) == torch.device("cpu")


@pytest.mark.long
def test_on_this_machine_it_trains_or_is_refused(tmp_path: Path) -> None:
    """In a separate process: torch disables its fast kernels for good when one of them fails."""
    recipe = write_recurrent_recipe(tmp_path, cell="lstm", decoder="bottleneck")
    for language in ("en", "pt"):  # rows of one length, as the fast kernels need
        (tmp_path / f"small.{language}").write_text("\n".join(map(str, range(100, 200))), encoding="utf-8")
    more = settings("training.steps=2", "training.validation_beam=0", "data.tokeniser.kind=bytes")
    command = [sys.executable, "-m", "regard", "train", str(recipe), "--out", str(tmp_path / "run"), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == (2 if REFUSED in done.stderr else 0), done.stderr


def test_trying_draws_no_random_number_and_finds_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_rng_state()
    has_bf16_lstm(torch.device("cpu"))
    assert torch.equal(torch.get_rng_state(), before)

    def fail(*_: object) -> None:
        raise RuntimeError("could not create a primitive descriptor")

    monkeypatch.setattr(nn.LSTM, "forward", fail)
    assert has_bf16_lstm(torch.device("cpu")) is False
