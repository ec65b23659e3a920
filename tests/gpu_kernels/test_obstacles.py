"""Where kernels cannot run, and the reported reason."""

from collections.abc import Iterator

import pytest
import torch

from regard import kernels
from regard.commands.doctor import report_lines


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    kernels.obstacle.cache_clear()
    yield
    kernels.obstacle.cache_clear()


def pretend_gpu(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int] = (9, 0)) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert kernels.obstacle() == "there is no GPU"
    assert not kernels.available()


def test_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_gpu(monkeypatch)
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    assert kernels.obstacle() == "Triton is not installed"


def test_on_an_old_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_gpu(monkeypatch, (7, 5))
    assert kernels.obstacle() == "the GPU is too old for them"


def test_where_nothing_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.kernels import cross_entropy

    def fail(*given: object) -> None:
        raise RuntimeError("Failed to find C compiler.\nSet CC.")

    pretend_gpu(monkeypatch)
    monkeypatch.setattr(cross_entropy, "losses_and_gradients", fail)
    monkeypatch.setattr(torch, "zeros", lambda *shape, **how: None)
    assert kernels.obstacle() == "Triton cannot compile them (Failed to find C compiler.)"


def test_the_doctor_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    result = {
        "regard": "1",
        "folder": "here",
        "installed": True,
        "python": "3",
        "system": "Linux",
        "dependencies": [],
        "torch": {
            "version": "2",
            "cuda": ["A GPU"],
            "threads": 2,
            "threads_beside_gpu": 2,
            "kernels": "Triton is not installed",
            "shared": True,
            "sharing": None,
        },
        "extras": {"onnx": False},
        "data": None,
        "chromium": None,
        "encoding": "utf-8",
    }
    assert "fast kernels  Triton is not installed" in report_lines(result)
    result["torch"] |= {"kernels": None}
    assert "fast kernels  work" in report_lines(result)
    result["torch"] |= {"cuda": []}
    assert not any("fast kernels" in line for line in report_lines(result))
    assert any("regard[onnx]" in line for line in report_lines(result))
