"""The loop of DRAW in kernels, compared with the network in plain torch."""

import pytest
import torch

from regard.models.draw.network import Draw, DrawOptions, Redrawn

TF32_BITS = 11  # of a number, with the one before the point


def small(height: int, width: int, options: DrawOptions, device: torch.device) -> Draw:
    """Return a network whose windows lie anywhere, with first canvases and outputs that are not zero."""
    torch.manual_seed(1)
    network = Draw(options, height, width).double().to(device)
    with torch.no_grad():
        for weight in (network.first_canvas, network.first_shown, network.say.bias):
            weight += 0.5 * torch.randn_like(weight)
    return network


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("height", "width", "options"),
    [
        (7, 5, {"steps": 3, "width": 6, "latent": 4, "read": 2, "write": 3}),
        (6, 9, {"steps": 2, "width": 70, "latent": 66, "read": 3, "write": 5}),
        (4, 4, {"steps": 1, "width": 5, "latent": 3, "read": 2, "write": 2}),
        (17, 19, {"steps": 3, "width": 5, "latent": 3, "attention": False}),
    ],
)
def test_the_loop_and_its_gradients_are_those_of_plain_torch(
    height: int, width: int, options: dict[str, int | bool], device: torch.device
) -> None:
    network = small(height, width, DrawOptions.model_validate(options), device)
    pictures = torch.randint(2, (3, height, width), device=device).double()
    noise = torch.randn(3, options["steps"], options["latent"], dtype=torch.double, device=device)
    expected, redrawn = network(pictures, noise), network._redraw_by_kernels(pictures, noise)
    upstream = [torch.randn_like(output) for output in expected]
    for value, true in zip(redrawn, expected, strict=True):
        torch.testing.assert_close(value, true, rtol=1e-9, atol=1e-11)

    def gradients(outputs: Redrawn) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(outputs, list(network.parameters()), upstream)

    for (name, _), value, true in zip(network.named_parameters(), gradients(redrawn), gradients(expected), strict=True):
        torch.testing.assert_close(value, true, rtol=1e-9, atol=1e-10, msg=lambda text, name=name: f"{name}: {text}")


def test_products_in_tf32_are_those_of_rounded_numbers(device: torch.device) -> None:
    """Were their last bits cut, products of positive numbers would all be too small, by a thousandth."""
    from regard.kernels import lstm_steps, tensor_float  # needs Triton

    def rounded(numbers: torch.Tensor) -> torch.Tensor:
        mantissa, exponent = torch.frexp(numbers.double())
        return torch.ldexp((mantissa * 2**TF32_BITS).round() / 2**TF32_BITS, exponent)

    torch.manual_seed(1)
    inputs, weights, biases = (
        torch.rand(5, 70, device=device),
        torch.rand(9, 70, device=device),
        torch.rand(9).to(device),
    )
    inputs[4, 3] = torch.nan
    outputs = torch.empty(5, 9, device=device)
    lstm_steps.linear(inputs, tensor_float.rounded_to_tf32(weights), biases, outputs, in_tf32=True)
    expected = rounded(inputs) @ rounded(weights).mT + biases.double()
    torch.testing.assert_close(outputs.double(), expected, rtol=1e-6, atol=0.0, equal_nan=True)
    assert outputs[4].isnan().all()


def test_the_loop_rounds_its_weights_where_products_are_in_tf32(device: torch.device) -> None:
    from regard.kernels import tensor_float  # needs Triton

    network = small(5, 5, DrawOptions(steps=2, width=6, latent=4, read=2, write=3), device).float()
    network.in_tf32 = True
    pictures, noise = torch.ones(3, 5, 5, device=device), torch.zeros(3, 2, 4, device=device)
    redrawn = network._redraw_by_kernels(pictures, noise)
    with torch.no_grad():
        for layer in (network.encode, network.infer, network.decode):
            rounded = tensor_float.rounded_to_tf32(layer.weight)
            assert not torch.equal(layer.weight, rounded)
            layer.weight.copy_(rounded)
    again = network._redraw_by_kernels(pictures, noise)
    assert all(torch.equal(one, other) for one, other in zip(redrawn, again, strict=True))
