"""Worked examples of the lectures that docs/lectures.md follows, named after their lecture, and our departures.

One example is elsewhere: the geometric mean of a softmax of lecture E (NWGM) is in
tests/models/test_expected_context.py.
"""

import math
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import Attention, Causal, watching
from regard.attention.edges import Edges
from regard.attention.heads import MultiHead
from regard.attention.scores import dot, scaled_dot
from regard.base.head_costs import Depths, looking_cost
from regard.base.recipe import check
from regard.decoding.beam import beam_search
from regard.decoding.filters import temper, top_k, top_p
from regard.decoding.options import DecodingOptions
from regard.kernels import text_updates
from regard.metrics.explain import explain_sentence, matches
from regard.models.cross_entropy import projected_cross_entropy
from regard.models.gat import GraphAttention
from regard.models.recurrent.cells import unroll
from regard.models.recurrent.layers import Stack
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.models.words.options import Word2VecOptions
from regard.models.words.text_losses import Predictions
from regard.protocols import State

FIFTH = torch.tensor([0.1, -0.3, 1.4, 0.2, 0.5])  # the vector of lecture A's fifth word


def numbers(*rows: list[float]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def random_numbers(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(4))


# Lecture A: word2vec, seq2seq, attention, the Transformer


def test_lecture_a_a_matrix_times_a_one_hot_vector_is_the_vector_of_the_word() -> None:
    """The lecture prints W with five columns for a vocabulary of six. With six, W · onehot(5th of 6) is the fifth
    column.
    """
    vectors = nn.Embedding(6, 5)
    with torch.no_grad():
        vectors.weight[4] = FIFTH
    one_hot = F.one_hot(torch.tensor(4), 6).float()
    assert (vectors.weight.T @ one_hot).tolist() == vectors(torch.tensor(4)).tolist() == FIFTH.tolist()


@pytest.mark.parametrize(("row", "expected"), [([0.0, 2.0, 0.1, 2.0, 0.1], -0.01), ([0.0, 1.0, 2.0, -0.5, 1.0], 2.9)])
def test_lecture_a_a_score_is_a_row_of_u_times_the_vector(row: list[float], expected: float) -> None:
    product = text_updates._dot(torch.tensor(row).numpy(), FIFTH.numpy())
    assert product == pytest.approx(expected, abs=1e-6)


def test_lecture_a_the_scores_become_probabilities_by_a_softmax() -> None:
    """The lecture prints U with six rows for seven results. Here it has seven, each the score itself, and the vector is
    1.
    """
    scores = torch.tensor([[0.0], [2.9], [0.1], [1.4], [-0.5], [0.0], [0.0]])
    options = Word2VecOptions(width=1, window=1, loss="softmax")
    predictions = Predictions(options, torch.ones(7, 1), scores, torch.zeros(7), None)
    chances = [
        # The first word predicts each of the others, and they predict it. Both cost the same for all of them.
        predictions._row_costs(torch.ones(1, 1)) + predictions._pair_costs(torch.ones(1, 1), word[:1] * 0, word)
        for word in torch.arange(7)[:, None]
    ]
    printed = [0.04, 0.67, 0.04, 0.15, 0.02, 0.04, 0.04]
    assert torch.cat(chances).neg().exp().tolist() == pytest.approx(printed, abs=5e-3)


def test_lecture_a_departure_the_mask_is_not_divided_by_the_root_of_the_depth() -> None:
    """softmax((QKᵀ + M) / √d) matches ours where M is −∞; a large negative M leaks √d times sooner."""
    query, key, value = random_numbers(3, 1, 1, 4, 9)
    look = Attention(scaled_dot, looks_from="text", looks_at="text")
    ours = look(query, key, value, Causal())
    ahead = torch.ones(4, 4, dtype=torch.bool).triu(1)

    def printed(most: float) -> Tensor:
        mask = torch.zeros(4, 4, dtype=torch.float64).masked_fill(ahead, most)
        return ((query @ key.mT + mask) / math.sqrt(9)).softmax(-1) @ value

    torch.testing.assert_close(printed(-math.inf), ours)
    assert not torch.allclose(printed(-9.0), ours, atol=1e-3)


# Lecture B: the Transformer


def test_lecture_b_ten_thousand_words_of_width_512() -> None:
    """E ∈ R^(10,000 × 512) embeds a token, and its transpose gives 10,000 logits."""
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "width": 512, "feed_forward": 8, "heads": 8}
    model = Transformer(check(TransformerOptions, sizes), 10_000, 10_000, shared=True, pad=0)
    assert {tuple(weight.shape) for weight in model.parameters() if 10_000 in weight.shape} == {(10_000, 512)}
    written, _ = model.write(torch.tensor([[5]]), model.read(torch.tensor([[7]]), torch.tensor([1])), [])
    assert model.logits(written).shape == (1, 1, 10_000)


