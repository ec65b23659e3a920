"""The n-gram task: counts in pieces, weights in files, measures, and stepping."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from counted_language import LINES, counted_in, ready_in, recipe_in

from regard.base.faults import Fault
from regard.data.tokenisers.byte_pairs import BytePairTokeniser, byte_symbols
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.sampling import sample
from regard.engines.arpa import export_arpa
from regard.models.ngram import NgramOptions
from regard.protocols import Counts, Measures, Reads, Stepwise, Task, Writes
from regard.tasks.language.batches import Prompts, sentences_of
from regard.tasks.language.counting import CountedLanguage


def test_it_is_what_it_says(tmp_path: Path) -> None:
    task = ready_in(tmp_path)
    for capability in (Task, Counts, Measures, Reads, Stepwise, Writes):
        assert isinstance(task, capability)


def test_counts_of_small_batches_and_from_a_checkpoint_are_those_of_one(tmp_path: Path) -> None:
    whole = ready_in(tmp_path)
    whole.count(sentences_of(whole.tokeniser.encode_all(LINES), whole.begin, whole.end))
    whole.estimate()
    batches = list(ready_in(tmp_path).batches("train", seed=3, epoch=1, start=0))
    assert len(batches) > 3
    stopped = ready_in(tmp_path)
    for batch in batches[:2]:
        stopped.count(batch)
    resumed = ready_in(tmp_path)
    resumed.resume_counts(stopped.counts())
    for batch in resumed.batches("train", seed=0, epoch=0, start=2):
        resumed.count(batch)
    resumed.estimate()
    for name, weights in whole.weights().items():
        assert torch.equal(weights, resumed.weights()[name]), name


def test_weights_come_back_to_the_bit_and_of_another_order_are_refused(tmp_path: Path) -> None:
    task, again = counted_in(tmp_path), ready_in(tmp_path)
    again.load_weights(task.weights())
    assert all(torch.equal(weight, again.weights()[name]) for name, weight in task.weights().items())
    with pytest.raises(Fault, match="The weights are not those of this n-gram model"):
        ready_in(tmp_path, order=4).load_weights(task.weights())


def test_its_measures_add_up_however_text_is_cut(tmp_path: Path) -> None:
    task = counted_in(tmp_path)
    rows = task.tokeniser.encode_all([*LINES, "an unknown cat"])
    whole = sentences_of(rows, task.begin, task.end)
    parts = [task.measure(part) for part in whole.split(3)]
    for name, measure in task.measure(whole).items():
        assert (parts[0][name] + parts[1][name] + parts[2][name]).value == pytest.approx(measure.value)
    assert task.measure(whole)["unknown"].value == pytest.approx(100 * 2 / (sum(map(len, rows)) + len(rows)))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("prompt", ["", "the", "the cat sat on", "the walrus sat"])
def test_what_is_written_after_a_prompt_scores_as_the_text_does(tmp_path: Path, order: int, prompt: str) -> None:
    task = counted_in(tmp_path, order=order)
    batch = task.read([prompt])
    (read,) = batch.tokens
    limits = torch.tensor([6])
    ((sampled,),) = sample(task, batch, limits, DecodingOptions())
    ((best,),) = beam_search(task, batch, limits, DecodingOptions(beam=1))
    for hypothesis in (sampled, best):
        forced = task.token_scores(sentences_of([[*read, *hypothesis.tokens]], task.begin, task.end))
        assert hypothesis.token_scores == pytest.approx(forced[len(read) :].tolist(), abs=1e-5)


def test_prompts_of_a_batch_change_nothing_for_one_another(tmp_path: Path) -> None:
    task = counted_in(tmp_path)
    prompts = ["the cat", "", "a dog saw the"]
    together, _ = task.step(torch.full((3,), task.begin), task.start(task.read(prompts)))
    for number, prompt in enumerate(prompts):
        alone, _ = task.step(torch.tensor([task.begin]), task.start(task.read([prompt])))
        assert torch.equal(alone[0], together[number])


def test_a_step_gives_a_distribution(tmp_path: Path) -> None:
    task = counted_in(tmp_path)
    scores, _ = task.step(torch.tensor([task.begin]), task.start(Prompts([[]])))
    assert float(scores.exp().sum()) == pytest.approx(1, abs=1e-5)
    assert scores[0, task.begin] == -math.inf


def test_it_knows_facts_about_itself(tmp_path: Path) -> None:
    task = counted_in(tmp_path, order=2)
    words = {word for line in LINES for word in line.split()}
    pairs = {pair for line in LINES for pair in zip(["<s>", *line.split()], [*line.split(), "</s>"], strict=True)}
    assert task.facts() == {"order": 2, "vocabulary": len(words) + 2, "2-grams": len(pairs)}
    assert task.cost(10) == {"lookups": 20}


def test_a_split_that_is_not_there_has_no_batches(tmp_path: Path) -> None:
    recipe = recipe_in(tmp_path)
    task = ready_in(tmp_path)
    assert recipe.data.valid
    assert list(task.batches("another", seed=0, epoch=0, start=0)) == []


def test_text_is_scored_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    task = counted_in(tmp_path, order=1, smoothing="add-k", discount_fallback=False)
    words, total = 12, sum(len(line.split()) + 1 for line in LINES)  # with the unknown word and the end
    (row,) = task.tokeniser.encode_all(["mat"])
    probabilities = np.exp(task.token_scores(sentences_of([row], task.begin, task.end)))
    assert probabilities == pytest.approx([(2 + 1) / (total + words), (len(LINES) + 1) / (total + words)])


def one_mark() -> BytePairTokeniser:
    """Return a byte tokeniser whose begin, end and pad are one token, like GPT-2's."""
    return BytePairTokeniser([*byte_symbols(), "<|endoftext|>"], [], end=256)


