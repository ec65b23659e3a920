"""Questions: what is explained by default, by place, by word and by output, and what is refused."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
from why_models import ASKED, toy_item, toy_model

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.seeing.why.explaining import WhyRequest
from regard.seeing.why.pictures import Blocks
from regard.seeing.why.question import ask
from regard.seeing.why.views import view_why
from regard.tasks.translation.forcing import force_batch, forced_scores
from regard.viewing.sides import Cells


def loaded(name: str, folder: Path) -> tuple[Loaded, str]:
    model = toy_model(name, folder)
    return model, toy_item(name, model.recipe.task, folder)


def probability(question: Any) -> float:
    with torch.no_grad():
        return float(question.log_probability(question.inputs[None]).exp())


def test_the_places_of_an_output_share_its_probability(tmp_path: Path) -> None:
    """All places together, with the end, are the probability of the whole output."""
    model, text = loaded("transformer", tmp_path)
    output = "minha minha"
    written = ask(model, text, output).written
    places = [ask(model, text, output, place) for place in range(len(written) + 1)]
    with torch.no_grad():
        (whole,) = forced_scores(model.task, force_batch(model.task, [text], [written])).tolist()
    assert sum(np.log(probability(question)) for question in places) == pytest.approx(whole)
    assert places[-1].chosen == "</s>"
    assert ask(model, text, output).chosen == places[-2].chosen
    assert probability(ask(model, text, output, word="minha")) == pytest.approx(probability(places[0]))


@pytest.mark.parametrize("family", ["rnn", "encoder", "averaging", "patches", "convnet", "gat", "memory", "dmn"])
def test_the_classes_share_one(family: str, tmp_path: Path) -> None:
    model, item = loaded(family, tmp_path)
    task: Any = model.task
    classes = {"gat": lambda: task.graph.classes, "memory": lambda: task.vocabulary.classes}
    names = classes.get("memory" if family == "dmn" else family, lambda: task.labels.classes)()
    shares = {name: probability(ask(model, item, name)) for name in names}
    assert sum(shares.values()) == pytest.approx(1)
    own = ask(model, item)
    assert shares[own.chosen] == max(shares.values())
    with pytest.raises(Fault, match="There is no class 'nonsense'; the classes are"):
        ask(model, item, "nonsense")
    with pytest.raises(Fault, match="omit the place or word"):
        ask(model, item, place=1)


def test_a_tagger_explains_the_tag_of_a_word(tmp_path: Path) -> None:
    """With a chain the probability is the marginal one that `answer` gives."""
    for name in ("tagging rnn", "tagging encoder", "tagging bert"):
        folder = tmp_path / name
        folder.mkdir()
        model, text = loaded(name, folder)
        tags = model.task.answers(model.task.read([text]))[0]
        for place in range(len(tags.words)):
            question = ask(model, text, place=place)
            assert question.chosen == f"{tags.words[place]}: {tags.answers[place]}"
            assert probability(question) == pytest.approx(tags.probabilities[place])
        assert ask(model, text, word=tags.words[0]).chosen == ask(model, text, place=0).chosen
        with pytest.raises(Fault, match="there is no word number"):
            ask(model, text, place=len(tags.words))


def test_masks_are_counted(tmp_path: Path) -> None:
    model, _ = loaded("bert", tmp_path)
    first, last = ask(model, "o [MASK] a [MASK] .", place=0), ask(model, "o [MASK] a [MASK] .")
    assert (first.queries, last.queries) == ((2,), (4,))
    for text, place, sentence in (
        ("o .", None, "no \\[MASK\\] in the text"),
        ("o [MASK]", 3, "there is no mask number 4"),
    ):
        with pytest.raises(Fault, match=sentence):
            ask(model, text, place=place)
    with pytest.raises(Fault, match="is not one token of this model"):
        ask(model, "o [MASK]", "two words")
    with pytest.raises(Fault, match="chosen by its place"):
        ask(model, "o [MASK]", word="o")


def test_items_of_a_machine_are_counted(tmp_path: Path) -> None:
    """The product over the items is the probability of the answer, with one member."""
    model, item = loaded("sam", tmp_path)
    answer = model.task.answers(model.task.read([item]))[0]
    assert probability(ask(model, item, place=0)) == pytest.approx(answer.probability)
    with pytest.raises(Fault, match="there is no item number 10"):
        ask(model, item, place=9)
    with pytest.raises(Fault, match="choose an item of it by its place"):
        ask(model, item, "01")


def test_labels_of_a_sound_share_one(tmp_path: Path) -> None:
    model, item = loaded("ctc", tmp_path)
    shares = [probability(ask(model, item, f"{symbol}b", place=0)) for symbol in model.task.alphabet.symbols]
    assert sum(shares) == pytest.approx(1)
    with pytest.raises(Fault, match="has no symbol 'z'"):
        ask(model, item, "z")
    with pytest.raises(Fault, match="there is no label number 3"):
        ask(model, item, "ab", place=2)


def test_an_output_longer_than_a_sound_is_refused(tmp_path: Path) -> None:
    """Each label needs a frame, and equal ones need another between them."""
    model, item = loaded("ctc", tmp_path)
    frames = len(ask(model, item, "ab").names)
    longest = ("ab" * frames)[:frames]
    assert 0 < probability(ask(model, item, longest)) <= 1
    with pytest.raises(
        Fault, match=rf"has {frames + 1} symbols and needs {frames + 1} frames, but the sound has {frames}; give"
    ):
        ask(model, item, ("ab" * frames)[: frames + 1])
    with pytest.raises(Fault, match=rf"has {frames} symbols and needs {2 * frames - 1} frames, but the sound has"):
        ask(model, item, "a" * frames)


def test_a_language_model_explains_its_next_token_or_a_given_one(tmp_path: Path) -> None:
    model, text = loaded("gpt", tmp_path)
    own = ask(model, text)
    again = ask(model, text, own.chosen, place=0)
    assert probability(own) == pytest.approx(probability(again))
    later = ask(model, text, "the house", place=1)
    assert list(later.names) == [*own.names, "the"]
    with pytest.raises(Fault, match="Without an output the next token is explained"):
        ask(model, text, place=1)
    with pytest.raises(Fault, match="There is no text to read"):
        ask(model, " ")


def test_facts_that_are_left_out_were_never_told(tmp_path: Path) -> None:
    model, story = loaded("memory", tmp_path)
    question = ask(model, story)
    lines = [line for line in story.splitlines() if question.names[0] not in line]
    assert question.without is not None
    assert question.without([0]) == pytest.approx(np.log(probability(ask(model, "\n".join(lines), question.chosen))))


@pytest.mark.parametrize("shape", [(6, 6), (7, 5)])
def test_blocks_of_a_picture_join_to_the_picture(shape: tuple[int, int]) -> None:
    pictures, blocks = torch.rand(2, *shape, 3), Blocks(*shape, (3, 2))
    cut = blocks.cut(pictures)
    assert cut.shape == (2, 6, blocks.sides[0] * blocks.sides[1] * 3)
    assert torch.equal(blocks.join(cut), pictures)
    assert torch.equal(cut[0, 0].reshape(*blocks.sides, 3), pictures[0, : blocks.sides[0], : blocks.sides[1]])
    assert len(blocks.names) == 6


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "name", ["patches", "ram", "captioner", "video captioner", "ctc", "handwriting", "gat", "dmn", "ntm"]
)
def test_every_side_can_be_drawn(name: str, tmp_path: Path) -> None:
    model, item = loaded(name, tmp_path)
    view = view_why(model, item, WhyRequest("occlusion", ASKED.get(name)))
    for suffix in ("png", "html", "json"):
        assert view.save(tmp_path / f"why.{suffix}").stat().st_size > 300
    assert len(view.numbers()["maps"][0]["scores"]) == len(view.numbers()["units"])
    assert "Why “" in repr(view)


def test_a_picture_is_drawn_as_large_as_its_blocks(tmp_path: Path) -> None:
    model, item = loaded("convnet", tmp_path)
    side = ask(model, item).side
    assert isinstance(side, Cells)
    assert side.grid is not None
    assert [length % count for length, count in zip(side.picture.shape, side.grid, strict=True)] == [0, 0]
