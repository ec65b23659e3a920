"""Which matrix products a training on the CPU takes."""

import platform

import pytest
import torch

from regard.cli.train import quick_products


@pytest.mark.parametrize(
    ("machine", "capability", "by_onednn"),
    [("aarch64", "DEFAULT", False), ("aarch64", "SVE256", True), ("x86_64", "AVX2", True)],
)
def test_plain_products_on_arm_without_sve(
    machine: str, capability: str, by_onednn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
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
