"""Embeddings: a one-hot vector times a matrix looks up one of its rows or columns, and the sizes that follow."""

from collections.abc import Sequence

import numpy as np
import torch

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.seeing.lessons.token_matrices import TokenMatrices, token_matrices
from regard.viewing.tables import NumberTable, TableLesson, WordTable

TITLE = "An embedding is a look-up"
# A word of six in five coordinates, and two of the rows that score the next word.
W = np.array(
    [
        [0.3, -0.2, 0.8, 0.5, 0.1, -0.4],
        [-0.6, 0.7, 0.1, -0.9, -0.3, 0.2],
        [0.2, 0.4, -0.5, 0.6, 1.4, -0.1],
        [0.9, -0.8, 0.3, -0.2, 0.2, 0.7],
        [-0.1, 0.6, -0.7, 0.4, 0.5, 0.3],
    ]
)
WORD = 5  # the chosen word, counted from 1
U = np.array([[0, 2, 0.1, 2, 0.1], [0, 1, 2, -0.5, 1]])
SCORES = np.array([0, 2.9, 0.1, 1.4, -0.5, 0, 0])
_SHOWN = 6  # coordinates of a token that are shown
_MOST_TOKENS = 12  # tokens of a text that are shown


def embedding_example(vocabulary: int, width: int) -> TableLesson:
    """Return an example to check by hand, and the sizes for a vocabulary and a width."""
    one_hot = np.eye(W.shape[1])[WORD - 1]
    vector = W @ one_hot
    words = [f"word {number}" for number in range(1, W.shape[1] + 1)]
    places = [f"x{number}" for number in range(1, len(W) + 1)]
    picked = f"W · onehot = ({_list(vector)}): the zeros cancel all columns but that of word {WORD}."
    logits = U @ vector
    chances = np.exp(SCORES) / np.exp(SCORES).sum()
    results = [f"word {number}" for number in range(1, len(SCORES) + 1)]
    tables: list[NumberTable | WordTable] = [
        NumberTable(f"The one-hot vector of word {WORD}", ["onehot"], words, one_hot[None], digits=0),
        NumberTable("W: a column for each word", places, words, W, picked, digits=1),
        NumberTable("W · onehot = x", ["x"], places, vector[None], digits=1),
        NumberTable(
            "Two rows of the output matrix U, and their products with x",
            ["u1", "u2"],
            [*places, "u · x"],
            np.column_stack([U, logits]),
            f"0·0.1 + 2·(−0.3) + 0.1·1.4 + 2·0.2 + 0.1·0.5 = {_signed(logits[0])}",
        ),
        NumberTable("Scores of seven words and their softmax", ["score", "p"], results, np.stack([SCORES, chances])),
        _sizes("Sizes", (vocabulary, width), (vocabulary, width), is_tied=False, has_bias=True),
    ]
    return TableLesson(TITLE, tables)


def embedding_lesson(model: Loaded, text: str) -> TableLesson:
    """Return the vectors of a text's tokens in a trained model, looked up and multiplied, and the model's sizes."""
    matrices = token_matrices(model)
    tokens = matrices.tokeniser.encode(text)[:_MOST_TOKENS]
    if not tokens:
        raise Fault("There is no text to read; give a sentence with --text.")
    rows = matrices.embedding[tokens].detach().double().cpu().numpy()
    difference = lookup_difference(matrices, tokens)
    coordinates = [f"x{number}" for number in range(1, min(_SHOWN, rows.shape[1]) + 1)]
    caption = (
        f"onehot · E and the rows of E that were looked up differ by {difference:.0e} at most."
        if difference
        else "onehot · E and the rows of E that were looked up are equal to the last digit."
    )
    if matrices.scale != 1:
        caption += f" The model multiplies these rows by √{rows.shape[1]} before it adds positions."
    pieces = matrices.tokeniser.pieces(tokens)
    names = [f"{piece} ({token})" for piece, token in zip(pieces, tokens, strict=True)]
    shown = NumberTable(f"E[token], {len(coordinates)} of {rows.shape[1]} coordinates", names, coordinates,
                        rows[:, : len(coordinates)], caption, digits=3)  # fmt: skip
    sizes = _sizes(
        "Sizes of this model",
        (len(matrices.embedding), matrices.embedding.shape[1]),
        (len(matrices.output), matrices.output.shape[1]),
        matrices.is_tied,
        matrices.bias is not None,
    )
    return TableLesson(TITLE, [shown, sizes])


@torch.no_grad()
def lookup_difference(matrices: TokenMatrices, tokens: Sequence[int]) -> float:
    """Return the largest difference between one-hot vectors times E and the rows of E, in float64."""
    embedding = matrices.embedding.detach().double()
    numbers = torch.tensor(tokens, device=embedding.device)
    one_hot = torch.nn.functional.one_hot(numbers, len(embedding)).double()
    return float((one_hot @ embedding - embedding[numbers]).abs().max())


def _sizes(title: str, inputs: tuple[int, int], outputs: tuple[int, int], is_tied: bool, has_bias: bool) -> WordTable:
    """Return the sizes of everything between a token and its logits."""
    tokens, width = inputs
    out_tokens, out_width = outputs
    rows = [
        ["one-hot vector of a token", f"{tokens:,}", f"{tokens:,}"],
        ["embedding E", f"{tokens:,} × {width:,}", f"{tokens * width:,}"],
        ["vector of a token, onehot · E", f"{width:,}", f"{width:,}"],
        ["state x at one place", f"{out_width:,}", f"{out_width:,}"],
        ["output matrix W" + (", the same as E" if is_tied else ""), f"{out_tokens:,} × {out_width:,}",
         "0 more" if is_tied else f"{out_tokens * out_width:,}"],
        *([["bias b", f"{out_tokens:,}", f"{out_tokens:,}"]] if has_bias else []),
        ["logits x · Wᵀ" + (" + b" if has_bias else ""), f"{out_tokens:,}", f"{out_tokens:,}"],
    ]  # fmt: skip
    caption = (
        f"As a product, onehot · E takes {tokens:,} × {width:,} = {tokens * width:,} multiplications for each token; "
        f"as a look-up it takes none. The logits do need all {out_tokens * out_width:,}."
    )
    return WordTable(title, ["what", "shape", "numbers"], rows, caption)


def _list(vector: np.ndarray) -> str:
    return ", ".join(f"{value:g}" for value in vector).replace("-", "−")


def _signed(value: float) -> str:
    return f"{round(float(value), 2):g}".replace("-", "−")
