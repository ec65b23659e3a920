"""DRAW: filters by hand, reading and writing as inverses, the bound, and gradients."""

import math

import pytest
import torch
from torch import Tensor, nn

from regard.models.draw.filters import filter_bank, place_grid, read_patch, write_patch
from regard.models.draw.loops import begin_rounds
from regard.models.draw.network import Draw, DrawOptions, Redrawn
from regard.models.draw.pointwise import see
from regard.tasks.drawing.task import bound, log_weights, tightened_bound

SMALL = {"steps": 3, "width": 5, "latent": 2, "read": 2, "write": 3}


def window(across: float = 0, down: float = 0, variance: float = 1, distance: float = 1, strength: float = 1) -> Tensor:
    """Return one float64 window from its numbers before the logarithm."""
    numbers = [across, down, math.log(variance), math.log(distance), math.log(strength)]
    return torch.tensor([numbers], dtype=torch.float64)


def small(height: int = 4, width: int = 6, **options: object) -> Draw:
    torch.manual_seed(5)
    return Draw(DrawOptions.model_validate(SMALL | options), height, width).double()


def test_a_filter_bank_by_hand() -> None:
    """Two filters over three pixels a side: δ = (3 − 1)/(2 − 1) · ½ = 1, so they are at 1.5 and 2.5."""
    place = place_grid(window(distance=0.5), 2, 3, 3)
    assert [float(number) for number in place] == [2, 2, 1]
    bank = filter_bank(window(distance=0.5, variance=0.5, strength=3), 2, 3, 3)
    near, far = math.exp(-0.25), math.exp(-2.25)
    first = torch.tensor([near, near, far]).double() / (2 * near + far)
    torch.testing.assert_close(bank.of_columns[0], torch.stack([first, first.flip(0)]))
    torch.testing.assert_close(bank.of_rows, bank.of_columns)
    assert float(bank.strength) == pytest.approx(3)


def test_a_window_moves_by_halves_of_the_picture() -> None:
    """g̃ = −1 is half a pixel before the first of 1 to A, and 1 is as far after the last."""
    for across, expected in ((-1, 0), (0, 3.5), (1, 7)):
        assert float(place_grid(window(across=across), 3, 4, 6).across) == expected
    assert float(place_grid(window(), 3, 4, 6).distance) == pytest.approx(2.5)  # of the longer side


@pytest.mark.parametrize("across", [0.0, 0.9, -40.0, 1e6])
@pytest.mark.parametrize("variance", [1e-6, 1, 1e6])
def test_rows_of_filters_sum_to_one_wherever_they_lie(across: float, variance: float) -> None:
    bank = filter_bank(window(across=across, variance=variance), 3, 5, 7)
    for filters in (bank.of_rows, bank.of_columns):
        torch.testing.assert_close(filters.sum(dim=-1), torch.ones(1, 3).double())


def test_what_is_read_through_a_window_over_all_is_written_back() -> None:
    """As many sharp filters as pixels give the identity at any strength; coarser ones nearly do."""
    picture = torch.rand(1, 6, 6, generator=torch.Generator().manual_seed(1)).double()
    sharp = filter_bank(window(variance=1e-3, strength=4), 6, 6, 6)
    patch = read_patch(sharp, picture[:, :, None])[:, :, 0]
    torch.testing.assert_close(patch, 4 * picture)
    torch.testing.assert_close(write_patch(sharp, patch), picture)
    smooth = torch.linspace(0, 1, 24).double().expand(1, 24, 24)
    coarse = filter_bank(window(variance=1.5), 12, 24, 24)
    back = write_patch(coarse, read_patch(coarse, smooth[:, :, None])[:, :, 0])
    distance = 23 / 11  # a filter writes what it read at a place over as many pixels a side
    inner = slice(4, 20)
    torch.testing.assert_close(back[0, inner, inner] * distance**2, smooth[0, inner, inner], atol=0.02, rtol=0)


def test_without_attention_all_is_seen_as_it_is() -> None:
    picture, canvas = torch.ones(1, 1, 6).double(), torch.zeros(1, 1, 6).double()
    shown = torch.full((1, 2), 7.0).double()
    result = see(picture, canvas, torch.zeros(1, 6).double(), shown, shown, None)
    assert result.tolist() == [[1.0] * 6 + [0.5] * 6 + [7.0] * 4]


def test_a_network_without_attention_writes_what_it_says() -> None:
    network = small(attention=False)
    for weight in network.parameters():
        nn.init.zeros_(weight)
    nn.init.constant_(network.say.bias, 0.5)
    drawing = network.draw(torch.zeros(1, 3, 2).double())
    assert drawing.windows is None
    torch.testing.assert_close(drawing.canvases[0, :, 0, 0], torch.tensor([0.5, 1.0, 1.5]).double().sigmoid())


