"""Networks over words: what pooling weights, what padding and batch-mates may not change, and the effect of order."""

from typing import Any

import pytest
import torch
from torch import Tensor

import regard
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.text.averaging import Averaging, AveragingOptions
from regard.models.text.bag import Bag, BagOptions
from regard.models.text.classifier import TextClassifier
from regard.models.text.encoder import EncoderOptions, EncoderReader
from regard.models.text.pooling import AttentionPooling, max_over_time
from regard.models.text.recurrent import RecurrentReader, RnnOptions
from regard.models.text.texts import InputTokens, TextRows, mean_over_time, nearness
from regard.models.text.word_inputs import InputOptions, WordInputs

WORDS = InputTokens(size=12, pad=0, unknown=1)
INPUTS = InputOptions(width=6)
READERS: dict[str, Any] = {
    "averaging": (Averaging, AveragingOptions(inputs=INPUTS, layers=1, width=5)),
    **{
        f"rnn {cell} {pooling}": (
            RecurrentReader,
            RnnOptions(inputs=INPUTS, cell=cell, width=8, layers=2, pooling=pooling, bidirectional=cell != "gru"),
        )
        for cell, pooling in (("lstm", "attention"), ("gru", "last"), ("vanilla", "max"), ("lstm", "mean"))
    },
    **{
        f"encoder {pooling}": (
            EncoderReader,
            EncoderOptions(inputs=INPUTS, width=8, heads=2, feed_forward=12, pooling=pooling),
        )
        for pooling in ("mean", "max", "attention", "first")
    },
}


def texts(*rows: list[int], pads: int = 0) -> TextRows:
    """Return rows of tokens as a batch, with extra padding on request."""
    time = max(map(len, rows)) + pads
    tokens = torch.tensor([row + [WORDS.pad] * (time - len(row)) for row in rows])
    return TextRows(tokens, torch.tensor([len(row) for row in rows]))


@pytest.fixture(params=READERS)
def classifier(request: pytest.FixtureRequest) -> TextClassifier:
    torch.manual_seed(1)
    kind, options = READERS[request.param]
    return TextClassifier(kind(options, WORDS), classes=3).double().eval()


def test_padding_and_batch_mates_change_nothing(classifier: TextClassifier) -> None:
    alone = classifier.answer(texts([4, 5, 6]))[0]
    together = classifier.answer(texts([4, 5, 6], [7, 8, 9, 10, 11], pads=3))[0]
    torch.testing.assert_close(together, alone)
    torch.testing.assert_close(alone.exp().sum(), torch.ones((), dtype=torch.float64))


def test_order_matters_to_all_but_averages(classifier: TextClassifier) -> None:
    forward, backward = classifier.answer(texts([4, 5, 6, 7], [7, 6, 5, 4]))
    is_blind = isinstance(classifier.reader, Averaging)
    assert torch.allclose(forward, backward) == is_blind


def test_order_does_not_matter_to_a_bag_of_single_words() -> None:
    bag = Bag(BagOptions(ngrams=1), WORDS.size, torch.arange(1, 13), 2)
    torch.nn.init.normal_(bag.weight)
    forward, backward = bag.answer(texts([4, 5, 6, 7], [7, 6, 5, 4]))
    torch.testing.assert_close(forward, backward)


def test_weights_of_attention_pooling_sum_to_one_and_leave_padding_out() -> None:
    pooling = AttentionPooling(4, "additive").double()
    states = torch.randn(2, 5, 4, dtype=torch.float64)
    with regard.watching(pooling) as gazes:
        pooled = pooling(states, torch.tensor([5, 2]))
    (gaze,) = gazes
    weights = gaze.weights[:, 0, 0]
    assert (gaze.looks_from, gaze.looks_at) == ("answer", "source")
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(2, dtype=torch.float64))
    assert weights[1, 2:].tolist() == [0, 0, 0]
    torch.testing.assert_close(pooled, (weights[..., None] * states).sum(dim=1))


def test_pooling_on_paper() -> None:
    states, lengths = torch.tensor([[[1.0, -4.0], [3.0, -2.0], [9.0, 9.0]]]), torch.tensor([2])
    assert mean_over_time(states, lengths).tolist() == [[2.0, -3.0]]
    assert max_over_time(states, lengths).tolist() == [[3.0, -2.0]]


def test_states_of_words_are_those_of_the_words_alone() -> None:
    for kind, options in (READERS["rnn lstm attention"], READERS["encoder first"]):
        reader = kind(options, WORDS, pools=False).eval()
        assert reader.states(texts([4, 5, 6], [7, 8])).shape == (2, 3, 8)
        assert not any("pooling" in name or name == "first" for name, _ in reader.named_parameters())


