"""The attention core compared with torch's own and with answers computed by hand."""

import math

import pytest
import torch
import torch.nn.functional as F
from attention_cases import MASKS, SIDES, draw

from regard.attention import Attention, Causal, Hard, Lengths, LocalMonotonic, Mask, watching
from regard.attention.local import Focus
from regard.attention.masks import as_tensor
from regard.attention.normalisers import NormaliserName, named_normaliser
from regard.attention.scores import Additive, Bilinear, Location, Score, dot, scaled_dot

every_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())


@every_mask
def test_every_mask_agrees_with_torch(mask: Mask | None) -> None:
    query, key, value = draw(2, 3, 7, 8), draw(2, 3, 7, 8, seed=1), draw(2, 3, 7, 4, seed=2)
    allowed = None if mask is None else as_tensor(mask, 7, 7, query.device)
    theirs = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    if allowed is not None:
        theirs = theirs.masked_fill(~allowed.any(-1, keepdim=True), 0.0)
    look = Attention(**SIDES)
    torch.testing.assert_close(look(query, key, value, mask), theirs)
    torch.testing.assert_close(look.full(query, key, value, mask).context, theirs)
    with watching(look) as gazes:
        torch.testing.assert_close(look(query, key, value, mask), theirs)
    torch.testing.assert_close(gazes[0].weights @ value, theirs)
    sees_any = torch.ones(2, 3, 7).double() if allowed is None else allowed.any(-1).expand(2, 3, 7).double()
    torch.testing.assert_close(gazes[0].weights.sum(-1), sees_any)


@every_mask
def test_every_mask_is_its_tensor(mask: Mask | None) -> None:
    states, look = draw(2, 3, 7, 8), Attention(**SIDES)
    allowed = torch.ones(1, 1, 1, 7, dtype=torch.bool) if mask is None else as_tensor(mask, 7, 7, states.device)
    torch.testing.assert_close(look(states, states, states, mask), look(states, states, states, allowed))


@every_mask
def test_a_bias_is_added_to_the_scores(mask: Mask | None) -> None:
    query, key, value, bias = draw(2, 3, 7, 8), draw(2, 3, 7, 8, seed=1), draw(2, 3, 7, 4, seed=2), draw(1, 3, 7, 7)
    allowed = torch.ones(1, 1, 1, 7, dtype=torch.bool) if mask is None else as_tensor(mask, 7, 7, query.device)
    added = bias.masked_fill(~allowed, float("-inf"))
    theirs = (query @ key.mT / 8**0.5 + added).softmax(-1).nan_to_num(0.0) @ value
    look = Attention(**SIDES)
    torch.testing.assert_close(look(query, key, value, mask, bias), theirs)
    with watching(look) as gazes:
        look(query, key, value, mask, bias)
    torch.testing.assert_close(gazes[0].weights @ value, theirs)


@pytest.mark.parametrize("score", [dot, scaled_dot, Bilinear(8, 8).double()], ids=["dot", "scaled dot", "bilinear"])
@every_mask
def test_the_fused_kernel_is_the_plain_path(score: Score, mask: Mask | None) -> None:
    query, key, value = draw(2, 3, 7, 8), draw(2, 3, 7, 8, seed=1), draw(2, 3, 7, 4, seed=2)
    look = Attention(score, **SIDES)
    fused, plain = look(query, key, value, mask), look.full(query, key, value, mask)
    torch.testing.assert_close(fused, plain.context)
    torch.testing.assert_close(plain.context, plain.weights @ value)
    assert (plain.log_probability == 0).all()  # nothing was chosen


