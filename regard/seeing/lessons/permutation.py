"""Order and attention: without positions, permuted words give permuted outputs and nothing else.

The small example has one attention without projections, softmax(x xᵀ / √width) x, over vectors with one decimal. In a
trained model the tokens of a text are read in two orders, with its own positions and without them.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.attention.heads import MultiHead
from regard.attention.positions import Learned, Sinusoidal, Unplaced, sinusoids
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.bert.network import Bert
from regard.models.gpt.network import GPT
from regard.models.transformer.network import Transformer
from regard.tasks.masked.task import MaskedTokens
from regard.tasks.text import words_of
from regard.viewing.sides import Words
from regard.viewing.tables import NumberTable, TableLesson, WordTable

FIRST, SECOND = "очень хорошо, совсем не плохо", "не очень хорошо, совсем плохо"
TITLE = "Attention without positions does not see order"
_WIDTH = 4
_SMALL = 1e-12  # share below which a difference is only rounding in float64


def reversed_words(text: str) -> str:
    """Return the words of a text in the opposite order."""
    return " ".join(reversed(text.split()))


def order_between(first: Sequence[str], second: Sequence[str]) -> list[int]:
    """Return the place in `first` of each word of `second`; equal words keep their order.

    Refuse texts whose words differ, and those in the same order.
    """
    places = defaultdict[str, list[int]](list)
    for place, word in enumerate(first):
        places[word].append(place)
    order = [places[word].pop(0) for word in second if places[word]]
    if not len(first) == len(second) == len(order):
        raise Fault("The two texts do not have the same words; give the same words in another order with --other.")
    if order == sorted(order):
        raise Fault("The two texts have their words in the same order; give another order with --other.")
    return order


def permutation_example(first: str, second: str, seed: int) -> TableLesson:
    """Return two orders of the same words, the outputs of one attention for each, and how they differ."""
    words, others = (re.findall(r"\w+", text) for text in (first, second))
    order = order_between(words, others)
    generator = np.random.default_rng(seed)
    own = {word: generator.integers(-10, 11, _WIDTH) / 10 for word in dict.fromkeys(words)}
    vectors = np.array([own[word] for word in words])
    places = sinusoids(torch.arange(len(words)), _WIDTH).double().numpy()
    without = [attend(vectors), attend(vectors[order])]
    placed = [attend(vectors + places), attend(vectors[order] + places)]
    coordinates = [f"x{number}" for number in range(1, _WIDTH + 1)]
    orders = f"First: {first}. Second: {second}."
    shown = [
        NumberTable("The vectors of the words", words, coordinates, vectors, orders, digits=1),
        NumberTable("Outputs without positions, first", words, coordinates, without[0]),
        NumberTable("Outputs without positions, second", others, coordinates, without[1]),
        NumberTable("Outputs with positions, first", words, coordinates, placed[0]),
        NumberTable("Outputs with positions, second", others, coordinates, placed[1]),
    ]
    shares = [relative_differences(outputs[0][order], outputs[1]) for outputs in (without, placed)]
    return TableLesson(TITLE, [*shown, _comparison(others, order, shares[0], shares[1])])


def attend(vectors: np.ndarray) -> np.ndarray:
    """Return softmax(x xᵀ / √width) x, an attention whose queries, keys and values are the vectors themselves."""
    scores = vectors @ vectors.T / math.sqrt(vectors.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ vectors


def relative_differences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return ‖a − b‖ / ‖a‖ for each pair of rows."""
    return np.linalg.norm(first - second, axis=1) / np.linalg.norm(first, axis=1)


