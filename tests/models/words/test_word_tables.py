"""Tables for drawing, coding and counting in word vectors, by hand."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from regard.kernels.glove_updates import GloVeTables, learn_pairs
from regard.kernels.word_vectors import learn_cooccurrences
from regard.models.words import GloVe, GloVeOptions
from regard.models.words.cooccurrences import count_cooccurrences
from regard.models.words.huffman import huffman_tree
from regard.models.words.learning import Learning
from regard.models.words.ngrams import hashes_of, ngrams, parts_of, rows_of
from regard.models.words.sampling import alias_table, keep_probabilities, shares
from regard.models.words.text import Text
from regard.models.words.vocabulary import Vocabulary

END, FIRST = 3, 4


def test_a_huffman_tree_has_the_shortest_expected_path() -> None:
    """The example of Cormen et al.: codes of 1, 3, 3, 3, 4 and 4 bits, 224 bits for a hundred letters."""
    counts = np.array([45, 13, 12, 16, 9, 5])
    tree = huffman_tree(counts)
    lengths = np.diff(tree.starts)
    assert lengths.tolist() == [1, 3, 3, 3, 4, 4]
    assert (lengths * counts).sum() == 224
    paths = [tuple(zip(tree.nodes[a:b], tree.signs[a:b], strict=True)) for a, b in pairwise(tree.starts)]
    assert len(set(paths)) == 6
    assert {path[0][0] for path in paths} == {4}, "all ways begin at the root"
    assert set(tree.nodes.tolist()) == set(range(5)), "a node for each place where it branches"
    # At every node one side is the complement of the other, so the probabilities of all words sum to 1.
    scores = np.array([0.3, -1.2, 0.5, 2.0, -0.7])
    chances = [np.prod([1 / (1 + np.exp(-sign * scores[node])) for node, sign in path]) for path in paths]
    assert sum(chances) == pytest.approx(1)


def test_a_tree_of_one_word_has_no_turns() -> None:
    assert huffman_tree(np.array([7])).starts.tolist() == [0, 0]


def test_an_alias_table_draws_with_the_probabilities_it_was_made_of() -> None:
    """1, 16 and 81 to the power of 3/4 are 1, 8 and 27, so the words have 1, 8 and 27 of 36."""
    probabilities = shares(np.array([1, 16, 81]), 0.75)
    assert probabilities.tolist() == pytest.approx([1 / 36, 8 / 36, 27 / 36])
    thresholds, alias = alias_table(probabilities)
    frequencies = thresholds.astype(float)
    np.add.at(frequencies, alias, 1 - thresholds)
    assert (frequencies / 3).tolist() == pytest.approx(probabilities.tolist())


def test_frequent_words_are_left_out() -> None:
    """With t = 0.01, a word that is a quarter of the text stays with √0.04 + 0.04 = 0.24; a rare one always stays."""
    counts = np.array([25, 74, 1])
    assert keep_probabilities(counts, 0.01).tolist() == pytest.approx([0.24, (0.01 / 0.74) ** 0.5 + 0.01 / 0.74, 1])
    assert keep_probabilities(counts, 0.0).tolist() == [1, 1, 1]


def test_the_ngrams_of_a_word_are_those_of_the_paper() -> None:
    assert ngrams("where", 3, 3) == ["<wh", "whe", "her", "ere", "re>"]
    assert ngrams("a", 1, 2) == ["a", "<a", "a>"]
    assert ngrams("a", 4, 6) == []


def test_hashes_are_fnv_1a_with_signed_bytes() -> None:
    """The published values of 'a' and 'foobar'; é is c3 a9, whose sign bits fill the upper 24 bits."""
    assert hashes_of(["", "a", "foobar"]).tolist() == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]
    expected = 0x811C9DC5
    for byte in (0xFFFFFFC3, 0xFFFFFFA9):
        expected = (expected ^ byte) * 16777619 % 2**32
    assert hashes_of(["é"]).tolist() == [expected]


def test_words_share_the_rows_of_their_ngrams() -> None:
    starts, rows = parts_of(["jogar", "jogou"], 3, 3, 1000)
    first, second = set(rows[: starts[1]].tolist()), set(rows[starts[1] :].tolist())
    assert len(first & second) == 2, "<jo and jog"
    assert {0} == first & {0, 1}
    assert {1} == second & {0, 1}
    assert set(rows_of("jogar", 2, 3, 3, 1000).tolist()) == first - {0}


def test_cooccurrences_by_hand() -> None:
    """a b c a: at distance 1 ab, bc, ca; at 2 ac, ba; both ways. No pair crosses the end of a sentence."""
    a, b, c = FIRST, FIRST + 1, FIRST + 2
    text = np.array([a, b, c, a, END, b, b, END])
    counts = count_cooccurrences(text, END, FIRST, 3, window=2)
    pairs = dict(
        zip(zip(counts.rows.tolist(), counts.columns.tolist(), strict=True), counts.counts.tolist(), strict=True)
    )
    one_way = {(0, 1): 1 + 0.5, (1, 2): 1.0, (0, 2): 1 + 0.5}
    assert pairs == {**one_way, **{(right, left): count for (left, right), count in one_way.items()}, (1, 1): 2.0}


def test_cooccurrences_are_the_same_however_the_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    text = np.random.default_rng(1).integers(FIRST - 1, FIRST + 5, 400)  # ends among words
    text[-1] = END
    whole = count_cooccurrences(text, END, FIRST, 5, 3)
    monkeypatch.setattr("regard.models.words.cooccurrences._AT_ONCE", 10)
    cut = count_cooccurrences(text, END, FIRST, 5, 3)
    assert whole.rows.tolist() == cut.rows.tolist()
    assert whole.counts.tolist() == pytest.approx(cut.counts.tolist())


def glove_case(kind: torch.dtype) -> tuple[dict[str, torch.Tensor], list[np.ndarray]]:
    chance = torch.Generator().manual_seed(2)
    shapes = {"centres": (4, 3), "contexts": (4, 3), "centre_biases": (4,), "context_biases": (4,)}
    tables = {
        name: torch.randn(shape, generator=chance, dtype=torch.float64).to(kind) for name, shape in shapes.items()
    }
    tables |= {f"{name}_sums": torch.ones(shape, dtype=kind) for name, shape in shapes.items()}
    rows, columns = np.array([0, 1, 3, 0, 2], np.int32), np.array([1, 0, 2, 1, 2], np.int32)
    return tables, [rows, columns, np.array([0.2, 1.4, -0.3, 0.2, 0.9]), np.array([0.5, 1.0, 0.1, 0.5, 0.7])]


def glove_by_torch() -> tuple[dict[str, torch.Tensor], float]:
    """Update pair by pair with autograd and torch's Adagrad, whose sums begin at 1."""
    tables, (rows, columns, logarithms, weights) = glove_case(torch.float64)
    names = ("centres", "contexts", "centre_biases", "context_biases")
    leaves = {name: tables[name].requires_grad_() for name in names}
    optimizer = torch.optim.Adagrad(leaves.values(), lr=0.1, initial_accumulator_value=1, eps=0)
    total = 0.0
    for row, column, logarithm, weight in zip(rows, columns, logarithms, weights, strict=True):
        guess = (
            leaves["centres"][row] @ leaves["contexts"][column]
            + leaves["centre_biases"][row]
            + leaves["context_biases"][column]
        )
        loss = 0.5 * weight * (guess - logarithm) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return {name: leaves[name].detach() for name in names}, total


