"""Words in context: measures in both directions, input, and refusals."""

import numpy as np
import pytest
import torch
from torch import nn

from regard.base.faults import Fault, TooLong
from regard.base.recipe import check
from regard.data.texts.options import SpelledData
from regard.data.tokenisers.spaces import SpaceTokeniser
from regard.data.tokenisers.words import WordTokeniser
from regard.families import check_recipe
from regard.families.abilities import needs
from regard.models.recurrent.bilm import Bilm, BilmOptions
from regard.protocols import Measure
from regard.tasks.contexts.task import Contexts, SentenceRows, pad_rows

WORDS = WordTokeniser(["the", "dog", "barks", "."])
DATA = check(SpelledData, {"train": "text.txt", "tokeniser": {"kind": "words"}, "longest": 6})


@pytest.fixture
def task() -> Contexts:
    torch.manual_seed(1)
    network = Bilm(BilmOptions(embedding=4, width=5), WORDS.size, WORDS.pad, WORDS.begin, WORDS.end)
    return Contexts(network, WORDS, DATA).double().eval()


def values(measures: dict[str, Measure]) -> dict[str, float]:
    return {name: measure.value for name, measure in measures.items()}


def test_a_model_that_knows_nothing_has_the_perplexity_of_its_vocabulary(task: Contexts) -> None:
    nn.init.zeros_(task.model.output.weight)
    measures = task.measure(task.read(["the dog barks.", "the"]))
    assert values(measures) == {name: pytest.approx(WORDS.size) for name in Contexts.MEASURES}
    assert measures["forward_perplexity"].items == 7  # four words and one, and the end of each
    assert measures["perplexity"].items == 14


def test_the_loss_is_the_sum_of_both_ways(task: Contexts) -> None:
    batch = task.read(["the dog barks.", "dog"])
    loss, measures = task.loss(batch), task.measure(batch)
    both = [measures[f"{way}_perplexity"].tally.sums[0] for way in ("forward", "backward")]
    assert float(loss.total.detach()) == pytest.approx(sum(both))
    assert loss.count == 14
    assert float(loss.total.detach()) / 14 == pytest.approx(np.log(measures["perplexity"].value))
    assert {name: tally.value for name, tally in loss.tallies.items()} == {
        "forward": pytest.approx(both[0] / 7),
        "backward": pytest.approx(both[1] / 7),
    }


def test_turned_round_text_swaps_the_perplexities_of_equal_halves(task: Contexts) -> None:
    task.model.backwards.load_state_dict(task.model.forwards.state_dict())
    straight = values(task.measure(task.read_words([["the", "dog", "barks"]])))
    turned = values(task.measure(task.read_words([["barks", "dog", "the"]])))
    assert straight["forward_perplexity"] == pytest.approx(turned["backward_perplexity"])
    assert straight["forward_perplexity"] != pytest.approx(turned["forward_perplexity"])


def test_words_that_are_cut_already_have_a_token_each(task: Contexts) -> None:
    batch = task.read_words([["the", "cat's", "dog.", "dog", ""], ["barks"]])
    unknown = WORDS.unknown
    assert batch.tokens.tolist() == [[4, unknown, unknown, 5, unknown], [6, 0, 0, 0, 0]]
    assert batch.lengths.tolist() == [5, 1]


def test_unknown_words_are_shown_as_they_were_written(task: Contexts) -> None:
    (vectors,) = task.embed(task.read(["The dog yawns."]))
    assert vectors.text.tokens == ["<unk>", "dog", "<unk>", "."]
    assert vectors.text.words == ["The", "dog", "yawns", "."]
    assert task.embed(task.read_words([["a", "dog"]]))[0].text.words == ["a", "dog"]


def test_a_text_that_is_too_long_is_refused_by_its_number(task: Contexts) -> None:
    with pytest.raises(TooLong, match="Text 2: it has 7 tokens, but the limit is 6; split it"):
        task.read(["the dog", "the " * 7])


def test_case_is_ignored_where_the_recipe_says_so() -> None:
    recipe = check_recipe({"family": "bilm", "data": {"train": "text.txt", "lower_case": True}})
    task = Contexts.build(recipe, SpaceTokeniser(["the", "dog"]).files("tokeniser"))
    assert task.read(["The DOG"]).tokens.tolist() == task.read_words([["the", "dog"]]).tokens.tolist() == [[4, 5]]
    assert task.read_words([["THE"]]).tokens.tolist() == [[4]]


def test_sentences_are_rows_without_their_ends_and_every_one_comes_once_an_epoch() -> None:
    rows = SentenceRows(np.array([5, 6, 3, 3, 7, 3], np.uint16), end=3)
    assert [rows[number].tolist() for number in range(len(rows))] == [[5, 6], [], [7]]
    epoch = [row.tolist() for batch in rows.shuffled(4, seed=1, epoch=0, start=0) for row in batch]
    assert sorted(epoch) == [[], [5, 6], [7]]
    assert pad_rows([rows[1], rows[0]], pad=0).tokens.tolist() == [[0, 0], [5, 6]]


def test_it_cannot_write_and_the_refusal_says_why() -> None:
    recipe = check_recipe({"family": "bilm", "data": {"train": "text.txt"}})
    with pytest.raises(
        Fault,
        match=r"it cannot write, because it also reads the words that follow; use `regard embed`\. It can train, ",
    ):
        needs(recipe, "generate")


def test_it_learns_which_word_follows_and_which_comes_before() -> None:
    """In sentences that are pairs of words, either word determines the other."""
    torch.manual_seed(1)
    words = WordTokeniser([f"{letter}{number}" for letter in "ab" for number in range(4)])
    network = Bilm(BilmOptions(embedding=8, width=16, dropout=0.0), words.size, words.pad, words.begin, words.end)
    task = Contexts(network, words, DATA)
    batch = task.read([f"a{number} b{number}" for number in range(4)])
    optimizer = torch.optim.Adam(task.parameters(), lr=0.03)
    for _ in range(40):
        optimizer.zero_grad()
        task.loss(batch).total.backward()
        optimizer.step()
    # One of three tokens is a choice among four, the others are certain: 4^(1/3).
    assert values(task.measure(batch)) == {name: pytest.approx(4 ** (1 / 3), rel=0.05) for name in Contexts.MEASURES}
