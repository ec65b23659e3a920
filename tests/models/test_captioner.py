"""Networks that write captions: formulas by hand, what each knows of a picture, and refusals."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention.watch import PARTS, watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.captions.captioner import Captioner, CaptionerOptions
from regard.models.captions.transformer import CaptionTransformer, CaptionTransformerOptions
from regard.tasks.captioning.objectives import unevenness

SIZES: dict[str, Any] = {"embedding": 3, "width": 4, "compared": 5, "dropout": 0.0}
ANNOTATIONS = torch.randn(2, 6, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
WORDS = torch.tensor([[2, 5, 4], [2, 6, 5]])


def captioner(**options: Any) -> Captioner:
    torch.manual_seed(2)
    return Captioner(CaptionerOptions(**SIZES | options), depth=7, places=6, tokens=8, pad=0).double().eval()


def written(network: Any, annotations: Tensor = ANNOTATIONS) -> Any:
    memory = network.read(annotations)
    return network.write(WORDS, memory, network.begin(memory))


def by_hand(net: Captioner, picture: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """Evaluate the docstring's equations for one picture, one per line: word scores and attention weights."""
    mean = picture.mean(dim=0)
    h, c = torch.tanh(net.first_hidden(mean)), torch.tanh(net.first_cell(mean))
    scores, looks = [], []
    assert net.look is not None
    of = net.look.score
    for word in words:
        e = of.energy(torch.tanh(of.of_query(h) + of.of_key(picture))).squeeze(-1)
        alpha = e.exp() / e.exp().sum()
        z = torch.sigmoid(net.gate(h)) * (alpha[:, None] * picture).sum(dim=0)  # type: ignore[misc]
        gates = net.lstm.weight_ih @ torch.cat([net.embedding.weight[word], z]) + net.lstm.bias_ih
        i, f, g, o = (gates + net.lstm.weight_hh @ h + net.lstm.bias_hh).chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        scores.append(net.out(net.embedding.weight[word] + net.of_state(h) + net.of_context(z)))  # type: ignore[misc]
        looks.append(alpha)
    return torch.stack(scores), torch.stack(looks)


def test_soft_attention_is_the_published_equations() -> None:
    network = captioner()
    outputs = written(network)
    for row in range(2):
        scores, looks = by_hand(network, ANNOTATIONS[row], WORDS[row])
        torch.testing.assert_close(network.logits(outputs.states)[row], scores)
        torch.testing.assert_close(outputs.weights[row], looks)


def test_the_parts_of_all_words_are_those_of_one_look() -> None:
    network = captioner()
    plain = written(network)
    with watching(network, parts=PARTS) as gazes:
        watched = written(network)
    assert torch.equal(watched.states, plain.states)
    (gaze,) = gazes
    torch.testing.assert_close((gaze.parts["scores"] + gaze.parts["mask"]).softmax(-1), gaze.weights)
    torch.testing.assert_close(gaze.weights @ gaze.parts["values"], gaze.parts["outputs"])


def test_hard_attention_looks_at_the_most_probable_place_once_it_has_learnt() -> None:
    soft, hard = captioner(), captioner(attention="hard")
    hard.load_state_dict(soft.state_dict())
    first = written(hard).weights[:, 0]
    assert first.sum(dim=-1).tolist() == [1.0, 1.0]
    assert first.argmax(dim=-1).tolist() == written(soft).weights[:, 0].argmax(dim=-1).tolist()


def test_hard_attention_may_write_with_the_mix_which_is_then_what_soft_attention_writes() -> None:
    soft, hard = captioner(), captioner(attention="hard", outside_training="mix")
    hard.load_state_dict(soft.state_dict())
    torch.testing.assert_close(written(hard).states, written(soft).states)
    assert {*written(hard.train()).weights.flatten().tolist()} == {0.0, 1.0}  # it samples while training


def test_without_attention_a_picture_is_its_mean_alone() -> None:
    network = captioner(attention="none")
    outputs = written(network)
    assert outputs.weights.shape[-1] == 0
    torch.testing.assert_close(written(network, ANNOTATIONS.flip(dims=[1])).states, outputs.states)
    assert not torch.equal(written(network, ANNOTATIONS + 1).states, outputs.states)


def test_a_transformer_knows_where_a_place_lies() -> None:
    torch.manual_seed(3)
    options = CaptionTransformerOptions(encoder_layers=1, decoder_layers=1, width=8, heads=2, feed_forward=8, dropout=0)
    network = CaptionTransformer(options, depth=7, places=6, tokens=8, pad=0).double().eval()
    flipped = written(network, ANNOTATIONS.flip(dims=[1])).states
    assert not torch.allclose(flipped, written(network).states)


def test_what_looks_cost_that_leave_places_out() -> None:
    """Twice at the first of two places: (1 − 2)² + (1 − 0)²; looks after the end do not count."""
    weights = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    assert unevenness(weights, torch.tensor([[True, True, False]])) == 2
    assert unevenness(weights, torch.tensor([[True, False, True]])) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attention": "hard", "evenness": 1.0}, "evenness needs soft attention"),
        ({"samples": 3}, "samples is for attention = 'hard'"),
        ({"outside_training": "mix"}, "outside_training is for attention = 'hard'"),
        ({"attention": "hard", "samples": 1, "baseline": "leave-one-out"}, "needs samples ≥ 2"),
    ],
)
def test_options_that_would_do_nothing_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(CaptionerOptions, SIZES | options)
