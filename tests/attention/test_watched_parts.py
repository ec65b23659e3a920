"""The parts of a look: scores, mask, queries, keys, values and outputs, recorded when asked for and at no cost else."""

import pytest
import torch
from attention_cases import MASKS, SIDES, draw
from torch import Tensor, nn

from regard.attention import Attention, Causal, Lengths, Mask, watching
from regard.attention.heads import HeadOptions, MultiHead
from regard.attention.scores import Additive, dot
from regard.attention.watch import PARTS, Gaze
from regard.base.faults import Fault
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions

SCORES = {"fused": None, "plain": Additive(4, 4, 3).double(), "dot": dot}


def check_parts(gaze: Gaze) -> None:
    """softmax(scores + mask) are the weights, and weights @ values the outputs; a query without keys has zeros."""
    parts = gaze.parts
    weights = (parts["scores"] + parts["mask"]).softmax(dim=-1).nan_to_num(0.0)
    torch.testing.assert_close(weights, gaze.weights)
    torch.testing.assert_close(gaze.weights @ parts["values"], parts["outputs"])


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES.keys())
@pytest.mark.parametrize("biased", [False, True])
def test_parts_add_up_to_the_look(score: nn.Module | None, mask: Mask | None, biased: bool) -> None:
    look = Attention(**SIDES) if score is None else Attention(score, **SIDES)
    query, key, value = draw(2, 3, 7, 4), draw(2, 3, 7, 4, seed=1), draw(2, 3, 7, 5, seed=2)
    bias = draw(1, 3, 7, 7, seed=9) if biased else None
    plain = look(query, key, value, mask, bias)
    with watching(look, parts=PARTS) as gazes:
        context = look(query, key, value, mask, bias)
    assert torch.equal(context, plain)
    (gaze,) = gazes
    check_parts(gaze)
    torch.testing.assert_close(gaze.parts["outputs"], context)
    assert torch.equal(gaze.parts["queries"], query)
    assert torch.equal(gaze.parts["values"], value)
    if score is None:
        torch.testing.assert_close(gaze.parts["scores"], query @ key.mT / 2)
        assert torch.equal(gaze.parts["keys"], key)


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES.keys())
def test_parts_of_chosen_rows_and_queries_are_those_of_the_whole(score: nn.Module | None) -> None:
    look = Attention(**SIDES) if score is None else Attention(score, **SIDES)
    query, key = draw(3, 2, 7, 4), draw(3, 2, 7, 4, seed=1)
    with watching(look, parts=PARTS) as whole:
        look(query, key, key, Causal())
    with watching(look, rows=[2, 0], queries=[5, 1], parts=PARTS) as part:
        look(query, key, key, Causal())
    for name in PARTS:
        chosen = whole[0].parts[name][[2, 0]]
        expected = chosen if name in ("keys", "values") else chosen[:, :, [5, 1]]
        torch.testing.assert_close(part[0].parts[name], expected)


def test_only_what_is_asked_for_is_recorded() -> None:
    look, states = Attention(**SIDES), draw(1, 1, 3, 4)
    for parts, names in ((), []), ("scores", ["scores"]), (["values", "queries"], ["queries", "values"]):
        with watching(look, parts=parts) as gazes:
            look(states, states, states)
        assert list(gazes[0].parts) == names
    words = "A look has no part 'score'; parts= takes some of scores, mask, queries"
    with pytest.raises(Fault, match=words), watching(look, parts="score"):
        pass


def test_parts_count_towards_the_limit() -> None:
    look, states = Attention(**SIDES), draw(1, 1, 10, 4)
    with watching(look, limit=2000) as gazes:
        look(states, states, states)
    assert gazes
    words = r"would keep 2\.3 KiB of weights and parts .* Ask for less with where=, parts=, rows= or queries="
    with pytest.raises(Fault, match=words), watching(look, limit=2000, parts=["scores", "mask"]):
        look(states, states, states)


@pytest.mark.parametrize(
    "options",
    [HeadOptions(), HeadOptions(key_value_heads=1), HeadOptions(positions="alibi"), HeadOptions(positions="rotary")],
    ids=["plain", "shared keys", "alibi", "rotary"],
)
def test_outputs_of_heads_go_through_w_o(options: HeadOptions) -> None:
    torch.manual_seed(0)
    heads = MultiHead(8, 4, looks_from="text", looks_at="text", options=options).double()
    states = draw(2, 5, 8)
    with watching(heads, parts=PARTS) as gazes:
        joined = heads(states, heads.remember(states), Causal())
    (gaze,) = gazes
    check_parts(gaze)
    assert {tensor.shape[1] for tensor in gaze.parts.values()} == {4}
    torch.testing.assert_close(heads.out(gaze.parts["outputs"].transpose(1, 2).flatten(2)), joined)


@pytest.mark.parametrize("decoder", ["bahdanau", "luong", "tanh"])
def test_a_decoder_that_looks_step_by_step_has_parts_of_one_look(decoder: str) -> None:
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqOptions(decoder=decoder, width=6), 9, 9, shared=False, pad=0).double().eval()
    source, target = torch.tensor([[3, 4, 5], [6, 7, 0]]), torch.tensor([[1, 3, 4, 5], [1, 6, 7, 8]])
    memory = model.read(source, torch.tensor([3, 2]))
    plain, _ = model.write(target, memory, model.begin(memory))
    with watching(model, parts=PARTS, queries=[2, 0]) as gazes:
        written, _ = model.write(target, memory, model.begin(memory))
    assert torch.equal(written, plain)
    (gaze,) = [gaze for gaze in gazes if gaze.looks_at == "source" and gaze.looks_from == "target"]
    assert gaze.parts["scores"].shape == (2, 1, 2, 3)
    check_parts(gaze)


def test_watching_without_parts_computes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Tensor) -> None:
        raise AssertionError("parts were made")

    monkeypatch.setattr("regard.attention.core._part_makers", refuse)
    for look in Attention(**SIDES), Attention(Additive(4, 4, 3).double(), **SIDES):
        states = draw(2, 1, 3, 4)
        with watching(look) as gazes:
            look(states, states, states, Lengths(torch.tensor([3, 2])))
        assert gazes[0].parts == {}
