"""Generated videos match their captions frame by frame, and held-out ones are never trained on."""

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.captions.generated import generate_named
from regard.data.captions.options import CaptionData
from regard.data.captions.prepare import prepare_captions
from regard.data.generated.moving_shapes import Act, Actor, Scene, draw_scene, scene_of, video_of
from regard.data.generated.shapes import COLOURS

FRAMES, SIDE = 8, 24
SMALL = {"features": "own", "side": 12, "frames": 8, "shapes": {"train": 3, "valid": 2, "test": 2}}


def frames_of(action: str, into: str = "") -> np.ndarray:
    """Return a red square in the middle of a black ground with one action from first frame to last."""
    return draw_scene(Scene((Actor("square", "red", (Act(action, 0, FRAMES, into),)),), False), FRAMES, SIDE, 0)


def middles(frames: np.ndarray) -> np.ndarray:
    """Return the place of the red in each frame (frame, 2), as shares of height and width."""
    red = frames[..., 0].astype(float)
    along = (np.arange(SIDE) + 0.5) / SIDE
    return np.stack([(red.sum(axis=2) @ along), (red.sum(axis=1) @ along)], axis=1) / red.sum(axis=(1, 2))[:, None]


def test_what_moves_goes_a_third_of_the_picture_its_way() -> None:
    for action, expected in {"moves left": (0.5, 0.16), "moves right": (0.5, 0.84), "moves up": (0.16, 0.5)}.items():
        places = middles(frames_of(action))
        np.testing.assert_allclose(places[[0, -1]], [(0.5, 0.5), expected], atol=0.01)


def test_what_jumps_or_shakes_comes_back() -> None:
    for action in ("jumps", "shakes"):
        places = middles(frames_of(action))
        np.testing.assert_allclose(places[-1], places[0], atol=0.01)
    assert middles(frames_of("jumps"))[FRAMES // 2, 0] < 0.35


def test_what_grows_shrinks_blinks_and_turns() -> None:
    areas = {name: (frames_of(name)[..., 0] / COLOURS["red"][0]).sum(axis=(1, 2)) for name in ("grows", "shrinks")}
    assert areas["grows"][-1] / areas["grows"][0] == pytest.approx(1.6**2, rel=0.05)
    assert areas["shrinks"][-1] / areas["shrinks"][0] == pytest.approx(0.5**2, rel=0.1)
    assert frames_of("blinks").any(axis=(1, 2, 3)).tolist() == [True, False] * 4
    turned = frames_of("turns", "blue")
    assert turned[0, 12, 12].tolist() == list(COLOURS["red"])
    assert turned[-1, 12, 12].tolist() == list(COLOURS["blue"])


def test_captions_say_first_what_comes_first() -> None:
    circle = Actor("circle", "orange", (Act("moves left", 0, 4),))
    square = Actor("square", "blue", (Act("turns", 4, 8, "red"),))
    one, other = "an orange circle moves left", "a blue square turns red"
    assert Scene((circle, square), at_once=False).captions() == [
        f"{one} then {other}",
        f"{one} before {other}",
        f"first {one} then {other}",
        f"after {one} {other}",
    ]
    assert set(Scene((circle, square), at_once=True).captions()) == {
        f"{one} while {other}",
        f"while {one} {other}",
        f"{other} while {one}",
        f"while {other} {one}",
    }
    alone = Actor("circle", "red", (Act("jumps", 0, 4), Act("grows", 4, 8)))
    assert Scene((alone,), at_once=False).captions()[1] == "a red circle jumps before it grows"


def test_a_video_is_a_function_of_its_key_and_held_out_combinations_stay_apart() -> None:
    first, again = (video_of([1, 0, 5], FRAMES, SIDE, held_out=False) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])
    assert first[1] == again[1]
    for held_out in (False, True):
        assert {scene_of([2, 0, number], FRAMES, held_out).is_held_out for number in range(12)} == {held_out}


def test_shapes_stay_in_the_picture() -> None:
    for number in range(12):
        for actor in scene_of([3, 0, number], 16, held_out=False).actors:
            course = actor.course(16)
            assert (course.places - course.sizes[:, None]).min() > -1e-3
            assert (course.places + course.sizes[:, None]).max() < 1 + 1e-3


def test_prepared_videos_are_those_of_their_names(tmp_path) -> None:
    options = check(CaptionData, SMALL)
    prepared = prepare_captions(options, tmp_path, silent)
    assert prepared.features.shape == (7, 8 * 12 * 12, 3)
    assert prepared.format.in_words == "videos of 8 frames, each of 12 × 12 pixels"
    video = generate_named(options, "test-1")
    assert video is not None
    np.testing.assert_array_equal(prepared.features[prepared.first_of("test") + 1], video.reshape(-1, 3))
    assert [generate_named(options, name) for name in ("test-2", "test-", "other-1", "test-²")] == [None] * 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"frames": 4}, "frames is 4, but moving shapes need at least 8"),
        ({"features": {"file": "a.npy", "names": "a.txt"}, "shapes": None}, "frames: videos need features = 'own'"),
    ],
)
def test_videos_that_cannot_be_are_refused(changes, words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(CaptionData, SMALL | changes)
