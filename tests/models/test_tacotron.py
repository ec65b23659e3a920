"""Tacotron: what may change its speech, and what may not."""

import pytest
import torch
from torch import Tensor

from regard.attention.watch import PARTS, watching
from regard.models.tacotron import Speech, Tacotron, TacotronOptions

BANDS, SYMBOLS = 4, 9
SMALL = TacotronOptions(
    embedding=6, speaker=3, width=8, prenet=5, hidden=7, filters=2, reach=1, frames=2, postnet=6, postnet_layers=1
)


@pytest.fixture(scope="module")
def network() -> Tacotron:
    torch.manual_seed(2)
    return Tacotron(SMALL, SYMBOLS, speakers=2, bands=BANDS, pad=0).double().eval()


def frames_of(count: int, batch: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(count)
    return torch.randn(batch, count, BANDS, dtype=torch.float64, generator=generator)


def force(network: Tacotron, symbols: Tensor, frames: Tensor, length: int | None = None, speaker: int = 0) -> Speech:
    batch = len(symbols)
    read = torch.full((batch,), length or symbols.shape[1])
    memory = network.read(symbols, read, torch.full((batch,), speaker))
    return network(memory, frames, torch.full((batch,), frames.shape[1]))


TEXT = torch.tensor([[3, 5, 4, 1]])


def test_each_step_looks_along_the_symbols_and_padding_changes_nothing(network: Tacotron) -> None:
    alone = force(network, TEXT, frames_of(6))
    assert alone.looks.shape == (1, 3, 4)
    torch.testing.assert_close(alone.looks.sum(-1), torch.ones(1, 3, dtype=torch.float64))
    padded = force(network, torch.tensor([[3, 5, 4, 1, 0, 0]]), frames_of(6), length=4)
    torch.testing.assert_close(padded.looks[..., :4], alone.looks)
    torch.testing.assert_close(padded.after, alone.after)


def test_silence_behind_a_sound_changes_nothing_in_it(network: Tacotron) -> None:
    memory = network.read(TEXT, torch.tensor([4]), torch.tensor([0]))
    frames = torch.cat([frames_of(6), torch.zeros(1, 4, BANDS, dtype=torch.float64)], dim=1)
    alone, longer = force(network, TEXT, frames_of(6)), network(memory, frames, torch.tensor([6]))
    torch.testing.assert_close(longer.after[:, :6], alone.after)
    torch.testing.assert_close(longer.stops[:, :3], alone.stops)


def test_a_later_frame_never_changes_what_was_spoken_before_it(network: Tacotron) -> None:
    frames = frames_of(8)
    changed = frames.clone()
    changed[:, 3] += 1  # the last frame of the second step
    one, other = force(network, TEXT, frames), force(network, TEXT, changed)
    assert torch.equal(one.before[:, :4], other.before[:, :4])
    assert not torch.allclose(one.before[:, 4:6], other.before[:, 4:6])


def test_what_it_speaks_is_what_it_would_have_been_forced_to(network: Tacotron) -> None:
    memory = network.read(TEXT, torch.tensor([4]), torch.tensor([1]))
    spoken, lengths = network.speak(memory, torch.tensor([5]))
    assert lengths.tolist() == [spoken.before.shape[1]]
    forced = force(network, TEXT, spoken.before, speaker=1)
    for name in Speech._fields:
        torch.testing.assert_close(getattr(spoken, name), getattr(forced, name))


def test_a_sound_ends_with_the_step_that_stops_and_is_cut_where_none_does(network: Tacotron) -> None:
    memory = network.read(TEXT, torch.tensor([4]), torch.tensor([0]))
    stop = network.stop.bias.data
    before = stop.clone()
    try:
        stop.fill_(-100.0)
        assert network.speak(memory, torch.tensor([7]))[1].tolist() == [14]
        stop.fill_(100.0)
        assert network.speak(memory, torch.tensor([7]))[1].tolist() == [2]
    finally:
        stop.copy_(before)


def test_another_speaker_speaks_otherwise(network: Tacotron) -> None:
    one, other = (force(network, TEXT, frames_of(6), speaker=number) for number in (0, 1))
    assert not torch.allclose(one.after, other.after)


def test_all_steps_are_one_gaze_from_frames_to_symbols(network: Tacotron) -> None:
    with watching(network) as gazes:
        speech = force(network, TEXT, frames_of(6))
    (gaze,) = gazes
    assert (gaze.where, gaze.looks_from, gaze.looks_at) == ("look", "frames", "symbols")
    assert torch.equal(gaze.weights[:, 0], speech.looks)


def test_the_parts_of_all_steps_are_those_of_one_look(network: Tacotron) -> None:
    with watching(network, parts=PARTS) as gazes:
        force(network, TEXT, frames_of(6))
    (gaze,) = gazes
    torch.testing.assert_close((gaze.parts["scores"] + gaze.parts["mask"]).softmax(-1), gaze.weights)
    torch.testing.assert_close(gaze.weights @ gaze.parts["values"], gaze.parts["outputs"])


def test_the_multiplications_of_four_symbols_and_three_steps_counted_on_paper() -> None:
    options = TacotronOptions(
        embedding=2,
        speaker=1,
        width=3,
        encoder_layers=1,
        prenet=2,
        postnet=2,
        postnet_layers=1,
        frames=2,
        hidden=2,
        filters=1,
        reach=1,
    )
    of_symbol = 3 * 3 + 5 * 3 * 3 + 3 * 2  # inward, five places of a convolution, the key of a look
    grus = 2 * 9 * (6 + 3)  # three gates of 3, each of 6 inputs and of 3 states
    of_step = 2 * 2 + 2 * 2 + grus + 6 * 4 + 6 + 3 * 2  # prenet, both cells, two frames of two bands, stop, query
    of_frame = 2 * 2 + 5 * 2 * 2 + 2 * 2  # wider, a convolution, narrower
    of_look = 1 * (3 + 2) + 2 + 3  # for each symbol: the filter and its result, the sum, the mix
    expected = 4 * of_symbol + 3 * (of_step + 2 * of_frame + 4 * of_look)
    assert Tacotron(options, 5, speakers=1, bands=2, pad=0).multiplications(4, 3) == expected
