"""Laws of editing on one attention, in float64, and what is refused."""

import threading
from typing import Any

import pytest
import torch
from attention_cases import MASKS, SIDES, draw
from torch import Tensor, nn

from regard.attention import Attention, Causal, Hard, Lengths, Mask, PreparedKeys, watching
from regard.attention.editing import Edit, Edits, editing, is_edited, is_observed, without_editing
from regard.attention.heads import MultiHead
from regard.attention.local import LocalMonotonic
from regard.attention.scores import dot
from regard.base.faults import Fault


class Holder(nn.Module):
    """A model with one attention, which is called cross.1."""

    def __init__(self, look: Attention) -> None:
        super().__init__()
        self.look = look


def look_at(
    edits: Any = (), mask: Mask | None = None, look: Attention | None = None, **more: Any
) -> tuple[Tensor, Tensor]:
    """Return the context and the weights, as a watcher sees them, of 7 queries and 7 keys in 3 heads of 2 rows."""
    model = Holder(look or Attention(**SIDES)).eval()
    query, key, value = draw(2, 3, 7, 4), draw(2, 3, 7, 4, seed=1), draw(2, 3, 7, 5, seed=2)
    with editing(model, edits), watching(model) as gazes:
        context = model.look(query, key, value, mask, **more)
    return context, gazes[0].weights


def weight(**fields: Any) -> Edit:
    return Edit(**{"at": "cross.1", "do": "zero"} | fields)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_no_edit_is_the_plain_run(mask: Mask | None) -> None:
    model, inputs = Holder(Attention(**SIDES)), (draw(2, 3, 7, 4), draw(2, 3, 7, 4, seed=1), draw(2, 3, 7, 5, seed=2))
    plain = model.look(*inputs, mask)
    for nothing in ([], Edits(edits=[])):
        with editing(model, nothing):
            assert not is_observed()
            assert torch.equal(model.look(*inputs, mask), plain)


def test_all_weight_on_one_key_is_its_value() -> None:
    value = draw(2, 3, 7, 5, seed=2)
    context, weights = look_at(weight(do="force", keys=[4]))
    assert torch.equal(context, value[:, :, 4:5].expand(-1, -1, 7, -1))
    assert torch.equal(weights[..., 4], torch.ones_like(weights[..., 4]))
    assert weights.sum() == 2 * 3 * 7


def test_force_shares_equally_or_by_values() -> None:
    value = draw(2, 3, 7, 5, seed=2)
    context, _ = look_at(weight(do="force", keys=[4, 1]))
    torch.testing.assert_close(context[:, :, 2], (value[:, :, 1] + value[:, :, 4]) / 2)
    context, _ = look_at(weight(do="force", keys=[4, 1], values=[3, 1]))
    torch.testing.assert_close(context[:, :, 2], (value[:, :, 1] + 3 * value[:, :, 4]) / 4)
    context, _ = look_at(weight(do="force", keys=[4, 1], values=[3.0, 1.0], renormalise=False))
    torch.testing.assert_close(context[:, :, 2], value[:, :, 1] + 3 * value[:, :, 4])


def test_zero_renormalises_the_rest() -> None:
    """Zeroed keys equal masked ones, since softmax divides by the sum over what is left."""
    mask = torch.ones(7, 7, dtype=torch.bool)
    mask[:, [2, 5]] = False
    torch.testing.assert_close(look_at(weight(keys=[2, 5])), look_at(mask=mask))
    _, plain = look_at()
    _, left = look_at(weight(keys=[2, 5], renormalise=False))
    plain[..., [2, 5]] = 0
    torch.testing.assert_close(left, plain)


def test_only_what_is_named_changes() -> None:
    _, plain = look_at()
    _, edited = look_at(weight(at="cross.1.2", keys=[3], queries=[1, 4], rows=[1]))
    changed = (edited - plain).abs() > 1e-12
    assert changed[1, 1, [1, 4]].all()
    changed[1, 1, [1, 4]] = False
    assert not changed.any()


