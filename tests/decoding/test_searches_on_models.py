"""The searches on real networks with deep state trees: a Transformer, a recurrent model, and both together."""

import pytest
import torch

from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.decoding.beam import beam_search
from regard.decoding.combined import Ensemble, Fused
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, occurs
from regard.decoding.sampling import sample
from regard.families import FAMILIES
from regard.protocols import Stepwise
from regard.tasks.translation.forcing import force_batch, forced_scores
from regard.tasks.translation.objectives import objective_for
from regard.tasks.translation.task import Translation

TABLES = {
    "transformer": {"encoder_layers": 1, "decoder_layers": 2, "width": 16, "feed_forward": 24, "heads": 4},
    "seq2seq": {"embedding": 12, "width": 16, "decoder": "bahdanau"},
}
TEXTS = ["one two", "a", "longer than both", "Привет, мир"]
LIMITS = [6, 5, 7, 6]


def build(family: str) -> Translation:
    network, options = FAMILIES[family].load()
    torch.manual_seed(3)
    chosen, bytewise = check(options, TABLES[family] | {"dropout": 0.0}), ByteTokeniser()
    model = network(chosen, bytewise.size, bytewise.size, True, bytewise.pad)
    return Translation(model, bytewise, bytewise, objective_for(chosen, 0.0)).double().eval()


TRANSFORMER, RECURRENT = build("transformer"), build("seq2seq")
WRITERS: dict[str, Stepwise] = {
    "transformer": TRANSFORMER,
    "recurrent": RECURRENT,
    "ensemble": Ensemble([TRANSFORMER, RECURRENT]),
    "fused": Fused(TRANSFORMER, RECURRENT, 0.3),
}
WAYS = {
    "nested": {"nested": True, "stop": "exhaustive"},
    "groups": {"groups": 2},
    "rules": {"shortest": 4, "unrepeated": 1, "repetition_penalty": 1.2},
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("writer", WRITERS)
def test_batch_changes_nothing(writer: str, way: str) -> None:
    task = WRITERS[writer]
    options = DecodingOptions(beam=4, n_best=2, **WAYS[way])
    demands = Demands(prefixes=[TRANSFORMER.target.encode(text) for text in ("u", "", "ж", "да")])
    together = beam_search(task, TRANSFORMER.read(TEXTS), torch.tensor(LIMITS), options, demands)
    for number, text in enumerate(TEXTS):
        demand = Demands(prefixes=demands.prefixes[number : number + 1])
        alone = beam_search(task, TRANSFORMER.read([text]), torch.tensor(LIMITS[number : number + 1]), options, demand)[
            0
        ]
        assert [hypothesis.tokens for hypothesis in together[number]] == [hypothesis.tokens for hypothesis in alone]
        assert [hypothesis.score for hypothesis in together[number]] == pytest.approx(
            [hypothesis.score for hypothesis in alone]
        )


@pytest.mark.parametrize("writer", WRITERS)
def test_a_sample_does_not_depend_on_its_batch(writer: str) -> None:
    task = WRITERS[writer]
    options = DecodingOptions.model_validate({"sampling": {"samples": 3, "top_p": 0.9, "seed": 5}})
    together = sample(task, TRANSFORMER.read(TEXTS), torch.tensor(LIMITS), options, lines=[7, 8, 9, 10])
    for number, text in enumerate(TEXTS):
        limit = torch.tensor(LIMITS[number : number + 1])
        alone = sample(task, TRANSFORMER.read([text]), limit, options, lines=[7 + number])[0]
        assert [hypothesis.tokens for hypothesis in together[number]] == [hypothesis.tokens for hypothesis in alone]


@pytest.mark.parametrize("task", [TRANSFORMER, RECURRENT], ids=["transformer", "recurrent"])
def test_score_found_is_score_when_forced(task: Translation) -> None:
    """This holds for sampled outputs and for outputs shaped by rules and phrases."""
    batch, limits = task.read(TEXTS), torch.tensor(LIMITS)
    demands = Demands(required=[[task.target.encode("о")] for _ in TEXTS], forbidden=[task.target.encode("a")])
    options = DecodingOptions(beam=3, length_penalty_kind="none", shortest=3, unrepeated=2)
    for results in (beam_search(task, batch, limits, options, demands), sample(task, batch, limits, options)):
        outputs = [hypotheses[0].tokens for hypotheses in results]
        forced = forced_scores(task, force_batch(task, TEXTS, outputs)).tolist()
        assert [hypotheses[0].score for hypotheses in results] == pytest.approx(forced)
        assert [sum(hypotheses[0].token_scores) for hypotheses in results] == pytest.approx(forced)
    results = beam_search(task, batch, limits, options, demands)
    assert all(occurs(task.target.encode("о"), hypotheses[0].tokens) for hypotheses in results)
