"""Steps of training a second of DRAW on a GPU: `python benchmarks/draw_steps.py 250 250-compiled 250-compiled-tf32`.

A variant is a batch size, with `compiled` for the kernels of `training.compile_step` and `tf32` for products in TF32.
Each is measured for some seconds by the captured pass, forward and backward, and the update, on random pictures.
`--gradients` compares the gradients of plain torch and of the kernels with those in float64 instead.
"""

import argparse
import copy
import time
from collections.abc import Callable

import numpy as np
import torch

from regard.data.pictures.prepare import PictureLabels
from regard.models.draw.network import Draw, DrawOptions, Redrawn
from regard.tasks.drawing.options import DrawingTraining
from regard.tasks.drawing.task import PictureDrawing, bound
from regard.tasks.glimpses.batches import PictureBatch
from regard.training import optimizers
from regard.training.options import OptimizerOptions
from regard.training.passes import Passes


def main() -> None:
    """Measure the variants, each in a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="*", metavar="BATCH[-compiled][-tf32]")
    parser.add_argument("--gradients", action="store_true", help="compare the kernels with float64")
    parser.add_argument("--read", type=int, default=2, help="filters a side of the reading window")
    parser.add_argument("--side", type=int, default=28, help="pixels a side")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each variant")
    parser.add_argument("--no-attention", action="store_true")
    parser.add_argument("--steps", type=int, default=64, help="steps of a drawing")
    given = parser.parse_args()
    options = DrawOptions(steps=given.steps, attention=not given.no_attention, read=given.read)
    if given.gradients:
        compare_gradients(options, given.side)
    for variant in given.variants:
        print(f"{variant}: {measure(variant, options, given.side, given.seconds)}", flush=True)


def compare_gradients(options: DrawOptions, side: int, rows: int = 37) -> None:
    """Print how far gradients are from those in float64, at most, as shares of the length of each weight's gradient."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    network = Draw(options, side, side).to(device)
    with torch.no_grad():
        for weight in (network.first_canvas, network.first_shown):
            weight += 0.3 * torch.randn_like(weight)
        network.say.weight *= 2  # windows that move
    pictures = torch.randint(2, (rows, side, side), device=device).float()
    noise = torch.randn(rows, options.steps, options.latent, device=device)
    true = gradients(copy.deepcopy(network).double(), Draw.forward, pictures.double(), noise.double())
    ways = {"plain float32": (Draw.forward, False), "kernels": (Draw._redraw_by_kernels, False)}
    for name, (redraw, network.in_tf32) in (ways | {"kernels in TF32": (Draw._redraw_by_kernels, True)}).items():
        found = gradients(network, redraw, pictures, noise)
        errors = [float((ours - right).norm() / right.norm()) for ours, right in zip(found, true, strict=True)]
        print(f"{name}: {max(errors):.1e}", flush=True)


def gradients(
    network: Draw, redraw: Callable[..., Redrawn], pictures: torch.Tensor, noise: torch.Tensor
) -> list[torch.Tensor]:
    total = bound(redraw(network, pictures, noise), pictures).total.sum()
    return [gradient.double() for gradient in torch.autograd.grad(total, list(network.parameters()))]


def measure(variant: str, options: DrawOptions, side: int, seconds: float) -> str:
    """What one variant reaches."""
    batch_size, *kinds = variant.split("-")
    torch.manual_seed(1)
    labels = PictureLabels(classes=["0", "1"], height=side, width=side)
    training = DrawingTraining(compile_step="compiled" in kinds, tf32="tf32" in kinds)
    task = PictureDrawing(Draw(options, side, side), labels, training).to("cuda")
    pixels = np.random.default_rng(1).integers(0, 2, (int(batch_size), side, side)) * 255
    pictures = torch.from_numpy(pixels.astype(np.uint8)).cuda()
    batch = PictureBatch(pictures, torch.zeros(len(pixels), dtype=torch.long).cuda(), torch.arange(len(pixels)))
    passes = Passes(task, task, "float32")
    optimizer = optimizers.build(task, OptimizerOptions(learning_rate=1e-4))

    def update() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=not passes.capturing)
        loss = passes.replay(batch)
        optimizers.scale_gradients(task, loss.count, 10.0, False)
        optimizers.step(optimizer, 1e-4)
        return loss.total / loss.count

    began = time.monotonic()
    first = float(update())
    ready, done = time.monotonic() - began, 0
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        last = float([update() for _ in range(20)][-1])
        done += 20
    rate = done / (time.monotonic() - began)
    return (
        f"{rate:.1f} steps/s, {rate * len(pixels):,.0f} pictures/s, ready after {ready:.0f} s, "
        f"{torch.cuda.max_memory_reserved() / 2**30:.1f} GiB, loss {first:.2f} to {last:.2f}"
    )


if __name__ == "__main__":
    main()
