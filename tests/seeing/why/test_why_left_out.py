"""Leave-one-out: what is taken out was never there, and what must stay is blanked."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from why_models import ASKED, toy_item, toy_model, toy_question

from regard.attention.editing import Edit, editing
from regard.base.faults import Fault
from regard.seeing.why.decision import Question
from regard.seeing.why.maps import log_probabilities, map_of
from regard.seeing.why.question import ask
from regard.viewing.sides import Words


def left(question: Question, *units: int) -> float:
    """Return the log-probability without some units."""
    assert question.without is not None
    return question.without(units)


def whole(question: Question) -> float:
    return float(log_probabilities(question, question.inputs[None]))


def units_of(question: Question, word: int) -> list[int]:
    """Return the units of a word."""
    assert isinstance(question.side, Words)
    return [unit for unit, home in enumerate(question.side.places) if home == word]


def occluded(question: Question, unit: int) -> float:
    """Return the log-probability with the baseline in place of a unit."""
    inputs = question.inputs.clone()
    inputs[unit] = question.baseline[unit]
    return float(log_probabilities(question, inputs[None]))


@pytest.mark.parametrize("name", ["tagging rnn", "tagging encoder", "tagging bert"])
def test_a_tagged_word_stands_in_the_shorter_sentence(name: str, tmp_path: Path) -> None:
    model = toy_model(name, tmp_path)
    words = toy_item(name, "tagging", tmp_path).split()[:3]
    question = ask(model, " ".join(words), place=2)
    tag = question.chosen.removeprefix(f"{words[2]}: ")
    for word in (0, 1):
        others = [other for number, other in enumerate(words) if number != word]
        shorter = ask(model, " ".join(others), tag, place=1)
        units = units_of(question, word)
        assert left(question, *units) == pytest.approx(whole(shorter), abs=1e-10)
        assert left(question, *units) != pytest.approx(whole(question), abs=1e-10)


@pytest.mark.parametrize("name", ["tagging rnn", "tagging encoder", "tagging bert"])
def test_the_tagged_word_itself_is_blanked(name: str, tmp_path: Path) -> None:
    """There would be nothing to tag without it, so its place stays, whatever the word was.

    A BERT has only the vectors of pieces taken away, so it reads no letters or capitals next to them here.
    """
    only_pieces = {"shape_width": 0, "letters": {"reader": "none"}} if name == "tagging bert" else {}
    model = toy_model(name, tmp_path, **only_pieces)
    first, second, third, *_ = toy_item(name, "tagging", tmp_path).split()
    question = ask(model, f"{first} {second}", place=1)
    tag, own = question.chosen.removeprefix(f"{second}: "), units_of(question, 1)
    other = ask(model, f"{first} {third}", tag, place=1)
    assert left(question, *own) == pytest.approx(left(other, *units_of(other, 1)), abs=1e-10)
    assert left(question, *own) != pytest.approx(whole(question), abs=1e-10)
    if len(own) == 1:
        assert left(question, *own) == pytest.approx(occluded(question, *own), abs=1e-10)
    with pytest.raises(Fault, match="keep at least one"):
        left(question, *range(len(question.names)))


def test_columns_are_cut_out_of_a_line(tmp_path: Path) -> None:
    model = toy_model("handwriting", tmp_path)
    line = toy_item("handwriting", "handwriting", tmp_path)
    question, stack = ask(model, line, ASKED["handwriting"]), model.task.model.options.stack
    pixels = np.asarray(Image.open(line))
    for unit in (0, len(question.names) - 2):
        cut = tmp_path / "cut.png"
        Image.fromarray(np.delete(pixels, range(unit * stack, (unit + 1) * stack), axis=1)).save(cut)
        assert left(question, unit) == pytest.approx(whole(ask(model, str(cut), ASKED["handwriting"])), abs=1e-10)


def test_frames_are_cut_out_of_a_sound(tmp_path: Path) -> None:
    """The network hears the frames that are kept, one after the other."""
    model = toy_model("ctc", tmp_path)
    sound = toy_item("ctc", "transcription", tmp_path)
    question, network = ask(model, sound, "ab"), model.task.model
    kept = [0, 2]
    frames = question.inputs[kept].unflatten(1, (network.options.stack, -1)).flatten(0, 1)[None]
    with torch.no_grad():
        heard = network.hear(frames, torch.tensor([frames.shape[1]]))
        labels = torch.tensor([[0, symbol] for symbol in range(len(model.task.alphabet.symbols))])
        scores = torch.stack([network.score(heard, pair[None], torch.tensor([2]))[0] for pair in labels])
    number = model.task.alphabet.symbols.index("b")
    assert model.task.alphabet.symbols.index("a") == 0
    others = [unit for unit in range(len(question.names)) if unit not in kept]
    assert left(question, *others) == pytest.approx(float(scores.log_softmax(0)[number]), abs=1e-10)
    with pytest.raises(Fault, match="too short for its 2 labels"):
        left(question, *range(1, len(question.names)))
    with pytest.raises(Fault, match="too short for its 2 labels"):  # one of the two would fit with another label
        left(ask(model, sound, "aa"), *range(2, len(question.names)))


def test_a_machine_reads_a_shorter_input(tmp_path: Path) -> None:
    """An answer depends only on what was read before it, so more questions behind it change nothing."""
    model = toy_model("ntm", tmp_path)
    longer, shorter = ask(model, "01 11 10", place=1), ask(model, "01 10", place=1)
    item = list(longer.names).index("11")
    assert longer.chosen == shorter.chosen
    assert left(longer, item) == pytest.approx(whole(shorter), abs=1e-10)
    assert left(longer, item) != pytest.approx(whole(longer), abs=1e-10)


def test_a_node_without_another_looks_past_it(tmp_path: Path) -> None:
    """Taking a node out is the same as weights of zero towards it, in every layer."""
    model = toy_model("gat", tmp_path, dropout=0.0)
    question = ask(model, "0")
    centre = question.names.index("0")
    for unit in range(len(question.names)):
        if unit == centre:
            assert left(question, unit) == pytest.approx(occluded(question, unit), abs=1e-10)
            continue
        others = [other for other in range(len(question.names)) if other != unit]
        edits = [Edit(at=f"layers.{layer}", do="zero", queries=others, keys=[unit]) for layer in range(2)]
        with editing(model, edits):
            edited = whole(question)
        assert left(question, unit) == pytest.approx(edited, abs=1e-10)


def test_pixels_of_a_patch_that_is_left_out_do_not_matter(tmp_path: Path) -> None:
    model = toy_model("patches", tmp_path)
    picture = toy_item("patches", "glimpses", tmp_path)
    question = ask(model, picture)
    pixels = np.array(Image.open(picture))
    pixels[:6, 6:12] = 255 - pixels[:6, 6:12]  # the second patch
    Image.fromarray(pixels).save(tmp_path / "changed.png")
    changed = ask(model, str(tmp_path / "changed.png"), question.chosen)
    assert left(changed, 1) == pytest.approx(left(question, 1), abs=1e-12)
    assert left(changed, 0) != pytest.approx(left(question, 0), abs=1e-12)
    assert whole(changed) != pytest.approx(whole(question), abs=1e-12)


def test_patches_keep_their_places(tmp_path: Path) -> None:
    """A patch alone gives another answer elsewhere, since its place is read with it."""
    model = toy_model("patches", tmp_path)
    Image.fromarray(np.full((18, 18), 128, np.uint8)).save(tmp_path / "grey.png")
    question = ask(model, str(tmp_path / "grey.png"))
    alone = {left(question, *(other for other in range(9) if other != unit)) for unit in range(9)}
    assert len(alone) == 9


@pytest.mark.parametrize("name", ["captioner", "caption-transformer", "video captioner"])
def test_a_captioner_does_not_see_a_cell_that_is_left_out(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    model = toy_model(name, tmp_path)
    question = ask(model, toy_item(name, "captioning", tmp_path), ASKED.get(name))
    if question.without is None:
        with pytest.raises(Fault, match=r"; use occlusion\.$"):
            map_of(question, "leave-one-out")
        return
    before, read = left(question, 1), model.task.read

    def changed(items: Any) -> Any:
        batch = read(items)
        features = batch.features.clone().unflatten(1, (len(question.names), -1))
        features[:, 1] = features[:, 1].flip(-1)
        return replace(batch, features=features.flatten(1, 2))

    monkeypatch.setattr(model.task, "read", changed)
    other = ask(model, toy_item(name, "captioning", tmp_path), question.output)
    assert whole(other) != pytest.approx(whole(question), abs=1e-12)
    assert left(other, 1) == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("convnet", "Without a block the picture has a hole"), ("ram", "Without a block the picture has a hole")],
)
def test_what_cannot_be_left_out_is_refused_with_the_reason(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(Fault, match=reason):
        map_of(toy_question(name, tmp_path), "leave-one-out")


def test_heads_that_look_by_place_need_every_patch(tmp_path: Path) -> None:
    question = toy_question("patches", tmp_path, heads_look_by="place")
    with pytest.raises(Fault, match="look by place on the whole grid, so no patch can be left out"):
        map_of(question, "leave-one-out")
    assert torch.isfinite(torch.tensor(map_of(question, "occlusion").scores)).all()
