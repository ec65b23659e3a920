"""word2vec's updates: by hand, and each compared with autograd in float64."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parent))
from text_reference import Loss, learn, negative_loss, path_loss, softmax_loss

from regard.kernels import text_updates
from regard.kernels.text_updates import Branches, Chances, Settings, Tables, learn_text
from regard.kernels.word_vectors import learn_places
from regard.models.words.huffman import huffman_tree
from regard.models.words.options import Word2VecOptions
from regard.models.words.sampling import alias_table, shares
from regard.models.words.text import TextBatch
from regard.models.words.text_losses import Predictions

COUNTS = np.array([5, 4, 3, 2, 2, 1, 1])
WORDS = np.array([0, 1, 2, 3, 4, 1, 5, 6], np.int32)  # two sentences, of five and three words
STARTS = np.array([0, 5, 8])
# The rows that make up each word: some have an n-gram besides their own.
PARTS = [[0, 7], [1], [2, 8], [3], [4, 7], [5], [6]]
PART_STARTS = np.cumsum([0, *map(len, PARTS)])
PART_ROWS = np.array([row for rows in PARTS for row in rows], np.int32)
WINDOW = 2
TREE = huffman_tree(COUNTS)
PATHS = [
    [(int(TREE.nodes[turn]), float(TREE.signs[turn])) for turn in range(first, last)]
    for first, last in pairwise(TREE.starts)
]


def tables(kind: torch.dtype, contexts: int = 7) -> tuple[Tensor, Tensor]:
    chance = torch.Generator().manual_seed(4)
    return (
        torch.randn(9, 4, generator=chance, dtype=torch.float64).to(kind) * 0.5,
        torch.randn(contexts, 4, generator=chance, dtype=torch.float64).to(kind) * 0.5,
    )


def predicted(lows: list[int], highs: list[int], is_cbow: bool) -> tuple[list[list[int]], list[list[int]]]:
    """Return the predicting rows at each place, and the words they predict."""
    around = [[int(WORDS[position]) for position in others] for others in places_around(lows, highs)]
    if is_cbow:
        return [[row for word in words for row in PARTS[word]] for words in around], [[int(word)] for word in WORDS]
    return [PARTS[word] for word in WORDS], around


def places_around(lows: list[int], highs: list[int]) -> list[list[int]]:
    spans = enumerate(zip(lows, highs, strict=True))
    return [[position for position in range(*span) if position != place] for place, span in spans]


@pytest.mark.parametrize("divide", [False, True])
@pytest.mark.parametrize("is_cbow", [False, True])
@pytest.mark.parametrize("loss", ["negative", "hierarchical", "softmax"])
def test_each_loss_is_updated_as_autograd_says(
    loss: str, is_cbow: bool, divide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws: list[int] = []
    reaches: list[int] = []
    draw_word, draw_below = text_updates._draw_word, text_updates._draw_below

    def reach(chance: np.ndarray, size: int) -> int:
        reaches.append(WINDOW - draw_below(chance, size))
        return WINDOW - reaches[-1]

    def word(chance: np.ndarray, chances: Chances) -> int:
        # Distinct words: one drawn twice for a prediction would be learnt from twice in succession.
        with monkeypatch.context() as patch:
            patch.setattr(text_updates, "_draw_below", draw_below)
            while (new := int(draw_word(chance, chances))) in draws[len(draws) // 3 * 3 :]:
                pass
        draws.append(new)
        return new

    monkeypatch.setattr(text_updates, "_draw_below", reach)
    monkeypatch.setattr(text_updates, "_draw_word", word)
    monkeypatch.setattr(text_updates, "_TOLD_EVERY", 1)
    kinds = {
        "negative": text_updates.NEGATIVE,
        "hierarchical": text_updates.HIERARCHICAL,
        "softmax": text_updates.SOFTMAX,
    }
    centres, contexts = tables(torch.float64, 6 if loss == "hierarchical" else 7)
    copies = [centres.clone(), contexts.clone()]
    total, count = learn_text(
        WORDS, STARTS, 0, 2, (0.5, 0.5), Tables(copies[0].numpy(), copies[1].numpy(), PART_STARTS, PART_ROWS),
        Settings(is_cbow, WINDOW, kinds[loss], 3, divide),
        Chances(np.ones(7, np.float32), *alias_table(shares(COUNTS, 0.75))), Branches(*TREE), np.uint64(77),
    )  # fmt: skip
    spans = [(max(place - far, 0 if place < 5 else 5), min(place + far + 1, 5 if place < 5 else 8))
             for place, far in enumerate(reaches)]  # fmt: skip
    inputs, aims = predicted([low for low, _ in spans], [high for _, high in spans], is_cbow)
    negatives = [draws[first : first + 3] for first in range(0, len(draws), 3)]
    losses: dict[str, Loss] = {
        "negative": negative_loss(negatives), "hierarchical": path_loss(PATHS), "softmax": softmax_loss
    }  # fmt: skip
    expected = learn(centres, contexts, inputs, aims, losses[loss], [0.5] * 8, divide)
    assert len(set(reaches)) == WINDOW
    assert (total, count) == (pytest.approx(sum(expected)), len(expected))
    torch.testing.assert_close(copies, [centres, contexts])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("divide", [False, True])
@pytest.mark.parametrize("is_cbow", [False, True])
@pytest.mark.usefixtures("triton_interpreter")
def test_the_kernel_of_a_gpu_learns_the_same(is_cbow: bool, divide: bool) -> None:
    """Triton's interpreter runs one program after another, and so one place after another, like the reference."""
    lows, highs = [0, 0, 0, 1, 3, 5, 5, 6], [3, 2, 5, 5, 5, 8, 8, 8]
    chance = torch.Generator().manual_seed(5)
    # Distinct words: for one drawn twice the kernel adds both steps at once.
    draws = torch.stack([torch.randperm(7, generator=chance)[:3] for _ in range(8 * (1 if is_cbow else 2 * WINDOW))])
    draws = draws.reshape(8, -1, 3).int()
    rates = torch.linspace(0.5, 0.1, 8)
    centres, contexts = tables(torch.float32)
    copies = [centres.clone(), contexts.clone()]
    parts = torch.from_numpy(PART_STARTS), torch.from_numpy(PART_ROWS)
    result = learn_places(
        torch.from_numpy(WORDS), torch.tensor(lows).int(), torch.tensor(highs).int(), rates, draws, parts, *copies,
        is_cbow, divide, WINDOW, 3,
    )  # fmt: skip
    inputs, aims = predicted(lows, highs, is_cbow)
    slots = [
        [0] if is_cbow else [other - place + WINDOW - (other > place) for other in others]
        for place, others in enumerate(places_around(lows, highs))
    ]
    negatives = [draws[place, slot].tolist() for place, own_slots in enumerate(slots) for slot in own_slots]
    exact = [centres.double(), contexts.double()]
    expected = learn(exact[0], exact[1], inputs, aims, negative_loss(negatives), rates.tolist(), divide)
    assert float(result.sum()) == pytest.approx(sum(expected))
    torch.testing.assert_close([table.double() for table in copies], exact, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", ["skip-gram", "cbow"])
@pytest.mark.parametrize("loss", ["negative", "hierarchical", "softmax"])
def test_what_is_measured_is_what_training_minimises_in_expectation(loss: str, method: str) -> None:
    """Summed over all possible draws, each loss of the reference is the measured one."""
    centres, contexts = (table.double() for table in tables(torch.float64, 6 if loss == "hierarchical" else 7))
    vectors = torch.stack([centres[rows].mean(0) for rows in PARTS]).float()
    noise = torch.from_numpy(shares(COUNTS, 0.75))
    options = Word2VecOptions(width=4, window=WINDOW, loss=loss, method=method)
    tree = TREE if loss == "hierarchical" else None
    predictions = Predictions(options, vectors, contexts.float(), noise.float(), tree)
    total, count = predictions.loss(TextBatch(WORDS, STARTS, 8, 1))
    expected = counted = 0.0
    for place, word in enumerate(WORDS):
        low, high = (0, 5) if place < 5 else (5, 8)
        around = [position for position in range(max(low, place - 2), min(high, place + 3)) if position != place]
        if method == "cbow":
            hidden = vectors[WORDS[around]].double().mean(0)
            cases = [(hidden, word, 1.0)]
        else:
            cases = [(vectors[word].double(), WORDS[position], (3 - abs(position - place)) / 2) for position in around]
        for hidden, aim, share in cases:
            if loss == "softmax":
                cost = softmax_loss(hidden, contexts, aim, 0)
            elif loss == "hierarchical":
                cost = path_loss(PATHS)(hidden, contexts, aim, 0)
            else:
                scores = contexts @ hidden
                cost = -scores[aim].sigmoid().log() - 5 * (noise * scores.neg().sigmoid().log()).sum()
            expected, counted = expected + share * float(cost), counted + share
    assert (total, count) == (pytest.approx(expected, rel=1e-5), pytest.approx(counted))


COMPILED = """
import numpy as np
from regard.kernels.glove_updates import GloVeTables, learn_pairs
from regard.kernels.text_updates import Branches, Chances, Settings, Tables, learn_text
from regard.models.words.huffman import huffman_tree
from regard.models.words.sampling import alias_table, keep_probabilities, shares

chance = np.random.default_rng(3)
counts = np.array([90, 50, 30, 20, 9])
words = chance.choice(5, 300, p=counts / counts.sum()).astype(np.int32)
for loss in range(3):
    tables = Tables(*(chance.normal(size=(5 - (loss == 1) * side, 6)) for side in (0, 1)), np.arange(6), np.arange(5))
    chances = Chances(keep_probabilities(counts, 1e-1), *alias_table(shares(counts, 0.75)))
    print(learn_text(words, np.arange(0, 301, 20), 0, 15, (0.1, 0.05), tables, Settings(False, 3, loss, 3, False),
                     chances, Branches(*huffman_tree(counts)), np.uint64(5)))
    print(tables.centres.tolist(), tables.contexts.tolist())
shapes = [(5, 6), (5, 6), (5,), (5,)]
tables = GloVeTables(*(chance.normal(size=shape) for shape in shapes), *(np.ones(shape) for shape in shapes))
print(learn_pairs(words[::2], words[1::2], chance.normal(size=150), chance.random(150), tables, 0.05))
print(tables.centres.tolist(), tables.context_biases.tolist())
"""


@pytest.mark.long
def test_what_numba_compiles_does_what_python_does(tmp_path: Path) -> None:
    """Only the order of its sums differs."""
    outputs = []
    for disabled in ("1", "0"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": disabled, "NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", COMPILED], env=environment, capture_output=True, text=True, check=True
        )
        outputs.append([float(number) for number in done.stdout.translate(str.maketrans("[](),", "     ")).split()])
    assert outputs[1] == pytest.approx(outputs[0], rel=1e-9, abs=1e-12)