@every_mask
@pytest.mark.parametrize("heads", [1, 2])
def test_grouped_heads_are_copied_heads(mask: Mask | None, heads: int) -> None:
    if isinstance(mask, torch.Tensor) and mask.shape[1] == 3:
        mask = mask[:, :1]
    query, key, value = draw(2, 4, 7, 8), draw(2, heads, 7, 8, seed=1), draw(2, heads, 7, 6, seed=2)
    copied = [tensor.repeat_interleave(4 // heads, 1) for tensor in (key, value)]
    for score in (scaled_dot, Additive(8, 8, 5).double()):
        look = Attention(score, **SIDES)
        torch.testing.assert_close(look(query, key, value, mask), look(query, *copied, mask))
        torch.testing.assert_close(look.full(query, key, value, mask), look.full(query, *copied, mask))


NORMALISERS: list[NormaliserName] = ["softmax", "plain", "sparsemax", "entmax"]
# One query is barred from every key, the other from none. The mask alone would let both look.
BARRED = torch.tensor([[float("-inf")] * 4, [0.0, 1.0, 0.0, float("-inf")]], dtype=torch.float64)[None, None]


@pytest.mark.parametrize("mask", [None, Lengths(torch.tensor([3]))], ids=["no mask", "mask"])
@pytest.mark.parametrize("name", NORMALISERS)
def test_a_bias_that_bars_every_key_leaves_zeros_and_finite_gradients(name: NormaliserName, mask: Mask | None) -> None:
    query, key, value = (draw(1, 1, n, 3, seed=n).abs().requires_grad_() for n in (2, 4, 4))
    look = Attention(dot, normaliser=named_normaliser(name), **SIDES)
    with watching(look) as gazes:
        outputs = [look(query, key, value, mask, BARRED), look.full(query, key, value, mask, bias=BARRED).context]
    for context in outputs:
        assert not context[0, 0, 0].any()
        assert context[0, 0, 1].any()
        gradients = torch.autograd.grad(context.sum(), (query, key, value), retain_graph=True)
        assert all(gradient.isfinite().all() for gradient in gradients)
    for gaze in gazes:
        torch.testing.assert_close(gaze.weights.sum(-1), torch.tensor([[[0.0, 1.0]]]).to(gaze.weights))


@pytest.mark.parametrize("focus", [None, LocalMonotonic(1)], ids=["everywhere", "window"])
@pytest.mark.parametrize("choice", [None, Hard("straight-through")], ids=["soft", "hard"])
@pytest.mark.parametrize("name", NORMALISERS)
def test_no_keys_at_all_are_zeros_and_no_error(name: NormaliserName, choice: Hard | None, focus: Focus | None) -> None:
    query, nothing = draw(2, 3, 4, 5).requires_grad_(), draw(2, 3, 0, 5).requires_grad_()
    look = Attention(normaliser=named_normaliser(name), choice=choice, focus=focus, **SIDES)
    for mask in (None, Lengths(torch.tensor([0, 0]))):
        full = look.full(query, nothing, nothing, mask)
        assert full.weights.shape == (2, 3, 4, 0)
        for context in (look(query, nothing, nothing, mask), full.context):
            assert torch.equal(context, torch.zeros(2, 3, 4, 5, dtype=torch.float64))
            (gradient,) = torch.autograd.grad(context.sum(), query)
            assert not gradient.any()


@pytest.mark.parametrize("bias", [None, draw(1, 1, 2, 3)])
def test_nowhere_to_look_is_zero_and_its_gradient_finite(bias: torch.Tensor | None) -> None:
    mask = torch.tensor([[[[True, True, False], [False, False, False]]]])
    for score in (scaled_dot, Additive(4, 4, 4).double()):
        look, query = Attention(score, **SIDES), draw(1, 1, 2, 4).requires_grad_()
        out = look(query, draw(1, 1, 3, 4), draw(1, 1, 3, 4), mask, bias)
        assert (out[0, 0, 1] == 0).all()
        (gradient,) = torch.autograd.grad(out.sum(), query)
        assert gradient.isfinite().all()
        assert (gradient[0, 0, 1] == 0).all()


def test_prepared_keys_are_the_keys() -> None:
    query, key, value = draw(2, 1, 5, 8), draw(2, 1, 7, 6), draw(2, 1, 7, 3)
    for score in (Additive(8, 6, 4), Bilinear(8, 6), Location(8, 6, hidden=4), Location(8, hidden=4)):
        look = Attention(score.double(), **SIDES)
        torch.testing.assert_close(
            look.full(query, look.prepare(key), value, previous=draw(2, 1, 5, 7).softmax(-1)),
            look.full(query, key, value, previous=draw(2, 1, 5, 7).softmax(-1)),
        )
    equal = draw(2, 1, 7, 8)
    assert torch.equal(Attention(**SIDES).prepare(equal).keys, equal)


def test_query_and_key_may_differ_in_depth() -> None:
    for score in (Additive(8, 6, 16), Bilinear(8, 6)):
        look = Attention(score.double(), **SIDES)
        assert look(draw(2, 1, 5, 8), draw(2, 1, 7, 6), draw(2, 1, 7, 3)).shape == (2, 1, 5, 3)


def test_any_callable_is_a_score() -> None:
    def nearness(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        return -torch.cdist(query, key)

    look = Attention(nearness, **SIDES)
    weights = look.full(torch.tensor([[[[0.0]]]]), torch.tensor([[[[0.0], [1.0]]]]), torch.zeros(1, 1, 2, 1)).weights
    torch.testing.assert_close(weights[0, 0, 0], torch.tensor([math.e, 1.0]) / (1 + math.e))


def test_each_normaliser_changes_the_weights() -> None:
    states = draw(1, 1, 5, 4).abs()
    outputs = [
        Attention(dot, **SIDES, normaliser=named_normaliser(name))(states, states, states)
        for name in ("softmax", "plain", "sparsemax", "entmax")
    ]
    for number, one in enumerate(outputs):
        assert not any(torch.allclose(one, other) for other in outputs[number + 1 :])


@pytest.mark.parametrize(
    ("look", "words"),
    [
        (Attention(Location(4, hidden=2), **SIDES), r"follows the previous look: call look\.full"),
        (Attention(choice=Hard("reinforce"), **SIDES), r"REINFORCE .* call look\.full"),
    ],
)
def test_a_context_alone_is_refused_where_more_is_needed(look: Attention, words: str) -> None:
    states = torch.zeros(1, 1, 2, 4)
    with pytest.raises(ValueError, match=words):
        look(states, states, states)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (((2, 5, 8), (2, 3, 7, 8), (2, 3, 7, 4)), r"query needs the axes \(batch, head, query, depth\)"),
        (((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 6, 4)), "7 keys but 6 values"),
        (((2, 3, 5, 8), (1, 3, 7, 8), (1, 3, 7, 4)), "query has 2 along 'batch', key has 1"),
        (((2, 3, 5, 8), (2, 3, 7, 8), (2, 1, 7, 4)), "3 heads of keys but 1 of values"),
        (((2, 3, 5, 8), (2, 2, 7, 8), (2, 2, 7, 4)), "3 heads of queries cannot share 2 heads of keys"),
    ],
)
@pytest.mark.usefixtures("unchecked_shapes")
def test_wrong_axes_are_named(shapes: tuple[tuple[int, ...], ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Attention(**SIDES)(*(draw(*shape) for shape in shapes))


@pytest.mark.parametrize("score", [scaled_dot, Additive(4, 4, 4).double()], ids=["fused", "plain"])
def test_dropout_falls_in_training_only(score: Score) -> None:
    look = Attention(score, **SIDES, dropout=0.5)
    states = draw(1, 1, 6, 4)
    torch.manual_seed(0)
    assert not torch.equal(look(states, states, states), look.eval()(states, states, states))
    torch.testing.assert_close(look(states, states, states), look(states, states, states))


def test_the_newest_place_sees_all_and_a_few_new_ones_see_up_to_themselves() -> None:
    """A cache gives fewer queries than keys: only the last ones."""
    query, key, look = draw(1, 2, 5, 4), draw(1, 2, 5, 4, seed=1), Attention(**SIDES)
    whole = look(query, key, key, Causal())
    torch.testing.assert_close(look(query[:, :, 4:], key, key, Causal()), whole[:, :, 4:])
    torch.testing.assert_close(look(query[:, :, 2:], key, key, Causal()), whole[:, :, 2:])


def test_a_focus_and_a_mask_both_hold() -> None:
    states = torch.zeros(2, 1, 4, 3, dtype=torch.float64)
    look = Attention(focus=LocalMonotonic(1), **SIDES)
    weights = look.full(states, states, states, Lengths(torch.tensor([4, 2]))).weights
    expected = [[[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]], [[1, 1, 0, 0]] * 4]
    torch.testing.assert_close(weights[:, 0], F.normalize(torch.tensor(expected).double(), p=1, dim=-1))
    torch.testing.assert_close(look(states, states, states + 1), torch.ones_like(states))
