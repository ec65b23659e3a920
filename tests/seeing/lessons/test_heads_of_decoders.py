"""Views of recurrent decoders with heads, and of hybrid models."""

from pathlib import Path

import numpy as np
import pytest
import torch
from untrained import untrained

from regard.base.faults import Fault
from regard.seeing.sentences import see

TEXT, TARGET = "Ana reads a green book.", "Ana lê um livro verde."
HEADS = {"projected": True, "heads": 2, "score": "dot"}


@pytest.mark.parametrize("decoder", ["luong", "bahdanau", "tanh"])
def test_the_heads_of_a_recurrent_decoder_are_heads(tmp_path: Path, decoder: str) -> None:
    """Each has its own weights, which sum to one; the second head's come from the second half of Q."""
    model = untrained(tmp_path, decoder=decoder, **HEADS)
    first, second = (see(model, TEXT, TARGET).seen("cross").one(head=head).weights for head in (1, 2))
    assert not np.allclose(first, second)
    np.testing.assert_allclose(first.sum(axis=1), 1, rtol=1e-5)
    with torch.no_grad():
        model.task.model.decoder.projections.to_query.weight.chunk(2)[1].zero_()
    first_after, second_after = (see(model, TEXT, TARGET).seen("cross").one(head=head).weights for head in (1, 2))
    np.testing.assert_allclose(second_after, 1 / 7, rtol=1e-5)  # a query of zeros makes all scores equal
    np.testing.assert_allclose(first_after[0], first[0], rtol=1e-5)  # before anything was passed on


def test_an_encoder_of_attention_is_seen_and_a_recurrent_one_is_not(tmp_path: Path) -> None:
    attentive = untrained(tmp_path / "attentive", encoder="transformer", encoder_heads=2)
    assert see(attentive, TEXT, TARGET).seen("encoder").one(head=2).weights.shape == (7, 7)
    recurrent = untrained(tmp_path / "recurrent", "transformer", encoder="recurrent")
    assert see(recurrent, TEXT, TARGET).seen("cross").one(head=2).weights.shape == (7, 7)
    with pytest.raises(Fault, match="no attention from the source to the source"):
        see(recurrent, TEXT, TARGET).seen("encoder")
