"""The matrix products of a training on the CPU."""

import platform

import pytest
import torch

from regard.runs.start import quick_products


@pytest.mark.parametrize(
    ("machine", "capability", "threads", "by_onednn"),
    [
        ("aarch64", "DEFAULT", 2, False),
        ("aarch64", "DEFAULT", 1, True),
        ("aarch64", "SVE256", 2, True),
        ("x86_64", "AVX2", 2, True),
    ],
)
def test_plain_products_on_arm_without_sve_by_several_threads(
    machine: str, capability: str, threads: int, by_onednn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", True)
    with quick_products():
        assert torch.backends.mkldnn.enabled is by_onednn
    assert torch.backends.mkldnn.enabled is True


def test_a_fault_leaves_the_products_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", True)
    with pytest.raises(ZeroDivisionError), quick_products():
        raise ZeroDivisionError
    assert torch.backends.mkldnn.enabled is True
