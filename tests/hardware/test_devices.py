"""Draws after our seeding equal those after torch's own."""

import pytest
import torch

from regard.hardware.devices import seed_generators, wait_for_gpu


def test_on_a_cpu_the_same_is_drawn_as_after_the_seeding_of_torch() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    seed_generators(5, torch.device("cpu"))
    assert torch.equal(torch.rand(3), expected)


def test_for_a_gpu_everything_is_seeded_for_models_draw_on_both(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    monkeypatch.setattr(torch, "manual_seed", seeds.append)
    seed_generators(5, torch.device("cuda"))
    assert seeds == [5]


@pytest.mark.parametrize("fails", [False, True])
def test_a_process_waits_for_its_gpu_even_for_one_that_has_failed(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = []

    def synchronize() -> None:
        waited.append(True)
        if fails:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
    wait_for_gpu()
    assert waited == [True]


def test_a_process_that_never_used_a_gpu_waits_for_nothing() -> None:
    assert not torch.cuda.is_initialized()
    wait_for_gpu()
    assert not torch.cuda.is_initialized()
