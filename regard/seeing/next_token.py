"""From a model and a sentence to what it may write: the beam as a tree, and the distribution of the next token."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from regard.attention.watch import without_watching
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.recipe import check
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.beam import beam_search
from regard.decoding.filters import distribution
from regard.decoding.following import log_probabilities_after
from regard.decoding.options import DecodingOptions, SamplingOptions, change_options
from regard.decoding.output import Hypothesis
from regard.decoding.trace import KeptHypothesis, Trace
from regard.loading import Loaded
from regard.seeing.sentences import Translator
from regard.tasks.language.batches import Prompts
from regard.tasks.translation.forcing import force_batch, forced_distributions
from regard.tasks.translation.joining import writer_for
from regard.tasks.translation.lengths import check_length, target_tokens
from regard.viewing.choices import Choices, Panel
from regard.viewing.hypotheses import Node, Tree

# What sampling can do to a distribution, in the order in which it does it, and how people call that.
STEPS = {
    "temperature": "temperature",
    "top_k": "top-k",
    "top_p": "top-p",
    "min_p": "min-p",
    "typical": "typical",
}
# What is shown when nobody says what to do: each by itself.
EXAMPLES: tuple[dict[str, float], ...] = ({"temperature": 0.5}, {"temperature": 1.5}, {"top_k": 5}, {"top_p": 0.9})
OWN = "the model's own"
NEAREST = 10  # output vectors that are named


@runtime_checkable
class HasOutputVectors(Protocol):
    """A language model that predicts a token from a state, by a vector for each token."""

    def nearness(self, batch: Prompts) -> Tensor:
        """The cosine (row, token) between the state after each prompt and the vector of each token."""


@torch.no_grad()
def beam_tree(model: Translator, text: str, width: int | None = None, length_penalty: float | None = None) -> Tree:
    """All that the beam search for `text` kept; what is not given is as the model's recipe says."""
    _check_text(model, text)
    options = _search_options(model, width, length_penalty)
    batch, trace = model.task.read([text]), Trace()
    with without_watching():
        writer = writer_for(model.task, options)
        (outputs,) = beam_search(writer, batch, model.task.limits(batch, options), options, trace=trace)
    return Tree(text, options.beam, _nodes(model.task.target_for(text), trace.sentences[0], outputs))


def _search_options(model: Translator, width: int | None, length_penalty: float | None) -> DecodingOptions:
    """The recipe's search with the beam as wide as asked for, giving all that it has finished in the end."""
    width = width or model.recipe.decoding.beam
    return change_options(
        model.recipe.decoding, {"beam": width, "length_penalty": length_penalty, "n_best": width}, None
    )


def _nodes(target: Tokeniser, record: Sequence[KeptHypothesis], outputs: Sequence[Hypothesis]) -> list[Node]:
    names = target.pieces([kept.token for kept in record])
    written: list[list[int]] = []
    nodes = []
    for kept, name in zip(record, names, strict=True):
        written.append([*([] if kept.parent is None else written[kept.parent]), kept.token])
        # The very object, not an equal one: the groups of a beam may finish the same output, and one of them counts.
        rank = next((rank for rank, output in enumerate(outputs, 1) if output is kept.finished), None)
        score = None if kept.finished is None else kept.finished.score
        text = target.decode(written[-1])
        nodes.append(Node(name, kept.parent, kept.log_probability, kept.total, text, kept.group, score, rank))
    return nodes


def next_choices(
    model: Translator,
    text: str,
    prefix: str | None = None,
    at: int | None = None,
    steps: dict[str, float] | None = None,
    shown: int = 12,
) -> Choices:
    """The next token after the `prefix`, or after the first `at` tokens of the model's best output (by default none).

    With `steps`, options of sampling, one panel after another shows what each of them leaves of the panel before;
    without them some examples stand beside each other. The `shown` likeliest tokens have names.
    """
    _check_text(model, text)
    check(SamplingOptions, dict(steps or {}), "the sampling")  # names every fault at once, and options that are none
    before, coming = _place(model, text, prefix, at)
    target = model.task.target_for(text)
    with without_watching():
        following = log_probabilities_after(model.task, model.task.read([text]), before, model.task.device)
    found = _choices(following, target, before, steps or {}, shown, coming)
    return replace(found, source=text, written=target.decode(before))


