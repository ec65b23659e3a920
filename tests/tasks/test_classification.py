"""Text classes: measures by hand, input and output, and what a bag of words cannot learn."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from labelled_files import write_labelled
from toys import open_trained_toy

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.families import check_recipe
from regard.loading import build_task
from regard.models.text.bag import Bag, BagOptions
from regard.models.text.classifier import TextClassifier
from regard.models.text.recurrent import RecurrentReader, RnnOptions
from regard.models.text.texts import InputTokens, TextRows
from regard.models.text.word_inputs import InputOptions
from regard.seeing.gazes import see_answer
from regard.tasks.classes import macro_f1, measures_with_f1, sums_with_f1
from regard.tasks.classification.task import Classification
from regard.tasks.words.ready_vectors import vectors_in
from regard.viewing.looks import places_along
from regard.viewing.sides import Steps, Words

ASPECTS = "".join(
    f"the $T$ was {word}\nfish\n1\nthe fish was {word} but the $T$ was slow\nservice\n-1\n"
    for word in ("good", "nice", "fresh", "tasty")
)


def task_of(folder: Path, table: dict[str, Any]) -> Classification:
    """Return a task with random weights that learns from a recipe's data."""
    recipe = check_recipe({"seed": 1, **table})
    prepared = Classification.prepare(recipe, folder / "prepared", silent, lambda text: None, None)
    task: Classification = build_task(recipe, prepared.files())
    task.begin_with(prepared, recipe)
    task.learn_from(prepared, recipe)
    return task.eval()


def aspects_task(folder: Path, aspect: str = "both") -> Classification:
    (folder / "aspects.txt").write_text(ASPECTS, encoding="utf-8")
    data = {"train": str(folder / "aspects.txt"), "format": "aspects", "hold_out": 0.25}
    model = {"inputs": {"width": 4}, "width": 6, "aspect": aspect}
    return task_of(folder, {"family": "rnn", "data": data, "model": model})


def test_measures_on_paper() -> None:
    """Two of three texts of class 0 are right, and the one of class 1 is wrong."""
    answers = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]]).log()
    sums = sums_with_f1(answers, torch.tensor([0, 0, 0, 1]))
    measures = measures_with_f1(sums)
    assert measures["accuracy"].value == pytest.approx(0.5)
    # Class 0: 2 right, 3 predicted, 3 true: 4/6. Class 1: nothing right: 0.
    assert measures["f1"].value == pytest.approx((4 / 6 + 0) / 2)
    assert sums["f1"].shape == (4, 7)
    assert {name: measure.items for name, measure in measures.items()} == {"accuracy": 4, "f1": 4, "loss": 4}


def test_a_class_that_nobody_has_or_gives_counts_for_nothing() -> None:
    assert macro_f1(1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0) == 1.0


def test_the_probabilities_of_an_answer_sum_to_one_and_name_every_class(tmp_path: Path) -> None:
    data = {"train": str(write_labelled(tmp_path / "texts.txt", 20))}
    task = task_of(tmp_path, {"family": "averaging", "data": data})
    (answer,) = task.answers(task.read(["a lovely film"]))
    assert answer.probabilities.keys() == {"neg", "pos"}
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert answer.probability == max(answer.probabilities.values()) == answer.probabilities[answer.answer]
    with pytest.raises(Fault, match="Text 2: there is no word in it"):
        task.read(["good", "  "])


def test_the_aspect_stands_in_brackets_and_several_are_looked_at_together(tmp_path: Path) -> None:
    task = aspects_task(tmp_path)
    marked = "the [fish] was good but the [service] was slow"
    sight = see_answer(task, marked)
    assert task.unfold(marked) == [
        "the [fish] was good but the service was slow",
        "the fish was good but the [service] was slow",
    ]
    source, answer = sight.sides["source"], sight.sides["answer"]
    assert isinstance(source, Words)
    assert isinstance(answer, Steps)
    assert list(source.words) == ["the", "fish", "was", "good", "but", "the", "service", "was", "slow"]
    assert [name.partition(":")[0] for name in answer.names] == ["fish", "service"]
    seen = sight.between().blocks[0].weights
    assert seen.shape == (1, 2, 9)
    assert seen.sum(axis=-1) == pytest.approx(1)
    places = task.read(task.unfold(marked)).texts.aspect_places
    assert places is not None
    assert places.tolist() == [1, 6]
    for text, count in ((marked, "2 aspects"), ("the fish", "no aspect")):
        with pytest.raises(Fault, match=f"it has {count} in brackets, expected one"):
            task.read([text])


