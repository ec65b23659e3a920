"""What captions of generated videos get right: the shapes, what these do, in turn or at once, and what came first.

    .venv/bin/python benchmarks/video_errors.py runs/compare-video/*/seed-1

For each run, in percent of its test videos: both shapes named as they are; both acts; in turn or at once; and, of those
in turn whose acts are right and differ, the one that came first said first.
"""

import argparse
import re
from collections.abc import Sequence

import regard
from regard.data.generated.moving_shapes import KINDS, Scene, scene_of

_SHAPE = re.compile(rf"\w+ (?:{'|'.join(KINDS)})\b")
_ACT = re.compile(r"moves \w+|turns \w+|jumps|shakes|grows|shrinks|blinks")


def right(texts: Sequence[str], scenes: Sequence[Scene]) -> dict[str, float]:
    """The shares of these captions that are right about each thing, in percent."""
    found: dict[str, list[bool]] = {"shapes": [], "acts": [], "in turn or at once": [], "first": []}
    for text, scene in zip(texts, scenes, strict=True):
        truth = scene.captions()[0]
        acts, wanted = _ACT.findall(text), _ACT.findall(truth)
        found["shapes"].append(sorted(_SHAPE.findall(text)) == sorted(_SHAPE.findall(truth)))
        found["acts"].append(sorted(acts) == sorted(wanted))
        found["in turn or at once"].append(("while" in text.split()) == scene.at_once)
        if found["acts"][-1] and not scene.at_once:
            found["first"].append(acts == wanted)
    return {name: 100 * sum(each) / max(len(each), 1) for name, each in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", help="runs of captioners of generated videos")
    for folder in parser.parse_args().folders:
        model = regard.load(folder)
        data = model.recipe.data  # type: ignore[attr-defined]
        numbers = range(data.shapes.test)
        scenes = [scene_of([data.shapes.seed, 2, number], data.frames, held_out=True) for number in numbers]
        texts = [caption.text for caption in model.caption([f"test-{number}" for number in numbers])]
        shares = ", ".join(f"{name} {share:.1f}" for name, share in right(texts, scenes).items())
        print(f"{folder}: {shares}", flush=True)


if __name__ == "__main__":
    main()