@pytest.mark.parametrize(("name", "context"), [("GPT-1", 512), ("GPT-2", 1024), ("GPT-3", 2048), ("GPT-4", 32_768)])
def test_lecture_b_scores_grow_by_the_square_of_the_context(name: str, context: int) -> None:
    """A head of depth one multiplies once for each score and once for each value."""
    scores = looking_cost(1, 1, Depths(key=1, value=0), "dot", context)
    assert scores == context**2
    assert scores == {"GPT-1": 262_144, "GPT-2": 1_048_576, "GPT-3": 4_194_304, "GPT-4": 1_073_741_824}[name]


def test_lecture_b_departure_a_loss_is_a_logarithm_and_not_one_minus_p() -> None:
    """I love books → Eu amo livros: p = 0.1 and 0.2 cost 0.9 and 0.8 in print; ours −ln p is 2.303 and 1.609."""
    chances = numbers([0.1, 0.9], [0.2, 0.8])
    layer, target = torch.eye(2, dtype=torch.float64), torch.zeros(1, dtype=torch.long)
    losses = [projected_cross_entropy(row.log()[None], layer, target, label_smoothing=0.0) for row in chances]
    assert [float(loss) for loss in losses] == pytest.approx([2.303, 1.609], abs=5e-4)
    assert (1 - chances[:, 0]).tolist() == pytest.approx([0.9, 0.8])


def test_lecture_b_a_decoder_knows_o_gato_alone() -> None:
    """O gato <?> feliz: the words after the gap change an encoder's state there, but never a decoder's."""
    words = random_numbers(1, 1, 4, 6)
    sad = words.clone()
    sad[:, :, 3] = -words[:, :, 3]
    look = Attention(scaled_dot, looks_from="text", looks_at="text")
    assert torch.equal(look(words, words, words, Causal())[:, :, 2], look(sad, sad, sad, Causal())[:, :, 2])
    assert not torch.allclose(look(words, words, words)[:, :, 2], look(sad, sad, sad)[:, :, 2])


def test_lecture_b_every_key_meets_every_query_in_a_grid() -> None:
    words = ["a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest"]
    query, key = random_numbers(2, 1, 1, len(words), 5)
    look = Attention(dot, looks_from="text", looks_at="text")
    with watching(look) as gazes:
        look(query, key, key)
    grid = gazes[0].weights[0, 0]
    assert grid.shape == (8, 8)
    products = torch.tensor([[float(query[0, 0, row] @ key[0, 0, column]) for column in range(8)] for row in range(8)])
    torch.testing.assert_close(torch.as_tensor(grid).double(), products.double().softmax(-1), check_dtype=False)


def test_lecture_b_heads_added_up_are_their_concatenation_times_w_o() -> None:
    """Concat(head_1 … head_h) W_O = Σ head_i W_O[i], where W_O[i] are the rows that meet head i."""
    torch.manual_seed(3)
    heads = MultiHead(12, 3, looks_from="text", looks_at="text").double()
    states = random_numbers(1, 5, 12)
    cache = heads.remember(states)
    queries = heads.to_query(states).unflatten(-1, (3, 4)).transpose(1, 2)
    outputs = heads.look(queries, cache.keys, cache.values)
    assert isinstance(heads.out, nn.Linear)
    parts = heads.out.weight.T.split(4)
    added = sum((outputs[:, head] @ parts[head] for head in range(3)), heads.out.bias)
    torch.testing.assert_close(added, heads.out(outputs.transpose(1, 2).flatten(2)))


