"""The answering task: losses and measures by hand, empty memories, linear start, restarts, and refusals."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from small import undrawn
from story_files import write_stories
from toys import TOYS

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.families import check_recipe
from regard.measuring import measure_split
from regard.model import load
from regard.protocols import Measure, Tally, mean
from regard.runs.open import open_run
from regard.runs.train import train
from regard.tasks.answering.batches import draw_times, times_of
from regard.tasks.answering.task import Answering, facts_looked_at, nats_of, nats_of_hops


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Answering:
    folder = tmp_path_factory.mktemp("stories")
    train, test = (str(write_stories(folder / f"walks_{name}.txt", 12, seed)) for seed, name in enumerate(("a", "b")))
    table = {
        "family": "memory",
        "data": {"train": train, "test": [test, train], "hold_out": 0.25, "facts": 3},
        "model": {"hops": 2, "width": 4},
        "training": {"members": 3, "linear_start": 10, "linear_patience": 3, "device": "cpu", "batch": 8},
    }
    return open_run(check_recipe(table), folder / "run", False, silent, lambda remark: None).task


def test_the_loss_of_an_answer_and_of_hops_that_are_told_where_to_look() -> None:
    logits = torch.tensor([[[0.0, math.log(3.0)], [0.0, 0.0]]])
    torch.testing.assert_close(nats_of(logits, torch.tensor([1, -1])), torch.tensor([[math.log(4 / 3), 0.0]]))
    looks = torch.tensor([[[[0.5, 0.5], [0.75, 0.25]], [[1.0, 0.0], [1.0, 0.0]]]])
    support = torch.tensor([[0, 1], [-1, -1]])
    torch.testing.assert_close(nats_of_hops(looks, support), torch.tensor([[math.log(2) + math.log(4), 0.0]]))
    torch.testing.assert_close(nats_of_hops(looks, support[:, :1]), torch.tensor([[math.log(2), 0.0]]))
    again = nats_of_hops(looks, support[:, :1], last_again=True)  # the second hop should see the first fact, too
    torch.testing.assert_close(again[0, 0], -looks[0, 0, :, 0].log().sum())
    assert again[0, 1] == 0  # a question without supporting facts trains no hop


def test_hops_agree_where_one_of_them_looks_most_at_a_supporting_fact() -> None:
    looks = torch.tensor([[[[0.1, 0.9, 0.0], [0.2, 0.8, 0.0]], [[0.6, 0.4, 0.0], [0.0, 0.0, 1.0]]]])
    seen, count = facts_looked_at(looks, torch.tensor([[1, 0], [2, -1]]))
    assert (seen.tolist(), count.tolist()) == ([[1, 1]], [2, 1])


def test_an_answer_that_was_not_learnt_is_wrong_and_has_no_loss(task: Answering) -> None:
    (batch,) = task.batches("test", 1, 0, 0)
    reference = task.measure(batch.where(batch.parts == 0))
    labels = torch.where(torch.from_numpy(batch.parts == 0), batch.labels, -1)
    half = task.measure(replace(batch, labels=labels))
    assert half["loss"].value == pytest.approx(reference["loss"].value)
    assert half["error"].value == pytest.approx((reference["error"].value + 100) / 2)


def test_the_last_fact_is_the_newest() -> None:
    assert times_of(np.array([3, 1]), 4).tolist() == [[2, 1, 0, 0], [0, 0, 0, 0]]


def test_empty_memories_make_facts_older_and_keep_their_order() -> None:
    counts, oldest = np.array([4, 4, 1, 0] * 50), np.zeros(200)
    times = draw_times(counts, 4, 0.5, np.random.default_rng(1))
    for row, count in enumerate(counts):
        ages = times[row, :count]
        assert (np.diff(ages) < 0).all()
        oldest[row] = ages.max(initial=0)
    assert set(oldest[counts == 4]) == {3, 4, 5}  # none, one or two of four
    assert (draw_times(counts, 4, 0.0, np.random.default_rng(1)) == times_of(counts, 4)).all()


def losses(*values: float) -> dict[str, Measure]:
    return {"loss": Measure.of_members([Tally((value, 1.0), mean) for value in values], "lower")}


def test_softmaxes_return_for_each_restart_when_its_validation_loss_falls_no_more(task: Answering) -> None:
    task.model.linear.fill_(1)
    for step, values in enumerate([(3.0, 3.0, 3.0), (2.0, 3.5, 2.0), (2.5, 3.1, 2.5)]):
        assert not task.adapt(step, losses(*values))
        assert task.model.linear.tolist() == [1, 1, 1]
    assert task.adapt(3, losses(2.5, 3.0, 1.5))  # so the loss may jump, which is not an explosion
    assert task.model.linear.tolist() == [1, 0, 1]  # three in a row were no lower than its first
    task.adapt(4, losses(2.5, 1.0, 1.4))
    assert task.model.linear.tolist() == [0, 0, 1]
    task.adapt(10, losses(1.0, 1.0, 1.0))  # at the latest at the step that the recipe names
    assert task.model.linear.tolist() == [0, 0, 0]
    assert not task.adapt(20, losses(1.0, 1.0, 1.0))


def test_a_linear_restart_learns_by_half_the_gradient_and_shows_its_whole_loss(task: Answering) -> None:
    batch, tables = next(iter(task.batches("train", 1, 0, 0))), task.model.tables
    task.model.linear.copy_(torch.tensor([1.0, 0.0, 0.0]))
    nats = nats_of(task.model(batch.stories).logits, batch.labels).sum()
    (whole,) = torch.autograd.grad(nats, tables)
    loss = task.loss(batch)
    (learnt,) = torch.autograd.grad(loss.total, tables)
    torch.testing.assert_close(loss.total.detach(), nats.detach())
    torch.testing.assert_close(learnt, torch.stack([whole[0] / 2, whole[1], whole[2]]))
    task.model.linear.zero_()


def test_the_restart_with_the_lowest_training_error_answers_and_the_spread_stands_beside_it(task: Answering) -> None:
    task.eval()
    task.choose_member()
    measures = measure_split(task, "test")
    errors = measures["mean_error"].members
    assert task.model.chosen == int(task.model.train_errors.argmin())
    assert measures["error"].value == pytest.approx(errors[task.model.chosen])
    assert measures["mean_error"].value == pytest.approx(sum(errors) / 3)
    assert measures["error"].items == 48


def test_what_is_published_knows_the_training_errors_of_its_own_weights(tmp_path: Path) -> None:
    """Each restart is published at its best, with those errors, not those of the last validation or weights."""
    table = TOYS["memory"].table(tmp_path)
    table |= {"family": "memory", "training": table["training"] | {"final": "best"}}
    run = open_run(check_recipe(table), tmp_path / "run", False, silent, lambda remark: None)
    with undrawn():
        train(run, [])
    published = load(run.folder.folder, device="cpu").task.eval()
    published.learn_from(run.prepared, run.recipe)
    errors = published.model.train_errors.tolist()
    published.choose_member()
    assert published.model.train_errors.tolist() == errors
    assert min(errors) < 100


def test_every_file_is_measured_by_itself(task: Answering) -> None:
    (batch,) = task.batches("test", 1, 0, 0)
    parts = task.measure_parts(batch)
    assert {name: part["error"].items for name, part in parts.items()} == {"walks_a": 24, "walks_b": 24}
    assert sum(value["error"].value for value in parts.values()) / 2 == pytest.approx(
        task.measure(batch)["error"].value
    )


STORY = "Ana went to the garden.\nRui went to the office.\nEva went to the kitchen.\nAna went to the office.\n"


def test_of_a_story_that_is_too_long_the_first_facts_are_forgotten_and_that_is_said(task: Answering) -> None:
    batch = task.read([STORY + "Where is Ana?"])
    (answer,) = task.answers(batch)
    assert answer.forgotten == 1
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    facts = task.sides(batch, [answer])["facts"]
    assert (list(facts.forgotten), len(facts.lines)) == (["Ana went to the garden."], 3)


@pytest.mark.parametrize(
    ("story", "sentence"),
    [
        ("Ana went to the gardn.\nWhere is Ana?", "does not know the word 'gardn'.*did you mean 'garden'"),
        (
            "Ana went to the garden.\nWhy xylophone?",
            "does not know the word 'why' of 'Why xylophone\\?'; it knows 11 words",
        ),
        ("Where is Ana?", "it has no facts"),
    ],
)
def test_what_it_cannot_read_is_refused_by_the_number_of_its_text(task: Answering, story: str, sentence: str) -> None:
    with pytest.raises(Fault, match=f"Text 2: .*{sentence}"):
        task.read([STORY + "Where is Ana?", story])


@pytest.mark.parametrize(
    ("family", "more", "sentence"),
    [
        ("dmn", {}, "linear_start is for hops without gates, but a dmn has gates"),
        ("memory", {"supervise_hops": 1.0}, "supervise_hops is for hops with a softmax, which .*linear_start omits"),
    ],
)
def test_what_does_not_go_with_a_linear_start_is_refused(family: str, more: dict[str, float], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        check_recipe({"family": family, "data": {"train": "x"}, "training": {"linear_start": 3, **more}})
