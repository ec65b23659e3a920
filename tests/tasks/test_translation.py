"""Laws of a translator in use: text in, text out, independent of its neighbours."""

from pathlib import Path

import pytest
import torch

import regard
from regard.base.faults import Fault
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.objectives import CrossEntropy
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import Piece
from regard.verbs.translate.search import find

TEXTS = ["I love books.", "Ana sees the red house.", "", "The boys do not read.", "Três maçãs. Привет!", "a"]


@pytest.fixture(scope="module")
def model(trained: Path) -> TranslationModel:
    """Return the small translator in float64, so that laws hold to the last significant digit."""
    loaded = regard.load(trained, device="cpu")
    loaded.task.double()
    return loaded


def test_batch_is_alone(model: TranslationModel) -> None:
    together = model.translate(TEXTS)
    backwards = model.translate(TEXTS[::-1])[::-1]
    alone = [model.translate([text])[0] for text in TEXTS]
    for one, two, three in zip(together, backwards, alone, strict=True):
        assert one.text == two.text == three.text
        assert one.score == pytest.approx(three.score, rel=1e-9)
        assert two.score == pytest.approx(three.score, rel=1e-9)


def test_many_sentences_need_several_batches_and_keep_their_order(
    model: TranslationModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{text} {number}" for number in range(5) for text in TEXTS[:2]]
    together = [translation.text for translation in model.translate(texts, beam=2)]
    monkeypatch.setattr("regard.verbs.translate.search.SEARCH_TOKENS", 100)
    assert [translation.text for translation in model.translate(texts, beam=2)] == together
    assert model.translate(texts[3:4], beam=2)[0].text == together[3]


def test_score_found_is_score_when_forced(model: TranslationModel) -> None:
    for text in TEXTS[:2]:
        for penalty in (0.0, 1.0):
            translation = model.translate([text], length_penalty=penalty)[0]
            (hypothesis,) = find([model.task], [Piece(text)], model.plan(length_penalty=penalty))[0]
            total = float(model.force([text], [hypothesis.tokens])[0])
            assert translation.score == pytest.approx(total / ((5 + len(hypothesis.tokens) + 1) / 6) ** penalty)
            assert sum(translation.token_scores) == pytest.approx(total)


def test_spaces_at_the_ends_of_a_text_change_nothing(model: TranslationModel) -> None:
    plain, spaced = model.translate(["I love books.", " I love books. \u3000"])
    assert (plain.text, plain.score, plain.alignment) == (spaced.text, spaced.score, spaced.alignment)
    forced = [model.translate_as([text], ["Eu amo livros."])[0] for text in ("I love books.", "I love books. ")]
    assert forced[0] == forced[1]
    pairs = [[("I love books.", "Eu amo livros.")], [("I love books. ", " Eu amo livros. ")]]
    losses = [model.task.measure(model.task.pair_up(pair))["loss"].value for pair in pairs]
    assert losses[0] == losses[1]


def test_a_pair_is_quoted_by_its_beginning(model: TranslationModel) -> None:
    batch = model.task.pair_up([("I love books.", "Eu amo livros."), ("a", "b")])
    assert model.task.quote(batch) == "'I love books.' | 'Eu amo livros.'"
    long = model.task.pair_up([("I love books. " * 20, "Eu amo livros.")])
    assert model.task.quote(long) == f"'{('I love books. ' * 20)[:59]}…' | 'Eu amo livros.'"


def test_the_tokens_of_the_best_output(model: TranslationModel) -> None:
    for text in TEXTS[:2]:
        assert model.task.write(model.search_tokens(text)) == model.translate([text])[0].text


@pytest.mark.long
def test_in_float32_too_a_batch_changes_no_text(trained: Path) -> None:
    single = regard.load(trained, device="cpu")
    together = single.translate(TEXTS)
    for text, translation in zip(TEXTS, together, strict=True):
        alone = single.translate([text])[0]
        assert alone.text == translation.text
        assert alone.score == pytest.approx(translation.score, abs=1e-4)


def test_an_empty_text_gives_an_empty_text(model: TranslationModel) -> None:
    for text in ("", "   ", "\t"):
        translation = model.translate([text])[0]
        assert (translation.text, translation.tokens, translation.alignment) == ("", [], [])
    assert model.translate([]) == []


def test_watching_a_translation_shows_the_best_output(model: TranslationModel) -> None:
    plain = model.translate(TEXTS[:2])
    with regard.watching(model) as gazes:
        watched = model.translate(TEXTS[:2])
    assert [translation.text for translation in watched] == [translation.text for translation in plain]
    assert len(gazes) == 1 + 2 + 2  # one encoder block, two decoder blocks that look twice
    assert len({gaze.where for gaze in gazes}) == 5
    cross = gazes[-1]
    longest = max(len(translation.tokens) for translation in plain) + 1
    assert cross.weights.shape[0] == 2  # rows are inputs
    assert cross.weights.shape[2] == longest  # queries are all output tokens and the end
    for row, translation in enumerate(plain):
        torch.testing.assert_close(
            cross.weights[row, :, : len(translation.tokens) + 1].sum(-1),
            torch.ones(2, len(translation.tokens) + 1, dtype=torch.float64),
        )


def test_alignment_names_words_on_both_sides(model: TranslationModel) -> None:
    translation = model.translate(["Ana sees the red house."])[0]
    words = translation.text.split(" ")
    assert [target for _, target in translation.alignment] == list(range(len(words)))
    assert all(0 <= source < 5 for source, _ in translation.alignment)


def test_n_best_and_refusals(model: TranslationModel) -> None:
    translation = model.translate(["I love books."], beam=5, n_best=5)[0]
    assert len(translation.n_best) == 5
    assert translation.n_best[0] == (translation.text, translation.score)
    assert len(model.translate(["I love books."], n_best=6)[0].n_best) == 6  # with a beam of that width
    with pytest.raises(Fault, match="a beam of 2 cannot give the 3 best"):
        model.translate(["a"], beam=2, n_best=3)
    with pytest.raises(TypeError, match=r"write translate\(\[text\]\)"):
        model.translate("I love books.")
    with pytest.raises(Fault, match="beam is 0, expected 1 or more"):
        model.translate(["a"], beam=0)
    with pytest.raises(Fault, match=r"Text 1: .* but the model takes 1024 at most"):
        model.translate(["word " * 2000])


def test_splitting_a_batch_loses_nothing(model: TranslationModel) -> None:
    batch = model.task.pair_up([("I love books.", "Eu amo livros."), ("a", "b c d"), ("x y", "z")])
    whole = model.task.loss(batch)
    parts = [model.task.loss(piece) for piece in batch.split(2)]
    torch.testing.assert_close(sum(part.total for part in parts), whole.total)
    assert sum(part.count for part in parts) == whole.count == batch.tokens
    assert [piece.rows for piece in batch.split(3)] == [1, 1, 1]


def test_the_loss_of_a_batch_on_paper(model: TranslationModel) -> None:
    """Without smoothing, the loss is minus the forced log-probability."""
    batch = model.task.pair_up([("I love books.", "Eu amo livros.")])
    model.task.objective = CrossEntropy(0.0)
    tokens = model.task.target.encode("Eu amo livros.")
    forced = model.force(["I love books."], [tokens])
    torch.testing.assert_close(model.task.loss(batch).total.detach(), -forced[0])
    assert model.task.measure(batch)["loss"].value == pytest.approx(-float(forced[0]) / (len(tokens) + 1))


def test_inputs_are_the_target_shifted_right(model: TranslationModel) -> None:
    batch: PairBatch = model.task.pair_up([("a", "Eu amo livros."), ("b", "Eu")])
    assert (batch.inputs[:, 0] == model.task.begin).all()
    assert torch.equal(batch.inputs[:, 1:], batch.target[:, :-1])
    assert (batch.target.flatten()[batch.places] != model.task.target.pad).all()
    assert int((batch.target == model.task.end).sum()) == 2