@torch.no_grad()
def prompt_choices(model: Loaded, prompt: str, steps: dict[str, float] | None = None, shown: int = 12) -> Choices:
    """The next token after a prompt, as `next_choices` has it.

    Where a token is predicted from a state by the rows of an output layer, those nearest to the state are named too.
    """
    check(SamplingOptions, dict(steps or {}), "the sampling")
    task, tokeniser, batch = model.task, model.task.tokeniser, model.task.read([prompt])
    found = _choices(
        log_probabilities_after(task, batch, (), task.device), tokeniser, batch.tokens[0], steps or {}, shown, None
    )
    if not isinstance(task, HasOutputVectors):
        return replace(found, written=prompt)
    cosines, numbers = task.nearness(batch)[0].double().cpu().topk(min(NEAREST, tokeniser.size))
    named = zip(tokeniser.pieces(numbers.tolist()), cosines.tolist(), strict=True)
    return replace(found, written=prompt, nearest=list(named))


def _choices(
    log_probabilities: Tensor,
    tokeniser: Tokeniser,
    before: Sequence[int],
    steps: dict[str, float],
    shown: int,
    coming: int | None,
) -> Choices:
    """A distribution and what sampling makes of it, behind these tokens."""
    order = log_probabilities.argsort(descending=True, stable=True)
    panels, origins = _panels(log_probabilities[order], steps)
    numbers = order[:shown].tolist()
    taken = numbers.index(coming) if coming in numbers else None
    return Choices("", tokeniser.pieces(before), "", tokeniser.pieces(numbers), numbers, panels, origins, taken)


@torch.no_grad()
def choices_along(model: Translator, text: str, written: Sequence[int], shown: int = 50) -> list[Choices]:
    """The next token at each place of an output, that of its end included: the model's own distributions."""
    task, target = model.task, model.task.target_for(text)
    with without_watching():
        (every,) = forced_distributions(task, force_batch(task, [text], [written]))
    names = target.pieces(range(target.size))
    found = []
    for place, (distribution_there, coming) in enumerate(zip(every.double().cpu(), [*written, task.end], strict=True)):
        own, order = distribution_there.sort(descending=True, stable=True)
        numbers = order[:shown].tolist()
        before = written[:place]
        found.append(
            Choices(
                text,
                [names[token] for token in before],
                target.decode(before),
                [names[token] for token in numbers],
                numbers,
                [_panel(own, OWN, 0, {})],
                [0],
                numbers.index(coming) if coming in numbers else None,
            )
        )
    return found


def _check_text(model: Translator, text: str) -> None:
    if not text.strip():
        raise Fault("There is no text to look at; give a sentence with --text.")
    check_length(model.task, text, 0)


def _place(model: Translator, text: str, prefix: str | None, at: int | None) -> tuple[list[int], int | None]:
    """The tokens before the place in question, and the one that the best output has there, if it is asked along it."""
    if prefix is not None:
        if at is not None:
            raise Fault("--prefix begins the output and --at goes along the model's own; give one of the two.")
        return target_tokens(model.task, prefix, "prefix", model.task.target_for(text)), None
    best, place = model.search_tokens(text), at or 0
    if place > len(best):
        raise Fault(f"The model's best output has {quantity(len(best), 'token')}; --at {place} lies beyond its end.")
    return best[:place], [*best, model.task.end][place]


def _panels(log_probabilities: Tensor, steps: dict[str, float]) -> tuple[list[Panel], list[int]]:
    """The model's own distribution and what sampling makes of it, and of each panel the one it was made from."""
    panels, origins = [_panel(log_probabilities, OWN, 0, {})], [0]
    done: dict[str, float] = {}
    for name, value in ((name, steps[name]) for name in STEPS if name in steps):
        done = {**done, name: value}
        origins.append(len(panels) - 1)
        panels.append(_panel(log_probabilities, STEPS[name] if len(done) == 1 else f"then {STEPS[name]}", value, done))
    for example in () if steps else EXAMPLES:
        ((name, value),) = example.items()
        origins.append(0)
        panels.append(_panel(log_probabilities, STEPS[name], value, example))
    return panels, origins


def _panel(log_probabilities: Tensor, name: str, value: float, options: dict[str, float]) -> Panel:
    left = distribution(log_probabilities[None], check(SamplingOptions, dict(options), "the sampling"))
    amount = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return Panel(name, amount if options else "", options, left[0].exp().numpy())
