"""How well painters paint what captions ask for, by the word of classifiers that have seen no painting.

    python benchmarks/painting.py digits runs/paint-digits --judge runs/convnet-mnist-wide
    python benchmarks/painting.py shapes runs/paint-shapes
    python benchmarks/painting.py shapes runs/paint-shapes --valid --temperature 1 0.7 0.4

Digits are judged by a trained model of the task glimpses. For shapes a convolutional net is trained here, a minute's
work for a GPU, on generated pictures that no painter has seen: it says of each colour and shape whether it is there,
and where. What it says of the true pictures stands beside, which tells how far it can be trusted, and of the same once
they have become codes and pictures again, which is the most that the painter can reach. Sizes are not judged.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.data.generated.shapes import COLOURS, KINDS, Shape, captions_of, picture_of, relation_of, shapes_of
from regard.data.prepared import SPLITS
from regard.model import Model, load

PAIRS = [(colour, kind) for colour in COLOURS for kind in KINDS]
JUDGES_SEED = 10_000  # of the pictures that the judge learns from; painters have others
BATCH, RATE = 128, 3e-3
NOISE = 0.03  # added to what the judge learns from, so that it does not go by what no eye can see
AT_ONCE = 250


class Judge(nn.Module):
    """For each colour and shape a logit that it is there, and its row and column as shares of the sides.

    It has a logit for each cell of 4 × 4 pixels, the same function of what lies around it wherever the cell is. A shape
    is there if the largest says so, and lies at the mean of the cells, weighted by a softmax of their logits.
    """

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for after, stride in ((48, 1), (48, 1), (96, 2), (96, 1), (192, 2), (192, 1)):
            layers += [nn.Conv2d(before, after, 3, stride, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
            before = after
        self.see = nn.Sequential(*layers, nn.Conv2d(before, len(PAIRS), 1))

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (batch, pair) and places (batch, pair, 2)."""
        cells = self.see(pictures)
        shares = cells.flatten(2).softmax(dim=2).unflatten(2, cells.shape[2:])
        middles = (torch.arange(cells.shape[2], device=cells.device) + 0.5) / cells.shape[2]
        places = torch.stack([shares.sum(dim=3) @ middles, shares.sum(dim=2) @ middles], dim=2)
        return cells.amax(dim=(2, 3)), places


def train_judge(side: int, count: int, steps: int, device: torch.device) -> Judge:
    """A judge of pictures of this size, which has learnt from `count` of them and their mirror images."""
    shapes = [shapes_of([JUDGES_SEED, row]) for row in range(count)]
    drawn = np.stack([picture_of([JUDGES_SEED, row], side)[0] for row in range(count)])
    pictures = torch.from_numpy(drawn).permute(0, 3, 1, 2).to(device)
    there = torch.zeros(count, len(PAIRS))
    places = torch.zeros(count, len(PAIRS), 2)
    for row, of_row in enumerate(shapes):
        for shape in of_row:
            pair = PAIRS.index((shape.colour, shape.kind))
            there[row, pair], places[row, pair] = 1, torch.tensor([shape.row, shape.column])
    there, places = there.to(device), places.to(device)
    torch.manual_seed(1)
    judge = Judge().to(device)
    optimizer = torch.optim.Adam(judge.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for step in range(steps):
        rows = torch.randint(count, (BATCH,), device=device)
        seen, wanted = pictures[rows].float() / 255, places[rows]
        if step % 2:  # all shapes look the same in a mirror
            seen, wanted = seen.flip(3), torch.stack([wanted[..., 0], 1 - wanted[..., 1]], dim=2)
        logits, found = judge(seen + NOISE * torch.randn_like(seen))
        off = ((found - wanted).square().sum(dim=2) * there[rows]).sum() / BATCH
        loss = F.binary_cross_entropy_with_logits(logits, there[rows]) * len(PAIRS) + 10 * off
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return judge.eval()


@torch.no_grad()
def judge_pictures(judge: Judge, pictures: Tensor, asked: Sequence[Sequence[Shape]]) -> tuple[float, float]:
    """The shares of pictures that show the right shapes and no others, and that also have them in the right place."""
    said = [judge(part) for part in pictures.split(AT_ONCE)]
    logits, places = (torch.cat(parts).cpu() for parts in zip(*said, strict=True))
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
def paint(model: Model, captions: Sequence[str], seed: int, temperature: float = 1.0) -> Tensor:
    """What a model paints for these captions (caption, channel, height, width), on the CPU."""
    task, chance, found = model.task.eval(), torch.Generator().manual_seed(seed), []
    for first in range(0, len(captions), AT_ONCE):
        batch = task.read(captions[first : first + AT_ONCE])
        drawn = task.paint(batch, chance, temperature)
        found += [torch.from_numpy(each.canvases[-1]).float().clamp(0, 1) for each in drawn]
    pictures = torch.stack(found)
    return pictures.permute(0, 3, 1, 2) if pictures.dim() == 4 else pictures[:, None]


@torch.no_grad()
def through_codes(model: Model, pictures: Tensor) -> Tensor:
    """What becomes of pictures that are turned into codes and back."""
    codebook = model.task.eval().model.codebook
    return torch.cat([codebook(part).pictures.clamp(0, 1) for part in pictures.split(AT_ONCE)])


def judge_shapes(given: argparse.Namespace, device: torch.device) -> None:
    models = {folder.name: load(folder, device=str(device)) for folder in given.folders}
    options = next(iter(models.values())).recipe.data.shapes
    if any(model.recipe.data.shapes != options for model in models.values()):
        raise SystemExit("these painters have learnt from different pictures: judge them one by one")
    judge = train_judge(options.side, given.learnt, given.steps, device)
    keys = [[options.seed, SPLITS.index("valid" if given.valid else "test"), row] for row in range(given.count)]
    asked = [shapes_of(key) for key in keys]
    captions = [captions_of(shapes)[row % 4] for row, shapes in enumerate(asked)]
    drawn = torch.from_numpy(np.stack([picture_of(key, options.side)[0] for key in keys]))
    true = drawn.permute(0, 3, 1, 2).to(device) / 255
    _print("true pictures", judge_pictures(judge, true, asked))
    for name, model in models.items():
        _print(f"{name}, true pictures through its codes", judge_pictures(judge, through_codes(model, true), asked))
        for temperature in given.temperature:
            painted = paint(model, captions, seed=1, temperature=temperature).to(device)
            _print(f"{name}, painted at temperature {temperature:g}", judge_pictures(judge, painted, asked))


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
    parser.add_argument("--temperature", type=float, nargs="+", default=[1.0], help="for shapes: at which to paint")
    parser.add_argument("--valid", action="store_true", help="for shapes: captions of validation pictures")
    parser.add_argument("--learnt", type=int, default=40_000, help="pictures that the judge of shapes learns from")
    parser.add_argument("--steps", type=int, default=4000, help="steps in which it does")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if given.what == "shapes":
        judge_shapes(given, device)
    elif given.judge is None:
        parser.error("digits need a --judge")
    else:
        judge_digits(given.folders, given.judge, given.count, device)


if __name__ == "__main__":
    main()
