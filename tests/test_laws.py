"""Laws that every translating family must obey, in every build."""

import inspect
import sys
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from regard.attention import Attention, watching
from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.families import FAMILIES
from regard.models.copying import Copying
from regard.models.ctc.head import Alignment
from regard.models.ctc.text import CTCTextOptions
from regard.models.online.steps import Decision
from regard.models.online.text import OnlineOptions
from regard.models.transducer.text import TextTransducerOptions
from regard.models.translator_options import can_copy
from regard.protocols import map_tree
from regard.tasks.translation.batches import PairBatch, TranslationNetwork
from regard.tasks.translation.copying_task import CopyingTranslation
from regard.tasks.translation.ctc_task import CTCLoss, CTCTranslation
from regard.tasks.translation.forcing import force_batch, forced_scores
from regard.tasks.translation.objectives import objective_for
from regard.tasks.translation.task import Translation
from regard.tasks.translation.transducer_task import TransducerLoss, TransducerTranslation

sys.path.insert(0, str(Path(__file__).parent / "decoding"))
from plain_beam import plain_beam

pytestmark = pytest.mark.one_in(3)
TRANSFORMER = {"encoder_layers": 2, "decoder_layers": 2, "width": 16, "feed_forward": 24, "heads": 4, "dropout": 0.0}
HEADS = TRANSFORMER | {"encoder_layers": 1, "decoder_layers": 1}  # heads of every kind, in one block per side
SEQ2SEQ = {"embedding": 12, "width": 16, "dropout": 0.0}
TRANSDUCER = {"layers": 1, "width": 16, "predictor_width": 12, "joint_width": 10, "dropout": 0.0}
BUILDS: dict[str, tuple[str, dict[str, Any]]] = {
    "transformer": ("transformer", TRANSFORMER),
    "transformer before rotary": ("transformer", TRANSFORMER | {"norm": "before", "positions": "rotary"}),
    "transformer alibi": ("transformer", HEADS | {"positions": "alibi"}),
    "transformer alibi additive, one key head": (
        "transformer",
        HEADS | {"positions": "alibi", "key_value_heads": 1, "score": "additive"},
    ),
    "transformer grouped": ("transformer", HEADS | {"key_value_heads": 2}),
    "transformer keys as values rotary": (
        "transformer",
        HEADS | {"shared_key_value": True, "positions": "rotary"},
    ),
    "transformer averaged before": ("transformer", HEADS | {"join": "averaged", "norm": "before"}),
    "transformer dot": ("transformer", HEADS | {"score": "dot"}),
    "transformer bilinear rotary": ("transformer", HEADS | {"score": "bilinear", "positions": "rotary"}),
    "transformer additive": ("transformer", HEADS | {"score": "additive"}),
    "bottleneck": ("seq2seq", SEQ2SEQ | {"decoder": "bottleneck"}),
    "bottleneck vanilla one way": (
        "seq2seq",
        SEQ2SEQ | {"decoder": "bottleneck", "cell": "vanilla", "bidirectional": False},
    ),
    "bahdanau": ("seq2seq", SEQ2SEQ | {"decoder": "bahdanau", "cell": "gru"}),
    "bahdanau deep": (
        "seq2seq",
        SEQ2SEQ | {"decoder": "bahdanau", "encoder_layers": 2, "decoder_layers": 3, "residual": True},
    ),
    "luong": ("seq2seq", SEQ2SEQ | {"decoder": "luong", "score": "bilinear"}),
    "luong dot unfed": ("seq2seq", SEQ2SEQ | {"decoder": "luong", "score": "dot", "input_feeding": False}),
    "luong scaled dot": ("seq2seq", SEQ2SEQ | {"score": "scaled-dot", "decoder_layers": 2}),
    "location": ("seq2seq", SEQ2SEQ | {"score": "location"}),
    "mixed unfed": ("seq2seq", SEQ2SEQ | {"score": "mixed", "input_feeding": False}),
    "plain": ("seq2seq", SEQ2SEQ | {"score": "dot", "normaliser": "plain"}),
    "sparsemax": ("seq2seq", SEQ2SEQ | {"normaliser": "sparsemax"}),
    "entmax": ("seq2seq", SEQ2SEQ | {"normaliser": "entmax"}),
    "local monotonic": ("seq2seq", SEQ2SEQ | {"window": "monotonic", "reach": 2}),
    "local predictive unfed": (
        "seq2seq",
        SEQ2SEQ | {"window": "predictive", "reach": 2, "input_feeding": False, "cell": "gru"},
    ),
    "hard": ("seq2seq", SEQ2SEQ | {"hard": "reinforce"}),
    "straight-through": ("seq2seq", SEQ2SEQ | {"hard": "straight-through", "decoder": "bahdanau"}),
    "tied": ("seq2seq", SEQ2SEQ | {"tied": True, "embedding": 16}),
    "bottleneck with its context at each step": (
        "seq2seq",
        SEQ2SEQ | {"decoder": "bottleneck", "context_at_each_step": True, "cell": "gru-reset-first"},
    ),
    "two tanh layers": ("seq2seq", SEQ2SEQ | {"decoder": "tanh", "score": "dot", "cell": "logistic"}),
    "bahdanau with its token in the score": (
        "seq2seq",
        SEQ2SEQ | {"decoder": "bahdanau", "token_in_score": True, "encoder_width": 10},
    ),
    "bahdanau with heads": (
        "seq2seq",
        SEQ2SEQ | {"decoder": "bahdanau", "projected": True, "heads": 4, "score": "dot", "encoder_width": 10},
    ),
    "luong with averaged heads, keys as values, unfed": (
        "seq2seq",
        SEQ2SEQ | {"projected": True, "heads": 2, "join": "averaged", "shared_key_value": True, "input_feeding": False},
    ),
    "plain of exp": ("seq2seq", SEQ2SEQ | {"score": "dot", "normaliser": "plain", "positive": "exp"}),
    "plain of positive": (
        "seq2seq",
        SEQ2SEQ | {"score": "dot", "normaliser": "plain", "positive": "none", "cell": "logistic"},
    ),
    "attention encoder": (
        "seq2seq",
        SEQ2SEQ | {"encoder": "transformer", "encoder_heads": 2, "feed_forward": 24, "encoder_layers": 2},
    ),
    "attention encoder, two tanh layers with heads": (
        "seq2seq",
        SEQ2SEQ
        | {"encoder": "transformer", "encoder_width": 8, "feed_forward": 24, "decoder": "tanh"}
        | {"projected": True, "heads": 2},
    ),
    "luong copying": ("seq2seq", SEQ2SEQ | {"copies": True, "coverage": 1.0}),
    "luong copying unfed": ("seq2seq", SEQ2SEQ | {"copies": True, "input_feeding": False, "score": "bilinear"}),
    "bahdanau copying": ("seq2seq", SEQ2SEQ | {"copies": True, "decoder": "bahdanau", "cell": "gru"}),
    "recurrent encoder": ("transformer", HEADS | {"encoder": "recurrent", "encoder_layers": 2}),
    "recurrent encoder before copying": (
        "transformer",
        HEADS | {"encoder": "recurrent", "cell": "gru-reset-first", "norm": "before", "copies": True},
    ),
    "SSRU decoder": ("transformer", TRANSFORMER | {"decoder_cell": "ssru"}),
    "SSRU decoder before rotary": (
        "transformer",
        HEADS | {"decoder_cell": "ssru", "norm": "before", "positions": "rotary"},
    ),
    "GRU decoder copying": ("transformer", HEADS | {"decoder_cell": "gru", "copies": True}),
    "transformer copying": ("transformer", HEADS | {"copies": True}),
    "transformer and CTC": ("transformer", HEADS | {"ctc": 0.3}),
    "online": ("online", SEQ2SEQ | {"repeats": 2}),
    "online deep": ("online", SEQ2SEQ | {"repeats": 1, "cell": "gru", "encoder_layers": 2, "decoder_layers": 2}),
    "CTC alone, recurrent": ("ctc-text", {"layers": 1, "width": 16, "dropout": 0.0}),
    "CTC alone": ("ctc-text", {"encoder": "transformer", "layers": 1, "width": 16, "feed_forward": 24, "dropout": 0.0}),
    "transducer": ("transducer-text", TRANSDUCER),
    "transducer of blocks": (
        "transducer-text",
        TRANSDUCER | {"encoder": "transformer", "feed_forward": 24, "predictor_cell": "gru", "predictor_layers": 2},
    ),
    "bahdanau and CTC": ("seq2seq", SEQ2SEQ | {"decoder": "bahdanau", "ctc": 0.3, "ctc_frames": 3}),
}
PAIRS = [("one two", "um dois"), ("a", "três"), ("longer than", "x"), ("ы", "Да")]