def test_scale_multiplies_and_keeps_the_sum() -> None:
    _, plain = look_at()
    _, edited = look_at(weight(do="scale", by=3.0, keys=[2]))
    expected = plain.clone()
    expected[..., 2] *= 3
    torch.testing.assert_close(edited, expected / expected.sum(-1, keepdim=True))


def test_moving_weight_once_and_twice() -> None:
    _, plain = look_at()
    once = weight(do="move", keys=[2], to=6, by=0.25)
    _, moved = look_at(once)
    torch.testing.assert_close(moved[..., 2], plain[..., 2] * 0.75)
    torch.testing.assert_close(moved[..., 6], plain[..., 6] + plain[..., 2] * 0.25)
    _, moved = look_at([once, once])
    torch.testing.assert_close(moved[..., 2], plain[..., 2] * 0.75**2)
    _, moved = look_at([weight(do="move", keys=[2, 3], to=6), weight(do="move", keys=[6], to=2)])
    torch.testing.assert_close(moved[..., 2], plain[..., [2, 3, 6]].sum(-1))
    assert not moved[..., [3, 6]].any()


def test_replacing_all_weights_by_those_of_another_run() -> None:
    other = draw(2, 3, 7, 7, seed=9).softmax(-1)
    context, weights = look_at(weight(do="replace", values=other, renormalise=False))
    assert torch.equal(weights, other)
    torch.testing.assert_close(context, other @ draw(2, 3, 7, 5, seed=2))
    _, weights = look_at(weight(do="replace", values=[3, 1], keys=[0, 1], queries=[2]))
    torch.testing.assert_close(weights[..., 2, :].sum(-1), torch.ones(2, 3, dtype=torch.float64))
    torch.testing.assert_close(weights[..., 2, 0], 3 * weights[..., 2, 1])


def test_values_are_by_place_where_no_places_are_named() -> None:
    """Steps that begin at place 4 take the values of place 4 and later."""
    table = draw(9, 7, seed=3).softmax(-1)
    _, weights = look_at(weight(do="replace", values=table, renormalise=False), places=2)
    torch.testing.assert_close(weights[1, 2], table[2:9])
    with pytest.raises(Fault, match="values for 9 along place, but there are 10"):
        look_at(weight(do="replace", values=table), places=3)


def test_queries_are_places_and_not_numbers_in_the_tensor() -> None:
    _, plain = look_at()
    for places, changed in ((3, 2), (torch.tensor([9, 5, 0, 1, 2, 3, 4]), 1)):
        _, edited = look_at(weight(keys=[0], queries=[5]), places=places)
        assert ((edited - plain).abs().sum(dim=(0, 1, 3)) > 1e-9).nonzero().flatten().tolist() == [changed]


@pytest.mark.parametrize("part", ["weights", "head"])
def test_gradients_pass_through_edits(part: str) -> None:
    fields = {"keys": [1]} if part == "weights" else {"queries": [2]}
    model, key = Holder(Attention(**SIDES)), draw(2, 3, 7, 4, seed=1).requires_grad_()
    with editing(model, weight(part=part, **fields)):
        model.look(draw(2, 3, 7, 4), key, draw(2, 3, 7, 5, seed=2)).square().sum().backward()
    assert key.grad is not None
    assert key.grad.isfinite().all()
    assert key.grad.any()


def test_a_heads_output_is_zeroed_scaled_and_replaced() -> None:
    plain, weights = look_at()
    zeroed, seen = look_at(Edit(at="cross.1.3", part="head", do="zero"))
    assert torch.equal(zeroed[:, :2], plain[:, :2])
    assert not zeroed[:, 2].any()
    assert torch.equal(seen, weights)
    scaled, _ = look_at(Edit(at="cross.1.3", part="head", do="scale", by=2.0, queries=[1], units=[0, 4], rows=[0]))
    expected = plain.clone()
    expected[0, 2, 1, [0, 4]] *= 2
    assert torch.equal(scaled, expected)
    other = draw(2, 3, 7, 5, seed=8)
    replaced, _ = look_at(Edit(at="cross.1", part="head", do="replace", values=other))
    assert torch.equal(replaced, other)