def test_glove_learns_as_adagrad_says() -> None:
    expected, total = glove_by_torch()
    tables, pairs = glove_case(torch.float64)
    losses = learn_pairs(*pairs, GloVeTables(**{name: table.numpy() for name, table in tables.items()}), 0.1)
    assert losses == pytest.approx(total)
    torch.testing.assert_close({name: tables[name] for name in expected}, expected)


@pytest.mark.usefixtures("triton_interpreter")
def test_glove_learns_the_same_by_the_kernel_of_a_gpu() -> None:
    expected, total = glove_by_torch()
    tables, pairs = glove_case(torch.float32)
    rows, columns, *numbers = (torch.from_numpy(array) for array in pairs)
    losses = learn_cooccurrences(rows, columns, numbers[0].float(), numbers[1].float(), tables, 0.1, 2)
    assert float(losses.sum()) == pytest.approx(total)
    torch.testing.assert_close({name: tables[name].double() for name in expected}, expected, rtol=1e-5, atol=1e-6)


def test_text_comes_in_whole_sentences_without_its_unknown_words() -> None:
    unknown, words = 1, [FIRST + number for number in range(4)]
    text = Text(np.array([words[0], unknown, words[1], END, words[2], END, words[3], words[0], END]), END, FIRST, 4)
    one, two = text.batches(iter([11, 12]), epoch=1, epochs=2, start=0)
    assert (one.words.tolist(), one.starts.tolist(), one.length) == ([0, 1], [0, 2], 3)
    assert (two.words.tolist(), two.starts.tolist(), two.length) == ([2, 3, 0], [0, 1, 3], 3)
    assert (one.begin, two.end, two.key) == (0.5, 1.0, 12)
    assert one.end == two.begin == pytest.approx(0.5 + 4 / 9 / 2)


def test_the_counts_of_another_text_are_brought_to_the_length_of_the_training_text() -> None:
    """100 words of training against 4 of validation: one occurrence there is expected 25 times."""
    model = GloVe(GloVeOptions(width=2, window=1), Vocabulary(["a", "b"], np.array([60, 40])))
    text = np.array([FIRST, FIRST + 1, END, FIRST, 1, FIRST, END])
    (batch,) = model.batches(model.material(text, END, FIRST, Learning(0.05, 0.0, 10)), 1, 0, 1, 0)
    counts = dict(
        zip(zip(batch.rows.tolist(), batch.columns.tolist(), strict=True), batch.counts.tolist(), strict=True)
    )
    assert counts == {(0, 1): 25.0, (1, 0): 25.0, (0, 0): 50.0}