def test_an_aspect_guides_the_attention_and_joins_the_inputs() -> None:
    batch = texts([4, 5, 6, 7], [4, 5, 6, 7])._replace(
        aspects=torch.tensor([[5, 0], [6, 7]]), aspect_lengths=torch.tensor([1, 2])
    )
    answers: dict[str, Tensor] = {}
    for aspect in ("ignored", "query", "inputs", "both"):
        reader = RecurrentReader(RnnOptions(inputs=INPUTS, width=8, aspect=aspect), WORDS).eval()
        answers[aspect] = reader.summary(batch)
    for aspect, (one, other) in answers.items():
        assert torch.allclose(one, other) == (aspect == "ignored")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            {"aspect": "query", "pooling": "last"},
            "aspect = 'query' guides pooling with attention, but pooling is 'last'",
        ),
        ({"pooling": "aspect"}, "need the place of the aspect; set aspect to 'place' or more"),
        ({"near": 3.0}, "need the place of the aspect; set aspect to 'place' or more"),
        ({"aspect": "place"}, "does nothing unless pooling is 'aspect' or near is above 0"),
        ({"aspect": "place", "pooling": "aspect", "near": 3.0}, "pooling = 'aspect' takes only an end"),
    ],
)
def test_what_does_not_go_with_an_aspect_is_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(RnnOptions, table)


def about(place: int, length: int, *rows: list[int]) -> TextRows:
    """Return texts with an aspect of this many words at this place; its words do not matter."""
    every = torch.full((len(rows),), length)
    return texts(*rows)._replace(
        aspects=torch.ones(len(rows), length, dtype=torch.long),
        aspect_lengths=every,
        aspect_places=torch.full_like(every, place),
    )


def test_a_text_is_read_up_to_its_aspect_from_both_ends() -> None:
    """TD-LSTM: the text after an aspect changes nothing forwards, and the text before it nothing backwards."""
    reader = RecurrentReader(RnnOptions(inputs=INPUTS, width=8, aspect="place", pooling="aspect"), WORDS).eval()
    whole = reader.summary(about(1, 2, [4, 5, 6, 7, 8], [4, 5, 6, 9, 9], [10, 5, 6, 7, 8]))
    ends = reader.states(texts([4, 5, 6]))[:, -1], reader.states(texts([5, 6, 7, 8]))[:, 0]
    torch.testing.assert_close(whole[:1], torch.cat([ends[0][:, :4], ends[1][:, 4:]], dim=1))
    torch.testing.assert_close(whole[0, :4], whole[1, :4])
    torch.testing.assert_close(whole[0, 4:], whole[2, 4:])
    assert not torch.allclose(whole[0, 4:], whole[1, 4:])


def test_states_count_less_the_farther_from_the_aspect() -> None:
    """With a reach of 1, words 2 and 1 before it weigh exp(−2) and exp(−½), two within it 1, one after it exp(−½)."""
    batch = about(2, 2, [4, 5, 6, 7, 8])
    expected = torch.tensor([[-2.0, -0.5, 0.0, 0.0, -0.5]]).exp()
    torch.testing.assert_close(nearness(batch, 5, reach=1.0), expected)
    reader = RecurrentReader(RnnOptions(inputs=INPUTS, width=8, aspect="place", pooling="mean", near=1.0), WORDS).eval()
    torch.testing.assert_close(reader.summary(batch), (reader.states(batch) * expected[..., None]).mean(dim=1))


def test_ready_vectors_are_kept_tuned_or_both() -> None:
    ready = torch.randn(4, 3)
    has_vector = torch.tensor([False, False, True, True])
    tokens = torch.tensor([[2, 3, 1]])
    for kind, learns, width in (("frozen", [False], 3), ("tuned", [True], 3), ("both", [False, True], 6)):
        inputs = WordInputs(InputOptions(vectors=kind), InputTokens(4, 0, 1, vector_width=3))
        inputs.take_vectors(ready, has_vector)
        assert [table.requires_grad for table in inputs.tables] == learns
        assert inputs.width == width
        for part in inputs(tokens).split(3, dim=-1):
            torch.testing.assert_close(part[0, :2], ready[2:])
            assert not torch.equal(part[0, 2], ready[1])
    with pytest.raises(ValueError, match="none were given"):
        WordInputs(InputOptions(vectors="tuned"), WORDS)


def test_dropped_words_are_read_as_unknown_and_padding_stays() -> None:
    inputs = WordInputs(InputOptions(width=3, word_dropout=0.999), WORDS)
    torch.manual_seed(0)
    vectors = inputs(texts([4, 5, 6], [7]).tokens)
    torch.testing.assert_close(vectors[0], inputs.tables[0][[1, 1, 1]])
    torch.testing.assert_close(vectors[1], inputs.tables[0][[1, 0, 0]])
    assert torch.equal(inputs.eval()(texts([4]).tokens)[0, 0], inputs.tables[0][4])
