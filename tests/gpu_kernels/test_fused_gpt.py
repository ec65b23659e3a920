"""The fused pass of a decoder-only Transformer compared with its plain one."""

import pytest
import torch

from regard.base.recipe import check
from regard.models import cross_entropy
from regard.models.gpt.fused import fused_states
from regard.models.gpt.network import GPT, GPTOptions

SIZES = {"layers": 2, "width": 32, "heads": 2, "context": 6, "dropout": 0.0, "attention_dropout": 0.0}


@pytest.mark.one_in(2)
def test_the_fused_pass_gives_the_states_and_gradients_of_the_plain_one(device: torch.device) -> None:
    torch.manual_seed(0)
    network = GPT(check(GPTOptions, SIZES), 19, (0, 2)).to(device)
    for parameter in network.parameters():  # norms and biases other than ones and zeros
        torch.nn.init.normal_(parameter, std=0.2)
    tokens, targets = (torch.randint(3, 19, (2, 5), device=device) for _ in range(2))
    plain = network.eval().read(tokens, network.begin(2)).states
    fused = fused_states(network, tokens)
    torch.testing.assert_close(fused, plain, rtol=1e-4, atol=1e-5)
    gradients = [
        torch.autograd.grad(network.cross_entropy(states, targets), list(network.parameters()))
        for states in (fused, plain)
    ]
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bars", [False, True])
def test_an_output_layer_is_aligned_without_a_trace(
    bars: bool, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    states, weight = (torch.randn(size, 8, device=device, requires_grad=True) for size in (5, 13))
    targets = torch.tensor([1, 12, 4, -1, 4], device=device)
    bias = torch.zeros(13, device=device).index_fill(0, torch.tensor([0, 2], device=device), -1e9) if bars else None
    results = []
    for fuses in (True, False):
        monkeypatch.setattr(cross_entropy, "_can_fuse", lambda states, fuses=fuses: fuses)
        loss = cross_entropy.projected_cross_entropy(states, weight, targets, 0.0, bias)
        results.append((loss.detach(), *torch.autograd.grad(loss, (states, weight))))
    torch.testing.assert_close(results[0], results[1])
