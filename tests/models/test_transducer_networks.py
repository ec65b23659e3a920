"""Transducers: label-by-label scores match the lattice; searching; and hearing piece by piece."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.models.ctc.head import ctc_loss
from regard.models.transcriber import as_labels
from regard.models.transducer.network import HeardFrames
from regard.models.transducer.prefixes import empty_prefixes, extend, following
from regard.models.transducer.sounds import SoundTransducer, SoundTransducerOptions
from regard.models.transducer.streaming import FrameStream
from regard.tasks.transcription.label_steps import LabelSteps

SYMBOLS, FEATURES = 2, 3
SMALL = {"width": 6, "layers": 1, "stack": 2, "embedding": 3, "predictor_width": 5, "joint_width": 4, "dropout": 0.0}


def build(seed: int = 1, **model: Any) -> SoundTransducer:
    torch.manual_seed(seed)
    network = SoundTransducer(check(SoundTransducerOptions, SMALL | model), FEATURES, SYMBOLS).double().eval()
    with torch.no_grad():
        for part in (network.joint.out, network.joint.heard, network.joint.written):
            part.weight.mul_(6)  # so that it is confident, and not always of the same symbol
        network.joint.out.bias.zero_()
    return network


def sounds(batch: int, time: int, seed: int = 2) -> Tensor:
    return torch.randn(batch, time, FEATURES, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def heard_by(network: SoundTransducer, *lengths: int) -> HeardFrames:
    with torch.no_grad():
        return network.hear(sounds(len(lengths), max(lengths)), torch.tensor(lengths))


def score(network: SoundTransducer, heard: HeardFrames, labels: tuple[int, ...]) -> float:
    with torch.no_grad():
        return float(network.score(heard, *as_labels([labels], heard.frames.device)))


def every_labelling(longest: int) -> list[tuple[int, ...]]:
    return [labels for count in range(longest + 1) for labels in itertools.product(range(SYMBOLS), repeat=count)]


@pytest.mark.parametrize("cell", ["lstm", "gru", "vanilla"])
def test_label_by_label_is_the_sum_over_the_lattice(cell: str) -> None:
    network, labels = build(predictor_cell=cell, predictor_layers=2), (1, 0, 0, 1)
    heard = heard_by(network, 5)
    with torch.no_grad():
        prefixes = empty_prefixes(network, heard)
        for count, symbol in enumerate((network.blank, *labels)):
            prefixes, scores = extend(network, heard, prefixes, torch.tensor([symbol]))
            log_probabilities = following(heard, prefixes, scores)
            assert float(torch.cat([log_probabilities.labels[0], log_probabilities.end]).logsumexp(0)) == pytest.approx(
                0.0, abs=1e-12
            )
            assert float(log_probabilities.starts.sum() + log_probabilities.end.exp()) == pytest.approx(1.0)
            assert float(prefixes.whole + log_probabilities.end) == pytest.approx(score(network, heard, labels[:count]))


def test_what_begins_with_a_prefix_sums_to_its_probability() -> None:
    """One frame; outputs longer than eight labels are omitted, which loses little."""
    network = build()
    with torch.no_grad():
        network.joint.out.bias[-1] += 3  # so that outputs are short
    heard = heard_by(network, 2)
    with torch.no_grad():
        prefixes, _ = extend(network, heard, empty_prefixes(network, heard), torch.tensor([1]))
        labels, counts = as_labels([(1, *labels) for labels in every_labelling(7)], heard.frames.device)
        shared = HeardFrames(heard.frames.expand(len(labels), -1, -1), heard.counts.expand(len(labels)))
        rest = network.score(shared, labels, counts).exp().sum()
    assert float(prefixes.whole.exp()) == pytest.approx(float(rest), rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_the_most_probable_labellings_with_all_their_alignments(seed: int) -> None:
    network = build(seed, per_frame=1)
    heard = heard_by(network, 7)  # four frames, and so at most four labels
    steps, options = LabelSteps(network), DecodingOptions(beam=32, n_best=32, length_penalty=0.0, stop="exhaustive")
    (hypotheses,) = beam_search(steps, heard, steps.limits(heard), options)
    every = {labels: score(network, heard, labels) for labels in every_labelling(4)}
    expected = sorted(every, key=every.__getitem__, reverse=True)[: len(hypotheses)]
    assert [tuple(hypothesis.tokens) for hypothesis in hypotheses] == expected
    assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx(
        [every[labels] for labels in expected], rel=1e-5
    )


def greedy(network: SoundTransducer, frames: Tensor) -> list[int]:
    """Search as in Graves, in plain loops over one row of frames."""
    labels: list[int] = []
    for frame in frames:
        for _ in range(network.options.per_frame):
            written = network.predictor(network.target_embedding(torch.tensor([labels], dtype=torch.long)))[0, -1]
            symbol = int(network.joint(frame, network.joint.written(written)).argmax())
            if symbol == network.blank:
                break
            labels.append(symbol)
    return labels


@pytest.mark.parametrize("seed", range(4))
def test_greedy_search_of_a_batch_is_that_of_plain_loops(seed: int) -> None:
    network, lengths = build(seed, per_frame=2), (11, 4, 1)
    heard = heard_by(network, *lengths)
    with torch.no_grad():
        expected = [greedy(network, row[:count]) for row, count in zip(heard.frames, heard.counts, strict=True)]
        assert network.best(heard) == expected
    assert any(expected)


def test_several_labels_are_written_at_one_frame_but_not_without_end() -> None:
    network = build(per_frame=3)
    with torch.no_grad():
        network.joint.out.bias[0] += 100  # it would write forever
    assert network.best(heard_by(network, 4)) == [[0] * 6]


def test_a_batch_is_each_row_alone() -> None:
    network, lengths, label_rows = build(), (9, 2, 5), [(0, 1), (1, 0, 1, 1), ()]
    frames = sounds(3, 9)
    labels, counts = as_labels(label_rows, frames.device)
    with torch.no_grad():
        together = network.score(network.hear(frames, torch.tensor(lengths)), labels, counts)
        for row, length in enumerate(lengths):
            alone = network.hear(frames[row : row + 1, :length], torch.tensor([length]))
            assert float(together[row]) == pytest.approx(score(network, alone, label_rows[row]))


def test_a_long_sound_is_laid_out_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    network = build()
    heard = heard_by(network, 21, 8)
    labels, counts = as_labels([(0, 1, 1), (1,)], heard.frames.device)
    with torch.no_grad():
        whole = network.lattice(heard, labels, counts)
        sizes, joint = list[int](), network.joint.forward
        monkeypatch.setattr(
            network.joint, "forward", lambda *states: sizes.append(states[0].shape[1]) or joint(*states)
        )
        monkeypatch.setattr("regard.models.transducer.network.PORTION", 2 * 4 * 4 * 3)
        parts = network.lattice(heard, labels, counts)
    assert sizes == [3, 3, 3, 2]
    for part, expected in zip(parts, whole, strict=True):
        torch.testing.assert_close(part, expected)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("pieces", [(1,) * 13, (5, 8), (13,), (2, 0, 7, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_frames_that_come_piece_by_piece_give_what_they_give_at_once(pieces: tuple[int, ...], seed: int) -> None:
    network = build(seed, bidirectional=False, stack=3, layers=2)
    frames = sounds(1, 13, seed)
    stream, written = FrameStream(network), list[int]()
    for piece in frames[0].split(pieces):
        written += stream.hear(piece)
    written += stream.finish()
    with torch.no_grad():
        assert [written] == network.best(network.hear(frames, torch.tensor([13])))
    assert stream.finish() == []


def test_labels_come_before_the_sound_is_over() -> None:
    network = build(0, bidirectional=False)
    with torch.no_grad():
        network.joint.out.bias[1] += 100
    stream = FrameStream(network)
    assert stream.hear(sounds(1, 1)[0]) == []  # half of what is read as one
    assert stream.hear(sounds(1, 2)[0]) == [1] * 4
    assert stream.finish() == [1] * 4


@pytest.mark.parametrize("model", [{}, {"encoder": "transformer", "heads": 3, "feed_forward": 8}])
def test_what_hears_both_ways_cannot_write_while_it_hears(model: dict[str, Any]) -> None:
    with pytest.raises(Fault, match=r"hears a sound whole before it writes. .* model\.bidirectional = false"):
        FrameStream(build(**model))


def test_a_transformer_that_should_hear_one_way_is_refused() -> None:
    with pytest.raises(Fault, match="bidirectional = false needs encoder = 'recurrent'"):
        build(encoder="transformer", heads=3, bidirectional=False)


def test_an_odd_width_is_refused_where_two_directions_share_it() -> None:
    with pytest.raises(Fault, match="width is 7, but two directions need an even width"):
        build(width=7)
    assert build(width=7, bidirectional=False).best(heard_by(build(), 4))


def test_who_watches_sees_at_which_frames_each_label_may_be_written() -> None:
    network, first = build(), (1, 0)
    heard = heard_by(network, 6, 3)
    labels, counts = as_labels([first, (0,)], heard.frames.device)
    with torch.no_grad(), watching(network, where="shares") as gazes:
        spans = network.align(heard, labels, counts)
    (gaze,) = gazes
    weights = gaze.weights[:, 0]
    assert weights.shape == (2, 3, 3)
    torch.testing.assert_close(weights.sum(-1), torch.tensor([[1.0, 1, 1], [1, 1, 0]], dtype=torch.float64))
    assert [len(row) for row in spans] == [2, 1]
    assert all(behind == first + 1 <= 3 for row in spans for first, behind in row)


def test_it_says_what_ctc_cannot() -> None:
    """Half the time ab and half the time ba, for the same two frames.

    For CTC p(ab) · p(ba) = y¹_a y²_b · y¹_b y²_a ≤ 1/16, as y_a y_b ≤ 1/4 in each frame. It needs at least log 4 nats,
    because its output in one frame cannot depend on that in the other. The entropy is log 2.
    """
    labels, counts = torch.tensor([[0, 1], [1, 0]]), torch.tensor([2, 2])
    free = torch.randn(2, SYMBOLS + 1, dtype=torch.float64, requires_grad=True)
    network = build(stack=1).train()
    frames, lengths = sounds(1, 2).expand(2, -1, -1), torch.tensor([2, 2])

    def by_ctc() -> Tensor:
        return ctc_loss(free.log_softmax(-1).expand(2, -1, -1), lengths, labels, counts) / 2

    def by_transducer() -> Tensor:
        return network.learn(network.hear(frames, lengths), labels, counts, None).loss / 2

    for weights, loss in (([free], by_ctc), (list(network.parameters()), by_transducer)):
        optimizer = torch.optim.LBFGS(weights, max_iter=60, line_search_fn="strong_wolfe")

        def closure(optimizer: torch.optim.Optimizer = optimizer, loss: Callable[[], Tensor] = loss) -> Tensor:
            optimizer.zero_grad()
            value = loss()
            value.backward()
            return value

        optimizer.step(closure)
    with torch.no_grad():
        assert float(by_ctc()) == pytest.approx(math.log(4), abs=1e-3)
        assert float(by_transducer()) == pytest.approx(math.log(2), abs=0.03)
