"""Tagging: measures, tags that depend on the previous one, and refusals."""

import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from tagged_files import CHUNKS, write_tagged

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.families import check_recipe
from regard.loading import build_task
from regard.runs.open import open_run
from regard.tasks.tagging.batches import TagBatch
from regard.tasks.tagging.measures import SpanCounts, measure_spans, word_sums
from regard.tasks.tagging.task import Tagging
from regard.verbs.answer.tagging import TagSearch, tag_sentences

SMALL: dict[str, Any] = {
    "rnn": {"inputs": {"width": 6}, "width": 8},
    "encoder": {"inputs": {"width": 6}, "width": 8, "heads": 2, "feed_forward": 12, "longest": 20},
}
LETTERS = {"embedding": 4, "width": 6}
HEADS: dict[str, Any] = {"softmax": {}, "crf": {"output": "crf"}, "label": {"previous_label": True, "label_width": 3}}


def table(folder: Path, family: str = "rnn", **changes: Any) -> dict[str, Any]:
    if not (folder / "train.txt").exists():
        write_tagged(folder / "train.txt", 40)
    data = {"train": str(folder / "train.txt"), **CHUNKS, **changes.pop("data", {})}
    model = {"letters": LETTERS} | SMALL[family] | changes.pop("model", {})
    training = {"steps": 2, "batch_tokens": 60, "device": "cpu", "optimizer": {"warmup": 0}}
    return {"family": family, "task": "tagging", "data": data, "model": model, "training": training | changes}


def opened(folder: Path, family: str = "rnn", **changes: Any) -> Any:
    return open_run(check_recipe(table(folder, family, **changes)), folder / "run", True, silent, lambda text: None)


@pytest.fixture(params=HEADS)
def task(request: pytest.FixtureRequest, tmp_path: Path) -> Tagging:
    """Return a tagger with random weights, in float64."""
    task: Tagging = opened(tmp_path, model=HEADS[request.param]).task.double().eval()
    if task.model.chain is not None:
        torch.nn.init.normal_(task.model.chain.between)
    return task


def every_sequence(task: Tagging, batch: TagBatch) -> dict[tuple[int, ...], float]:
    """Return the probability of each tag sequence of a single sentence."""
    words = len(batch.sentences[0].words)
    every = product(range(len(task.lexicon.tags)), repeat=words)
    return {tags: task.answers_of(batch, torch.tensor([tags]))[0].probability for tags in every}


def test_answers_are_the_most_probable_tags_and_all_sequences_add_up(task: Tagging) -> None:
    every = every_sequence(task, task.read(["the bedo"]))
    assert math.fsum(every.values()) == pytest.approx(1)
    (answer,) = tag_sentences(task, ["the bedo"], TagSearch(beam=8 if task.knows_label_before else None))
    best = max(every, key=every.__getitem__)
    assert answer.answers == [task.lexicon.tags[tag] for tag in best]
    assert answer.probability == pytest.approx(every[best])
    if task.model.chain is None:
        assert math.prod(answer.probabilities) == pytest.approx(answer.probability)
        return
    for place, probability in enumerate(answer.probabilities):  # for any other tag
        chances = [chance for tags, chance in every.items() if tags[place] == best[place]]
        assert probability == pytest.approx(math.fsum(chances))


def test_the_loss_is_the_surprise_at_the_true_tags(task: Tagging) -> None:
    batch = next(iter(task.batches("train", 1, 0, 0)))
    loss, answers = task.loss(batch), task.answers_of(batch, batch.tags.clamp(min=0))
    assert float(loss.total.detach()) == pytest.approx(-sum(math.log(answer.probability) for answer in answers))
    assert int(loss.count) == sum(len(sentence.words) for sentence in batch.sentences)


def test_a_beam_of_one_is_greedy_and_a_score_is_that_of_its_tags(tmp_path: Path) -> None:
    task: Tagging = opened(tmp_path, model=HEADS["label"]).task.double().eval()
    sentences = ["the bedo fita .", "the", "dedo dedo dedo"]
    greedy, narrow, wide = (tag_sentences(task, sentences, TagSearch(beam=beam)) for beam in (None, 1, 3))
    assert [sentence.answers for sentence in narrow] == [sentence.answers for sentence in greedy]
    batch = task.read(sentences)
    hypotheses = beam_search(task, batch, batch.inputs.lengths + 1, DecodingOptions(beam=3, length_penalty=0.0))
    assert [math.exp(best.score) for best, *_ in hypotheses] == pytest.approx(
        [sentence.probability for sentence in wide]
    )


