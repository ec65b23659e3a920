"""Maps from attention: rollout and flow by hand, against the library, and on models with several kinds of attention."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
from why_models import toy_question

from regard.attention.rollout import roll_out
from regard.base.faults import Fault
from regard.seeing.why.flow import decoder_graph, maximum_flow, pooled_graph, self_graph
from regard.seeing.why.gazing import WhichAttention
from regard.seeing.why.maps import map_of


def weights(*shape: int, seed: int = 0) -> np.ndarray:
    """Return random weights whose rows sum to one."""
    drawn = np.random.default_rng(seed).random(shape)
    return np.asarray(drawn / drawn.sum(-1, keepdims=True))


def test_maximum_flow_by_hand() -> None:
    """Two paths of 0.3 and 0.2, which share an edge of 0.4."""
    capacity = np.zeros((4, 4))
    capacity[0, 1], capacity[0, 2], capacity[1, 2], capacity[2, 3] = 0.3, 0.2, 0.5, 0.4
    assert maximum_flow(capacity, 0, 3) == pytest.approx(0.4)
    assert maximum_flow(capacity, 3, 0) == 0


@pytest.mark.parametrize("seed", range(3))
def test_maximum_flow_is_that_of_scipy(seed: int) -> None:
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    sparse = pytest.importorskip("scipy.sparse")
    whole = np.random.default_rng(seed).integers(0, 20, (12, 12)) * (
        np.random.default_rng(seed + 9).random((12, 12)) < 0.3
    )
    np.fill_diagonal(whole, 0)
    expected = csgraph.maximum_flow(sparse.csr_matrix(whole.astype(np.int32)), 0, 11).flow_value
    assert maximum_flow(whole.astype(float), 0, 11) == pytest.approx(expected)


def test_rollout_is_that_of_the_library() -> None:
    blocks = [weights(2, 5, 5, seed=seed) for seed in range(3)]
    expected = roll_out([torch.from_numpy(block)[None] for block in blocks])[0].numpy()
    found = self_graph([block.mean(axis=0) for block in blocks]).rollout()
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_flow_of_one_block_is_half_its_weights() -> None:
    block = weights(4, 4)
    np.testing.assert_allclose(self_graph([block]).flow(2), (block[2] + np.eye(4)[2]) / 2)


def test_flow_through_two_blocks_by_hand() -> None:
    """From place 0: a half stays and a half goes over to 1; each then splits in the same way."""
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(self_graph([swap, swap]).flow(0), [1.0, 1.0])
    np.testing.assert_allclose(self_graph([swap, swap]).rollout()[0], [0.5, 0.5])


def test_a_decoder_shares_its_mass_between_source_and_target() -> None:
    """With one block, half of a target place comes from the source, and rollout is half its cross-attention."""
    cross = weights(3, 4)
    graph = decoder_graph([], [weights(3, 3, seed=1)], [cross])
    np.testing.assert_allclose(graph.rollout(), cross / 2)
    np.testing.assert_allclose(graph.flow(1), cross[1] / 2)
    with_encoder = decoder_graph([weights(4, 4, seed=2)], [weights(3, 3, seed=1)], [cross])
    np.testing.assert_allclose(with_encoder.rollout().sum(1), 0.5)


def test_a_pooling_look_is_the_last_step() -> None:
    pooling = weights(1, 4)
    np.testing.assert_allclose(pooled_graph([], pooling).rollout(), pooling)
    np.testing.assert_allclose(pooled_graph([], pooling).flow(0), pooling[0])


def test_flow_of_a_long_input_is_refused() -> None:
    with pytest.raises(Fault, match="Flow is found for at most 48 places"):
        self_graph([weights(49, 49)]).flow(0)


def test_attention_is_the_row_of_the_place_in_the_chosen_block_and_head(tmp_path: Path) -> None:
    question = toy_question("transformer", tmp_path, decoder_layers=2, encoder_layers=2)
    assert question.see is not None
    assert question.queries is not None
    looks = question.see().between("cross")
    row = question.queries[0]
    np.testing.assert_allclose(map_of(question, "attention").scores, looks.blocks[0].weights.mean(0)[row])
    chosen = map_of(question, "attention", WhichAttention(2, 1))
    np.testing.assert_allclose(chosen.scores, looks.blocks[1].weights[0][row])
    with pytest.raises(Fault, match="omit them for rollout"):
        map_of(question, "rollout", WhichAttention(2, 1))
    with pytest.raises(Fault, match="2 blocks of 2 heads"):
        map_of(question, "attention", WhichAttention(3))
    assert sum(map_of(question, "rollout").scores) == pytest.approx(1 - 0.5**2)


SUMS = {
    "gpt": 1,
    "bert": 1,
    "encoder": 1,
    "tagging encoder": 1,
    "patches": 1,
    "captioner": 1,
    "memory": None,
    "ntm": None,
    "gat": 1,
    "ctc transformer": None,
}


@pytest.mark.parametrize("family", SUMS)
def test_families_with_attention_have_a_map_of_it(family: str, tmp_path: Path) -> None:
    question = toy_question(family, tmp_path)
    found = map_of(question, "attention")
    assert len(found.scores) == len(question.names)
    assert np.abs(found.scores).max() > 0
    if SUMS[family] is not None:
        assert sum(found.scores) == pytest.approx(SUMS[family])


def test_a_label_lies_where_its_frames_are(tmp_path: Path) -> None:
    """The attention of CTC is the occupancy of the label's frames, and rollout spreads it through the blocks."""
    question = toy_question("ctc transformer", tmp_path)
    assert question.see is not None
    assert question.queries is not None
    occupancy = question.see().between("source to labels").blocks[0].weights[0][:, question.queries[0]]
    np.testing.assert_allclose(map_of(question, "attention").scores, occupancy)
    assert sum(map_of(question, "rollout").scores) == pytest.approx(1)


@pytest.mark.parametrize("family", ["rnnlm", "convnet", "ram", "lstm", "averaging"])
def test_families_without_attention_to_their_units_are_refused(family: str, tmp_path: Path) -> None:
    question = toy_question(family, tmp_path)
    for method in ("attention", "rollout", "flow"):
        with pytest.raises(Fault, match="no attention to the units of its input"):
            map_of(question, method)


def test_rollout_needs_blocks(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="need blocks of self-attention"):
        map_of(toy_question("seq2seq", tmp_path), "rollout")