def build(family: str, table: dict[str, Any]) -> Translation:
    network, options = FAMILIES[family].load()
    torch.manual_seed(3)
    chosen, bytewise = check(options, table), ByteTokeniser()
    model = network(chosen, bytewise.size, bytewise.size, True, bytewise.pad)
    if isinstance(chosen, CTCTextOptions):
        return CTCTranslation(model, bytewise, bytewise, CTCLoss(0.1)).double().eval()
    if isinstance(chosen, TextTransducerOptions):
        return TransducerTranslation(model, bytewise, bytewise, TransducerLoss(0.1)).double().eval()
    objective = objective_for(chosen, 0.1)
    if can_copy(chosen):
        return CopyingTranslation(model, bytewise, objective).double().eval()
    return Translation(model, bytewise, bytewise, objective).double().eval()


@pytest.fixture(params=BUILDS, scope="module")
def task(request: pytest.FixtureRequest) -> Translation:
    return build(*BUILDS[request.param])


def states(task: Translation, batch: PairBatch) -> Tensor:
    memory = task.model.read(batch.source, batch.source_lengths)
    return task.model.write(batch.inputs, memory, task.model.begin(memory))[0]


def test_it_is_a_translator_to_every_python(task: Translation) -> None:
    """Since Python 3.12 `isinstance` skips `__getattr__`, so it finds none of a module's parts."""
    for name in {*vars(TranslationNetwork), *TranslationNetwork.__annotations__}:
        if not name.startswith("_"):
            inspect.getattr_static(task.model, name)  # raises AttributeError if missing


