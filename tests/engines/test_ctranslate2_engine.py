"""The engine finds what our own search finds, in order, with the same scores and alignments."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from untrained_export import engine, translation

from regard.attention.alignments import links
from regard.attention.positions import Learned
from regard.attention.watch import watching
from regard.base.faults import Fault, TooLong
from regard.base.pauses import pausing
from regard.decoding.beam import Hypothesis, beam_search
from regard.decoding.options import DecodingOptions
from regard.engines.ctranslate2.engine import CTranslate2Engine
from regard.engines.links import word_links
from regard.models.transformer.network import Transformer
from regard.tasks.translation.forcing import force_batch, forced_scores
from regard.tasks.translation.task import Translation

TEXTS = ["Ana reads.", "Hi", "a b c d", "Кот", "Olá, mundo!", "x"]


def ending(pull: float = 0.4, sharpness: float = 2.0) -> Translation:
    """Return a random translator that ends its outputs eventually: each place is pulled towards the end."""
    task = translation(norm="before", positions="learned")
    assert isinstance(task.model, Transformer)
    assert isinstance(task.model.target_places, Learned)
    with torch.no_grad():
        task.model.source_embedding.weight.mul_(sharpness)
        towards = task.model.out.weight[task.end].sign()
        places = task.model.target_places.places.weight
        places += pull * torch.arange(len(places))[:, None] * towards
        task.model.out.weight[task.end] = towards
    return task


def searched(task: Translation, texts: list[str], options: DecodingOptions) -> list[list[Hypothesis]]:
    """Return the result of our own search."""
    batch = task.read(texts)
    limits = (batch.source_lengths * options.longest_ratio).long() + options.longest_extra
    return beam_search(task, batch, limits.clamp(max=task.model.options.longest), options)


@pytest.fixture(scope="module")
def ours() -> Translation:
    return ending()


@pytest.fixture(scope="module")
def theirs(ours: Translation, tmp_path_factory: pytest.TempPathFactory) -> CTranslate2Engine:
    return engine(ours, tmp_path_factory.mktemp("random"))


@pytest.mark.parametrize(
    "options",
    [
        {"beam": 1},
        {"beam": 3, "stop": "first", "n_best": 3},
        {"beam": 3, "stop": "first", "length_penalty": 1.5},
        {"beam": 3, "stop": "first", "length_penalty": 0.0},
        {"beam": 3, "stop": "first", "length_penalty_kind": "average", "length_penalty": 1.0},
        {"beam": 3, "stop": "first", "length_penalty_kind": "none"},
        {"beam": 3, "stop": "first", "longest_ratio": 0.5, "longest_extra": 1},
        {"beam": 1, "longest_ratio": 0.01, "longest_extra": 1},
    ],
    ids=str,
)
def test_what_is_found_and_what_it_scores_is_the_same(
    ours: Translation, theirs: CTranslate2Engine, options: dict[str, Any]
) -> None:
    search = DecodingOptions(**options)
    outputs, expected = theirs.translate(TEXTS, search), searched(ours, TEXTS, search)
    assert [[hypothesis.tokens for hypothesis in row] for row in outputs] == [
        [hypothesis.tokens for hypothesis in row] for row in expected
    ]
    scores = [
        torch.tensor([hypothesis.score for hypothesis in row], dtype=torch.float64) for row in (*outputs, *expected)
    ]
    torch.testing.assert_close(scores[: len(TEXTS)], scores[len(TEXTS) :], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("stop", ["settled", "exhaustive"])
def test_a_sure_translator_gives_the_same_however_the_search_stops(tmp_path: Path, stop: str) -> None:
    task, search = ending(sharpness=8.0), DecodingOptions.model_validate({"beam": 3, "stop": stop})
    outputs, expected = engine(task, tmp_path).translate(TEXTS, search), searched(task, TEXTS, search)
    assert [row[0].tokens for row in outputs] == [row[0].tokens for row in expected]


def test_the_outputs_compared_are_of_many_lengths(ours: Translation) -> None:
    rows = searched(ours, TEXTS, DecodingOptions(beam=3, n_best=3))
    lengths = {len(hypothesis.tokens) for row in rows for hypothesis in row}
    assert len(lengths) > 4


def test_length_penalties_make_a_difference(theirs: CTranslate2Engine) -> None:
    outputs = [
        [row[0].tokens for row in theirs.translate(TEXTS, DecodingOptions(beam=3, stop="first", length_penalty=alpha))]
        for alpha in (0.0, 1.5)
    ]
    assert outputs[0] != outputs[1]
    assert sum(map(len, outputs[0])) < sum(map(len, outputs[1]))


@pytest.mark.parametrize("options", [{"positions": "rotary"}, {"norm": "before"}, {"key_value_heads": 2}], ids=str)
def test_writing_token_by_token_is_the_same_for_other_builds(options: dict[str, Any], tmp_path: Path) -> None:
    task, search = translation(**options), DecodingOptions(beam=3, longest_ratio=1.0, longest_extra=3)
    outputs, expected = engine(task, tmp_path).translate(TEXTS, search), searched(task, TEXTS, search)
    assert [[hypothesis.tokens for hypothesis in row] for row in outputs] == [
        [hypothesis.tokens for hypothesis in row] for row in expected
    ]


@pytest.mark.parametrize("rows", [1, 2, 32])
def test_batches_change_nothing_and_order_is_kept(ours: Translation, tmp_path: Path, rows: int) -> None:
    search = DecodingOptions(beam=3, stop="first")
    texts = [*TEXTS, "", "  ", *reversed(TEXTS)]
    outputs = engine(ours, tmp_path, rows).translate(texts, search)
    assert [row[0].tokens for row in outputs] == [row[0].tokens for row in reversed(outputs)]
    assert [row[0].tokens for row in outputs[: len(TEXTS)]] == [row[0].tokens for row in searched(ours, TEXTS, search)]
    assert outputs[len(TEXTS)] == outputs[len(TEXTS) + 1]
    assert (outputs[len(TEXTS)][0].tokens, outputs[len(TEXTS)][0].score) == ([], 0.0)


def test_nothing_gives_nothing(theirs: CTranslate2Engine) -> None:
    assert theirs.translate([], DecodingOptions()) == []
    assert len(theirs.translate([""], DecodingOptions(), explained=True)) == 1


@pytest.mark.parametrize("beam", [1, 3])
def test_an_explained_output_has_the_scores_of_its_tokens(
    ours: Translation, theirs: CTranslate2Engine, beam: int
) -> None:
    search = DecodingOptions(beam=beam, stop="first", n_best=beam)
    outputs, expected = theirs.translate(TEXTS, search, explained=True), searched(ours, TEXTS, search)
    for row, expected_row in zip(outputs, expected, strict=True):
        torch.testing.assert_close(row[0].token_scores, expected_row[0].token_scores, rtol=1e-4, atol=1e-4)
        assert all(hypothesis.token_scores == [] for hypothesis in row[1:])
    assert theirs.translate(TEXTS[:1], search)[0][0].token_scores == []


@pytest.mark.parametrize("beam", [1, 3])
def test_an_explained_output_is_aligned_as_ours_is(ours: Translation, theirs: CTranslate2Engine, beam: int) -> None:
    texts = ["a b c d", "e f g", "one two three", "y z"]
    for text, row in zip(texts, theirs.translate(texts, DecodingOptions(beam=beam), explained=True), strict=True):
        with watching(ours.model) as gazes:
            forced_scores(ours, force_batch(ours, [text], [row[0].tokens]))
        crossing = [gaze.weights for gaze in gazes if (gaze.looks_from, gaze.looks_at) == ("target", "source")]
        weights = crossing[-2][0, :, :-1].mean(dim=0)  # the last block but one
        words = ours.target.words(row[0].tokens), ours.source.words(ours.source.encode(text))
        assert row[0].alignment == sorted(links(weights, *words), key=lambda link: link[1])


def test_words_are_linked_by_the_sum_of_their_tokens() -> None:
    weights = [[0.6, 0.0, 0.3], [0.1, 0.5, 0.4], [0.2, 0.2, 0.6]]
    # The first word attends with two tokens: 0.7 to word 0, 0.5 and 0.7 to the two tokens of word 1.
    assert word_links(weights, [0, 0, 1], [0, 1, 1]) == [(1, 0), (1, 1)]
    assert word_links(weights, [0, -1, 1], [0, 1, 1]) == [(0, 0), (1, 1)]
    assert word_links([[0.9, 0.1]], [0], [-1, 0]) == [(0, 0)]
    assert word_links([[0.0, 0.0]], [0], [0, 1]) == []
    assert word_links([], [], [0]) == []


@pytest.mark.parametrize(
    "options",
    [
        {"coverage_penalty": 0.2},
        {"nested": True},
        {"groups": 2},
        {"shortest": 3},
        {"repetition_penalty": 1.5},
        {"unrepeated": 2},
    ],
    ids=str,
)
def test_a_search_that_ctranslate2_does_otherwise_is_refused(
    theirs: CTranslate2Engine, options: dict[str, Any]
) -> None:
    ((name, value),) = options.items()
    with pytest.raises(Fault) as caught:
        theirs.translate(["Hi"], DecodingOptions(**options))
    assert str(caught.value) == f"CTranslate2 cannot follow decoding.{name} = {value!r}; translate with torch."


def test_a_text_too_long_for_the_model_is_refused_by_its_number(theirs: CTranslate2Engine) -> None:
    with pytest.raises(TooLong, match=r"^Text 3: 'm{40}'… has 65 tokens, but the model takes 64 at most; split it\.$"):
        theirs.translate(["a", "m" * 63, "m" * 64], DecodingOptions(beam=1, longest_ratio=0.1, longest_extra=1))


def test_one_text_that_is_no_list_is_a_mistake(theirs: CTranslate2Engine) -> None:
    with pytest.raises(TypeError, match="takes a list of texts"):
        theirs.translate("Hi", DecodingOptions())


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_greedy_search_without_scores_writes_the_same(theirs: CTranslate2Engine, ratio: float) -> None:
    search = DecodingOptions(beam=1, longest_ratio=ratio, longest_extra=1)
    plain, scored = theirs.translate(TEXTS, search, scored=False), theirs.translate(TEXTS, search)
    assert [row[0].tokens for row in plain] == [row[0].tokens for row in scored]
    assert all(
        math.isnan(row[0].score) and math.isfinite(other[0].score) for row, other in zip(plain, scored, strict=True)
    )
    beam = DecodingOptions(beam=2)
    assert theirs.translate(TEXTS, beam, scored=False) == theirs.translate(TEXTS, beam)


def test_while_a_batch_is_waited_for_another_may_be_translated(theirs: CTranslate2Engine) -> None:
    options = DecodingOptions(beam=4)
    expected, inside = theirs.translate(TEXTS, options), []

    def pause(is_free: bool) -> None:
        if not inside:
            inside.append(None)  # so that the inner search is not interrupted in turn
            inside[0] = theirs.translate(TEXTS, options)

    with pausing(pause):
        assert theirs.translate(TEXTS, options) == expected
    assert inside == [expected]
