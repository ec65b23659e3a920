"""The gradient-trained language model: carried state, objective, measures, and writing."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from counted_language import LINES
from small_network import network_in, table_in
from torch import Tensor

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.sampling import sample
from regard.families import check_recipe
from regard.protocols import Carries, Divisible, FixedShape, Learns, Measures, Reads, Stepwise, Task, Writes
from regard.runs.open import open_run
from regard.runs.train import train
from regard.tasks.language.batches import sentences_of
from regard.tasks.language.gradient import GradientLanguage
from regard.training.pieces import carry_through


def test_it_is_what_it_says(tmp_path: Path) -> None:
    task = network_in(tmp_path)
    for capability in (Task, Learns, Carries, Measures, Reads, Stepwise, Writes):
        assert isinstance(task, capability)
    batch = next(iter(task.batches("train", 0, 0, 0)))
    assert isinstance(batch, FixedShape)
    assert isinstance(batch, Divisible)


def learn(task: GradientLanguage, parts: int = 1) -> tuple[list[float], list[Tensor]]:
    """Return the losses of an epoch, batch by batch in this many pieces, and the sum of their gradients."""
    carry, totals = None, []
    for batch in task.batches("train", 1, 0, 0):
        losses, carry = carry_through(batch.split(parts), carry, task.loss)
        for loss in losses:
            loss.total.backward()
        totals.append(float(sum(loss.total.detach() for loss in losses)))
    return totals, [parameter.grad for parameter in task.parameters() if parameter.grad is not None]


def test_what_is_carried_makes_one_text_of_all_batches(tmp_path: Path) -> None:
    """The losses of the batches equal those of the whole parts read at once."""
    task = network_in(tmp_path)
    totals, _ = learn(task)
    whole = network_in(tmp_path, span=1000)
    (batch,) = whole.batches("train", 1, 0, 0)
    assert len(totals) > 2
    assert math.fsum(totals) == pytest.approx(whole.loss(batch).total.item())


def test_a_batch_with_what_is_carried_may_be_cut_into_pieces(tmp_path: Path) -> None:
    penalties = {"state_penalty": 2.0, "change_penalty": 1.0}
    whole, gradients = learn(network_in(tmp_path, **penalties))
    for parts in (2, 3):
        losses, of_pieces = learn(network_in(tmp_path, **penalties), parts)
        assert losses == pytest.approx(whole)
        torch.testing.assert_close(of_pieces, gradients)


def test_a_network_that_carries_nothing_begins_every_batch_anew(tmp_path: Path) -> None:
    task = network_in(tmp_path)
    batch = next(iter(task.batches("train", 1, 0, 0)))
    assert task.loss(batch).carry is not None
    task.model.carries = False
    assert task.loss(batch).carry is None


def test_the_penalties_are_means_over_states_and_their_changes(tmp_path: Path) -> None:
    """The number of tokens times α times the mean square of the states, and β times that of their changes."""
    batch = next(iter(network_in(tmp_path).batches("train", 1, 0, 0)))
    plain, penalised = (
        network_in(tmp_path, **penalties).loss(batch)
        for penalties in ({}, {"state_penalty": 2.0, "change_penalty": 3.0})
    )
    states = network_in(tmp_path).model.read(batch.tokens, network_in(tmp_path).model.begin(3)).states
    changes = states[:, 1:] - states[:, :-1]
    expected = plain.total + batch.count * (2 * (states**2).mean() + 3 * (changes**2).mean())
    torch.testing.assert_close(penalised.total, expected)
    assert penalised.tallies["perplexity"].value == pytest.approx(math.exp(plain.total.item() / batch.count))


def test_a_longer_span_is_learnt_from_at_a_higher_rate(tmp_path: Path) -> None:
    batch = next(iter(network_in(tmp_path).batches("train", 1, 0, 0)))
    assert network_in(tmp_path).loss(batch).rate == 1
    assert network_in(tmp_path, vary_span=True, span=8).loss(batch).rate == 0.5


def test_measures_are_those_of_the_text_read_in_one_piece(tmp_path: Path) -> None:
    """Perplexity and losses from plain torch: every token, ends included, after all that precedes it."""
    task = network_in(tmp_path)
    tokens = [token for row in task.tokeniser.encode_all(LINES) for token in (*row, task.end)]
    logits = task.model.logits(task.model.read(torch.tensor([[task.end, *tokens[:-1]]]), task.model.begin(1)).states)
    nats = F.cross_entropy(logits[0], torch.tensor(tokens), reduction="sum").item()
    (batch,) = task.batches("test", 0, 0, 0)
    measures = task.measure(batch)
    assert measures["perplexity"].value == pytest.approx(math.exp(nats / len(tokens)))
    assert measures["loss"].value == pytest.approx(nats / len(tokens))
    assert measures["loss_per_text"].value == pytest.approx(nats / len(LINES))
    assert measures["perplexity"].signature.endswith("state carried from sentence to sentence, in one piece")
    (valid,) = task.batches("valid", 0, 0, 0)
    assert task.measure(valid)["perplexity"].signature.endswith("in 10 pieces")
    assert task.measure(task.text_batch(task.tokeniser.encode_all(LINES))).keys() == measures.keys()
    assert task.measure(task.text_batch(task.tokeniser.encode_all(LINES)))["loss"].value == measures["loss"].value


def test_text_is_scored_a_piece_at_a_time_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = network_in(tmp_path)
    (batch,) = task.batches("test", 0, 0, 0)
    whole = task.measure(batch)["loss"].value
    monkeypatch.setattr("regard.tasks.language.gradient._AT_ONCE", 7)
    assert task.measure(batch)["loss"].value == pytest.approx(whole)


def test_texts_are_scored_by_themselves_whatever_stands_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.tasks.language.gradient._ROWS", 2)
    task = network_in(tmp_path)
    rows = task.tokeniser.encode_all([*LINES, "", "walrus"])
    together = task.token_scores(sentences_of(rows, task.begin, task.end)).tolist()
    alone = [score for row in rows for score in task.token_scores(sentences_of([row], task.begin, task.end)).tolist()]
    assert together == pytest.approx(alone)
    assert len(together) == sum(len(row) + 1 for row in rows)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("cell", ["vanilla", "lstm", "gru"])
@pytest.mark.parametrize("prompt", ["", "the cat sat on", "walrus walrus"])
def test_what_is_written_after_a_prompt_scores_as_the_text_does(tmp_path: Path, cell: str, prompt: str) -> None:
    task = network_in(tmp_path, {"cell": cell}).eval()
    batch = task.read([prompt])
    (read,) = batch.tokens
    limits = torch.tensor([6])
    ((sampled,),) = sample(task, batch, limits, DecodingOptions())
    ((best,),) = beam_search(task, batch, limits, DecodingOptions(beam=3))
    for hypothesis in (sampled, best):
        forced = task.token_scores(sentences_of([[*read, *hypothesis.tokens]], task.begin, task.end))
        assert hypothesis.token_scores == pytest.approx(forced[len(read) :].tolist(), abs=1e-5)


def test_prompts_of_a_batch_change_nothing_for_one_another(tmp_path: Path) -> None:
    task = network_in(tmp_path).eval()
    prompts = ["the cat", "", "a dog saw the", "a dog"]
    together, _ = task.step(torch.full((4,), task.begin), task.start(task.read(prompts)))
    torch.testing.assert_close(together.exp().sum(-1), torch.ones(4))
    assert together[:, [task.begin, task.tokeniser.pad]].eq(-math.inf).all()
    for number, prompt in enumerate(prompts):
        alone, _ = task.step(torch.tensor([task.begin]), task.start(task.read([prompt])))
        torch.testing.assert_close(alone[0], together[number])


def test_people_are_told_what_it_is(tmp_path: Path) -> None:
    task = network_in(tmp_path)
    words = {word for line in LINES for word in line.split()}
    assert task.facts() == {"vocabulary": len(words) + 2}  # the unknown word and the end
    assert task.cost(10) == {"multiplications": task.model.multiplications(10)}
    tokens = sum(len(line.split()) + 1 for line in LINES)
    assert task.outline(check_recipe(table_in(tmp_path))) == [
        f"an epoch is {math.ceil(tokens // 3 / 4)} steps of 3 × 4 tokens"
    ]
    assert task.quote(next(iter(task.batches("train", 0, 0, 0)))) == "'the cat sat on'"


def test_it_learns_what_only_a_carried_state_can_tell(tmp_path: Path, no_curves: None) -> None:
    """Lines alternate between yes and no, so the next depends on the line before; chance alone has e^(ln 2 / 2)."""
    optimizer = {"kind": "adam", "learning_rate": 0.05, "schedule": "constant", "warmup": 0}
    rarely = {"validate_every": 40, "save_every": 40, "optimizer": optimizer}
    table = table_in(tmp_path, {"cell": "gru", "layers": 1}, batch=2, span=8, steps=40, **rarely)
    (tmp_path / "text.txt").write_text("yes\nno\n" * 40)
    run = open_run(check_recipe(table), tmp_path / "run", False, silent, lambda text: None)
    train(run, [])
    (batch,) = run.task.batches("test", 0, 0, 0)
    assert run.task.measure(batch)["perplexity"].value < 1.1 < math.sqrt(2)


def refusal(folder: Path, table: dict[str, Any]) -> str:
    with pytest.raises(Fault) as trouble:
        open_run(check_recipe(table), folder / "run", False, silent, lambda text: None)
    assert not (folder / "run" / "recipe.toml").exists()
    return str(trouble.value)


def test_text_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    table, text = table_in(tmp_path, batch=20), tmp_path / "text.txt"
    text.write_text("\n\n")
    assert "There is no text" in refusal(tmp_path, table)
    text.write_text("again again again\n")
    assert "one word, 'again'" in refusal(tmp_path, table)
    text.write_text("one short line\n")
    assert "data.train has 4 tokens, fewer than the 20 parts of training.batch" in refusal(tmp_path, table)
    table["model"]["bidirectional"] = True
    assert "a model that reads what follows a place cannot predict it" in refusal(tmp_path, table)
