"""The cost of editing: one pass of a Transformer plain, watched and edited, as ratios to the plain pass.

    .venv/bin/python benchmarks/editing.py
    .venv/bin/python benchmarks/editing.py --width 512 --layers 6 --length 128

Contenders alternate, and the least CPU time of each counts. A pass reads a batch of sentences and writes targets of the
same length. A head's output is edited behind the fused kernel; edited weights are computed in memory, in one block.
"""

import argparse
import time
from collections.abc import Callable
from contextlib import nullcontext

import torch

from regard.attention import Edit, editing, watching
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions

ROUNDS = 15


def seconds(contenders: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least CPU time of each contender, when all take turns."""
    least = dict.fromkeys(contenders, float("inf"))
    for _ in range(ROUNDS):
        for name, work in contenders.items():
            began = time.process_time()
            work()
            least[name] = min(least[name], time.process_time() - began)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description="What editing costs, as ratios to a plain pass.")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--length", type=int, default=40, help="tokens of a sentence")
    parser.add_argument("--batch", type=int, default=16)
    given = parser.parse_args()
    torch.manual_seed(1)
    options = TransformerOptions(
        width=given.width,
        feed_forward=4 * given.width,
        heads=given.heads,
        encoder_layers=given.layers,
        decoder_layers=given.layers,
        longest=given.length,
    )
    model = Transformer(options, 1000, 1000, False, pad=0).eval()
    tokens, lengths = torch.randint(4, 1000, (given.batch, given.length)), torch.full((given.batch,), given.length)
    edits = {
        "one head zeroed": Edit(at="cross.2.1", part="head", do="zero"),
        "one head scaled at a place": Edit(at="cross.2.1", part="head", do="scale", by=0.5, queries=[3]),
        "a key without weight": Edit(at="cross.2.1", do="zero", keys=[1]),
        "a block's output zeroed": Edit(at="encoder.1", part="output", do="zero", queries=[3]),
    }
    contexts: dict[str, Callable[[], object]] = {"plain": nullcontext, "no edit": lambda: editing(model, [])}
    contexts |= {name: lambda edit=edit: editing(model, edit) for name, edit in edits.items()}
    contexts["watched"] = lambda: watching(model)

    def run(context: Callable[[], object]) -> None:
        with torch.no_grad(), context():  # type: ignore[attr-defined]
            model.write(tokens, model.read(tokens, lengths), [])

    least = seconds({name: lambda context=context: run(context) for name, context in contexts.items()})
    print("| pass | milliseconds | times a plain pass |\n| --- | ---: | ---: |")
    for name, taken in least.items():
        print(f"| {name} | {1000 * taken:.1f} | {taken / least['plain']:.2f} |")


if __name__ == "__main__":
    main()