def test_a_tag_knows_the_one_before_it_and_the_models_own_may_stand_there(tmp_path: Path) -> None:
    task: Tagging = opened(tmp_path, model=HEADS["label"], own_labels=1.0).task.double().eval()
    batch = next(iter(task.batches("train", 1, 0, 0)))
    states = task.model.states(batch.inputs)
    one, other = (task.model.scores(states, torch.full_like(batch.tags, label)) for label in (0, 1))
    assert not torch.allclose(one, other)
    given_true = task.training_options.model_copy(update={"own_labels": 0.0})
    taught = Tagging(task.model, task.lexicon, task.data, given_true)
    assert float(task.loss(batch).total.detach()) != pytest.approx(float(taught.loss(batch).total.detach()))


def test_spans_and_words_on_paper() -> None:
    counts = SpanCounts()
    counts.add(["B-NP", "I-NP", "B-VP", "O"], ["B-NP", "I-NP", "B-NP", "O"])
    counts.add(["B-NP"], ["O"])
    measures = measure_spans(*counts.sums())
    values = {name: measure.value for name, measure in measures.items()}
    assert values == {"f1": pytest.approx(2 / 5), "precision": pytest.approx(1 / 2), "recall": pytest.approx(1 / 3)}
    assert measures["f1"].items == 3
    assert [measure.value for measure in measure_spans(*counts.sums("VP")).values()] == [0.0, 0.0, 0.0]
    right, in_vocabulary, real = (
        torch.tensor([row]).bool() for row in ([1, 1, 0, 1, 1], [1, 1, 1, 0, 1], [1, 1, 1, 1, 0])
    )
    sums = word_sums(right, in_vocabulary, real)
    assert {name: rows.tolist() for name, rows in sums.items()} == {
        "accuracy": [[3, 4]],
        "accuracy_of_known": [[2, 3]],
        "accuracy_of_unknown": [[1, 1]],
    }


def test_a_tag_that_training_never_had_counts_as_wrong(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("the x B-NP\nbedo x I-QP\n\nthe x B-NP\n", encoding="utf-8")
    for name, head in HEADS.items():
        (folder := tmp_path / name).mkdir()
        task: Tagging = opened(folder, model=head, data={"test": str(tmp_path / "test.txt")}).task.eval()
        (batch,) = task.batches("test", 0, 0, 0)
        measures = task.measure(batch)
        assert (measures["accuracy"].value, measures["accuracy"].items) <= (2 / 3, 3)
        assert task.measure_parts(batch)["QP"]["recall"].value == 0
        assert measures["loss"].items == (1 if name == "crf" else 2)  # for a chain, the sentence whose tags it has


def test_empty_and_long_sentences_and_a_single_tag(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a x O\n\n" * 20, encoding="utf-8")
    task: Tagging = opened(tmp_path).task.eval()
    empty, long = tag_sentences(task, ["", "word " * 3000], TagSearch())
    assert (empty.words, empty.answers, empty.probability, empty.spans) == ([], [], 1.0, [])
    assert long.answers == ["O"] * 3000
    with pytest.raises(Fault, match=r"of 100,000 words, but this model reads 5,000 at most \(data.longest\)"):
        tag_sentences(task, ["word " * 100_000], TagSearch())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"own_labels": 0.5}, r"training.own_labels is for model.previous_label = true"),
        ({"model": {"previous_label": True, "output": "crf"}}, "previous_label needs output = 'softmax'"),
        ({"model": {"pooling": "max"}}, "pooling is for classifying a whole text, but a tagger gives each word a tag"),
        ({"data": {"scheme": "tags"}, "best_by": "f1"}, r"training.best_by = 'f1' is for spans, and data.scheme has"),
    ],
)
def test_options_that_mean_nothing_here_are_refused(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        check_recipe(table(tmp_path, **changes))


def test_what_a_model_cannot_do_is_refused(tmp_path: Path) -> None:
    run = opened(tmp_path, "encoder")
    with pytest.raises(Fault, match="There is a sentence of 21 words, but this model reads 20 at most"):
        run.task.read(["a " * 21])
    with pytest.raises(Fault, match=r"A beam is for models with model.previous_label = true; this one chooses each"):
        tag_sentences(run.task, ["a"], TagSearch(beam=2))
    with pytest.raises(Fault, match=r"lexicon.json of the model folder is missing or damaged\."):
        build_task(run.recipe, {})
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "train.txt").write_text("a x O\n" * 21 + "\n" + "a x O\n\n" * 20, encoding="utf-8")
    with pytest.raises(Fault, match=r"data.train has a sentence of 21 words, but this model reads 20 at most"):
        opened(tmp_path / "long", "encoder", data={"hold_out": {"by": "place"}})
