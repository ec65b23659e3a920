"""Editing whole Transformers: teacher forcing, steps and beams agree on places, and outputs can be patched."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import Edit, editing, watching
from regard.attention.editing import is_observed
from regard.attention.heads import Cache
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.bert.network import Bert
from regard.models.bert.options import BertOptions
from regard.models.gpt.network import GPT
from regard.models.gpt.options import GPTOptions
from regard.models.text.texts import InputTokens
from regard.models.transformer.network import Memory, Transformer
from regard.models.transformer.options import TransformerOptions

SIZES = {"encoder_layers": 2, "decoder_layers": 2, "width": 16, "feed_forward": 24, "heads": 4, "dropout": 0.2}


def transformer(shared: bool = False, **more: Any) -> Transformer:
    torch.manual_seed(1)
    options = check(TransformerOptions, SIZES | {"longest": 20} | more)
    return Transformer(options, 30, 30, shared, pad=0).double().eval()


def gpt(**more: Any) -> GPT:
    torch.manual_seed(1)
    sizes = {"layers": 2, "width": 8, "heads": 2, "context": 12}
    model = GPT(check(GPTOptions, sizes | more), 11).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


def tokens(rows: int, time: int, seed: int = 2, most: int = 11) -> Tensor:
    return torch.randint(4, most, (rows, time), generator=torch.Generator().manual_seed(seed))


def in_steps(model: Transformer, target: Tensor, memory: Memory, copies: int) -> Tensor:
    """Write a target step by step, as a search with several rows per sentence does; the rows write the same."""
    rows, past, outputs = target.repeat_interleave(copies, dim=0), [], []
    for place in range(target.shape[1]):
        states, past = model.write(rows[:, place : place + 1], memory, past)
        outputs.append(states)
    return torch.cat(outputs, dim=1).unflatten(0, (-1, copies))


TRANSFORMER_EDITS = {
    "cross weights": Edit(at="cross.2.3", do="zero", keys=[1], queries=[3]),
    "cross weights of a row": Edit(at="cross.1", do="force", keys=[0], queries=[2, 3], rows=[1]),
    "self weights": Edit(at="decoder.1.2", do="move", keys=[0, 1], to=2, queries=[2, 4]),
    "self weights by values": Edit(at="decoder.2", do="replace", values=[[1.0, 1.0]], keys=[0, 2], queries=[3]),
    "keys of all queries": Edit(at="decoder.1", do="scale", by=0.1, keys=[1]),
    "a head": Edit(at="cross.1.4", part="head", do="zero", queries=[3]),
    "a head of a row": Edit(at="decoder.2.1", part="head", do="scale", by=-1.0, rows=[2]),
    "a block": Edit(at="decoder.0", part="output", do="zero", queries=[1], units=[2, 3]),
    "a residual sum": Edit(at="decoder.1.around_cross", part="output", do="scale", by=-1.0, queries=[4], rows=[0]),
    "a sublayer": Edit(at="decoder.0.cross", part="output", do="zero", queries=[3], rows=[2]),
    "queries": Edit(at="decoder.1.cross.to_query", part="output", do="scale", by=3.0, queries=[3]),
    "units": Edit(at="decoder.0.feed_forward.inner", part="output", do="zero", queries=[3], units=[0, 23]),
    "embeddings": Edit(at="target_embedding", part="output", do="zero", queries=[2]),
    "the last norm": Edit(at="decoder_norm", part="output", do="replace", values=[0.5] * 16, queries=[5]),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi"])
@pytest.mark.parametrize("edit", TRANSFORMER_EDITS.values(), ids=TRANSFORMER_EDITS)
def test_steps_in_a_beam_are_edited_where_teacher_forcing_is(edit: Edit, positions: str) -> None:
    model = transformer(positions=positions)
    source, target = tokens(3, 7), tokens(3, 6, seed=3)
    memory = model.read(source, torch.tensor([7, 5, 2]))
    plain, _ = model.write(target, memory, [])
    with editing(model, edit):
        forced, _ = model.write(target, memory, [])
    with editing(model, edit):
        stepped = in_steps(model, target, memory, copies=3)
    assert not torch.allclose(forced, plain)
    for copy in range(3):
        torch.testing.assert_close(stepped[:, copy], forced)
    for places in (edit.queries, edit.rows):  # nothing before the first edited place and in other rows has changed
        if places is not None and places is edit.queries:
            torch.testing.assert_close(forced[:, : min(places)], plain[:, : min(places)])
        elif places is not None:
            others = [row for row in range(3) if row not in places]
            torch.testing.assert_close(forced[others], plain[others])


@pytest.mark.parametrize("norm", ["before", "after"])
def test_replacing_the_output_of_an_encoder_block_gives_the_other_run(norm: str) -> None:
    model, lengths = transformer(norm=norm), torch.tensor([6, 6])
    one, other = tokens(2, 6), tokens(2, 6, seed=9)
    with torch.no_grad():
        values = model.layers(other, lengths)[1]  # the output of the first block
        with editing(model, Edit(at="encoder.0", part="output", do="replace", values=values)):
            patched = model.encode(one, lengths)
        assert torch.equal(patched, model.encode(other, lengths))


def test_replacing_one_place_changes_what_looks_at_it() -> None:
    model, lengths = transformer(), torch.tensor([6])
    one = tokens(1, 6)
    other = one.clone()
    other[0, 2] = 4 + (int(one[0, 2]) - 3) % 7
    values = model.layers(other, lengths)[0][:, 2:3]
    with editing(model, Edit(at="source_embedding", part="output", do="replace", values=values, queries=[2])):
        patched = model.encode(one, lengths)
    torch.testing.assert_close(patched, model.encode(other, lengths))


def test_zeroed_heads_are_zeroed_columns_in_a_whole_model() -> None:
    model, source, target = transformer(), tokens(2, 7), tokens(2, 5, seed=3)
    memory = model.read(source, torch.tensor([7, 4]))
    with editing(model, [Edit(at=f"cross.2.{head}", part="head", do="zero") for head in (1, 3)]):
        edited, _ = model.write(target, memory, [])
    with torch.no_grad():
        out = model.get_submodule("decoder.1.cross.out")
        out.weight[:, :4], out.weight[:, 8:12] = 0, 0
    assert torch.equal(edited, model.write(target, memory, [])[0])


def test_a_module_with_two_names_is_refused() -> None:
    model = transformer(shared=True)
    edit = Edit(at="target_embedding", part="output", do="zero", queries=[2])
    with pytest.raises(Fault, match="'source_embedding', 'target_embedding' are one module"), editing(model, edit):
        pass


def test_watchers_see_edited_weights() -> None:
    model, target = transformer(), tokens(1, 5, seed=3)
    memory = model.read(tokens(1, 7), torch.tensor([7]))
    with (
        editing(model, Edit(at="cross.1.2", do="force", keys=[6], queries=[4])),
        watching(model, "decoder.0.cross") as gazes,
    ):
        model.write(target, memory, [])
    assert gazes[0].weights[0, 1, 4].tolist() == [0.0] * 6 + [1.0]


def test_forced_weight_is_refused_on_padding_and_on_later_places() -> None:
    model, target = transformer(), tokens(2, 5, seed=3)
    memory = model.read(tokens(2, 7), torch.tensor([7, 3]))
    with (
        pytest.raises(Fault, match="query 0 may not look at key 5"),
        editing(model, Edit(at="cross.1", do="force", keys=[5])),
    ):
        model.write(target, memory, [])
    later = Edit(at="decoder.1", do="force", keys=[3])
    for write in (lambda: model.write(target, memory, []), lambda: in_steps(model, target, memory, 2)):
        with pytest.raises(Fault, match="query 0 may not look at key 3"), editing(model, later):
            write()


def test_a_search_that_drops_sentences_refuses_rows() -> None:
    model, target = transformer(), tokens(2, 5, seed=3)
    memory = model.read(tokens(2, 7), torch.tensor([7, 3]))
    blocks = [Cache(*(part[1:] for part in block)) for block in memory.blocks]
    alone = memory._replace(blocks=blocks, lengths=memory.lengths[1:])

    def drop_the_first() -> None:
        with editing(model, Edit(at="decoder_norm", part="output", do="zero", rows=[1])):
            _, past = model.write(target[:, :1], memory, [])
            model.write(target[1:, 1:2], alone, [Cache(*(part[1:] for part in cache)) for cache in past])

    with pytest.raises(Fault, match="one input at a time"):
        drop_the_first()


GPT_EDITS = {
    "weights": Edit(at="text to text.2.1", do="zero", keys=[1], queries=[3, 5]),
    "weights without a side": Edit(at="1.2", do="force", keys=[0], queries=[4]),
    "a head": Edit(at="2.2", part="head", do="zero"),
    "a block": Edit(at="blocks.0", part="output", do="scale", by=0.5, queries=[4]),
    "units": Edit(at="blocks.1.feed_forward.dropout", part="output", do="zero", units=[3], queries=[2]),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("positions", ["learned", "rotary", "alibi"])
@pytest.mark.parametrize("edit", GPT_EDITS.values(), ids=GPT_EDITS)
def test_a_language_model_is_edited_at_the_same_places_in_steps(edit: Edit, positions: str) -> None:
    model, text = gpt(positions=positions), tokens(2, 7)
    plain = model.read(text, model.begin(2)).states
    with editing(model, edit):
        whole = model.read(text, model.begin(2)).states
    with editing(model, edit):
        prompt = model.read(text[:, :3], model.begin(2))
        states, memory = [prompt.states], prompt.memory
        for place in range(3, 7):
            reading = model.read(text[:, place : place + 1], memory)
            states.append(reading.states)
            memory = reading.memory
    torch.testing.assert_close(torch.cat(states, dim=1), whole)
    assert not torch.allclose(whole, plain)


def test_texts_of_different_lengths_refuse_places_but_not_heads() -> None:
    model = gpt()
    memories = [model.read(tokens(1, time), model.begin(1)).memory for time in (2, 5)]
    joined, last = model.join(memories), tokens(2, 1)
    with editing(model, Edit(at="1.1", part="head", do="zero")):
        together = model.read(last, joined).states
        alone = [model.read(last[row : row + 1], memories[row]).states for row in range(2)]
    torch.testing.assert_close(together, torch.cat(alone))
    with (
        pytest.raises(Fault, match="texts of different lengths are read together"),
        editing(model, Edit(at="1.1", do="zero", keys=[0])),
    ):
        model.read(last, joined)


def test_a_text_longer_than_the_context_refuses_places() -> None:
    model = gpt()
    with (
        pytest.raises(Fault, match="longer than the model's context of 12 tokens"),
        editing(model, Edit(at="1.1", do="zero", keys=[0], queries=[3])),
    ):
        model.read(tokens(1, 20), model.begin(1))


def test_bert_is_edited_by_weights_heads_and_outputs() -> None:
    torch.manual_seed(1)
    options = check(BertOptions, {"layers": 2, "width": 8, "feed_forward": 12, "heads": 2, "longest": 10})
    model = Bert(options, InputTokens(30, 0, 1, 2, 0)).double().eval()
    text, lengths = tokens(2, 6), torch.tensor([6, 4])
    plain = model.read(text, lengths)
    seen: list[Callable[[], bool]] = [
        lambda: torch.equal(layers[0], plain[0]),
        lambda: not torch.allclose(layers[2][:, 1], plain[2][:, 1]),
    ]
    for edit in (
        Edit(at="1.2", do="zero", keys=[2]),
        Edit(at="1.2", part="head", do="zero"),
        Edit(at="blocks.0.around_self", part="output", do="zero", queries=[1]),
    ):
        with editing(model, edit):
            assert is_observed()
            layers = model.read(text, lengths)
        assert all(check() for check in seen)
    other = model.read(tokens(2, 6, seed=5), lengths)
    with editing(model, Edit(at="blocks.0", part="output", do="replace", values=other[1])):
        assert torch.equal(model.read(text, lengths)[2], other[2])
