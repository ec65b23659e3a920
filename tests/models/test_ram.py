"""The recurrent model of visual attention: its formulas, paths, gradients, and the cost of an answer."""

import math

import pytest
import torch
import torch.nn.functional as F

from regard.attention.glimpses import take_glimpses
from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.ram import RAM, RAMOptions

SMALL = RAMOptions(glimpses=3, patch=4, scales=2, glimpse_width=5, width=6, sigma=0.2)


def small(**changes: object) -> RAM:
    torch.manual_seed(1)
    return RAM(SMALL.model_copy(update=changes), 4, 10, 10)


@pytest.mark.parametrize("location_width", [0, 7])
def test_it_is_the_equations_of_the_paper(location_width: int) -> None:
    model, picture = small(location_width=location_width).double(), torch.rand(1, 10, 12, dtype=torch.float64)
    start, noise = torch.tensor([[[0.3, -0.4]]]).double(), torch.randn(1, 1, 2, 2, dtype=torch.float64)
    hidden, place, log_policy = torch.zeros(6, dtype=torch.float64), start[0, 0], []
    for step in range(3):
        seen = take_glimpses(picture, place.view(1, 1, 2), 4, 2).flatten()
        what, where = model.glimpse.what(model.glimpse.see(seen).relu()), model.glimpse.locate(place).relu()
        glimpse = (what + model.glimpse.where(where)).relu()
        hidden = (model.remember(hidden) + model.take_in(glimpse)).relu()
        if step < 2:
            mean = _mean_place(model, hidden)
            location = mean + 0.2 * noise[0, 0, step]
            normal = torch.distributions.Normal(mean, 0.2)
            log_policy.append(normal.log_prob(location).sum() + math.log(2 * math.pi * 0.2**2))
            place = location.clamp(-1, 1)
    result = model(picture, start, noise)
    torch.testing.assert_close(result.log_probabilities[0, 0], F.log_softmax(model.action(hidden), dim=-1))
    torch.testing.assert_close(result.log_policy[0, 0], torch.stack(log_policy))
    torch.testing.assert_close(result.places[0, 0, -1], place)


def _mean_place(model: RAM, hidden: torch.Tensor) -> torch.Tensor:
    if not model.options.location_width:
        return torch.tanh(model.location(hidden))
    weights = dict(model.location.named_parameters())
    assert weights["0.bias"].shape == (model.options.location_width,)
    between = (weights["0.weight"] @ hidden + weights["0.bias"]).clamp(min=0)
    return (weights["2.weight"] @ between + weights["2.bias"]).tanh()


def test_answering_takes_the_mean_places_from_the_centre() -> None:
    model, pictures = small(), torch.rand(2, 10, 10)
    still = model(pictures, torch.zeros(2, 1, 2), torch.zeros(2, 1, 2, 2))
    torch.testing.assert_close(model.answer(pictures), still.log_probabilities[:, 0])


def test_several_paths_are_averaged_and_batch_mates_change_nothing() -> None:
    model, pictures = small(paths=5), torch.rand(3, 10, 10)
    together = model.answer(pictures)
    torch.testing.assert_close(together.exp().sum(-1), torch.ones(3))
    torch.testing.assert_close(torch.cat([model.answer(picture) for picture in pictures.split(1)]), together)
    assert not torch.allclose(together, small().answer(pictures))


@pytest.mark.parametrize(("start", "same"), [("centre", True), ("random", False)])
def test_to_learn_it_starts_where_it_is_told_to(start: str, same: bool) -> None:
    places = small(start=start).explore(torch.rand(2, 10, 10), paths=3).places[:, :, 0]
    assert bool((places == 0).all()) == same


def test_only_the_policy_teaches_the_location_and_it_shapes_nothing_else() -> None:
    model = small()
    result = model.explore(torch.rand(2, 10, 10), paths=2)
    result.log_policy.sum().backward(retain_graph=True)
    assert {name for name, part in model.named_parameters() if part.grad is not None} == {
        "location.weight",
        "location.bias",
    }
    model.zero_grad()
    (result.log_probabilities.sum() + result.baselines.sum()).backward()
    assert model.location.weight.grad is None
    assert model.glimpse.see.weight.grad is not None


def test_more_noise_is_looked_at_further_from_the_mean() -> None:
    pictures, noise = torch.rand(1, 10, 10), torch.ones(1, 1, 2, 2)
    places = [small(sigma=sigma)(pictures, torch.zeros(1, 1, 2), noise).places[0, 0, 1] for sigma in (0.1, 0.2)]
    torch.testing.assert_close(places[1] - places[0], torch.full((2,), 0.1))


def test_watched_is_unwatched_and_the_windows_are_those_of_the_mean_path() -> None:
    model, pictures = small(paths=2), torch.rand(2, 10, 12)
    with watching(model) as seen:
        answer = model.answer(pictures)
    torch.testing.assert_close(answer, model.answer(pictures), rtol=0, atol=0)
    [window] = seen.windows
    assert window.centre.shape == (2, 3, 2)
    assert window.centre[:, 0].tolist() == [[6, 5], [6, 5]]
    assert window.extent[0].tolist() == [[4, 8]] * 3


def test_an_answer_costs_the_same_for_every_size_of_the_picture() -> None:
    # see 32 · 5, locate 2 · 5, what and where 5 · 6 each, the core 6 · 6 twice; twice to choose 6 · 2; classes 6 · 4
    assert small().multiplications(10, 10) == 3 * (160 + 10 + 60 + 72) + 2 * 12 + 24
    assert small().multiplications(400, 300) == small().multiplications(10, 10)
    assert small(location_width=7).multiplications(10, 10) == small().multiplications(10, 10) + 2 * (6 * 7 + 7 * 2 - 12)
    assert small(paths=5).multiplications(10, 10) == 5 * small().multiplications(10, 10)


@pytest.mark.parametrize(
    ("table", "words"),
    [({"patch": 7}, "patch is 7, expected an even number"), ({"glimpses": 1}, "glimpses is 1, expected 2 or more")],
)
def test_sizes_that_make_no_glimpse_are_refused_by_name(table: dict[str, int], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(RAMOptions, table, "model")
