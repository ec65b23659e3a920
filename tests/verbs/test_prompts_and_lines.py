"""Reading of prompts by a language model, prompts and texts of several lines, and streamed texts."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "language"))
from counted_language import counted_in, recipe_in
from small_network import network_in, table_in

from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.families import check_recipe
from regard.tasks.language.lines import split_lines
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import GenerateRequest, PromptRequest
from regard.verbs.generate.telling import Teller, WrittenToken


@pytest.fixture(params=["ngram", "rnnlm"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> LanguageModel:
    """Return a language model of either kind; the network is untrained."""
    if request.param == "ngram":
        return LanguageModel(counted_in(tmp_path), recipe_in(tmp_path))
    return LanguageModel(network_in(tmp_path), check_recipe(table_in(tmp_path)))


def told(model: LanguageModel, **wanted: Any) -> tuple[list[WrittenToken], str]:
    heard: list[WrittenToken] = []
    texts = model.generate_aloud(GenerateRequest.read(wanted), heard.append)
    return heard, texts[0].text


def test_a_prompt_is_as_probable_as_its_line(model: LanguageModel) -> None:
    read = model.read_prompt(PromptRequest(prompt="the cat sat"))
    (scored,) = model.score(["the cat sat"])
    assert [token.token for token in read.tokens] == ["the", "cat", "sat"]
    assert [token.text for token in read.tokens] == ["the", " cat", " sat"]
    assert [token.score for token in read.tokens] == pytest.approx(scored.token_scores[:-1])
    (end,) = [choice for choice in read.next if choice.end]
    assert (end.token, end.text) == ("</s>", "\n")
    assert read.room is None


def test_what_may_come_next_is_whole_and_the_likeliest_is_what_greedy_search_writes(model: LanguageModel) -> None:
    read = model.read_prompt(PromptRequest(prompt="the ", shown=3))
    shares = [choice.probability for choice in read.next]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) + read.others_share == pytest.approx(1)
    assert len(read.next) + read.others == model.task.tokeniser.size - 2  # neither the pad nor the begin
    assert 1 < read.perplexity < model.task.tokeniser.size
    ((generated,),) = model.generate(["the"], tokens=1, beam=1)
    assert read.stem + read.next[0].text == generated.text


def test_what_drawing_leaves_of_the_next_token(model: LanguageModel) -> None:
    read = model.read_prompt(PromptRequest.read({"prompt": "the", "shown": 4, "sample": {"top_k": 2}}))
    first, second, *others = read.next
    both = first.probability + second.probability
    assert [first.drawn, second.drawn] == pytest.approx([first.probability / both, second.probability / both])
    assert [choice.drawn for choice in others] == [0, 0]
    assert {choice.drawn for choice in model.read_prompt(PromptRequest(prompt="the")).next} == {None}


def test_an_empty_prompt_is_read_too(model: LanguageModel) -> None:
    read = model.read_prompt(PromptRequest())
    assert (read.stem, read.tokens) == ("", [])
    assert [choice.text for choice in read.next if choice.token == "the"] == ["the"]


def test_lines_are_read_as_they_were_learnt(model: LanguageModel) -> None:
    task = model.task
    (tokens,) = task.read(["the cat\n\na dog"]).tokens
    assert split_lines(tokens, task.end) == [task.tokeniser.encode("the cat"), [], task.tokeniser.encode("a dog")]
    assert task.write(tokens) == "the cat\n\na dog"
    assert [token.text for token in model.read_prompt(PromptRequest(prompt="a\nb\n")).tokens] == ["a", "\n", "⁇", "\n"]


def test_ngrams_know_nothing_of_the_lines_before(tmp_path: Path) -> None:
    model = LanguageModel(counted_in(tmp_path), recipe_in(tmp_path))
    after, alone = (model.read_prompt(PromptRequest(prompt=prompt)) for prompt in ("the dog\na cat", "a cat"))
    assert after.next == alone.next
    assert after.tokens[-2:] == [WrittenToken("a", "a", alone.tokens[0].score), alone.tokens[1]]


@pytest.mark.parametrize("search", [{"beam": 1}, {"beam": 3}, {"sample": {"seed": 4}}], ids=str)
def test_past_the_ends_of_lines_as_much_is_written_as_may_be(model: LanguageModel, search: dict[str, Any]) -> None:
    heard, text = told(model, prompt="the cat", tokens=20, past_end=True, **search)
    assert len(heard) == 20
    assert text == "the cat" + "".join(token.text for token in heard)
    assert text.count("\n") == sum(token.token == "</s>" for token in heard)
    assert "\n" in text or "beam" in search  # an untrained network may find no end likely
    again = model.read_prompt(PromptRequest(prompt=text))
    if "⁇" not in text:
        assert [token.score for token in again.tokens[2:]] == pytest.approx([token.score for token in heard], abs=1e-4)


def test_the_score_of_several_lines_has_nothing_but_their_tokens(model: LanguageModel) -> None:
    request = GenerateRequest.read({"prompt": "the", "tokens": 12, "past_end": True, "beam": 2, "length_penalty": 0.0})
    ((generated,),) = model.generate_by(request)
    assert generated.score == pytest.approx(sum(generated.token_scores))
    assert len(generated.tokens) == len(generated.token_scores) == 12


@pytest.mark.parametrize("search", [{"beam": 2}, {"sample": {"seed": 4}}], ids=str)
def test_a_text_stops_where_the_rules_leave_nothing_to_write(model: LanguageModel, search: dict[str, Any]) -> None:
    """No word may occur twice, and past the ends of lines nothing else ends a text."""
    table = {"prompt": "the", "tokens": 50, "past_end": True, "search": {"unrepeated": 1}, **search}
    ((generated,),) = model.generate_by(GenerateRequest.read(table))
    words = model.task.tokeniser.size - 2  # neither the pad nor the begin
    assert (len(generated.tokens), len(generated.token_scores), generated.ended) == (words, words, "rules")
    assert generated.score > -math.inf
    assert generated.remark == f"After {words} tokens the rules of the search left nothing to write, so the text stops."


@pytest.mark.one_in(3)
@pytest.mark.parametrize("past_end", [False, True])
@pytest.mark.parametrize("tokens", [1, 3, 12])
def test_the_score_of_a_beam_is_that_of_its_tokens_and_of_an_end_that_it_wrote(
    model: LanguageModel, tokens: int, past_end: bool
) -> None:
    """((5 + n) / 6)^0.6 for n scores, whether the text ended by itself or was cut."""
    table = {"prompt": ["the", "a cat"], "tokens": tokens, "past_end": past_end, "beam": 4, "n_best": 4}
    for texts in model.generate_by(GenerateRequest.read({**table, "length_penalty": 0.6})):
        for generated in texts:
            assert generated.score == pytest.approx(
                sum(generated.token_scores) / ((5 + len(generated.token_scores)) / 6) ** 0.6
            )
            assert len(generated.token_scores) == len(generated.tokens) + (generated.ended == "end") <= tokens
        assert past_end <= ({generated.ended for generated in texts} == {"tokens"})


@pytest.mark.parametrize("search", [{"beam": 1}, {"beam": 2, "n_best": 2}, {"samples": 2}, {}], ids=str)
def test_what_is_told_is_the_first_of_what_is_written(model: LanguageModel, search: dict[str, Any]) -> None:
    table = {"prompt": "the", "tokens": 6, **search}
    heard, text = told(model, **table)
    (generated,) = model.generate_by(GenerateRequest.read(table))
    assert text == generated[0].text == "the" + "".join(token.text for token in heard)
    assert [token.token for token in heard] == generated[0].tokens
    assert [token.score for token in heard] == pytest.approx(generated[0].token_scores[: len(heard)])


def test_a_long_prompt_is_told_from_its_end_and_in_time(model: LanguageModel) -> None:
    words = ["the", "cat", "sat", "."] * 500
    read = model.read_prompt(PromptRequest(prompt=" ".join(words)))
    assert len(read.tokens) == 1000
    assert "".join(token.text for token in read.tokens) == " the cat sat ." * 250
    assert read.next[0].text


def test_a_letter_of_several_bytes_comes_with_its_last(tmp_path: Path) -> None:
    task, heard = network_in(tmp_path), list[WrittenToken]()
    task.tokeniser = ByteTokeniser()
    Teller(task, [], heard.append).finish(task.tokeniser.encode("aã"), [-1.0, -2.0, -3.0])
    assert heard == [WrittenToken("a", "a", -1.0), WrittenToken("<0xC3>", "", -2.0), WrittenToken("<0xA3>", "ã", -3.0)]
