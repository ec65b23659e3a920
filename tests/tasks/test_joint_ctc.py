"""CTC together with attention: their shared loss, and options that exclude each other."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands
from regard.families import FAMILIES
from regard.models.ctc.head import ctc_loss
from regard.tasks.translation.forcing import force_batch, forced_scores
from regard.tasks.translation.joining import Joining
from regard.tasks.translation.objectives import objective_for
from regard.tasks.translation.task import Translation

TABLES: dict[str, dict[str, Any]] = {
    "transformer": {"encoder_layers": 1, "decoder_layers": 1, "width": 8, "feed_forward": 8, "heads": 2},
    "seq2seq": {"embedding": 8, "width": 8, "decoder": "bahdanau"},
}
PAIRS = [("ab", "xyz"), ("abcde", "y")]


def build(family: str, consistency: float = 0.0, **model: Any) -> Translation:
    network, options = FAMILIES[family].load()
    torch.manual_seed(2)
    chosen, bytewise = check(options, TABLES[family] | {"dropout": 0.0} | model), ByteTokeniser()
    built = network(chosen, bytewise.size, bytewise.size, True, bytewise.pad)
    return Translation(built, bytewise, bytewise, objective_for(chosen, 0.1, consistency)).double()


@pytest.mark.parametrize("family", TABLES)
def test_the_loss_is_shared_between_ctc_and_attention(family: str) -> None:
    plain, joint = build(family), build(family, ctc=0.25, ctc_frames=3)
    missing = joint.load_state_dict(plain.state_dict(), strict=False).missing_keys
    assert {name.split(".")[1] for name in missing} == {"ctc_head"}
    batch = joint.pair_up(PAIRS)
    (frames,) = joint.model.read(batch.source, batch.source_lengths).frames
    assert frames.shape == (2, 3 * 6, joint.target.size + 1)  # five letters and an end, three frames for each
    labels = torch.tensor([[*map(ord, "xyz")], [ord("y"), 0, 0]]) + int(joint.target.encode("a")[0]) - ord("a")
    ctc = ctc_loss(frames, torch.tensor([9, 18]), labels, torch.tensor([3, 1]))
    loss = joint.loss(batch)
    assert_close(loss.total, 0.25 * ctc + 0.75 * plain.loss(batch).total)
    assert loss.tallies["ctc"].value == pytest.approx(ctc.item() / batch.tokens)
    # Without dropout two passes agree, so their mean equals either.
    twice = build(family, consistency=2.0, ctc=0.25, ctc_frames=3)
    twice.load_state_dict(joint.state_dict())
    assert_close(twice.loss(batch).total, loss.total)


def test_what_makes_no_frames_or_another_loss_is_refused() -> None:
    for family, model, words in (
        ("seq2seq", {"decoder": "bottleneck", "ctc": 0.3}, "keeps no states of its source, so ctc would do nothing"),
        ("transformer", {"ctc_frames": 3}, "and ctc_frames would do nothing"),
        ("transformer", {"ctc": 0.3, "copies": True}, "combined with model.copies"),
        ("seq2seq", {"ctc": 0.3, "own_tokens": 0.5}, "model.own_tokens or"),
    ):
        with pytest.raises(Fault, match=words):
            build(family, **model)


@pytest.mark.parametrize("family", TABLES)
@torch.no_grad()
def test_a_search_adds_what_both_say_of_an_output(family: str) -> None:
    task = build(family, ctc=0.25).eval()
    task.model.ctc_head.out.bias.data.view(2, -1)[:, task.end] = -1e4  # otherwise a frame may end an output too
    batch, options = task.read(["ab", "abcde"]), DecodingOptions(beam=3, length_penalty_kind="none")
    limits = torch.tensor([4, 4])
    for weight in (0.4, 1.0):
        hypotheses = beam_search(Joining(task, weight), batch, limits, options, Demands())
        outputs = [row[0].tokens for row in hypotheses]
        pairs = force_batch(task, ["ab", "abcde"], outputs)
        (frames,) = task.model.read(pairs.source, pairs.source_lengths).frames
        lengths = torch.tensor([len(output) for output in outputs])
        for row, beam in enumerate(hypotheses):
            labels = pairs.target[row : row + 1], lengths[row : row + 1]
            by_ctc = -ctc_loss(frames[row : row + 1], 2 * pairs.source_lengths[row : row + 1], *labels)
            expected = weight * by_ctc + (1 - weight) * forced_scores(task, pairs)[row]
            assert beam[0].score == pytest.approx(expected.item(), abs=1e-4)


def test_a_search_asks_ctc_only_of_models_that_have_it() -> None:
    with pytest.raises(Fault, match=r"no CTC head next to its decoder \(model\.ctc\); set ctc to 0"):
        Joining(build("transformer"), 0.3)
