"""What one look costs by the number of keys: soft, hard, the value side of both alone, and a step of an online model.

    .venv/bin/python benchmarks/hard_attention.py
    .venv/bin/python benchmarks/hard_attention.py --keys 1000 100000 --width 512

Every time is the least of several, in microseconds of one core. A hard look still scores every key before it chooses,
so it saves the sum over the values and no more: that side of it is one read whatever the number of keys. An online
model chooses whether to go on, and never scores the keys that it passes: its whole step costs the same for any length.
"""

import argparse
import time
from collections.abc import Callable, Sequence

import torch

from regard.attention import Attention, Hard
from regard.attention.hard import take_chosen
from regard.attention.scores import Additive
from regard.base.recipe import check
from regard.models.online.steps import OnlineMemory
from regard.models.online.text import Online, OnlineOptions

ROUNDS = 7  # the quietest of which counts
LEAST = 0.02  # seconds that a round takes


def microseconds(work: Callable[[], object]) -> float:
    """The least time that one call takes, when nobody else is in the way."""
    work()
    times, least = 1, float("inf")
    for _ in range(ROUNDS):
        while True:
            began = time.process_time()
            for _ in range(times):
                work()
            taken = time.process_time() - began
            if taken >= LEAST:
                break
            times *= 2
        least = min(least, taken / times)
    return 1e6 * least


def looks(keys: int, width: int) -> dict[str, Callable[[], object]]:
    """One query among so many keys, by Bahdanau's score."""
    score = Additive(query_depth=width, key_depth=width, hidden=width)
    query, key, value = (torch.randn(1, 1, places, width) for places in (1, keys, keys))
    soft = Attention(score=score, looks_from="target", looks_at="source").eval()
    hard = Attention(score=score, looks_from="target", looks_at="source", choice=Hard()).eval()
    prepared, weights = soft.prepare(key), torch.rand(1, 1, 1, keys).softmax(-1)
    chosen = Hard().eval()(weights)
    return {
        "soft look": lambda: soft.full(query, prepared, value),
        "hard look": lambda: hard.full(query, prepared, value),
        "soft, value side": lambda: weights @ value,
        "hard, value side": lambda: take_chosen(value, chosen),
        "online, whole step": _online_step(keys, width),
    }


def _online_step(keys: int, width: int) -> Callable[[], object]:
    """One step in the middle of an input of that length, at which a token is written."""
    options = check(OnlineOptions, {"width": width, "embedding": width, "repeats": 1, "dropout": 0.0})
    network = Online(options, 100, 100, False, 0).eval()
    with torch.no_grad():
        network.decision.gate.bias.fill_(100.0)  # so that it writes at once
    memory = OnlineMemory(torch.randn(1, keys, width), torch.tensor([keys - 1]))
    past = network.begin(memory)._replace(step=torch.tensor([keys // 2]))
    token = torch.tensor([[7]])
    return lambda: network.write(token, memory, past)


@torch.inference_mode()
def main(keys: Sequence[int], width: int) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    names = list(looks(1, width))
    print("| keys |", " | ".join(names), "|")
    print("|", " | ".join(["---"] * (1 + len(names))), "|")
    for number in keys:
        times = [microseconds(work) for work in looks(number, width).values()]
        print(f"| {number:,} |", " | ".join(f"{each:,.0f}" for each in times), "|", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, nargs="+", default=[10, 100, 1000, 10_000, 100_000])
    parser.add_argument("--width", type=int, default=256)
    given = parser.parse_args()
    main(given.keys, given.width)