# Lecture C: recurrent networks, the Transformer, metrics, sampling


CAT = "рыжий кот прилег на лавку"
REFERENCES = ["кот лежит на лавке", "на лавку легла кошка"]


def test_lecture_c_the_precisions_of_bleu() -> None:
    """Three of five words and one of four pairs are in a reference. The output is longer, so no penalty applies."""
    explained = explain_sentence(CAT, REFERENCES, orders=2)
    assert [(order.matches, order.total) for order in explained.orders] == [(3, 5), (1, 4)]
    assert explained.brevity_penalty == 1
    assert explained.value == pytest.approx(100 * math.sqrt(3 / 5 * 1 / 4))


def test_lecture_c_a_short_output_pays_exp_of_one_minus_r_by_c() -> None:
    assert explain_sentence("кот прилег", REFERENCES, orders=1).brevity_penalty == pytest.approx(math.exp(1 - 4 / 2))


def test_lecture_c_departure_counts_are_clipped() -> None:
    """In print, without clipping, an output that repeats one word would be perfect; ours counts it once."""
    [match] = matches("кот кот кот", REFERENCES, 1)
    assert (match.count, match.clipped) == (3, 1)
    assert explain_sentence("кот кот кот", REFERENCES, orders=1).orders[0].precision == pytest.approx(100 / 3)


def gated(
    inputs: list[float], forgets: list[float], outputs: list[float], candidates: list[float]
) -> tuple[Tensor, ...]:
    """Return the memory and state, word by word, of a one-unit LSTM with gates set by hand."""
    words = len(inputs)
    cell = nn.LSTM(words, 1, batch_first=True).double()
    openings = torch.stack([numbers(row)[0] for row in (inputs, forgets, candidates, outputs)])
    with torch.no_grad():
        for weight in cell.parameters():
            weight.zero_()
        cell.weight_ih_l0.copy_(
            torch.where(torch.tensor([[False], [False], [True], [False]]), openings.atanh(), openings.logit())
        )
    states, gates = unroll(cell, torch.eye(words, dtype=torch.float64)[None])
    torch.testing.assert_close(
        torch.stack([gates.input, gates.forget, gates.candidate, gates.output])[:, 0, :, 0], openings
    )
    return states.cell[0, :, 0], states.hidden[0, :, 0]


OPEN, SHUT = 1 - 1e-9, 1e-9


def test_lecture_c_the_gates_over_the_food_was_tasty() -> None:
    """Еда была вкусная и мы не разочаровались: x₃ enters and stays, x₅ clears the memory, x₇ enters it."""
    words = ["Еда", "была", "вкусная", "и", "мы", "не", "разочаровались"]
    inputs = [OPEN if word in ("вкусная", "разочаровались") else SHUT for word in words]
    forgets = [SHUT if word == "мы" else OPEN for word in words]
    memory, _ = gated(inputs, forgets, [0.5] * 7, [0.9 if word == "вкусная" else 0.6 for word in words])
    assert memory.tolist() == pytest.approx([0, 0, 0.9, 0.9, 0, 0, 0.6], abs=1e-6)


def test_lecture_c_a_closed_output_gate_at_a_new_sentence_hides_the_memory_and_keeps_it() -> None:
    words = ["Учитель", "ведет", "урок", ".", "Дети", "слушают"]
    outputs = [SHUT if word == "." else OPEN for word in words]
    memory, shown = gated([OPEN, *[SHUT] * 5], [OPEN] * 6, outputs, [0.8] * 6)
    assert memory.tolist() == pytest.approx([0.8] * 6, abs=1e-6)
    assert [abs(value) > 0.1 for value in shown.tolist()] == [True, True, True, False, True, True]


