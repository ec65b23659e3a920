"""Generating text: requests, outputs, and refusals."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "language"))
from counted_language import counted_in, recipe_in
from small_network import network_in, table_in
from test_gpt_language import gpt_in

from regard.base.faults import Fault
from regard.families import check_recipe
from regard.verbs.generate import continuing, evaluation
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import GenerateRequest


@pytest.fixture(params=["ngram", "rnnlm"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> LanguageModel:
    """Return a language model of either kind; the network is untrained."""
    if request.param == "ngram":
        return LanguageModel(counted_in(tmp_path), recipe_in(tmp_path))
    return LanguageModel(network_in(tmp_path), check_recipe(table_in(tmp_path)))


def test_the_prompt_is_part_of_the_text_and_stays_as_it_was_written(model: LanguageModel) -> None:
    for prompt in ("the walrus sat", "  the  cat ", ""):
        ((generated,),) = model.generate([prompt], tokens=5)
        assert generated.prompt == prompt
        assert generated.text == (
            prompt.rstrip() + " " + " ".join(generated.tokens) if prompt else " ".join(generated.tokens)
        )


def test_it_stops_at_its_end_or_after_so_many_tokens(model: LanguageModel) -> None:
    lengths = set()
    for text in model.generate(["the"], tokens=4, samples=50)[0]:
        lengths.add(len(text.tokens))
        ended = len(text.tokens) < 4
        assert len(text.token_scores) == len(text.tokens) + ended
        assert text.score == pytest.approx(sum(text.token_scores))
    assert max(lengths) == 4
    assert len(lengths) > 1


def test_the_score_is_that_of_the_text(model: LanguageModel) -> None:
    ((generated,),) = model.generate([""], tokens=50)
    (scored,) = model.score([generated.text])
    assert scored.token_scores == pytest.approx(generated.token_scores, abs=1e-5)
    assert scored.tokens == [*generated.tokens, "</s>"]


def test_what_is_drawn_depends_on_the_seed_and_on_the_place_alone(model: LanguageModel) -> None:
    prompts = ["the", "a", "the"]
    together = [texts[0].text for texts in model.generate(prompts, sample={"seed": 3})]
    assert together == [texts[0].text for texts in model.generate(prompts, sample={"seed": 3})]
    assert model.generate(prompts[:1], sample={"seed": 3})[0][0].text == together[0]
    assert together != [texts[0].text for texts in model.generate(prompts, sample={"seed": 4})]


def test_a_cold_draw_is_greedy_search(model: LanguageModel) -> None:
    ((sampled,),) = model.generate(["the"], tokens=6, sample={"temperature": 0.0})
    ((generated,),) = model.generate(["the"], tokens=6, beam=1)
    assert sampled.text == generated.text


def test_a_beam_gives_its_best(model: LanguageModel) -> None:
    (generated,) = model.generate(["the"], tokens=6, beam=4, n_best=3)
    assert len({text.text for text in generated}) == 3
    assert [text.score for text in generated] == sorted((text.score for text in generated), reverse=True)


def test_many_prompts_keep_their_order(model: LanguageModel) -> None:
    prompts = [f"the {word}" for word in ("cat", "dog", "mat") * 100]
    assert [texts[0].prompt for texts in model.generate(prompts, tokens=1)] == prompts


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"beam": 4, "samples": 2}, "'beam' is for beam search, but sampling draws at random"),
        ({"beam": 4, "sample": {}}, "'beam' is for beam search, but sampling draws at random"),
        ({"samples": 2, "search": {"groups": 2}}, "'search.groups' is for beam search, but sampling draws at random"),
        ({"samples": 0}, "samples is 0, expected 1 or more"),
        ({"tokens": 0}, "tokens is 0, expected 1 or more"),
        ({"sample": {"top_q": 1}}, "sample has no 'top_q'"),
        ({"search": {"beam": 2}}, "'beam' has its own field"),
    ],
)
def test_what_does_not_go_together_is_refused(table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        GenerateRequest.read(table)


def test_texts_are_scored(model: LanguageModel) -> None:
    familiar, unknown = model.score(["the cat sat .", "the walrus"])
    assert familiar.unknown == 0
    assert unknown.unknown == 1
    assert familiar.score == pytest.approx(sum(familiar.token_scores))
    assert familiar.perplexity < unknown.perplexity
    assert model.score([]) == []


def test_a_prompt_or_a_text_is_refused_by_its_number_among_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number does not depend on how the texts are batched."""
    model = gpt_in(tmp_path)
    monkeypatch.setattr(continuing, "ROWS", 2)
    with pytest.raises(Fault, match="Text 5: the prompt has 9 tokens"):
        model.generate(["the"] * 4 + ["the " * 9], tokens=1, beam=1)
    monkeypatch.setattr(evaluation, "_LINES", 2)
    (lines := tmp_path / "lines.txt").write_text("the\n" * 4 + "the " * 9 + "\n", encoding="utf-8")
    with pytest.raises(Fault, match="Text 5: it has 9 tokens"):
        list(evaluation.score_file(model, lines))
