"""What is drawn after seeding is what torch's own seeding gives."""

import pytest
import torch

from regard.hardware.devices import seed_generators


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
