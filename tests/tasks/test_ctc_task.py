"""Text to labels by CTC alone: what it learns, writes and refuses."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from regard.attention import watching
from regard.base.faults import Fault, TextFault
from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands
from regard.families import FAMILIES, check_recipe
from regard.runs.open import open_run
from regard.tasks.translation.ctc_task import CTCLoss, CTCTranslation
from regard.tasks.translation.forcing import forced_scores

PAIRS = [("ab", "xyz"), ("abcde", "yy")]


def build(objective: CTCLoss, **model: Any) -> CTCTranslation:
    network, options = FAMILIES["ctc-text"].load()
    torch.manual_seed(2)
    chosen, bytewise = check(options, {"layers": 1, "width": 8, "dropout": 0.0} | model), ByteTokeniser()
    built = network(chosen, bytewise.size, bytewise.size, True, bytewise.pad)
    return CTCTranslation(built, bytewise, bytewise, objective).double()


def test_the_loss_is_minus_the_score_of_the_targets() -> None:
    task = build(CTCLoss())
    batch = task.pair_up(PAIRS)
    # A frame with the end token ends an output too, which the loss leaves out.
    task.model.ctc_head.out.bias.data.view(2, -1)[:, task.end] = -1e4
    assert_close(task.loss(batch).total, -forced_scores(task, batch).sum())


def test_even_frames_lose_nothing_by_smoothing_and_equal_passes_nothing_by_consistency() -> None:
    plain, smooth, twice = build(CTCLoss()), build(CTCLoss(0.25)), build(CTCLoss(0.25, 3.0))
    batch = plain.pair_up(PAIRS)
    frames = plain.model.read(batch.source, batch.source_lengths).frames
    even = -sum(frames[row, : 2 * length].mean(-1).sum() for row, length in enumerate([3, 6]))
    assert_close(smooth.loss(batch).total, 0.75 * plain.loss(batch).total + 0.25 * even)
    assert_close(twice.loss(batch).total, smooth.loss(batch).total)  # without dropout both passes are equal
    twice.model.dropout.p = 0.5
    assert twice.loss(batch).total > smooth.loss(batch).total


def test_what_is_watched_is_where_each_label_begins() -> None:
    """Frames say x, nothing, y, nothing for the letters a and b: x begins at a, y at b, and the end follows."""
    task = build(CTCLoss())
    batch = task.pair_up([("ab", "xy")])
    x, y, blank = task.target.encode("x")[0], task.target.encode("y")[0], task.model.blank
    logits = torch.full((1, 6, blank + 1), -50.0, dtype=torch.float64)
    for frame, symbol in enumerate((x, blank, y, blank, blank, blank)):
        logits[0, frame, symbol] = 0.0
    memory = task.model.read(batch.source, batch.source_lengths)._replace(frames=logits.log_softmax(-1))
    with watching(task.model, where="alignment") as gazes:
        task.model.write(torch.tensor([[blank, x, y]]), memory, task.model.begin(memory))
    (gaze,) = gazes
    assert_close(gaze.weights[0, 0], torch.eye(3, dtype=torch.float64), atol=1e-6, rtol=0)


def test_targets_that_are_too_long_are_counted_and_if_all_are_refused(tmp_path: Path) -> None:
    def outline(targets: str) -> list[str]:
        tmp_path.joinpath("source").write_text("a\nb\nabc\n")
        tmp_path.joinpath("target").write_text(targets)
        files = [str(tmp_path / name) for name in ("source", "target")]
        data = {
            "train": files,
            "valid": files,
            "tokeniser": {"kind": "bytes"},
            "cleaning": {"ratio": 100, "leakage": False},
        }
        training = {"steps": 1, "batch_tokens": 100, "device": "cpu"}
        table = {"family": "ctc-text", "data": data, "model": {"layers": 1, "width": 4}, "training": training}
        run = open_run(check_recipe(table), tmp_path / targets[:1], False, lambda *_: None, lambda _: None)
        return run.task.outline(run.recipe)

    assert "1 pair has a target longer than the frames, so CTC cannot learn from them" in outline("xyzxy\nx\nx\n")
    with pytest.raises(Fault, match=r"\(2 per token\), so CTC can learn none of them; raise model\.frames"):
        outline("vwxyz\nvwxyz\nvwxyzvwxyz\n")


def test_a_target_that_does_not_fit_its_frames_is_never_written_and_leaves_a_loss_to_compare() -> None:
    task = build(CTCLoss())
    batch = task.pair_up([("a", "vwxyz"), *PAIRS])  # five labels for the frames of a letter and of the end
    scores = forced_scores(task, batch)
    assert scores[0] == -torch.inf
    assert scores[1:].isfinite().all()
    measured = [task.measure(task.pair_up([("a", "vwxyz"), pair]))["loss"].value for pair in PAIRS]
    assert all(0 < value < 1e4 for value in measured)
    assert measured[0] != measured[1]


def test_an_output_is_no_longer_than_the_frames() -> None:
    task = build(CTCLoss())
    batch = task.read(["a", "abc"])
    assert task.limits(batch, DecodingOptions(longest_extra=50)).tolist() == [5, 9]  # two per letter, two for the end
    limits, demands = task.limits(batch, DecodingOptions()), Demands(prefixes=[task.target.encode("vwxyz"), []])
    with pytest.raises(TextFault, match="its prefix has 5 tokens, but its output may have 5 with the end"):
        beam_search(task, batch, limits, DecodingOptions(), demands)


def test_padding_leaves_no_nan_in_the_gradients_of_two_passes() -> None:
    task = build(CTCLoss(0.1, 2.0), dropout=0.5).train()
    task.loss(task.pair_up(PAIRS)).total.backward()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in task.parameters())
    assert task.model.ctc_head.out.weight.grad.any()


def test_options_of_the_other_encoder_are_refused() -> None:
    with pytest.raises(Fault, match="cell is for encoder = 'recurrent', not 'transformer'"):
        build(CTCLoss(), encoder="transformer", cell="gru")
    with pytest.raises(Fault, match="heads is for encoder = 'transformer', not 'recurrent'"):
        build(CTCLoss(), heads=2)
    with pytest.raises(Fault, match="width 7 is odd"):
        build(CTCLoss(), width=7)