def test_the_look_of_the_answer_comes_before_those_between_words(tmp_path: Path) -> None:
    data = {"train": str(write_labelled(tmp_path / "texts.txt", 20))}
    model = {"inputs": {"width": 4}, "width": 8, "heads": 2, "layers": 1}
    for pooling, names, words in (("attention", ["pooling", "encoder"], 3), ("first", ["encoder"], 4)):
        table = {"family": "encoder", "data": data, "model": model | {"pooling": pooling}}
        sight = see_answer(task_of(tmp_path, table), "a lovely film")
        assert sight.looks == names
        assert sight.between("encoder").blocks[0].weights.shape == (2, words, words)
        assert len(places_along(sight.sides["source"], sight.sides["source"], by_word=True)[0]) == words


def test_brackets_are_only_removed_where_the_aspect_is_ignored(tmp_path: Path) -> None:
    task = aspects_task(tmp_path, aspect="ignored")
    assert task.read(["the [fish] was [good]"]).inputs == ["the fish was good"]
    assert task.unfold("the [fish] was [good]") == ["the [fish] was [good]"]


def test_options_of_vectors_and_aspects_need_each_other() -> None:
    data = {"train": "texts.txt"}
    for table, sentence in (
        ({"family": "rnn", "model": {"inputs": {"vectors": "tuned"}}}, "so data.vectors must name a file of vectors"),
        ({"family": "rnn", "data": data | {"vectors": "v.txt"}}, "set model.inputs.vectors"),
        ({"family": "bag", "data": data | {"vectors": "v.txt"}}, "set model.inputs.vectors"),
        ({"family": "rnn", "model": {"aspect": "both"}}, "so data.format must be 'aspects'"),
    ):
        with pytest.raises(Fault, match=sentence):
            check_recipe({"data": data, **table})


def test_ready_vectors_become_weights(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("2 2\nfilm 1 2\nunseen 3 4\n", encoding="utf-8")
    data = {"train": str(write_labelled(tmp_path / "texts.txt", 20)), "vectors": str(tmp_path / "vectors.txt")}
    task = task_of(tmp_path, {"family": "averaging", "data": data, "model": {"inputs": {"vectors": "frozen"}}})
    assert isinstance(task.model, TextClassifier)
    batch = task.read(["film unseen"])
    torch.testing.assert_close(task.model.reader.summary(batch.texts), torch.tensor([[2.0, 3.0]]))


# good, bad, not good, not bad, among words without meaning
NEGATED = TextRows(
    torch.tensor([[4, 7, 0], [5, 7, 0], [6, 4, 7], [6, 5, 7], [7, 4, 0], [7, 5, 0], [7, 6, 4], [7, 6, 5]]),
    torch.tensor([2, 2, 3, 3, 2, 2, 3, 3]),
)
MEANT = torch.tensor([1, 0, 0, 1, 1, 0, 0, 1])


def accuracy_after(network: Bag | TextClassifier, steps: int, rate: float) -> float:
    torch.manual_seed(2)
    solver = torch.optim.Adam(network.parameters(), lr=rate)
    for _ in range(steps):
        solver.zero_grad()
        F.nll_loss(network.answer(NEGATED), MEANT).backward()
        solver.step()
    return float((network.eval().answer(NEGATED).argmax(dim=-1) == MEANT).float().mean())


def test_negation_is_beyond_a_bag_of_words_and_not_beyond_a_recurrent_net() -> None:
    """With weights g, b, n and bias c: c + g > 0, c + b < 0, c + n + g < 0 and c + n + b > 0 contradict each other."""
    torch.manual_seed(2)
    bag = Bag(BagOptions(ngrams=1, l2=0.0), 8, torch.arange(5, 9), 2)
    assert accuracy_after(bag, 60, 0.1) <= 0.75
    reader = RecurrentReader(RnnOptions(inputs=InputOptions(width=6), width=8, dropout=0.0), InputTokens(8, 0, 1))
    assert accuracy_after(TextClassifier(reader, 2), 40, 0.1) == 1.0


def test_the_folder_of_a_model_of_words_gives_its_vectors(tmp_path: Path) -> None:
    run = open_trained_toy("word2vec", tmp_path)
    vectors = vectors_in(run.folder.folder, check_recipe)
    data = {"train": str(write_labelled(tmp_path / "texts.txt", 20)), "vectors": str(run.folder.folder)}
    task = task_of(tmp_path, {"family": "averaging", "data": data, "model": {"inputs": {"vectors": "tuned"}}})
    assert isinstance(task.model, TextClassifier)
    summary = task.model.reader.summary(task.read([vectors.words[0]]).texts)
    torch.testing.assert_close(summary[0], torch.from_numpy(vectors[vectors.words[0]]))
