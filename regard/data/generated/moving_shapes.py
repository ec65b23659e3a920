"""Short videos of coloured shapes that act in turn or at once, with true captions from a small grammar.

    a red circle moves left then a blue square jumps          after a red circle moves left a blue square jumps
    a green triangle shakes while a yellow circle grows       a red square blinks then turns blue

No single frame shows what a caption says: a movement needs two frames, and the order of acts needs all of them. Every
video is a pure function of its key. The act that comes first in time comes first in each of its four captions;
simultaneous acts come in either order. Some combinations of colours and actions, in the order of the two acts, are held
out of training. For simultaneous acts the other order is another combination, which may be in training.
"""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from regard.data.generated.shapes import COLOURS

KINDS = ("circle", "square", "triangle")
DIRECTIONS = {"left": (0.0, -1.0), "right": (0.0, 1.0), "up": (-1.0, 0.0), "down": (1.0, 0.0)}  # (down, across)
ACTIONS = (*(f"moves {way}" for way in DIRECTIONS), "jumps", "shakes", "grows", "shrinks", "blinks", "turns")
FEWEST_FRAMES = 8  # enough for two acts in turn
_REACH = 0.15  # half a shape's size, as a share of the picture's side
_FAR = 0.34  # how far a shape moves
_APART = 2.1  # smallest distance between two shapes, in halves of their size
_TRIES = 60  # tries to place two shapes apart
_ONE_AT_A_TIME, _ONE_ALONE = 0.5, 0.25  # shares: two shapes in turn, one shape that acts twice; the rest act at once
_HELD_OUT = 5  # one in this many combinations is kept out of training


@dataclass(frozen=True)
class Act:
    """Action of one shape with its first frame and the end of its frames; `into` is the colour that a shape turns."""

    action: str
    first: int
    end: int
    into: str = ""

    @property
    def words(self) -> str:
        return f"{self.action} {self.into}".rstrip()

    def progress(self, frames: int) -> np.ndarray:
        """Return the completed share in each frame: 0 before it begins, 1 from its last frame on."""
        return np.clip((np.arange(frames) - self.first) / (self.end - 1 - self.first), 0, 1)


@dataclass(frozen=True)
class Actor:
    """A shape, the start of its centre as a share of the picture's height and width, and its acts in order."""

    kind: str
    colour: str
    acts: tuple[Act, ...]
    row: float = 0.5
    column: float = 0.5

    @property
    def name(self) -> str:
        return f"{'an' if self.colour == 'orange' else 'a'} {self.colour} {self.kind}"

    def course(self, frames: int) -> "Course":
        """Return the shape's place, size, colour and visibility in each frame."""
        places, sizes = np.tile([self.row, self.column], (frames, 1)), np.full(frames, _REACH)
        colours, is_seen = np.tile(np.array(COLOURS[self.colour], float), (frames, 1)), np.ones(frames, bool)
        for act in self.acts:
            done = act.progress(frames)
            if act.action.startswith("moves"):
                places += _FAR * done[:, None] * np.array(DIRECTIONS[act.action.split()[1]])
            elif act.action == "jumps":
                places[:, 0] -= 0.22 * np.sin(math.pi * done)
            elif act.action == "shakes":
                places[:, 1] += 0.09 * np.sin(4 * math.pi * done)
            elif act.action in ("grows", "shrinks"):
                sizes *= 1 + (0.6 if act.action == "grows" else -0.5) * done
            elif act.action == "turns":
                colours[done >= 0.5] = COLOURS[act.into]
            else:
                since = np.arange(frames) - act.first
                is_seen &= ~((since % 2 == 1) & (since > 0) & (np.arange(frames) < act.end))
        return Course(self.kind, places, sizes, colours, is_seen)


@dataclass(frozen=True)
class Course:
    """A shape frame by frame: centre (frame, 2), half its size, colour (frame, 3), and visibility."""

    kind: str
    places: np.ndarray
    sizes: np.ndarray
    colours: np.ndarray
    is_seen: np.ndarray

    def cover(self, side: int) -> np.ndarray:
        """Return the share of each pixel (frame, row, column) that the shape covers, with an edge one pixel wide."""
        middles = (np.arange(side) + 0.5) / side
        down = (middles[None, :, None] - self.places[:, 0, None, None]).astype(np.float32)
        across = (middles[None, None, :] - self.places[:, 1, None, None]).astype(np.float32)
        reach = self.sizes[:, None, None].astype(np.float32)
        if self.kind == "circle":
            outside = np.sqrt(down**2 + across**2) - reach
        elif self.kind == "square":
            outside = np.maximum(np.abs(down), np.abs(across)) - 0.88 * reach
        else:  # upright, with its centre a little above half its height
            slope = (2 * np.abs(across) - down) / math.sqrt(5) - 0.45 * reach
            outside = np.maximum(slope, down - 0.8 * reach)
        return np.clip(0.5 - outside * side, 0, 1) * self.is_seen[:, None, None]