@pytest.mark.parametrize("order", [1, 2])
def test_sentences_end_where_begin_and_end_are_one_token(order: int) -> None:
    """'ab' and 'a' have five of 257 tokens: two are a, one is b and two are ends."""
    task = CountedLanguage(NgramOptions(order=order, smoothing="add-k", k=1.0), one_mark())
    batch = sentences_of(task.tokeniser.encode_all(["ab", "a"]), task.begin, task.end)
    task.count(batch)
    task.estimate()
    probabilities = np.exp(task.token_scores(batch)).tolist()
    first, second, alone = [3 / 262, 2 / 262, 3 / 262], [3 / 259, 2 / 259, 2 / 258], [3 / 259, 2 / 259]
    assert probabilities == pytest.approx([*first, 3 / 262, 3 / 262] if order == 1 else [*second, *alone])
    assert task.measure(batch)["loss_per_text"].items == 2
    scores, _ = task.step(torch.tensor([task.begin]), task.start(Prompts([[]])))
    assert scores.shape == (1, 257)
    assert float(scores.exp().sum()) == pytest.approx(1, abs=1e-5)
    assert scores[0, task.end] > -math.inf


def test_an_arpa_file_tells_begin_and_end_apart_where_they_are_one_token(tmp_path: Path) -> None:
    task = CountedLanguage(NgramOptions(order=2, smoothing="add-k"), one_mark())
    task.count(sentences_of(task.tokeniser.encode_all(["ab", "a"]), task.begin, task.end))
    task.estimate()
    export_arpa(task, tmp_path / "model.arpa", lambda text: None)
    lines = (tmp_path / "model.arpa").read_text(encoding="utf-8").splitlines()
    words = [line.split("\t")[1] for line in lines if "\t" in line]
    assert words[256:] == ["</s>", "<s>", "a b", "a </s>", "b </s>", "<s> a"]


def test_an_older_model_that_never_ends_is_refused() -> None:
    tokeniser = one_mark()
    task = CountedLanguage(NgramOptions(order=1, smoothing="add-k"), tokeniser)
    with pytest.raises(Fault, match="counted by an older version of regard, which confused ends of texts with"):
        task.load_weights({"log_probabilities.1": torch.full((tokeniser.size,), -2.0)})
