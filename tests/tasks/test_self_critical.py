"""Self-critical training: sampled captions, their rewards and what they learn; and hard attention from soft."""

from pathlib import Path
from typing import Any

import pytest
import torch
from small import undrawn
from toys import TOYS, open_toy, open_trained_toy

import regard
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.tokenisers.symbols import BEGIN, PAD
from regard.families import check_recipe
from regard.metrics.cider import CiderAgreement
from regard.runs.open import open_run
from regard.runs.parents import resolve
from regard.runs.train import train
from regard.tasks.captioning.batches import PictureReferences
from regard.tasks.captioning.options import CaptioningTraining
from regard.tasks.captioning.self_critical import (
    critic_of,
    sample_captions,
    self_critical_loss,
    worth_of,
    write_greedily,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an almost untrained captioner."""
    place = tmp_path_factory.mktemp("captions")
    open_trained_toy("captioner", place)
    return place


@pytest.mark.parametrize("longest", [8, 0])
@pytest.mark.parametrize(("samples", "baseline"), [(1, "greedy"), (3, "greedy"), (3, "leave-one-out")])
def test_self_critical_training_makes_captions_that_are_worth_more_more_probable(
    folder: Path, longest: int, samples: int, baseline: str
) -> None:
    """The gradient is that of −(r(sample) − baseline) log p(sample), caption by caption.

    An end is sampled too, except after a caption that fills all the room, here that of one word.
    """
    task, batch, critic = critical(folder, samples=samples, baseline=baseline)
    task.longest = longest
    rows = [row for row in range(2) for _ in range(samples)]
    torch.manual_seed(1)
    sampled = sample_captions(task, batch.pictures.of_rows(rows)).captions
    worth = worth_of(task, sampled, [batch.references[row] for row in rows], critic)
    greedy = worth_of(task, write_greedily(task, batch.pictures), batch.references, critic)
    torch.manual_seed(1)
    loss = self_critical_loss(task, batch, critic)
    expected, steps = 0.0, 0
    for number, row in enumerate(rows):
        others = [worth[other] for other in range(len(rows)) if rows[other] == row and other != number]
        surplus = worth[number] - (greedy[row] if baseline == "greedy" else sum(others) / len(others))
        count = min(len(sampled[number]) + 1, longest + 1)
        expected, steps = expected - surplus * written_score(task, batch, row, sampled[number][:count]), steps + count
    torch.testing.assert_close(loss.total, torch.as_tensor(expected))
    assert loss.tallies["drawn"].value == pytest.approx(sum(worth) / len(worth))
    assert loss.count == steps
    assert longest or any(sampled)  # otherwise there would be nothing to see


def critical(folder: Path, **training: Any) -> tuple[Any, PictureReferences, CiderAgreement]:
    """Return a task in self-critical training, two pictures with their captions, and the reward function."""
    task = regard.load(folder / "run", device="cpu").task
    task.training_options = task.training_options.model_copy(update={"self_critical": True, **training})
    captions = [["a circle in the corner"], ["there is a square"], ["a cross"]]
    batch = PictureReferences(task.read(["valid-0.jpg", "valid-1.jpg"]), tuple(map(tuple, captions[:2])))
    return task, batch, critic_of(captions)


def written_score(task: Any, batch: PictureReferences, row: int, tokens: list[int]) -> Any:
    """Return the log-probability of a caption and its end, unless it fills all the room, in one pass."""
    picture = batch.pictures.of_rows([row]).writing([tokens])
    memory = task.model.read(task.annotations(picture))
    logits = task.model.logits(task.model.write(picture.inputs, memory, task.model.begin(memory)).states)
    logits[..., [PAD, BEGIN]] = float("-inf")  # never sampled
    scores = logits.log_softmax(dim=-1).gather(-1, picture.tokens[..., None])
    return scores[:, : task.longest_written].sum()


def test_captions_are_sampled_with_dropout_if_asked(folder: Path) -> None:
    """Dropout is on for the samples alone: greedy captions and the state of the task are as without it."""
    task, batch, critic = critical(folder, sampling_dropout=True)
    layers = [layer for layer in task.modules() if isinstance(layer, torch.nn.Dropout)]
    seen: dict[str, set[bool]] = {"drawn": set(), "greedy": set()}

    def note(layer: torch.nn.Module, *_: Any) -> None:
        assert not task.model.training  # hard attention would sample places too
        seen["drawn" if torch.is_grad_enabled() else "greedy"].add(layer.training)

    for layer in layers:
        layer.register_forward_hook(note)
    self_critical_loss(task.train(), batch, critic).total.backward()
    assert seen == {"drawn": {True}, "greedy": {False}}
    assert all(layer.training for layer in layers)


@pytest.mark.parametrize(
    ("training", "words"),
    [
        ({"samples": 5}, "samples is for self_critical = true"),
        ({"baseline": "leave-one-out"}, "baseline is for self_critical = true"),
        ({"sampling_dropout": True}, "sampling_dropout is for self_critical = true"),
        ({"self_critical": True, "baseline": "leave-one-out"}, "so it needs samples ≥ 2"),
    ],
)
def test_options_of_samples_need_samples(training: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(CaptioningTraining, training)


@pytest.mark.parametrize(("attention", "fits"), [("hard", True), ("mean", False)])
def test_hard_attention_may_start_from_soft_attention(folder: Path, tmp_path: Path, attention: str, fits: bool) -> None:
    """Both have the same weights; other kinds do not."""
    table = TOYS["captioner"].table(tmp_path)
    model = {"attention": attention, "evenness": 0.0}
    recipe = {"family": "captioner", "start_from": str(folder / "run"), **table, "model": model}
    if not fits:
        with pytest.raises(Fault, match=r"model.attention is 'mean', but the model has 'soft'"):
            resolve(recipe)
        return
    with undrawn():
        train(open_run(resolve(recipe), tmp_path / "run", True, silent, lambda remark: None), [])
    assert regard.load(tmp_path / "run", device="cpu").task.model.chooses


def test_a_caption_that_stops_too_early_is_worth_less_than_the_words_that_it_has(folder: Path) -> None:
    """All its words are right, but no reference ends there; with the end as a word it shares no more than they do."""
    task = regard.load(folder / "run", device="cpu").task
    captions = [["a circle in the corner"], ["there is a square"], ["a cross"]]
    stopped, whole = (task.tokeniser.encode(text) for text in ("a circle in the", "a circle in the corner"))
    with_ends = worth_of(task, [stopped, whole], [captions[0]] * 2, critic_of(captions))
    plain = [CiderAgreement(captions)(task.write(tokens), captions[0]) for tokens in (stopped, whole)]
    assert with_ends[1] == pytest.approx(10)
    assert with_ends[0] < plain[0] < plain[1]


def test_a_run_may_go_on_from_a_trained_model_by_what_captions_are_worth(folder: Path, tmp_path: Path) -> None:
    table = TOYS["captioner"].table(tmp_path)
    training = table["training"] | {"self_critical": True, "steps": 2}
    recipe = {"family": "captioner", "start_from": str(folder / "run"), **table, "training": training}
    with undrawn():
        facts = train(open_run(check_recipe(recipe), tmp_path / "run", True, silent, lambda remark: None), [])
    assert facts.finished
    assert [*facts.tallies[0][1]] == ["drawn", "greedy"]


@pytest.mark.long
def test_drawn_captions_of_shapes_come_to_be_worth_more(tmp_path: Path) -> None:
    torch.manual_seed(1)
    task = open_toy("captioner", tmp_path, embedding=8, width=24, compared=12).task
    references = task.source("train").references()
    critic = critic_of(references)
    pictures = next(iter(task.source("train").pictures(10))).of_rows([row for row in range(10) for _ in range(8)])
    batch = PictureReferences(pictures, tuple(tuple(references[row]) for row in range(10) for _ in range(8)))
    optimizer = torch.optim.Adam(task.parameters(), 0.01)
    for captions in [*task.batches("train", 1, 0, 0)] * 4:  # so that some samples are worth something
        optimizer.zero_grad()
        task.loss(captions).total.backward()
        optimizer.step()
    worth = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = self_critical_loss(task.train(), batch, critic)
        (loss.total / loss.count).backward()
        optimizer.step()
        worth.append(loss.tallies["drawn"].value)
    assert sum(worth[-5:]) > 1.2 * sum(worth[:5])