def test_the_bound_by_hand() -> None:
    """KL(N(1, 1) ‖ N(0, 1)) = ½, KL(N(0, 2²) ‖ N(0, 1)) = (4 − log 4 − 1)/2; two pixels at even odds cost 2 log 2."""
    redrawn = Redrawn(torch.zeros(1, 1, 2), torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[0.0, math.log(2)]]]))
    result = bound(redrawn, torch.tensor([[[0.0, 1.0]]]))
    assert float(result.reconstruction) == pytest.approx(2 * math.log(2))
    assert float(result.divergence) == pytest.approx(0.5 + (3 - math.log(4)) / 2)
    assert float(result.total) == pytest.approx(float(result.reconstruction) + float(result.divergence))


def test_importance_samples_come_to_what_the_prior_says_and_stay_below_the_bound() -> None:
    """With one step and one latent number, −log p(x) can be integrated numerically, and no bound is below it."""
    network = small(2, 2, steps=1, latent=1).requires_grad_(False)
    picture = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]]).double()
    grid = torch.linspace(-8, 8, 4001).double()
    canvases = network.draw(grid[:, None, None]).canvases[:, -1]
    log_likelihood = -nn.functional.binary_cross_entropy(canvases, picture.expand_as(canvases), reduction="none")
    joint = log_likelihood.sum(dim=(1, 2)) - grid**2 / 2 - math.log(2 * math.pi) / 2
    exact = -float(torch.logsumexp(joint, 0) + math.log(16 / 4000))
    noise = torch.randn(4000, 1, 1, generator=torch.Generator().manual_seed(2)).double()
    many = picture.expand(4000, -1, -1)
    redrawn = network(many, noise)
    elbo = float(bound(redrawn, many).total.mean())
    weights = log_weights(redrawn, many, noise)
    assert elbo > exact
    assert float(tightened_bound(weights[:, None])) == pytest.approx(exact, abs=0.02)
    assert float(-weights.mean()) == pytest.approx(elbo, abs=0.02)  # on average a sample equals the divergence


@pytest.mark.parametrize("attention", [True, False])
def test_gradients_are_those_of_differences(attention: bool) -> None:
    """Every parameter along a random direction, in float64."""
    network = small(attention=attention)
    pictures = torch.rand(2, 4, 6, generator=torch.Generator().manual_seed(1)).double().round()
    noise = torch.randn(2, 3, 2, generator=torch.Generator().manual_seed(2)).double()

    def total() -> Tensor:
        return bound(network(pictures, noise), pictures).total.sum()

    names, weights = zip(*network.named_parameters(), strict=True)
    gradients = torch.autograd.grad(total(), weights)
    for name, weight, gradient in zip(names, weights, gradients, strict=True):
        direction = torch.randn(weight.shape, generator=torch.Generator().manual_seed(3)).double()
        with torch.no_grad():
            values = []
            for side in (1e-5, -1e-5):
                weight += side * direction
                values.append(float(total()))
                weight -= side * direction
        assert float((gradient * direction).sum()) == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-6), name


def test_one_product_for_all_rounds_gives_the_gradient_of_a_loop() -> None:
    torch.manual_seed(1)
    layer, start = nn.Linear(3, 3).double(), torch.rand(4, 3).double().requires_grad_()
    plain = start
    for _ in range(5):
        plain = layer(plain).tanh()
    expected = torch.autograd.grad(plain.sum(), [start, layer.weight, layer.bias])
    (rounds,), state = begin_rounds([layer], start)
    for _ in range(5):
        state = rounds(state).tanh()
    torch.testing.assert_close(torch.autograd.grad(state.sum(), [start, layer.weight, layer.bias]), expected)


def test_a_drawing_from_the_posterior_is_the_picture_drawn_again() -> None:
    """The decoder knows only its latents: those of a picture draw the same canvas from an empty one."""
    network = small().requires_grad_(False)
    picture, noise = torch.ones(1, 4, 6).double(), torch.zeros(1, 3, 2).double()
    redrawn = network(picture, noise)
    torch.testing.assert_close(network.draw(redrawn.means).canvases[:, -1], redrawn.canvas.sigmoid())


def test_a_drawing_says_where_each_step_wrote_at_first_over_all() -> None:
    network = small()
    nn.init.zeros_(network.say.weight)
    windows = network.draw(torch.zeros(1, 3, 2).double()).windows
    assert windows is not None
    assert windows[0, 0].tolist() == pytest.approx([3, 2, 6, 6 / 14])  # the middle, the longer side, σ


def test_reading_begins_over_the_middle_third() -> None:
    """Over 6 pixels the two filters are at 3.5 ± 5/6 and see nothing of the edges."""
    network = small(4, 6)
    nn.init.zeros_(network.say.weight)
    bank = filter_bank(network.say.bias[None, :5].detach(), 2, 4, 6)
    place = place_grid(network.say.bias[None, :5].detach(), 2, 4, 6)
    assert float(place.distance) == pytest.approx(5 / 3)
    assert bank.of_columns[0, 0].argmax() == 2
    assert bank.of_columns[0, 1].argmax() == 3
