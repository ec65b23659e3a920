"""One prompt by five ways of decoding: what each keeps of the next token's distribution, and what it writes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.base.recipe import check
from regard.decoding.beam import beam_search
from regard.decoding.filters import distribution
from regard.decoding.following import log_probabilities_after
from regard.decoding.options import DecodingOptions, SamplingOptions
from regard.decoding.sampling import sample
from regard.loading import Loaded
from regard.protocols import State
from regard.viewing.decoding import Decoding, Way

PROMPT = "outside shines the"
# The words that may follow each word; a word without a row is followed by the end.
FOLLOWERS: dict[str, dict[str, float]] = {
    "the": {"sun": 0.4, "moon": 0.3, "lamp": 0.15, "star": 0.1, "cat": 0.05},
    "sun": {"brightly": 0.4, "today": 0.35, "again": 0.25},
    "moon": {"brightly": 0.9, "again": 0.1},
    "lamp": {"today": 0.6, "again": 0.4},
    "star": {"brightly": 0.5, "again": 0.5},
    "cat": {"again": 1.0},
}
WORDS = ("the", "</s>", "sun", "moon", "lamp", "star", "cat", "brightly", "today", "again")
_BEGIN, _END = 0, 1


@dataclass(frozen=True)
class Ways:
    """Settings of the five ways; greedy search has none."""

    beam: int = 3
    temperature: float = 0.5
    top_k: int = 2
    top_p: float = 0.9
    seed: int = 1

    def searches(self) -> dict[str, dict[str, Any]]:
        """Return the options of each way, by its name: a beam size or sampling options."""
        return {
            "greedy": {"beam": 1},
            f"beam {self.beam}": {"beam": self.beam},
            f"temperature {self.temperature:g}": {"sample": {"temperature": self.temperature, "seed": self.seed}},
            f"top-k {self.top_k}": {"sample": {"top_k": self.top_k, "seed": self.seed}},
            f"top-p {self.top_p:g}": {"sample": {"top_p": self.top_p, "seed": self.seed}},
        }


def kept_by(search: Mapping[str, Any], log_probabilities: Tensor) -> Tensor:
    """Return what a way leaves of a distribution (token): 0 is cut.

    Greedy search takes the best token, which then has all the probability. A beam carries on with as many tokens as it
    is wide, with their own probabilities. Sampling renormalises what it leaves.
    """
    if "sample" in search:
        options = check(SamplingOptions, dict(search["sample"]), "the sampling")
        return distribution(log_probabilities[None], options)[0].exp()
    best = log_probabilities.argsort(descending=True, stable=True)[: search["beam"]]
    kept = torch.zeros_like(log_probabilities)
    kept[best] = 1.0 if search["beam"] == 1 else log_probabilities[best].exp()
    return kept


class Example:
    """A model small enough to check by hand: the next word depends on the last one alone."""

    begin, end = _BEGIN, _END

    def start(self, batch: Any) -> State:
        return State((), torch.zeros(1))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        rows = torch.zeros(len(tokens), len(WORDS), dtype=torch.float64)
        for row, token in zip(rows, tokens.tolist(), strict=True):
            followers = FOLLOWERS.get(WORDS[token], {WORDS[_END]: 1.0})
            for word, probability in followers.items():
                row[WORDS.index(word)] = probability
        return rows.log(), state

    def write(self, search: Mapping[str, Any]) -> tuple[str, float]:
        """Return the continuation of the prompt by one way, and its log-probability."""
        limits, fields = torch.tensor([5]), {"length_penalty": 0.0}
        if "sample" in search:
            options = check(DecodingOptions, fields | {"sampling": dict(search["sample"])}, "the search")
            ((output,),) = sample(self, None, limits, options)
        else:
            options = check(DecodingOptions, fields | {"beam": search["beam"]}, "the search")
            ((output,),) = beam_search(self, None, limits, options)
        return " ".join([PROMPT, *(WORDS[token] for token in output.tokens)]), sum(output.token_scores)


def example_decoding(ways: Ways) -> Decoding:
    """Return the five ways on the built-in example."""
    example = Example()
    log_probabilities = log_probabilities_after(example, None, (), torch.device("cpu"))
    return _decoding(PROMPT, log_probabilities, lambda numbers: [WORDS[n] for n in numbers], ways, 5, example.write)


def model_decoding(
    model: Loaded, prompt: str, ways: Ways, shown: int, write: Callable[[Mapping[str, Any]], tuple[str, float]]
) -> Decoding:
    """Return the five ways on a language model; `write` gives the text of a way and its log-probability."""
    task = model.task
    log_probabilities = log_probabilities_after(task, task.read([prompt]), (), task.device)
    return _decoding(prompt, log_probabilities, task.tokeniser.pieces, ways, shown, write)


def _decoding(
    prompt: str,
    log_probabilities: Tensor,
    name: Callable[[Sequence[int]], Sequence[str]],
    ways: Ways,
    shown: int,
    write: Callable[[Mapping[str, Any]], tuple[str, float]],
) -> Decoding:
    order = log_probabilities.argsort(descending=True, stable=True)
    numbers = order[:shown].tolist()
    results = []
    for title, search in ways.searches().items():
        kept = kept_by(search, log_probabilities)
        text, score = write(search)
        results.append(Way(title, kept[numbers].tolist(), int((kept > 0).sum()), text, score))
    return Decoding(prompt, list(name(numbers)), log_probabilities[numbers].exp().tolist(), results)