@pytest.mark.usefixtures("checked_shapes")
def test_batch_is_alone_and_padding_changes_nothing(task: Translation) -> None:
    together = forced_scores(task, task.pair_up(PAIRS))
    for pair, scores in zip(PAIRS, together, strict=True):
        torch.testing.assert_close(forced_scores(task, task.pair_up([pair]))[0], scores)


@pytest.mark.usefixtures("checked_shapes")
def test_step_by_step_is_all_at_once(task: Translation) -> None:
    batch = task.pair_up(PAIRS)
    state, steps = task.start(batch), []
    for place in range(batch.inputs.shape[1]):
        log_probabilities, state = task.step(batch.inputs[:, place], state)
        steps.append(log_probabilities)
    expected, _ = task.forced_log_probabilities(batch)
    torch.testing.assert_close(torch.stack(steps, dim=1).flatten(0, 1)[batch.places], expected.float())


def test_a_later_token_never_changes_an_earlier_output(task: Translation) -> None:
    batch = task.pair_up(PAIRS)
    before = states(task, batch)
    batch.inputs[:, 4] = (batch.inputs[:, 4] + 1) % 100
    after = states(task, batch)
    torch.testing.assert_close(after[:, :4], before[:, :4])
    assert not torch.allclose(after[:, 4], before[:, 4])


def test_watched_is_unwatched(task: Translation) -> None:
    batch = task.pair_up(PAIRS)
    plain, _ = task.forced_log_probabilities(batch)
    with watching(task.model) as gazes:
        torch.testing.assert_close(task.forced_log_probabilities(batch)[0], plain)
    modules = [
        name
        for name, part in task.model.named_modules()
        if isinstance(part, Attention | Copying | Alignment | Decision)
    ]
    assert [gaze.where for gaze in gazes] == modules  # one gaze for each, over all places together
    source, target = batch.source.shape[1], batch.target.shape[1]
    sizes, extents = {"source": source, "target": target, "origins": 1 + source}, task.extents(batch)
    for gaze in gazes:
        alone = gaze.where.startswith(("pointer", "copying", "alignment"))
        heads = 1 if alone else getattr(task.model.options, "heads", 1)
        if gaze.looks_from == "source":
            heads = getattr(task.model.options, "encoder_heads", heads)
        assert gaze.weights.shape == (len(PAIRS), heads, sizes[gaze.looks_from], sizes[gaze.looks_at])
        if gaze.looks_at != "target":
            for row, length in enumerate(extents[gaze.looks_at].tolist()):
                assert (gaze.weights[row, ..., length:] == 0).all()
                assert (gaze.weights[row].sum(-1) <= 1 + 1e-9).all()


