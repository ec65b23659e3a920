"""Sharing a GPU between processes: MPS is found by its socket, and advised only where it is installed."""

from pathlib import Path

import pytest

from regard.hardware import sharing


@pytest.fixture
def pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which MPS would have its sockets; its program is installed."""
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    monkeypatch.setattr(sharing.shutil, "which", lambda program: f"/usr/bin/{program}")
    return tmp_path


def test_where_mps_does_not_run_the_command_that_starts_it_is_named(pipes: Path) -> None:
    assert not sharing.is_shared()
    assert "`nvidia-cuda-mps-control -d`" in (sharing.advice_on_sharing() or "")


def test_where_mps_runs_there_is_nothing_to_advise(pipes: Path) -> None:
    (pipes / "control").touch()
    assert sharing.is_shared()
    assert sharing.advice_on_sharing() is None


def test_where_mps_is_not_installed_nothing_is_advised(pipes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing.shutil, "which", lambda program: None)
    assert sharing.advice_on_sharing() is None