def test_windows_keep_their_sum_and_choices_can_be_overruled() -> None:
    focused = Attention(dot, **SIDES, focus=LocalMonotonic(2))
    _, plain = look_at(look=focused)
    _, edited = look_at(weight(keys=[0], queries=[1]), look=focused)
    torch.testing.assert_close(edited.sum(-1), plain.sum(-1))
    assert not edited[:, :, 1, 0].any()
    hard = Attention(dot, **SIDES, choice=Hard("gumbel", 1.0))
    context, _ = look_at(weight(do="force", keys=[2]), look=hard)
    assert torch.equal(context[:, :, 0], draw(2, 3, 7, 5, seed=2)[:, :, 2])


REFUSED: dict[str, tuple[Any, Mask | None, str]] = {
    "no weight left": (weight(keys=range(7)), None, "leaves query 0 without any weight"),
    "no weight left behind a mask": (weight(keys=[0]), Causal(), "leaves query 0 without any weight"),
    "a masked key": (weight(do="force", keys=[3], queries=[2, 4]), Causal(), "query 2 may not look at key 3"),
    "a padded key": (weight(do="force", keys=[5]), Lengths(torch.tensor([7, 3])), "query 0 may not look at key 5"),
    "move behind the mask": (weight(do="move", keys=[1], to=6), Causal(), "query 1 may not look at key 6"),
    "values behind the mask": (weight(do="replace", keys=[6], values=[0.5]), Causal(), "may not look at key 6"),
    "force beyond the keys": (weight(do="force", keys=[7]), None, "query 0 may not look at key 7"),
    "values beyond the keys": (weight(do="replace", keys=[0, 7], values=[1, 1]), None, "may not look at key 7"),
    "too few values": (weight(do="replace", values=[1.0, 2.0]), None, "values for 2 along key, but there are 7"),
    "too many values": (weight(do="replace", values=[1.0] * 8), None, "values for 8 along key, but there are 7"),
    "other values than places": (
        weight(do="replace", keys=[1], values=[[1.0], [2.0]], queries=[1, 2, 3]),
        None,
        "values for 2 along place, but names 3",
    ),
    "no such query": (weight(keys=[1], queries=[2, 7]), None, "never reached place 7: the longest input had 7 places"),
    "no such key": (weight(keys=[7]), None, "never reached key 7"),
    "no such row": (weight(keys=[1], rows=[2]), None, "never reached row 2"),
    "a key that no query sees": (weight(keys=[6], queries=[2]), Causal(), "never reached key 6"),
    "no such head": (weight(at="cross.1.4", keys=[1]), None, "no head 4 among 3"),
    "head zero": (weight(at="cross.1.0", keys=[1]), None, "no head 0"),
    "no such block": (weight(at="cross.2", keys=[1]), None, "no attention 'cross.2'; it has cross.1"),
    "no such unit": (weight(part="head", units=[5]), None, "there are 5 units, counted from 0"),
    "no such module": (weight(at="depth", part="output"), None, "no module 'depth'; its parts are 'look'"),
    "a state": (weight(at="look", part="state"), None, "The state of 'look' cannot be edited"),
    "four axes": (weight(at="look", part="output"), None, "has 4 axes instead of row, place and unit"),
}


@pytest.mark.parametrize(("edit", "mask", "sentence"), REFUSED.values(), ids=REFUSED)
def test_an_edit_hits_where_it_says_or_is_refused(edit: Edit, mask: Mask | None, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence) as caught:
        look_at(edit, mask)
    assert len(caught.value.sentences) == 1
    assert not is_edited()


def test_a_module_that_never_ran_is_reported_but_not_instead_of_an_error() -> None:
    model = Holder(Attention(**SIDES))
    with pytest.raises(Fault, match=r"never applied: .* did not run"), editing(model, weight(keys=[1])):
        pass
    with pytest.raises(RuntimeError, match="stop"), editing(model, weight(keys=[1])):
        raise RuntimeError("stop")


