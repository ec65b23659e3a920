"""Labelling nodes: objective and measures by hand, independent members, and nodes that do not exist."""

import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from small_graph import GROUPS, NODES, SIZE, small_recipe

from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.families import check_recipe
from regard.loading import build_task
from regard.tasks.nodes.task import NodeBatch, NodeLabelling, tensors_of
from regard.viewing.sides import Nodes


def make_task(folder: Path, members: int = 1, seed: int = 1) -> NodeLabelling:
    recipe = check_recipe(small_recipe(folder, members, seed))
    prepared = NodeLabelling.prepare(recipe, folder / "prepared", silent, lambda text: None, None)
    task = build_task(recipe, prepared.files())
    assert isinstance(task, NodeLabelling)
    task.learn_from(prepared, recipe)
    return task.eval()


def only_batch(task: NodeLabelling, split: str) -> NodeBatch:
    (batch,) = task.batches(split, seed=0, epoch=0, start=0)
    return batch


def test_an_epoch_is_one_batch_of_the_nodes_of_a_split(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    assert only_batch(task, "train").nodes.tolist() == [0, 1, 2, SIZE, SIZE + 1, SIZE + 2]
    assert only_batch(task, "train").labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert len(only_batch(task, "test").nodes) == NODES // 2
    assert list(task.batches("train", seed=0, epoch=0, start=1)) == []


def test_the_measures_are_those_of_plain_arithmetic(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    batch = only_batch(task, "valid")
    logits = task.model(batch.graph)[0, batch.nodes].detach()
    measures = task.measure(batch)
    assert measures["loss"].value == pytest.approx(float(F.cross_entropy(logits, batch.labels)))
    assert measures["accuracy"].value == pytest.approx(float((logits.argmax(-1) == batch.labels).float().mean()))
    assert (measures["loss"].better, measures["accuracy"].better) == ("lower", "higher")


def test_a_network_that_knows_nothing_has_a_loss_of_log_two(tmp_path: Path) -> None:
    task = make_task(tmp_path, members=2)
    with torch.no_grad():
        for parameter in task.parameters():
            parameter.zero_()
    batch = only_batch(task, "train")
    assert task.measure(batch)["loss"].members == pytest.approx((math.log(2), math.log(2)))
    loss = task.loss(batch)
    assert loss.total.item() / loss.count == pytest.approx(2 * math.log(2))  # summed over both members


def test_members_are_measured_each_as_if_it_were_alone(tmp_path: Path) -> None:
    stack = make_task(tmp_path, members=3, seed=5)
    together = stack.measure(only_batch(stack, "valid"))
    for member in range(3):
        alone = make_task(tmp_path / str(member), seed=5)
        for parameter, stacked in zip(alone.model.parameters(), stack.model.parameters(), strict=True):
            parameter.data.copy_(stacked[member : member + 1])
        for name, measure in alone.measure(only_batch(alone, "valid")).items():
            assert together[name].members[member] == pytest.approx(measure.value)


def test_a_member_of_a_stack_begins_as_the_run_of_its_seed(tmp_path: Path) -> None:
    stack = make_task(tmp_path, members=3, seed=5)
    alone = make_task(tmp_path / "alone", seed=7)
    for stacked, parameter in zip(stack.model.parameters(), alone.model.parameters(), strict=True):
        assert torch.equal(stacked[2:], parameter)


def test_the_gradient_of_a_member_is_that_of_its_own_loss(tmp_path: Path) -> None:
    stack = make_task(tmp_path, members=2)
    batch = only_batch(stack, "train")
    stack.loss(batch).total.backward()
    alone = make_task(tmp_path / "alone")
    alone.loss(only_batch(alone, "train")).total.backward()
    for stacked, parameter in zip(stack.model.parameters(), alone.model.parameters(), strict=True):
        assert stacked.grad is not None
        torch.testing.assert_close(stacked.grad[:1], parameter.grad)


def test_nodes_are_read_by_their_numbers_and_answered_with_their_classes(tmp_path: Path) -> None:
    task = make_task(tmp_path, members=2)
    batch = task.read(["0", 5, " 23 "])
    assert batch.nodes.tolist() == [0, 5, 23]
    answers = task.answers(batch)
    shares = task.model(batch.graph)[:, batch.nodes].softmax(-1).mean(0)  # the mean over the members
    for answer, share in zip(answers, shares, strict=True):
        assert list(answer.probabilities) == list(GROUPS)
        assert list(answer.probabilities.values()) == pytest.approx(share.tolist())
        assert answer.probability == max(answer.probabilities.values()) == answer.probabilities[answer.answer]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("24", "There is no node 24; the graph has the nodes 0 to 23"),
        (10**30, "There is no node 1000000000"),
        ("-1", "'-1' is not the number of a node; the graph has the nodes 0 to 23"),
        ("blue", "'blue' is not the number of a node"),
        ("", "'' is not the number of a node"),
        ("²", "'²' is not the number of a node"),
    ],
)
def test_a_node_that_is_not_there_is_refused(tmp_path: Path, given: object, words: str) -> None:
    with pytest.raises(Fault, match=words):
        make_task(tmp_path).read([given])


def test_every_node_sees_itself(tmp_path: Path) -> None:
    edges = tensors_of(make_task(tmp_path).graph).edges
    loops = edges.looks_from[edges.looks_from == edges.looks_at]
    assert loops.tolist() == list(range(NODES))


def test_what_stands_on_its_sides_are_all_nodes(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    batch = task.read(["3"])
    with watching(task.model) as gazes:
        answers = task.answers(batch)
        sides = task.sides(batch, answers)
    assert len(gazes) == 2  # looking up the sides makes no gaze
    side = sides[gazes[0].looks_from]
    assert isinstance(side, Nodes)
    assert (list(side.centres), side.names[3], len(side.names)) == ([3], "3", NODES)
    assert side.answers[3] == answers[0].answer
    assert side.labels[3] == "blue"


def test_a_graph_that_lies_prepared_is_opened_and_not_read_again(tmp_path: Path) -> None:
    recipe = check_recipe(small_recipe(tmp_path))
    first = NodeLabelling.prepare(recipe, tmp_path / "prepared", silent, lambda text: None, None)
    (tmp_path / "edges").unlink()
    again = NodeLabelling.prepare(recipe, tmp_path / "prepared", silent, lambda text: None, None)
    assert again.files() == first.files()
    NodeLabelling.check(recipe, torch.device("cpu"), tmp_path / "prepared")
    with pytest.raises(Fault, match="There is no file"):
        NodeLabelling.check(recipe, torch.device("cpu"), None)


def test_a_pass_costs_what_is_multiplied(tmp_path: Path) -> None:
    """Two heads of width 4, then one of width 2: features by weights, scores by u and v, and the mixing of values."""
    task = make_task(tmp_path)
    graph = tensors_of(task.graph)
    looks, inner, classes = len(graph.edges), 8, 2
    projecting = NODES * 3 * inner + NODES * inner * classes
    looking = (2 * NODES + looks) * (inner + classes)
    assert task.cost(1) == {
        "multiplications": projecting + looking,
        "of_them_for_looking": looking,
        "attention_weights": looks * 3,
    }
