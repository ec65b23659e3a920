"""Nearest training examples: laws, places marked in texts, samples of the training data, and what is refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from small import write_corpus
from torch import Tensor
from toys import open_trained_toy

import regard
from regard.base.faults import Fault
from regard.model import Model
from regard.seeing.nearest.places import Asked, MarkedPlace
from regard.seeing.nearest.search import nearest_examples, places_of, search_sample
from regard.seeing.training_texts import TextSample, TrainingText, sample_texts, training_texts
from regard.viewing.examples import NearestExamples, examples_lines


@dataclass(frozen=True)
class Points:
    """Places by hand: a text is numbers with spaces, and the state of each is a point on a line or a circle."""

    point: tuple[float, float]
    kind = "token"

    def asked(self) -> list[Asked]:
        return [Asked("1", torch.tensor(self.point))]

    def read(self, texts: Sequence[TrainingText]) -> list[Tensor]:
        return [torch.tensor([(float(word), 1.0) for word in text.text.split()]) for text in texts]

    def fits(self, text: TrainingText) -> bool:
        return bool(text.text)

    def mark(self, text: TrainingText, place: int) -> MarkedPlace:
        return MarkedPlace(text.text, text.answer, text.text.split()[place])


def search(point: tuple[float, float], count: int, by: str = "cosine") -> NearestExamples:
    texts = [TrainingText("5"), TrainingText("1 4"), TrainingText(""), TrainingText("0 2 9 9 9")]
    return search_sample(Points(point), TextSample(texts, 10), "1", count, by)  # type: ignore[arg-type]


def test_nearest_points_on_paper() -> None:
    (place,) = search((1.0, 1.0), 3, "l2").places
    assert [(example.closeness, example.followed) for example in place.examples] == [(0.0, "1"), (1.0, "0"), (1.0, "2")]
    assert place.agreeing == 1
    (place,) = search((2.0, 2.0), 2).places
    assert [example.followed for example in place.examples] == ["1", "2"]
    assert place.examples[0].closeness == pytest.approx(1.0)
    assert place.examples[1].closeness == pytest.approx(3 / 10**0.5)
    nearest = search((1.0, 1.0), 50)
    assert (nearest.states, nearest.texts, nearest.total) == (8, 3, 10)
    assert len(nearest.places[0].examples) == 8  # all of them, and no padding


@pytest.mark.parametrize("by", ["cosine", "l2"])
@pytest.mark.parametrize("states", ["encoder", "decoder"])
def test_a_training_pair_is_nearest_to_itself(trained: Path, states: str, by: str) -> None:
    model = regard.load(trained)
    pair = list(training_texts(model))[123]
    target = pair.answer if states == "decoder" else None
    view = model.look_examples(pair.text, 2, states=states, target=target, by=by, from_lines=40)
    for place in view.numbers()["places"]:
        first, second = place["examples"]
        assert first[by] == pytest.approx(1.0 if by == "cosine" else 0.0, abs=1e-3)
        assert first[by] >= second[by] if by == "cosine" else first[by] <= second[by]
    places = view.numbers()["places"]
    unmarked = [place["examples"][0]["answer" if states == "decoder" else "text"] for place in places]
    texts = {text.replace("»", "").replace("«", "").replace(" ", "").removesuffix("end") for text in unmarked}
    assert texts == {(pair.answer if states == "decoder" else pair.text).replace(" ", "")}


def test_places_of_a_translator(trained: Path) -> None:
    model = regard.load(trained)
    view = model.look_examples("I love books.", 1, target="Eu amo livros.", from_lines=20)
    numbers = view.numbers()
    assert numbers["places"][-1]["name"] == "end"
    assert numbers["places"][-1]["examples"][0]["answer"].endswith("»end«")
    assert (numbers["texts"], numbers["total"]) == (20, 300)
    one = model.look_examples("I love books.", 1, target="Eu amo livros.", at=0, from_lines=20).numbers()
    assert [place["name"] for place in one["places"]] == [numbers["places"][0]["name"]]
    with pytest.raises(Fault, match="There is no place after 99 tokens; there are"):
        model.look_examples("I love books.", 1, at=99)
    with pytest.raises(Fault, match="There is no place after 7 words; there are 4 words, the first after 0"):
        model.look_examples("I love books.", 1, states="encoder", at=7)
    with pytest.raises(Fault, match="omit it with states encoder"):
        model.look_examples("I love books.", 1, states="encoder", target="Eu")
    with pytest.raises(Fault, match="There is no text to look at"):
        model.look_examples(" ", 1)


def test_a_sample_is_always_the_same_and_holds_the_text_itself(trained: Path) -> None:
    model = regard.load(trained)
    every = list(training_texts(model))
    assert len(every) == 300
    assert sample_texts(model, 1000).texts == every
    some = sample_texts(model, 25)
    assert some == sample_texts(model, 25)
    assert len(set(some.texts)) == 25
    left_out = next(text for text in every if text not in some.texts)
    with_it = sample_texts(model, 25, left_out.text)
    assert left_out in with_it.texts
    assert len(with_it.texts) == 25
    assert [text for text in every if text in with_it.texts] == with_it.texts  # in their order


def load_toy(name: str, folder: Path) -> Model:
    open_trained_toy(name, folder)
    return regard.load(next(path.parent for path in sorted(folder.rglob("manifest.json"))))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["seq2seq", "gpt", "bert", "encoder", "rnn"])
def test_every_family_finds_its_own_training_text(name: str, tmp_path: Path) -> None:
    model = load_toy(name, tmp_path)
    text = min(training_texts(model), key=lambda text: len(text.text))  # BERT reads a few letters only
    nearest = nearest_examples(model, text.text, 2)
    if name == "gpt":
        assert nearest.places[0].examples[0].followed == "end"
    if name in ("encoder", "rnn"):
        assert nearest.places[0].examples[0].answer == text.answer != ""
        assert nearest.columns == ["cosine", "training text", "with"]
    if name != "seq2seq":  # which may write another translation than that of the training data
        assert nearest.places[0].examples[0].closeness == pytest.approx(1.0, abs=1e-4)
        with pytest.raises(Fault, match="--at is for translators; omit it for this model"):
            places_of(model, text.text, None, None, 99)


def test_a_model_without_a_decoder_shows_words(tmp_path: Path) -> None:
    model = load_toy("ctc-text", tmp_path)
    assert places_of(model, "I love books.", None, None, None).kind == "word"
    with pytest.raises(Fault, match="give --states encoder"):
        places_of(model, "I love books.", "decoder", None, None)


def test_training_data_that_is_gone(tmp_path: Path, trained: Path) -> None:
    model = regard.load(trained)
    source, target = write_corpus(tmp_path, 10)
    corpus = model.recipe.data.train[0].model_copy(update={"source": str(source), "target": str(target)})
    data = model.recipe.data.model_copy(update={"train": [corpus]})
    model.recipe = model.recipe.model_copy(update={"data": data})
    assert len(list(training_texts(model))) == 10
    source.unlink()
    with pytest.raises(Fault, match="The training data of this model cannot be read: "):
        sample_texts(model, 5)


def test_a_cut_text_keeps_its_mark(trained: Path) -> None:
    lines = examples_lines(search((1.0, 1.0), 2), 80)
    assert lines[0] == "1: 1 of the 2 nearest were followed by it"
    assert lines[-1].startswith("Nearest by cosine among 8 states of 3 of 10 training texts, as in k-nearest")
    model = regard.load(trained)
    drawing = model.look_examples("I love books.", 3, from_lines=300).drawing
    rows = [line for line in drawing.lines(60, colour=False) if line.strip()[:2] in ("0.", "1.", "-0")]
    assert rows
    assert all("»" in line and "«" in line for line in rows)
