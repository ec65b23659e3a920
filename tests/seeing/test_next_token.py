"""From a model to what it may write: the unchanged search and distribution, and refusals."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.base.faults import Fault
from regard.decoding.filters import distribution
from regard.decoding.options import SamplingOptions
from regard.seeing.next_token import EXAMPLES, STEPS, beam_tree, next_choices
from regard.tasks.translation.forcing import force_batch, forced_distributions
from regard.verbs.translate.model import TranslationModel

sys.path.insert(0, str(Path(__file__).parent / "lessons"))
from untrained import untrained

TEXT = "Ana reads a green book."
FAMILIES = {
    "transformer": ("transformer", {}),
    "bahdanau": ("seq2seq", {"decoder": "bahdanau"}),
    "luong": ("seq2seq", {"decoder": "luong"}),
    "bottleneck": ("seq2seq", {"decoder": "bottleneck"}),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TranslationModel:
    """Return an untrained subword model that takes at most twenty tokens."""
    return untrained(tmp_path_factory.mktemp("subwords"), "transformer", "unigram")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> TranslationModel:
    """Return an untrained word model."""
    return untrained(tmp_path_factory.mktemp("words"), "transformer")


# The beam


@pytest.mark.parametrize("width", [1, 4, 8])
def test_the_outputs_of_the_tree_are_the_translations(model: TranslationModel, width: int) -> None:
    tree = beam_tree(model, TEXT, width)
    (translated,) = model.translate([TEXT], beam=width, n_best=width)
    outputs = [(tree.nodes[place].text, tree.nodes[place].score) for place in tree.outputs]
    assert outputs == [tuple(output) for output in translated.n_best]
    assert [tree.nodes[place].token for place in tree.path(tree.outputs[0])] == [*translated.tokens, "</s>"]
    assert tree.width == width
    assert tree.source == TEXT


def test_what_is_not_given_is_as_the_recipe_says(model: TranslationModel) -> None:
    assert beam_tree(model, TEXT).width == model.recipe.decoding.beam
    assert beam_tree(model, TEXT) == beam_tree(model, TEXT, model.recipe.decoding.beam)


def test_the_length_penalty_changes_the_scores(model: TranslationModel) -> None:
    plain, long = (beam_tree(model, TEXT, 2, alpha) for alpha in (0.0, 2.0))
    best = plain.nodes[plain.outputs[0]]
    assert best.score == pytest.approx(best.total)
    assert long.nodes[long.outputs[0]].score != pytest.approx(long.nodes[long.outputs[0]].total)


def test_the_text_of_a_hypothesis_is_what_its_tokens_write(model: TranslationModel) -> None:
    tree = beam_tree(model, TEXT, 3)
    for place in range(0, len(tree.nodes), 7):
        pieces = [tree.nodes[number].token for number in tree.path(place)]
        if not any(piece.startswith("<") for piece in pieces):
            assert tree.nodes[place].text == "".join(pieces).replace("▁", " ").removeprefix(" ")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_beam_and_a_next_token(family: str, tmp_path: Path) -> None:
    name, options = FAMILIES[family]
    built = untrained(tmp_path, name, **options)
    tree = beam_tree(built, "Ana reads", 3)
    assert tree.nodes[tree.outputs[0]].text == built.translate(["Ana reads"], beam=3)[0].text
    choices = next_choices(built, "Ana reads", prefix="Ana")
    batch = force_batch(built.task, ["Ana reads"], [built.task.target.encode("Ana")])
    (forced,) = forced_distributions(built.task, batch)
    expected = forced[-1].detach().exp().sort(descending=True).values
    assert choices.panels[0].probabilities == pytest.approx(expected.numpy(), abs=1e-6)


@pytest.mark.parametrize("kind", ["bytes", "characters", "unigram"])
def test_any_kind_of_token(kind: str, tmp_path: Path) -> None:
    built = untrained(tmp_path, "transformer", kind)
    assert beam_tree(built, "Ana", 2).outputs
    assert len(next_choices(built, "Ana", prefix="né\n", shown=5).tokens) == 5


# The next token


def test_the_distribution_is_what_a_forced_pass_gives(model: TranslationModel) -> None:
    written = model.search_tokens(TEXT)
    (forced,) = forced_distributions(model.task, force_batch(model.task, [TEXT], [written]))
    for at in (0, 2, len(written)):
        choices = next_choices(model, TEXT, at=at, shown=model.task.target.size)
        order = torch.tensor(choices.numbers)
        probabilities = choices.panels[0].probabilities
        assert forced[at].detach().double().exp()[order].numpy() == pytest.approx(probabilities, abs=1e-6)
        assert probabilities.sum() == pytest.approx(1)
        assert (np.diff(probabilities) <= 0).all()
        assert choices.before == model.task.target.pieces(written[:at])
        assert choices.taken is not None
        assert choices.numbers[choices.taken] == [*written, model.task.end][at]


def test_without_a_place_it_is_the_first_token(model: TranslationModel) -> None:
    choices = next_choices(model, TEXT)
    assert (choices.before, choices.written) == ([], "")
    assert choices.panels[0].probabilities == pytest.approx(next_choices(model, TEXT, at=0).panels[0].probabilities)
    assert len(choices.tokens) == 12


def test_a_prefix_is_what_was_written(model: TranslationModel) -> None:
    choices = next_choices(model, TEXT, prefix="Ana lê")
    assert choices.written == "Ana lê"
    assert choices.before == model.task.target.pieces(model.task.target.encode("Ana lê"))
    assert choices.taken is None
    assert next_choices(model, TEXT, prefix="").before == []


def test_steps_are_taken_one_after_the_other_in_the_order_of_sampling(model: TranslationModel) -> None:
    steps = {"top_p": 0.8, "top_k": 40, "temperature": 0.7}
    choices = next_choices(model, TEXT, steps=steps)
    assert [panel.title for panel in choices.panels] == [
        "the model's own",
        "temperature 0.7",
        "then top-k 40",
        "then top-p 0.8",
    ]
    assert choices.origins == [0, 0, 1, 2]
    log_probabilities = torch.from_numpy(choices.panels[0].probabilities).log()[None]
    drawn_from = distribution(log_probabilities, SamplingOptions(**steps))[0].exp().numpy()
    assert choices.panels[-1].probabilities == pytest.approx(drawn_from)
    assert choices.panels[2].kept == 40
    assert choices.panels[-1].kept < 40


def test_without_steps_examples_stand_side_by_side(model: TranslationModel) -> None:
    choices = next_choices(model, TEXT)
    assert [panel.title for panel in choices.panels[1:]] == [
        "temperature 0.5",
        "temperature 1.5",
        "top-k 5",
        "top-p 0.9",
    ]
    assert [panel.options for panel in choices.panels[1:]] == list(EXAMPLES)
    assert choices.origins == [0] * 5
    plain, bold, wild, *_ = choices.panels
    assert bold.entropy < plain.entropy < wild.entropy


@pytest.mark.parametrize(
    ("name", "value"), [("temperature", 0.5), ("top_k", 3), ("top_p", 0.3), ("min_p", 0.9), ("typical", 0.2)]
)
def test_every_step_changes_something(model: TranslationModel, name: str, value: float) -> None:
    plain, after = next_choices(model, TEXT, steps={name: value}).panels
    assert not np.allclose(plain.probabilities, after.probabilities)
    assert after.probabilities.sum() == pytest.approx(1)
    assert set(STEPS) == {"temperature", "top_k", "top_p", "min_p", "typical"}


def test_watching_sees_none_of_it(model: TranslationModel) -> None:
    with regard.watching(model) as gazes:
        beam_tree(model, TEXT, 2)
        next_choices(model, TEXT)
    assert gazes == []


# Refusals


def test_no_text_and_too_much_text(small: TranslationModel) -> None:
    for view in (beam_tree, next_choices):
        with pytest.raises(Fault, match="There is no text to look at"):
            view(small, "  ")
        with pytest.raises(Fault, match="takes 20 at most; split it"):
            view(small, "Ana " * 30)


def test_a_prefix_that_the_model_could_not_write(small: TranslationModel) -> None:
    with pytest.raises(Fault, match="The prefix has 'casa', for which this model has no tokens"):
        next_choices(small, "Ana", prefix="Ana casa")
    with pytest.raises(Fault, match="The prefix has 25 tokens, but an output has 19 at most; shorten it"):
        next_choices(small, "Ana", prefix="Ana " * 25)
    assert len(next_choices(small, "Ana", prefix="Ana " * 19).before) == 19


def test_a_place_beyond_the_end_and_two_places_at_once(small: TranslationModel) -> None:
    count = len(small.search_tokens("Ana"))
    with pytest.raises(Fault, match=f"best output has {count} tokens; --at 99 lies beyond its end"):
        next_choices(small, "Ana", at=99)
    with pytest.raises(Fault, match="give one of the two"):
        next_choices(small, "Ana", prefix="Ana", at=1)


def test_options_that_cannot_be(small: TranslationModel) -> None:
    with pytest.raises(Fault, match=r"top_p is 0\.0, expected more than 0"):
        next_choices(small, "Ana", steps={"top_p": 0.0})
    with pytest.raises(Fault, match="did you mean 'top_p'"):
        next_choices(small, "Ana", steps={"topp": 0.5})
    with pytest.raises(Fault, match="beam is 65"):
        beam_tree(small, "Ana", 65)