def test_lecture_c_without_positions_a_sentence_is_a_bag_of_words() -> None:
    """Both sentences have the same words. Without positions the states are permuted and otherwise equal."""
    good, bad = ["очень", "хорошо", ",", "совсем", "не", "плохо"], ["не", "очень", "хорошо", ",", "совсем", "плохо"]
    assert Counter(good) == Counter(bad)
    vocabulary = sorted(good)
    rows = torch.tensor([[vocabulary.index(word) + 1 for word in text] for text in (good, bad)])
    order = [good.index(word) for word in bad]

    def states(positions: str) -> Tensor:
        torch.manual_seed(1)
        sizes = {"encoder_layers": 2, "decoder_layers": 1, "width": 8, "feed_forward": 16, "heads": 2}
        options = check(TransformerOptions, sizes | {"positions": positions})
        model = Transformer(options, 9, 9, shared=True, pad=0).double().eval()
        return model.encode(rows, torch.tensor([6, 6]))

    first, second = states("none")
    torch.testing.assert_close(second, first[order])
    first, second = states("sinusoidal")
    assert not torch.allclose(second, first[order], atol=1e-3)


OUTSIDE = {"солнце": 0.55, "луна": 0.25, "фонарь": 0.12, "лампа": 0.05, "кот": 0.03}  # На улице светит …


@pytest.mark.parametrize(("kept", "left"), [(top_k, {1: 1, 3: 3}), (top_p, {0.9: 3, 0.95: 4})])
def test_lecture_c_what_shines_outside_under_top_k_and_top_p(kept: object, left: dict[float, int]) -> None:
    chances = numbers(list(OUTSIDE.values()))
    for bound, count in left.items():
        remaining = kept(chances.log(), bound).exp()[0]  # type: ignore[operator]
        shares = chances[0, :count] / chances[0, :count].sum()
        assert remaining.tolist() == pytest.approx([*shares.tolist(), *[0] * (5 - count)])


def test_lecture_c_departure_temperature_is_over_logits_and_not_over_probabilities() -> None:
    """The lecture prints exp(p/τ) / Σ, ours is p^(1/T) / Σ. At 1 ours is p itself, the printed one nearly even."""
    chances = numbers(list(OUTSIDE.values()))
    printed = [round(float(value), 3) for value in chances.softmax(-1)[0]]
    ours = [round(float(value), 3) for value in temper(chances.log(), 1.0).exp()[0]]
    assert ours == list(OUTSIDE.values())
    assert printed == [0.278, 0.206, 0.181, 0.169, 0.165]
    cold = 0.1  # both sharpen as they fall
    assert float((chances / cold).softmax(-1).max()) > max(printed)
    assert float(temper(chances.log(), cold).exp().max()) > max(ours)