def _comparison(words: Sequence[str], order: Sequence[int], without: np.ndarray, placed: np.ndarray) -> WordTable:
    rows = [
        [word, str(before + 1), str(now + 1), _share(without[now]), _share(placed[now])]
        for now, (word, before) in enumerate(zip(words, order, strict=True))
    ]
    columns = ["word", "place in the first", "in the second", "change without positions", "with positions"]
    if without.max() < _SMALL:
        caption = "Without positions every word has the same output in both orders: the outputs are permuted, no more."
    else:
        caption = (
            "The outputs change even without positions: this model sees order by other means, such as a mask that "
            "hides later words, or recurrent layers."
        )
    return WordTable("The output of each word in both orders", columns, rows, f"{caption} Change is ‖a − b‖ / ‖a‖.")


def _share(value: float) -> str:
    return "0" if value < _SMALL else f"{value:.3f}"


@torch.no_grad()
def permutation_lesson(model: Loaded, first: str, second: str) -> TableLesson:
    """Return how the last states of a trained model change if the words of a text change places."""
    task, read = model.task, _reader(model)
    tokeniser = task.source if hasattr(task, "source") else task.tokeniser
    tokens = tokeniser.encode(first)
    words, others = words_of(tokeniser, tokens), words_of(tokeniser, tokeniser.encode(second))
    order = order_between(words.words, others.words)
    moved = [place for word in order for place, own in enumerate(words.places) if own == word]
    shares = []
    for network in (_without_positions(task.model), deepcopy(task.model).double()):
        network.eval()
        states = [read(network, [tokens[place] for place in places]) for places in (range(len(tokens)), moved)]
        shares.append(_by_word(relative_differences(states[0][moved], states[1]), words, moved, order))
    title = f"{TITLE}: {model.recipe.family}, {first} → {' '.join(words.words[word] for word in order)}"
    return TableLesson(title, [_comparison([words.words[word] for word in order], order, shares[0], shares[1])])


def _by_word(shares: np.ndarray, words: Words, moved: Sequence[int], order: Sequence[int]) -> np.ndarray:
    """Return the mean over the tokens of each word, in the new order."""
    of_token = [words.places[place] for place in moved]
    return np.array([shares[[own == word for own in of_token]].mean() for word in order])


def _reader(model: Loaded) -> Callable[[Any, list[int]], np.ndarray]:
    """Return a function from a network and tokens to their last states (token, width)."""
    task = model.task
    network = getattr(task, "model", None)
    marks: tuple[list[int], list[int]]
    if isinstance(network, Transformer):
        longest, marks = network.options.longest, ([], [task.source.end])
    elif isinstance(network, GPT):
        longest, marks = network.context, ([task.end], [])
    elif isinstance(task, MaskedTokens):
        longest, marks = task.model.reader.options.longest, ([task.tokeniser.begin], [task.tokeniser.end])
    else:
        raise Fault(f"This {model.recipe.family} is none of transformer, gpt and bert, whose positions can be removed.")

    def read(network: Any, tokens: list[int]) -> np.ndarray:
        before, behind = marks
        row = [*before, *tokens, *behind]
        if len(row) > longest:
            raise Fault(f"The text has {len(row)} tokens, but the model reads {longest} at most; shorten it.")
        numbers = torch.tensor([row], device=task.device)
        states: Tensor = _layers(network, numbers)[-1][0, len(before) : len(row) - len(behind)]
        return states.cpu().numpy()

    return read


def _layers(network: Any, tokens: Tensor) -> list[Tensor]:
    if isinstance(network, Transformer):
        return network.layers(tokens, torch.tensor([tokens.shape[1]]))
    layers: list[Tensor] = network.layers(tokens) if isinstance(network, GPT) else network.reader.read(tokens)
    return layers


def _without_positions(network: nn.Module) -> nn.Module:
    """Return a copy in float64 that adds no positions and whose attention ignores distance."""
    plain = deepcopy(network).double()
    for part in list(plain.modules()):
        for name, child in part.named_children():
            if isinstance(child, Learned | Sinusoidal):
                setattr(part, name, Unplaced())
        if isinstance(part, MultiHead):
            part.options = replace(part.options, positions="none")
        if isinstance(part, Bert):
            part.places.zero_()
    return plain