def test_masked_queries_stay_without_weight() -> None:
    """A query that may look nowhere has no weight to lose."""
    mask = MASKS["no keys at all"]
    _, weights = look_at(weight(keys=[0]), mask)
    assert not weights[0].any()
    torch.testing.assert_close(weights[1].sum(-1), torch.ones(3, 7, dtype=torch.float64))


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, states: Tensor) -> Tensor:
        return self.second(self.first(states))


def test_outputs_of_modules_by_place_row_and_unit() -> None:
    model, states = Layers().double(), draw(2, 5, 4)
    inside = model.first(states)
    with editing(model, Edit(at="first", part="output", do="zero", queries=[1, 2], units=[0, 5], rows=[1])):
        edited = model(states)
    inside[1, 1:3, [0, 5]] = 0
    assert torch.equal(edited, model.second(inside))
    with editing(model, Edit(at="first", part="output", do="replace", values=draw(5, 6, seed=4))):
        edited = model(states)
    torch.testing.assert_close(edited, model.second(draw(5, 6, seed=4)).expand(2, -1, -1))
    assert not model.first._forward_hooks
    with (
        pytest.raises(Fault, match="without a place"),
        editing(model, Edit(at="first", part="output", do="zero", queries=0)),
    ):
        model(states[:, 0])


def test_a_block_inside_another_adds_its_edits() -> None:
    model, states = Layers().double(), draw(2, 5, 4)
    double = Edit(at="first", part="output", do="scale", by=2.0)
    with editing(model, double):
        once = model.first(states)
        with editing(model, double):
            twice = model.first(states)
        with without_editing():
            plain = model.first(states)
    assert torch.equal(once, 2 * plain)
    assert torch.equal(twice, 4 * plain)
    assert torch.equal(model.first(states), plain)


def test_other_threads_run_the_plain_model() -> None:
    model, states, seen = Layers().double(), draw(2, 5, 4), []
    plain = model(states)
    with editing(model, Edit(at="first", part="output", do="zero")):
        thread = threading.Thread(target=lambda: seen.append(model(states)))
        thread.start()
        thread.join()
        assert not torch.equal(model(states), plain)
    assert torch.equal(seen[0], plain)


def test_a_record_is_refused_for_another_model() -> None:
    class Known(Layers):
        fingerprint = "a" * 64

    edits = [Edit(at="first", part="output", do="zero")]
    with editing(Known(), Edits(model="a" * 64, edits=[])):
        pass
    with pytest.raises(Fault, match="belongs to another model"), editing(Known(), Edits(model="b" * 64, edits=edits)):
        pass
    with pytest.raises(Fault, match="model that load returns"), editing(Layers(), Edits(model="b" * 64, edits=edits)):
        pass


def test_edited_heads_keep_the_fused_kernel_and_edited_weights_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    heads = MultiHead(12, 3, **SIDES).eval()
    taken: list[str] = []
    plain = Attention._look

    def spy(self: Attention, *inputs: Any, **more: Any) -> Any:
        taken.append("in memory")
        return plain(self, *inputs, **more)

    monkeypatch.setattr(Attention, "_look", spy)
    states = draw(2, 4, 12).float()
    with editing(heads, Edit(at="cross.1.1", part="head", do="zero")):
        heads(states, heads.remember(states))
    assert taken == []
    with editing(heads, Edit(at="cross.1.1", do="zero", keys=[0])):
        heads(states, heads.remember(states))
    assert taken == ["in memory"]


def test_shared_keys_and_the_parts_of_a_look_are_edited_too() -> None:
    model = Holder(Attention(**SIDES))
    query, key, value = draw(2, 4, 3, 4), draw(2, 2, 5, 4, seed=1), draw(2, 2, 5, 6, seed=2)
    with editing(model, Edit(at="cross.1.4", do="force", keys=[2])), watching(model, parts="outputs") as gazes:
        context = model.look(query, PreparedKeys(key), value)
    assert torch.equal(context[:, 3], value[:, 1, 2:3].expand(-1, 3, -1))
    assert torch.equal(gazes[0].parts["outputs"], context)
