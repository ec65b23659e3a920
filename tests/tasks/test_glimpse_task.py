"""Looking at pictures: batches as pure functions, REINFORCE by hand, a toy that is learnt, and its views."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from picture_files import flags, write_set
from PIL import Image

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.data.pictures.fitting import AsIs
from regard.families import check_recipe
from regard.models.ram import RAM, Glimpsed
from regard.tasks.glimpses.batches import PictureBatch
from regard.tasks.glimpses.task import Glimpses, reinforce

SMALL = {"glimpses": 2, "patch": 4, "glimpse_width": 16, "width": 16, "sigma": 0.4, "start": "centre"}


def made(folder: Path, family: str = "ram", scene: dict[str, int] | None = None, **training: Any) -> Glimpses:
    """Return a small task that learns from flags."""
    data = {"train": write_set(folder, *flags(60)), "test": write_set(folder, *flags(60), name="test"), "hold_out": 12}
    recipe = check_recipe(
        {
            "family": family,
            "data": data | ({"scene": scene} if scene else {}),
            "model": SMALL if family == "ram" else {"channels": [2], "width": 4},
            "training": {"batch": 10, **training},
        }
    )
    prepared = Glimpses.prepare(recipe, folder / "prepared", silent, lambda remark: None, None)
    torch.manual_seed(recipe.seed)
    task = Glimpses.build(recipe, prepared.files())
    task.learn_from(prepared, recipe)
    return task


def pixels(batches: Any) -> list[np.ndarray]:
    return [batch.pictures.numpy() for batch in batches]


@pytest.mark.parametrize("scene", [None, {"side": 20, "clutter": 2}])
def test_batches_are_the_same_from_any_start_and_new_in_every_epoch(tmp_path: Path, scene: dict | None) -> None:
    task = made(tmp_path, scene=scene)
    whole = pixels(task.batches("train", 1, 0, 0))
    assert [len(batch) for batch in whole] == [10, 10, 10, 10, 8]
    for number, batch in enumerate(task.batches("train", 1, 0, 2), start=2):
        assert np.array_equal(batch.pictures.numpy(), whole[number])
    for seed, epoch in ((1, 1), (2, 0)):
        assert not np.array_equal(next(iter(task.batches("train", seed, epoch, 0))).pictures.numpy(), whole[0])
    tests = [pixels(task.batches("test", seed, epoch, 0)) for seed, epoch in ((0, 0), (5, 3))]
    assert np.array_equal(tests[0], tests[1])  # every measurement uses the same scenes


class Certain(RAM):
    """Model that draws two paths for its picture, the first with the answer 0."""

    def explore(self, pictures: torch.Tensor, paths: int) -> Glimpsed:
        log_probabilities = torch.tensor([[[0.8, 0.2], [0.3, 0.7]]]).log()
        self.log_policy = torch.zeros(1, 2, 1, requires_grad=True)
        self.baselines = torch.tensor([[[0.5], [0.25]]], requires_grad=True)
        return Glimpsed(log_probabilities, torch.zeros(1, 2, 2, 2), self.log_policy, self.baselines)


@pytest.mark.parametrize(
    ("reward", "rewards"), [("right", [1.0, 0.0]), ("log-probability", [np.log(0.8), np.log(0.3)])]
)
def test_reinforce_on_paper(tmp_path: Path, reward: Any, rewards: list[float]) -> None:
    network = Certain(made(tmp_path).model.options, 2, 8, 16)
    batch = PictureBatch(torch.zeros(1, 8, 16, dtype=torch.uint8), torch.tensor([0]), torch.tensor([0]))
    loss = reinforce(network, batch, 2, reward)
    loss.total.backward()
    assert loss.total.item() == pytest.approx(-(np.log(0.8) + np.log(0.3)) / 2)
    surplus = np.array(rewards) - [0.5, 0.25]
    assert network.log_policy.grad.flatten().tolist() == pytest.approx((-surplus / 2).tolist())  # -(R - b) / M
    assert network.baselines.grad.flatten().tolist() == pytest.approx((-2 * surplus / 2).tolist())
    assert loss.tallies["reward"].value == pytest.approx(np.mean(rewards))
    assert loss.tallies["baseline error"].value == pytest.approx(np.mean(surplus**2))


def test_more_samples_are_a_mean_over_paths(tmp_path: Path) -> None:
    batch = next(iter(made(tmp_path).batches("train", 1, 0, 0)))
    losses = [made(tmp_path, samples=samples).loss(batch) for samples in (1, 50)]
    assert [loss.count for loss in losses] == [10, 10]
    assert losses[1].total.item() == pytest.approx(losses[0].total.item(), rel=0.2)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("family", "reward"), [("ram", "right"), ("ram", "log-probability"), ("convnet", "right")])
def test_it_learns_where_to_look(tmp_path: Path, family: str, reward: str) -> None:
    task = made(tmp_path, family, **({"samples": 4, "reward": reward} if family == "ram" else {}))
    optimizer = torch.optim.Adam(task.parameters(), lr=0.03)
    for epoch in range(18):
        for batch in task.batches("train", 1, epoch, 0):
            optimizer.zero_grad()
            loss = task.loss(batch)
            (loss.total / loss.count).backward()
            optimizer.step()
    task.eval()
    [measures] = [task.measure(batch) for batch in task.batches("test", 0, 0, 0)]
    assert measures["error"].value == 0
    assert measures["accuracy"].value == 1


def test_a_split_batch_has_the_same_rows(tmp_path: Path) -> None:
    batch = next(iter(made(tmp_path).batches("train", 1, 0, 0)))
    pieces = batch.split(3)
    assert torch.equal(torch.cat([piece.pictures for piece in pieces]), batch.pictures)
    assert sum(piece.rows for piece in pieces) == batch.rows == 10


def test_a_picture_file_is_answered_with_names_and_probabilities(tmp_path: Path) -> None:
    task = made(tmp_path)
    picture = flags(1)[0][0]
    Image.fromarray(picture).save(tmp_path / "flag.png")
    batch = task.read([str(tmp_path / "flag.png")])
    assert np.array_equal(batch.pictures[0].numpy(), picture)
    [answer] = task.answers(batch)
    assert answer.probability == max(answer.probabilities.values())
    assert set(answer.probabilities) == {"0", "1"}
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    sides = task.sides(batch, [])
    assert sides["glimpses"].names == ["glimpse 1", "glimpse 2"]
    assert sides["picture"].picture.max() == 1


def test_a_picture_of_another_size_is_made_to_fit_unless_it_must_not_be(tmp_path: Path) -> None:
    Image.new("L", (9, 8)).save(tmp_path / "wide.png")
    task = made(tmp_path)
    assert task.read([tmp_path / "wide.png"]).pictures.shape == (1, 8, 16)
    assert "scaled from 8 × 9 to 8 × 9 pixels, padded to 8 × 16" in task.remark_on(tmp_path / "wide.png")
    with pytest.raises(Fault, match=r"wide\.png has 8 × 9 pixels, expected 8 × 16"):
        task.read([AsIs(tmp_path / "wide.png")])


def test_what_an_answer_costs_is_flat_for_glimpses_and_grows_for_a_convolution(tmp_path: Path) -> None:
    glimpses, whole = made(tmp_path), made(tmp_path, "convnet")
    assert glimpses.cost(8) == glimpses.cost(800)
    assert whole.cost(800)["multiplications"] > 1000 * whole.cost(8)["multiplications"]


@pytest.mark.parametrize("option", [{"samples": 2}, {"reward": "log-probability"}])
def test_a_network_that_draws_nothing_is_not_told_how(tmp_path: Path, option: dict[str, Any]) -> None:
    with pytest.raises(Fault, match=f"training.{next(iter(option))} is for networks that sample where they look"):
        made(tmp_path, "convnet", **option)


def test_a_run_starts_from_a_model_of_the_same_classes_and_size_only(tmp_path: Path) -> None:
    task = made(tmp_path)
    with pytest.raises(Fault, match="has other classes: 0, 1"):
        task.labels.refuse_others(task.labels.model_copy(update={"classes": ["a", "b"]}))
    with pytest.raises(Fault, match=r"reads pictures of 8 × 16 pixels; these have 9 × 16"):
        task.labels.refuse_others(task.labels.model_copy(update={"height": 9}))


def test_a_picture_is_quoted_by_its_number_and_label(tmp_path: Path) -> None:
    batch = PictureBatch(torch.zeros(1, 8, 16, dtype=torch.uint8), torch.tensor([1]), torch.tensor([41]))
    assert made(tmp_path).quote(batch) == "picture 42, labelled '1'"