@dataclass(frozen=True)
class Scene:
    """Two acts, in turn or at once, of one shape or of two."""

    actors: tuple[Actor, ...]
    at_once: bool

    @property
    def is_held_out(self) -> bool:
        """True if this combination of colours and actions is held out of training."""
        description = " ".join(f"{actor.colour} {act.words}" for actor in self.actors for act in actor.acts)
        return zlib.crc32(description.encode()) % _HELD_OUT == 0

    def captions(self) -> list[str]:
        """Return all true sentences of the grammar about the scene: four."""
        if len(self.actors) == 1:
            (actor,) = self.actors
            one, other = (act.words for act in actor.acts)
            beginning = f"{actor.name} {one}"
            return [
                f"{beginning} then {other}",
                f"{beginning} before it {other}",
                f"first {beginning} then it {other}",
                f"after {beginning} it {other}",
            ]
        first, second = (f"{actor.name} {actor.acts[0].words}" for actor in self.actors)
        if self.at_once:
            return [
                text
                for one, other in ((first, second), (second, first))
                for text in (f"{one} while {other}", f"while {one} {other}")
            ]
        return [
            f"{first} then {second}",
            f"{first} before {second}",
            f"first {first} then {second}",
            f"after {first} {second}",
        ]


def scene_of(key: Sequence[int], frames: int, held_out: bool) -> Scene:
    """Return the scene of a key, from the held-out combinations or from the others."""
    draws = np.random.default_rng(key)
    while (scene := _draw_scene(draws, frames)).is_held_out != held_out:
        pass
    return replace(scene, actors=_place(scene.actors, frames, draws))


def draw_scene(scene: Scene, frames: int, side: int, ground: int) -> np.ndarray:
    """Return the pixels (frame, side, side, 3) of a scene on a grey background from 0 to 255."""
    pixels = np.full((frames, side, side, 3), ground, np.float32)
    for actor in scene.actors:
        course = actor.course(frames)
        share = course.cover(side)[..., None]
        pixels += share * (course.colours[:, None, None].astype(np.float32) - pixels)
    return np.rint(pixels).astype(np.uint8)


def video_of(key: Sequence[int], frames: int, side: int, held_out: bool) -> tuple[np.ndarray, list[str]]:
    """Return the pixels (frame, side, side, 3) of a key's video, on a light or dark background, and its captions."""
    scene = scene_of(key, frames, held_out)
    ground = int(np.random.default_rng([*key, 1]).choice([24, 48, 208, 240]))
    return draw_scene(scene, frames, side, ground), scene.captions()


def _draw_scene(draws: np.random.Generator, frames: int) -> Scene:
    """Draw a random scene; no action occurs twice."""
    one, other = (str(action) for action in draws.choice(ACTIONS, 2, replace=False))
    colours = [str(colour) for colour in draws.permutation(list(COLOURS))]
    kinds = [str(kind) for kind in draws.choice(KINDS, 2)]
    manner = draws.random()
    middle = int(draws.integers(frames * 3 // 8, frames * 5 // 8 + 1))
    if manner < _ONE_AT_A_TIME + _ONE_ALONE:
        times = ((0, middle), (middle, frames))
    else:
        first = int(draws.integers(0, frames - middle + 1))
        times = ((first, first + middle), (first, first + middle))
    acts = [
        Act(action, *time, colours[place] if action == "turns" else "")
        for place, (action, time) in enumerate(zip((one, other), times, strict=True), start=2)
    ]
    if _ONE_AT_A_TIME <= manner < _ONE_AT_A_TIME + _ONE_ALONE:
        return Scene((Actor(kinds[0], colours[0], tuple(acts)),), at_once=False)
    actors = (Actor(kind, colour, (act,)) for kind, colour, act in zip(kinds, colours, acts, strict=False))
    return Scene(tuple(actors), at_once=manner >= _ONE_AT_A_TIME)


def _place(actors: Sequence[Actor], frames: int, draws: np.random.Generator) -> tuple[Actor, ...]:
    """Place the actors inside the picture and, if one of the tries succeeds, apart from each other."""
    courses = [replace(actor, row=0.0, column=0.0).course(frames) for actor in actors]
    best, widest = np.zeros((len(actors), 2)), -1.0
    for _ in range(_TRIES):
        lows = np.stack([(course.sizes[:, None] - course.places).max(axis=0) for course in courses])
        highs = np.stack([(1 - course.sizes[:, None] - course.places).min(axis=0) for course in courses])
        begins = draws.uniform(lows, np.maximum(highs, lows + 1e-6))
        paths = [course.places + begin for course, begin in zip(courses, begins, strict=True)]
        reaches = sum(course.sizes for course in courses)
        distance = float(np.min(np.linalg.norm(paths[0] - paths[-1], axis=1) / reaches * 2))
        if len(actors) == 1 or distance > widest:
            best, widest = begins, distance
        if len(actors) == 1 or distance >= _APART:
            break
    starts = zip(actors, best.tolist(), strict=True)
    return tuple(replace(actor, row=row, column=column) for actor, (row, column) in starts)
