"""How well painters paint what captions ask for, by the word of classifiers that have seen no painting.

    python benchmarks/painting.py digits runs/paint-digits --judge runs/convnet-mnist
    python benchmarks/painting.py shapes runs/paint-shapes

Digits are judged by a trained model of the task glimpses. For shapes a small convolutional net is trained here, on
generated pictures that no painter has seen: it says of each colour and shape whether it is there, and where. What it
says of the true pictures of the test stands beside, as the most that a painter can reach. Sizes are not judged.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.data.generated.shapes import COLOURS, KINDS, Shape, captions_of, picture_of, relation_of, shapes_of
from regard.model import Model, load

PAIRS = [(colour, kind) for colour in COLOURS for kind in KINDS]
JUDGES_SEED = 10_000  # of the pictures that the judge learns from; painters have others
JUDGES_PICTURES, STEPS, BATCH = 20_000, 3000, 256
TEST = 2  # the number of the split of generated pictures that painters are tested on
AT_ONCE = 250


class Judge(nn.Module):
    """For each colour and shape a logit that it is there, and its row and column as shares of the sides."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in ((3, 32), (32, 64), (64, 128)):
            layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.ReLU()]
            layers += [nn.Conv2d(after, after, 3, padding=1), nn.ReLU()]
        self.see = nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(512), nn.ReLU(), nn.Dropout(0.3))
        self.say = nn.Linear(512, 3 * len(PAIRS))

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (batch, pair) and places (batch, pair, 2)."""
        said = self.say(self.see(pictures))
        return said[:, : len(PAIRS)], said[:, len(PAIRS) :].unflatten(1, (len(PAIRS), 2))


def train_judge(side: int, device: torch.device) -> Judge:
    """A judge of pictures of this size."""
    shapes = [shapes_of([JUDGES_SEED, row]) for row in range(JUDGES_PICTURES)]
    drawn = np.stack([picture_of([JUDGES_SEED, row], side)[0] for row in range(JUDGES_PICTURES)])
    pictures = torch.from_numpy(drawn).permute(0, 3, 1, 2).to(device)
    there = torch.zeros(len(shapes), len(PAIRS))
    places = torch.zeros(len(shapes), len(PAIRS), 2)
    for row, of_row in enumerate(shapes):
        for shape in of_row:
            pair = PAIRS.index((shape.colour, shape.kind))
            there[row, pair], places[row, pair] = 1, torch.tensor([shape.row, shape.column])
    there, places = there.to(device), places.to(device)
    torch.manual_seed(1)
    judge = Judge().to(device)
    judge(pictures[:1].float() / 255)
    optimizer = torch.optim.Adam(judge.parameters(), 1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        rows = torch.randint(len(shapes), (BATCH,), device=device)
        logits, found = judge(pictures[rows].float() / 255)
        off = ((found - places[rows]).square().sum(dim=2) * there[rows]).sum() / BATCH
        loss = F.binary_cross_entropy_with_logits(logits, there[rows]) * len(PAIRS) + 10 * off
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return judge.eval()


@torch.no_grad()
def judge_pictures(judge: Judge, pictures: Tensor, asked: Sequence[Sequence[Shape]]) -> tuple[float, float]:
    """The shares of pictures that show the right shapes and no others, and that also have them in the right place."""
    logits, places = judge(pictures)
    right_shapes = right = 0
    for row, wanted in enumerate(asked):
        pairs = [(shape.colour, shape.kind) for shape in wanted]
        there = [PAIRS[place] for place in (logits[row] > 0).nonzero()[:, 0].tolist()]
        if sorted(there) != sorted(pairs):
            continue
        right_shapes += 1
        found = [_at_place(shape, places[row, PAIRS.index(pair)]) for shape, pair in zip(wanted, pairs, strict=True)]
        right += _layout(found) == _layout(wanted)
    return right_shapes / len(asked), right / len(asked)


def _at_place(shape: Shape, place: Tensor) -> Shape:
    row, column = place.clamp(0, 0.999).tolist()
    return Shape(shape.kind, shape.colour, shape.size, row, column)


def _layout(shapes: Sequence[Shape]) -> object:
    """Of one shape the ninth of the picture that it lies in, of two how one lies to the other."""
    if len(shapes) == 1:
        return int(shapes[0].row * 3), int(shapes[0].column * 3)
    return relation_of(*shapes)


@torch.no_grad()
def paint(model: Model, captions: Sequence[str], seed: int) -> Tensor:
    """What a model paints for these captions (caption, channel, height, width), on the CPU."""
    task, chance, found = model.task.eval(), torch.Generator().manual_seed(seed), []
    for first in range(0, len(captions), AT_ONCE):
        batch = task.read(captions[first : first + AT_ONCE])
        found += [torch.from_numpy(each.canvases[-1]).float().clamp(0, 1) for each in task.paint(batch, chance, 1.0)]
    pictures = torch.stack(found)
    return pictures.permute(0, 3, 1, 2) if pictures.dim() == 4 else pictures[:, None]


def judge_shapes(folders: Sequence[Path], count: int, device: torch.device) -> None:
    first = load(folders[0], device=str(device))
    options = first.recipe.data.shapes
    judge = train_judge(options.side, device)
    asked = [shapes_of([options.seed, TEST, row]) for row in range(count)]
    captions = [captions_of(shapes)[row % 4] for row, shapes in enumerate(asked)]
    true = np.stack([picture_of([options.seed, TEST, row], options.side)[0] for row in range(count)])
    _print("true pictures", judge_pictures(judge, torch.from_numpy(true).permute(0, 3, 1, 2).to(device) / 255, asked))
    for folder in folders:
        pictures = paint(load(folder, device=str(device)), captions, seed=1).to(device)
        _print(folder.name, judge_pictures(judge, pictures, asked))


def judge_digits(folders: Sequence[Path], judge: Path, count: int, device: torch.device) -> None:
    classifier = load(judge, device=str(device)).task.eval()
    for folder in folders:
        model = load(folder, device=str(device))
        names = model.recipe.data.names
        asked = [row % len(names) for row in range(count)]
        pictures = paint(model, [names[number] for number in asked], seed=1)[:, 0].to(device)
        with torch.no_grad():
            answers = torch.cat([classifier.model.answer(part) for part in pictures.split(AT_ONCE)]).argmax(dim=1).cpu()
        right = answers == torch.tensor(asked)
        print(f"{folder.name}: {100 * right.float().mean():.2f} % of {count:,} are the digit that was asked for")
        for number, name in enumerate(names):
            print(f"  {name}: {100 * right[number :: len(names)].float().mean():.1f} %")


def _print(name: str, shares: tuple[float, float]) -> None:
    shown, placed = (100 * share for share in shares)
    print(f"{name}: {shown:.1f} % show the right shapes, {placed:.1f} % have them in the right place too")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["digits", "shapes"])
    parser.add_argument("folders", nargs="+", type=Path, help="model folders of painters")
    parser.add_argument("--judge", type=Path, help="for digits: a model of the task glimpses")
    parser.add_argument("--count", type=int, default=2000, help="pictures that are painted")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if given.what == "shapes":
        judge_shapes(given.folders, given.count, device)
    elif given.judge is None:
        parser.error("digits need a --judge")
    else:
        judge_digits(given.folders, given.judge, given.count, device)


if __name__ == "__main__":
    main()
