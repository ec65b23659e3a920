"""The loss of a sentence token by token adds up to the forced loss, for every family."""

from math import exp, log
from pathlib import Path

import pytest
from untrained import untrained

from regard.base.faults import Fault
from regard.seeing.lessons.losses import sentence_loss
from regard.viewing.losses import SentenceLoss, TokenLoss, losses_to_json, others_in_words

TEXT, TARGET = "Ana reads a green book.", "Ana lê um livro verde."


@pytest.mark.parametrize("family", ["transformer", "seq2seq"])
def test_the_tokens_add_up_to_the_forced_score(tmp_path: Path, family: str) -> None:
    model = untrained(tmp_path, family)
    loss = sentence_loss(model, TEXT, TARGET)
    assert [token.token for token in loss.tokens] == ["Ana", "lê", "um", "livro", "verde", ".", "</s>"]
    forced = model.force([TEXT], [model.task.target.encode(TARGET)])
    assert loss.total == pytest.approx(-float(forced[0]), rel=1e-5)
    assert loss.perplexity == pytest.approx(exp(loss.total / 7))


def test_ranks_and_others_are_of_the_whole_distribution(tmp_path: Path) -> None:
    model = untrained(tmp_path)
    size = model.task.target.size
    for token in sentence_loss(model, TEXT, TARGET, others=size).tokens:
        chances = [chance for _, chance in token.others]
        assert len(chances) == size - 1
        assert token.token not in [token for token, _ in token.others]
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) + token.probability == pytest.approx(1)
        assert token.rank == 1 + sum(chance > token.probability for chance in chances)
    assert [len(token.others) for token in sentence_loss(model, TEXT, "Ana", others=0).tokens] == [0, 0]


def test_an_empty_target_is_its_end_alone(tmp_path: Path) -> None:
    assert [token.token for token in sentence_loss(untrained(tmp_path), TEXT, "").tokens] == ["</s>"]


def test_sums_on_paper() -> None:
    half, eighth = TokenLoss("a", log(2), 1, [("b", 0.25), ("c", 0.001)]), TokenLoss("b", log(8), 3, [])
    losses = SentenceLoss("x", "a b", [half, eighth])
    assert losses.total == pytest.approx(log(16))
    assert losses.perplexity == pytest.approx(4)
    assert losses.summary == "loss 2.77 nats over 2 tokens, 1.39 a token, perplexity 4.00"
    assert SentenceLoss("x", "a", [half]).summary == "loss 0.69 nats over 1 token, 0.69 a token, perplexity 2.00"
    assert others_in_words(half) == "b 0.25"
    assert [TokenLoss("a", -log(p), 1, []).probability_in_words for p in (1, 0.126, 0.01, 0.0016, 3e-8)] == [
        "1.00", "0.13", "0.01", "0.002", "3e-08",
    ]  # fmt: skip
    assert losses_to_json(losses)["tokens"][1] == {
        "token": "b", "loss": log(8), "probability": pytest.approx(0.125), "rank": 3, "others": [],
    }  # fmt: skip


def test_a_hopeless_sentence_has_a_finite_perplexity() -> None:
    hopeless = SentenceLoss("x", "a", [TokenLoss("a", 5000.0, 9, [])])
    assert hopeless.perplexity == exp(100)
    assert hopeless.summary.endswith(", perplexity 2.7e43")


def test_refusals(tmp_path: Path) -> None:
    model = untrained(tmp_path)
    with pytest.raises(Fault, match="There is no text to read"):
        sentence_loss(model, "", TARGET)
    with pytest.raises(Fault, match="has 31 tokens, but the model takes 20"):
        sentence_loss(model, "Ana " * 30, TARGET)
    with pytest.raises(Fault, match="The target has 31 tokens, but the model writes at most 20"):
        sentence_loss(model, TEXT, "Ana " * 30)
