"""What the accuracy of graph attention depends on: which weights of a run are kept, and what dropout falls on.

    .venv/bin/python benchmarks/gat_choices.py planetoid:citeseer --epochs 650 --value-dropout 0.6

Trains many seeds side by side, validates each after every epoch, and tells of each way to choose among a run's weights
what accuracy it gives on the test: the mean over the seeds and their standard deviation. A run ends by its rule after
100 epochs without what the rule waits for, as in the paper. Meant for a GPU.
"""

import argparse
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from regard.data.graphs.planetoid import read_planetoid
from regard.models.gat import GAT, GATOptions
from regard.tasks.nodes.task import tensors_of

PATIENCE = 100


@dataclass(frozen=True)
class Epoch:
    """What one seed reached after one epoch."""

    loss: float
    accuracy: float
    test: float


Rule = Callable[[Epoch, Epoch], bool]  # an epoch, and the best loss and accuracy before it


RULES: dict[str, tuple[Rule, Rule]] = {  # when weights are kept, and when patience begins anew
    "lowest loss": (
        lambda now, best: now.loss < best.loss,
        lambda now, best: now.loss < best.loss,
    ),
    "highest accuracy, the first time": (
        lambda now, best: now.accuracy > best.accuracy,
        lambda now, best: now.accuracy > best.accuracy,
    ),
    "both at once, as the authors' code": (
        lambda now, best: now.loss <= best.loss and now.accuracy >= best.accuracy,
        lambda now, best: now.loss <= best.loss or now.accuracy >= best.accuracy,
    ),
}


def train(graph: str, options: GATOptions, seeds: range, epochs: int, device: str) -> list[list[Epoch]]:
    """What each seed reached after each epoch."""
    data = read_planetoid(graph, normalise=True)
    nodes = {split: torch.from_numpy(data.nodes_of(split)).to(device) for split in ("train", "valid", "test")}
    labels = torch.from_numpy(data.labels).to(device).expand(len(seeds), -1)
    whole = tensors_of(data).to(device).repeat(len(seeds))
    network = GAT(options, data.features.width, len(data.classes), seeds).to(device)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.005, weight_decay=5e-4)
    torch.manual_seed(seeds[0])
    found = []
    for _ in range(epochs):
        network.train()
        optimiser.zero_grad()
        logits, wanted = network(whole)[:, nodes["train"]], labels[:, nodes["train"]]
        (F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="sum") / wanted.shape[1]).backward()
        optimiser.step()
        network.eval()
        with torch.no_grad():
            logits = network(whole)
        valid = F.cross_entropy(logits[:, nodes["valid"]].mT, labels[:, nodes["valid"]], reduction="none").mean(1)
        right = [
            (logits[:, nodes[split]].argmax(-1) == labels[:, nodes[split]]).float().mean(1)
            for split in ("valid", "test")
        ]
        found.append(torch.stack([valid, *right], dim=1))
    return [[Epoch(*epoch) for epoch in seed] for seed in torch.stack(found, dim=1).tolist()]


def kept_accuracy(course: list[Epoch], keeps: Rule, waits_for: Rule) -> tuple[float, int]:
    """The test accuracy of the weights that a rule keeps, and the epoch at which it stops."""
    best, kept, waited = Epoch(float("inf"), 0.0, 0.0), 0.0, 0
    for number, now in enumerate(course, 1):
        kept = now.test if keeps(now, best) else kept
        waited = 0 if waits_for(now, best) else waited + 1
        best = Epoch(min(best.loss, now.loss), max(best.accuracy, now.accuracy), 0.0)
        if waited == PATIENCE:
            return kept, number
    return kept, len(course)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", choices=["planetoid:cora", "planetoid:citeseer"])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--value-dropout", type=float, default=0.0)
    chosen = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    options = GATOptions(value_dropout=chosen.value_dropout)
    courses = train(chosen.graph, options, range(chosen.seeds), chosen.epochs, device)
    print("| weights kept | test accuracy | epochs |\n| --- | --- | --- |")
    for name, rules in RULES.items():
        kept, stops = zip(*(kept_accuracy(course, *rules) for course in courses), strict=True)
        percent = [100 * accuracy for accuracy in kept]
        spread = statistics.pstdev(percent)
        print(f"| {name} | {statistics.fmean(percent):.2f} ± {spread:.2f} | {statistics.fmean(stops):.0f} |")


if __name__ == "__main__":
    main()