def test_a_beam_shares_its_sentence(task: Translation) -> None:
    """Two rows per sentence over one memory match two copies of the memory, step by step."""
    batch = task.pair_up(PAIRS)
    tokens = torch.stack([batch.inputs, batch.inputs.flip(1)], dim=1).flatten(0, 1)
    twice = task.pair_up([pair for pair in PAIRS for _ in range(2)])
    shared, copied = task.start(batch).spread(2), task.start(twice)
    for place in range(5):
        one, shared = task.step(tokens[:, place], shared)
        two, copied = task.step(tokens[:, place], copied)
        torch.testing.assert_close(one, two)


def test_the_batched_search_is_the_plain_one(task: Translation) -> None:
    batch = task.pair_up(PAIRS)
    options = DecodingOptions(beam=3, n_best=3, length_penalty=0.6)
    hypotheses_by_pair = beam_search(task, batch, torch.full((len(PAIRS),), 5), options)
    for pair, hypotheses in zip(PAIRS, hypotheses_by_pair, strict=True):
        expected = plain_beam(task, task.pair_up([pair]), 5, 3, 0.6)
        assert [hypothesis.tokens for hypothesis in hypotheses] == [tokens for tokens, _ in expected]
        assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx([score for _, score in expected])
        for one, two in pairwise(hypotheses):
            assert one.score >= two.score


def test_score_found_is_score_when_forced(task: Translation) -> None:
    batch = task.pair_up(PAIRS)
    hypotheses_by_pair = beam_search(
        task, batch, torch.full((len(PAIRS),), 6), DecodingOptions(beam=2, length_penalty=0.0)
    )
    outputs = [hypotheses[0].tokens for hypotheses in hypotheses_by_pair]
    forced = forced_scores(task, force_batch(task, [source for source, _ in PAIRS], outputs))
    assert [hypotheses[0].score for hypotheses in hypotheses_by_pair] == pytest.approx(forced.tolist(), abs=1e-5)


def test_two_micro_batches_are_one_batch(task: Translation) -> None:
    batch = task.pair_up(PAIRS)
    gradients = []
    for batches in ([batch], batch.split(2)):
        task.zero_grad()
        for part in batches:
            task.loss(part).total.backward()
        gradients.append([p.grad for p in task.parameters() if p.grad is not None])
    torch.testing.assert_close(gradients[0], gradients[1])


@pytest.mark.usefixtures("checked_shapes")
def test_every_weight_learns(task: Translation) -> None:
    task.train()
    task.zero_grad()
    torch.manual_seed(5)
    task.loss(task.pair_up(PAIRS)).total.backward()
    task.eval()
    for name, parameter in task.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_what_a_search_remembers_lies_where_the_model_does(task: Translation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches leave the lengths on the host. Torch's meta device stands for any other device, such as a GPU."""

    def unpacked(packed: PackedSequence, batch_first: bool, total_length: int) -> tuple[Tensor, None]:
        shape = (int(packed.batch_sizes[0]), total_length, packed.data.shape[-1])
        return packed.data.new_empty(shape), None  # torch copies that cannot happen on meta

    monkeypatch.setattr("regard.models.recurrent.layers.pad_packed_sequence", unpacked)
    batch, task = task.read([source for source, _ in PAIRS[:2]]), deepcopy(task).to("meta")
    elsewhere = {field: tensor.to("meta") for field, tensor in vars(batch).items() if field != "source_lengths"}
    state = task.start(replace(batch, **elsewhere)).spread(2)
    # An online model reads until it decides to write, and nothing can be decided on meta.
    if not isinstance(task.model.options, OnlineOptions):
        _, state = task.step(torch.full((2 * 2,), task.begin, device="meta"), state)
    seen: list[str] = []
    map_tree(lambda leaf: (seen.append(leaf.device.type), leaf)[1], (state.sentence, state.row))
    assert set(seen) == {"meta"}
