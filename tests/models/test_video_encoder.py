"""The video encoder: what each frame's vector depends on, and what the mean over frames cannot know."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.families import check_recipe
from regard.models.captions.captioner import Captioner, CaptionerOptions
from regard.models.captions.encoder import EncoderOptions, MotionOptions, VideoEncoder

FRAMES, SIDE = 6, 8
VIDEOS = torch.rand(2, FRAMES * SIDE * SIDE, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
WORDS = torch.tensor([[2, 5, 4], [2, 6, 5]])


def encoder(**options: Any) -> VideoEncoder:
    torch.manual_seed(2)
    sizes = {"channels": [3, 4], "kernel": 3, "width": 5}
    return VideoEncoder(EncoderOptions(**sizes | options), SIDE, FRAMES).double().eval()


def captioner(depth: int, **options: Any) -> Captioner:
    torch.manual_seed(3)
    sizes = {"embedding": 3, "width": 4, "compared": 5, "dropout": 0.0}
    return Captioner(CaptionerOptions(**sizes | options), depth, FRAMES, tokens=8, pad=0).double().eval()


def changed(frame: int) -> Tensor:
    """Return the videos with one frame replaced."""
    frames = VIDEOS.unflatten(1, (FRAMES, -1)).clone()
    frames[:, frame] = 1 - frames[:, frame]
    return frames.flatten(1, 2)


def reversed_in_time() -> Tensor:
    return VIDEOS.unflatten(1, (FRAMES, -1)).flip(dims=[1]).flatten(1, 2)


def states(network: Captioner, annotations: Tensor) -> Tensor:
    memory = network.read(annotations)
    return network.write(WORDS, memory, network.begin(memory)).states


def test_a_frame_is_seen_by_itself_and_its_motion_by_its_neighbours() -> None:
    plain, moving = encoder(), encoder(motion=MotionOptions(channels=[2, 3], span=3))
    assert plain(VIDEOS).shape == (2, FRAMES, 5)
    assert moving(VIDEOS).shape == (2, FRAMES, 10)
    differs = (plain(changed(4)) != plain(VIDEOS)).any(dim=-1)
    assert differs.tolist() == [[False, False, False, False, True, False]] * 2
    assert moving.motion_convolutions is not None
    convolved = (
        moving.motion_convolutions[0](videos.unflatten(1, (FRAMES, SIDE, SIDE)).movedim(-1, 1))
        for videos in (changed(4), VIDEOS)
    )
    differs = torch.ne(*convolved).any(dim=1).flatten(2).any(dim=-1)  # before the norm, which is over all frames
    assert differs.tolist() == [[False, False, False, True, True, True]] * 2


def test_the_first_vector_by_hand() -> None:
    net = encoder(channels=[3], kernel=3)
    frame = 2 * VIDEOS[0, : SIDE * SIDE].reshape(SIDE, SIDE, 3).permute(2, 0, 1) - 1
    seen = net.convolutions[2](net.convolutions[1](net.convolutions[0](frame[None])))
    expected = torch.relu(net.shown[0].weight @ seen.flatten() + net.shown[0].bias) + net.places[0]
    torch.testing.assert_close(net(VIDEOS)[0, 0], expected)


def test_the_mean_over_frames_knows_no_order_and_attention_does() -> None:
    net = encoder()
    forwards, backwards = net(VIDEOS), net(reversed_in_time())
    mean, soft = captioner(5, attention="mean"), captioner(5)
    torch.testing.assert_close(states(mean, forwards), states(mean, backwards))
    assert not torch.allclose(states(soft, forwards), states(soft, backwards))


def test_motion_tells_forwards_from_backwards_even_by_the_mean() -> None:
    net = encoder(motion=MotionOptions(channels=[2, 3], span=3))
    network = captioner(10, attention="mean")
    assert not torch.allclose(states(network, net(VIDEOS)), states(network, net(reversed_in_time())))


def test_with_the_mean_every_word_sees_the_gated_mean() -> None:
    network, annotations = captioner(5, attention="mean"), encoder()(VIDEOS)
    mean = annotations.mean(dim=1)
    memory = network.read(annotations)
    state = network.begin(memory)
    assert network.gate is not None
    assert network.of_context is not None
    seen = torch.sigmoid(network.gate(state.hidden)) * mean
    word = network.embedding(WORDS[:, 0])
    hidden, _ = network.lstm(torch.cat([word, seen], dim=-1), (state.hidden, state.cell))
    expected = word + network.of_state(hidden) + network.of_context(seen)
    torch.testing.assert_close(states(network, annotations)[:, 0], expected)


@pytest.mark.parametrize(
    ("data", "encoder", "words"),
    [
        ({"frames": 8}, {"patches": {}}, "model.encoder.patches are for pictures"),
        ({}, {"motion": {}}, "model.encoder.motion is for videos"),
        ({}, {"width": 7}, "model.encoder.width is for videos"),
        ({"frames": 8}, {"motion": {"span": 2}}, "span is 2, expected an odd number"),
        (
            {"side": 32},
            {"patches": {"patch": 5}},
            "patch is 5, but pictures of data.side = 32 pixels cannot be divided by it",
        ),
    ],
)
def test_options_of_the_other_kind_are_refused(data: Any, encoder: Any, words: str) -> None:
    table = {"family": "captioner", "data": {"features": "own", "shapes": {}} | data, "model": {"encoder": encoder}}
    with pytest.raises(Fault, match=words):
        check_recipe(table)
