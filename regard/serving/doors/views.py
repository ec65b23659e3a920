"""What a page shows beside translations: attention, the next token, the beam; each for one sentence, by torch.

The answers are what `regard look` writes into its pages. All of this runs in the thread that owns the model.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from regard.attention.watch import without_watching
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.seeing.gazes import Sight
from regard.seeing.next_token import beam_tree
from regard.seeing.sentences import see, see_tokens
from regard.serving.doors.bodies import AttentionBody, BeamBody, NextBody
from regard.serving.doors.records import (
    AttentionAnswer,
    BeamAnswer,
    NextAnswer,
    Rest,
    SideAnswer,
    Text,
    TokenAnswer,
)
from regard.serving.http.refusals import Refusal
from regard.serving.options import Limits
from regard.serving.served import ServedTranslator
from regard.tasks.translation.forcing import force_batch, forced_distributions
from regard.tasks.translation.lengths import target_tokens
from regard.viewing.canvas import show_word
from regard.viewing.choices import Choices, Panel, place_data
from regard.viewing.page import side_data
from regard.viewing.sealed import named_language
from regard.viewing.seen import JOININGS, Block, Seen
from regard.viewing.tree import tree_data


def attention(model: ServedTranslator, body: AttentionBody, limits: Limits) -> AttentionAnswer:
    """What every block and head looked at."""
    began = time.monotonic()
    sight = _sight(model, body, limits)
    sides = body.sides or sight.looks
    if not sight.looks:
        raise Fault("This model has no attention, so there is nothing to look at; it can translate.")
    if lacking := [side for side in sides if side not in sight.looks]:
        raise Fault(f"This model has no attention on the side {lacking[0]}; it has {', '.join(sight.looks)}.")
    seen = [_narrow(sight.seen(side, body.mode == "words"), body) for side in dict.fromkeys(sides)]
    count = sum(block.weights.size for each in seen for block in each.blocks)
    if count > limits.weights:
        raise Refusal(
            413,
            f"These are {count:,} weights, but the limit is {limits.weights:,}; ask for fewer sides, layers or heads.",
        )
    score = float(model.model.force([body.text], sight.outputs)[0])
    return AttentionAnswer(
        model=model.name,
        source=_text(model, body.text, 0),
        target=_text(model, sight.output, 1),
        score=score,
        seconds=time.monotonic() - began,
        modes={body.mode: {each.side: _side_answer(each, body) for each in seen}},
    )


def _sight(model: ServedTranslator, body: AttentionBody, limits: Limits) -> Sight:
    _check_sentence(model, body.text, limits)
    if body.tokens is None:
        return see(model.model, body.text, body.output)
    tokens = model.target_tokens(body.tokens, body.text)
    if model.model.task.end in tokens:
        raise Fault("An output's end is not one of its tokens; omit it.")
    return see_tokens(model.model, body.text, tokens)


def _narrow(seen: Seen, body: AttentionBody) -> Seen:
    """Only the blocks that are asked for, their heads joined if that is asked for."""
    numbers = body.layers or range(1, len(seen.blocks) + 1)
    if max(numbers) > len(seen.blocks):
        raise Fault(f"There is no layer {max(numbers)}; on the side {seen.side} are {len(seen.blocks)}.")
    blocks = [seen.blocks[number - 1] for number in numbers]
    if body.heads != "all":
        join = JOININGS[body.heads][0]
        blocks = [Block(block.where, join(block.weights)[None]) for block in blocks]
    return replace(seen, blocks=blocks)


def _side_answer(seen: Seen, body: AttentionBody) -> SideAnswer:
    data = side_data(seen)
    numbers = body.layers or range(1, len(seen.blocks) + 1)
    blocks = [{**block, "layer": number} for number, block in zip(numbers, data["blocks"], strict=True)]
    return SideAnswer.model_validate({**data, "blocks": blocks})


def next_token(model: ServedTranslator, body: NextBody, limits: Limits) -> NextAnswer:
    """The distribution of the token at one place of an output."""
    began = time.monotonic()
    _check_sentence(model, body.text, limits)
    task = model.model.task
    choices = _choices(model, body)
    place = place_data(choices, body.kept)
    likeliest = zip(choices.numbers, choices.tokens, place["tokens"], choices.panels[0].probabilities, strict=False)
    return NextAnswer(
        model=model.name,
        source=_text(model, body.text, 0),
        target=_text(model, choices.written, 1),
        seconds=time.monotonic() - began,
        before=list(choices.before),
        vocabulary=choices.vocabulary,
        tokens=[
            TokenAnswer(
                token=token, text=text, probability=probability, taken=rank == choices.taken, end=number == task.end
            )
            for rank, (number, token, text, probability) in enumerate(likeliest)
        ],
        log_probabilities=place["log_probabilities"],
        rest=Rest(**place["rest"]),
    )


def _choices(model: ServedTranslator, body: NextBody) -> Choices:
    target = model.model.task.target_for(body.text)
    before, coming = _place(model, body)
    own = _next_log_probabilities(model, body.text, before)
    order = np.argsort(-own, kind="stable")
    numbers = order[: min(body.shown, body.kept)].tolist()
    return Choices(
        body.text,
        target.pieces(before),
        target.decode(before),
        target.pieces(numbers),
        numbers,
        [Panel("", "", {}, np.exp(own[order]))],
        [0],
        numbers.index(coming) if coming in numbers else None,
    )


def _place(model: ServedTranslator, body: NextBody) -> tuple[list[int], int | None]:
    """The tokens before the place, and what the best output has there, if it is asked along it."""
    task = model.model.task
    if body.before is not None:
        tokens = model.target_tokens(body.before, body.text)
        if task.end in tokens:
            raise Fault("An output is over at its end; no token follows it.")
        return tokens, None
    if body.prefix is not None:
        return target_tokens(task, body.prefix, "prefix", task.target_for(body.text)), None
    best, at = model.model.search_tokens(body.text), body.at or 0
    if at > len(best):
        raise Fault(f"The best output has {quantity(len(best), 'token')}; {at} lies beyond its end.")
    return best[:at], [*best, task.end][at]


def _next_log_probabilities(model: ServedTranslator, text: str, before: Sequence[int]) -> np.ndarray:
    """The log-probabilities (token) of what follows these tokens, in one forced pass."""
    import torch

    task = model.model.task
    with torch.no_grad(), without_watching():
        (found,) = forced_distributions(task, force_batch(task, [text], [before]))
    return found[-1].double().cpu().numpy()


def beam(model: ServedTranslator, body: BeamBody, limits: Limits) -> BeamAnswer:
    """The beam as a tree."""
    began = time.monotonic()
    _check_sentence(model, body.text, limits)
    width = body.beam or model.decoding.beam
    if width > limits.beam:
        raise Fault(f"The beam is {width} wide; here it may be at most {limits.beam}.")
    tree = beam_tree(model.model, body.text, width, body.length_penalty)
    if len(tree.nodes) > limits.nodes:
        raise Refusal(
            413, f"These are {len(tree.nodes):,} hypotheses, but the limit is {limits.nodes:,}; narrow the beam."
        )
    data = tree_data(tree, (model.source, model.target))
    nodes = [{**node, "group": own.group} for node, own in zip(data["nodes"], tree.nodes, strict=True)]
    seconds = time.monotonic() - began
    return BeamAnswer.model_validate({**data, "model": model.name, "seconds": seconds, "nodes": nodes})


def _check_sentence(model: ServedTranslator, text: str, limits: Limits) -> None:
    source, _ = model.tokenisers
    length = len(source.encode(text)) + 1 if len(text) <= limits.characters else limits.sentence + 1
    if length > limits.sentence:
        raise Fault(f"The sentence is longer than {limits.sentence} tokens; give a shorter one.")


def _text(model: ServedTranslator, text: str, side: int) -> Text:
    language = (model.source, model.target)[side]
    return Text(text=show_word(text) if text else "", language=named_language(language))