class TwoWords:
    """Model in which the likelier first word leads nowhere and the third makes the next word nearly certain."""

    begin, end = 0, 1
    first = (0.0, 0.0, 0.4, 0.35, 0.25, 0.0)
    then = {2: (0.0, 0.2, 0.2, 0.2, 0.2, 0.2), 3: (0.0, 0.3, 0.3, 0.2, 0.1, 0.1), 4: (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)}

    def start(self, batch: Tensor) -> State:
        return State(sentence={}, row={"time": torch.zeros_like(batch)})

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        rows = [
            self.first if token == 0 else self.then.get(token, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
            for token in tokens.tolist()
        ]
        return numbers(*map(list, rows)).log(), State({}, {"time": state.row["time"] + 1})


@pytest.mark.parametrize(("beam", "tokens"), [(1, [2]), (2, [3]), (3, [4, 5]), (5, [4, 5])])
def test_lecture_c_a_beam_of_three_or_five_finds_what_greedy_search_passes_by(beam: int, tokens: list[int]) -> None:
    """Greedy search finds 0.4 · 0.2 = 0.08, a beam of two 0.35 · 0.3 = 0.105, three or more 0.25 · 1."""
    options = DecodingOptions(beam=beam, length_penalty=0)
    [hypotheses] = beam_search(TwoWords(), torch.tensor([0]), torch.tensor([4]), options)
    assert hypotheses[0].tokens == tokens


def test_lecture_c_both_directions_double_the_parameters_and_layers_multiply_them() -> None:
    def size(layers: int = 1, bidirectional: bool = False) -> int:
        width = 32 if bidirectional else 16  # ours covers both directions
        stack = Stack("lstm", 16, width, layers, bidirectional=bidirectional)
        return sum(weight.numel() for weight in stack.parameters())

    assert size(bidirectional=True) == 2 * size()
    assert size(layers=3) == 3 * size()


def test_lecture_c_departure_the_mask_is_the_transpose_of_its_formula() -> None:
    """In the drawn matrix a query (row) sees the keys (columns) up to its own, as in ours; the formula gives i ≤ j."""
    ours = Causal().as_tensor(4, 4, torch.device("cpu"))
    picture = torch.ones(4, 4, dtype=torch.bool).tril()
    assert torch.equal(ours.expand(1, 1, 4, 4)[0, 0], picture)
    formula = torch.tensor([[i <= j for j in range(4)] for i in range(4)])
    assert torch.equal(formula, picture.T)


# Lecture D: sequences, models of attention, graphs


@pytest.mark.parametrize("join", ["concat", "mean"])
def test_lecture_d_three_heads_on_a_small_graph(join: str) -> None:
    """Node 0 attends to itself, 1 and 2; with K = 3 heads, c is their concatenation or their mean."""
    torch.manual_seed(2)
    looks_from, looks_at = torch.tensor([0, 0, 0, 1, 2]), torch.tensor([0, 1, 2, 1, 2])
    nodes = random_numbers(3, 4)
    layer = GraphAttention(1, 4, heads=3, width=2, join=join).double()  # type: ignore[arg-type]
    layer.draw(0, torch.Generator().manual_seed(1))
    values = (nodes @ layer.weight[0]).view(3, 3, 2)  # node, head, width
    scores_of_self, others = (torch.einsum("nhw,hw->nh", values, part[0]) for part in (layer.score.v, layer.score.u))
    weights = F.leaky_relu(scores_of_self[:1] + others, 0.2).softmax(0)  # node 0 over its three neighbours, by head
    heads = torch.einsum("nh,nhw->hw", weights, values)
    expected = heads.flatten() if join == "concat" else heads.mean(0)
    torch.testing.assert_close(layer(nodes, Edges.among(3, looks_from, looks_at))[0, 0], expected)


def test_lecture_d_positive_scores_divided_by_their_sum_are_a_softmax_if_they_are_exponentials() -> None:
    query, key, value = random_numbers(3, 1, 1, 4, 6)

    def shares(scores: Tensor, mask: Tensor | None) -> Tensor:
        return scores.exp() / scores.exp().sum(-1, keepdim=True)

    looks = [Attention(dot, looks_from="text", looks_at="text", **more) for more in ({}, {"normaliser": shares})]
    torch.testing.assert_close(*(look(query, key, value) for look in looks))


# Lecture E: attention


ANIMAL = ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too"]


@pytest.mark.parametrize(("last", "seen"), [("tired", "animal"), ("wide", "street")])
def test_lecture_e_what_it_looks_at_and_the_five_steps_of_self_attention(last: str, seen: str) -> None:
    """Hand-made vectors: animals tire and streets are wide. The reading with *wide* is ours.

    (1) queries, keys and values of each word, (2) their products, (3) divided by √d, (4) the softmax, (5) the mix.
    """
    words = [*ANIMAL, last]
    meaning = {"animal": [4.0, 0.0], "street": [0.0, 4.0], "tired": [3.0, 0.0], "wide": [0.0, 3.0]}
    states = numbers(*(meaning.get(word, [0.0, 0.0]) for word in words))
    it = words.index("it")
    queries = states.clone()
    queries[it] = states[-1]  # *it* queries for what the last word describes
    keys = states.clone()
    keys[-1] = 0  # of nouns
    scores = queries[it] @ keys.T / math.sqrt(2)
    weights = scores.exp() / scores.exp().sum()
    assert words[int(weights.argmax())] == seen
    assert float(weights.max()) > 0.9
    look = Attention(scaled_dot, looks_from="text", looks_at="text")
    attention = look.full(queries[None, None], keys[None, None], states[None, None])
    torch.testing.assert_close(attention.weights[0, 0, it], weights)
    torch.testing.assert_close(attention.context[0, 0, it], weights @ states)
