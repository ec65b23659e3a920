"""Questions to models that read texts: which words made it give this class, this tag, this word behind a mask?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from regard.base.faults import Fault, TextFault
from regard.loading import Loaded
from regard.models.bert.network import Bert
from regard.models.tagging.crf import Chain
from regard.seeing.gazes import see_answer
from regard.seeing.why.decision import (
    Question,
    chosen_class,
    chosen_places,
    refuse_nothing_left,
    refuse_place,
)
from regard.seeing.why.entrance import Entrance
from regard.tasks.masked.masking import NOTHING
from regard.tasks.tagging.objectives import choose_tags, shift_right
from regard.tasks.text import words_of
from regard.viewing.sides import Words


def ask_classifier(
    model: Loaded, text: str, output: str | None, place: int | None, word: str | None = None
) -> Question:
    """Return the question why a classifier gives a text a class."""
    task, network = model.task, model.task.model
    refuse_place(place, word, "one class for a text")
    batch = _read(task, text)
    with torch.no_grad():
        best = int(network.answer(batch.texts)[0].argmax())
    number = chosen_class(task.labels.classes, output, best)
    side = words_of_text(task.sides(batch, [])["source"])

    def score(texts: Any) -> Tensor:
        return network.answer(texts)[:, number]

    def run(copies: int) -> Tensor:
        return score(batch.texts.change(lambda tensor: tensor.expand(copies, *tensor.shape[1:])))

    @torch.no_grad()
    def without(units: Sequence[int]) -> float:
        tokens = batch.texts.tokens
        refuse_nothing_left(units, tokens.shape[1])
        kept = [number for number in range(tokens.shape[1]) if number not in set(units)]
        lengths = torch.full_like(batch.texts.lengths, len(kept))
        return float(score(batch.texts._replace(tokens=tokens[:, kept], lengths=lengths)))

    has_second = batch.texts.aspects is not None
    question = _question(
        _Entering(network.reader, task), run, side, len(network.around[0]), int(batch.texts.lengths[0])
    )
    return replace(
        question,
        chosen=task.labels.classes[number],
        without=None if has_second else without,
        text=text,
        output=task.labels.classes[number],
        see=partial(see_answer, task, text),
        queries=(0,) if isinstance(network.reader, Bert) and network.reader.options.pooling == "first" else None,
    )


def refuse_counting_classifier(model: Loaded) -> None:
    """Refuse a classifier that counts words instead of having vectors of them."""
    if model.task.model.inputs is None and not model.task.model.around[0]:
        raise Fault("This classifier counts words and has no vectors of them, so no method can follow a decision.")


def ask_tagger(model: Loaded, text: str, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a tagger gives a word its tag; by default the last word."""
    task, network = model.task, model.task.model
    batch = _read(task, text)
    words = list(batch.sentences[0].words)
    (where, *_) = chosen_places(Words([*words, ""], [*words, ""], range(len(words) + 1)), place, word)
    if where >= len(words):
        raise Fault(f"The sentence has {len(words)} words, so there is no word number {where + 1}.")
    with torch.no_grad():
        states = network.states(batch.inputs)
        tags = choose_tags(network, states, batch.inputs.lengths)
    number = chosen_class(task.lexicon.tags, output, int(tags[0, where]))

    def run(copies: int) -> Tensor:
        fields = batch.inputs._asdict()
        letters = fields.pop("letters")
        rows = {name: tensor.expand(copies, *tensor.shape[1:]) for name, tensor in fields.items()}
        inputs = type(batch.inputs)(**rows, letters=letters)
        states = network.states(inputs)
        if network.chain is not None:
            return _log_marginal(network.chain, network.scores(states), inputs.lengths, where, number)
        before = None if network.after_label is None else shift_right(tags, network.begin).expand(copies, -1)
        return network.scores(states, before)[:, where].log_softmax(-1)[:, number]

    side = words_of_text(task.sides(batch, [])["source"])
    offset = len(network.reader.around[0]) if network.reads_pieces else 0
    count = int(batch.inputs.piece_lengths[0]) if network.reads_pieces else len(words)
    query = offset + int(batch.inputs.firsts[0, where]) if network.reads_pieces else where
    return replace(
        _question(_Entering(network.reader, task), run, side, offset, count),
        chosen=f"{words[where]}: {task.lexicon.tags[number]}",
        text=text,
        output=" ".join(task.lexicon.tags[tag] for tag in tags[0, : len(words)].tolist()),
        see=partial(see_answer, task, text),
        queries=(query,),
        choices=Words(words, words, range(len(words))),
        explained=(where,),
    )


def _log_marginal(chain: Chain, emissions: Tensor, lengths: Tensor, where: int, number: int) -> Tensor:
    """Return log p(y_t = k | x): log of the sum over all sequences with this tag here, minus that over all."""
    others = torch.zeros_like(emissions[0], dtype=torch.bool)
    others[where] = True
    others[where, number] = False
    only = emissions.masked_fill(others, -torch.inf)
    return chain.log_total(only, lengths) - chain.log_total(emissions, lengths)


def ask_masked(model: Loaded, text: str, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a BERT puts a token behind a mask: the last, or the mask number `place`."""
    task, network = model.task, model.task.model
    if word is not None:
        raise Fault("A mask is chosen by its place, counted among the masks; omit the word.")
    batch = _read(task, text)
    masks = batch.tensors.places[0][batch.tensors.wanted[0] != NOTHING].tolist()
    if not masks:
        raise Fault("There is no [MASK] in the text, so nothing is filled in; put one in it.")
    if place is not None and not 0 <= place < len(masks):
        raise Fault(f"The text has {len(masks)} masks, so there is no mask number {place + 1}.")
    where, tokeniser = masks[-1 if place is None else place], task.tokeniser
    read = batch.tensors.tokens[0].tolist()

    def score(tokens: Sequence[int], at: int, copies: int = 1) -> Tensor:
        states = network.reader.read(torch.tensor([list(tokens)] * copies, device=task.device))[-1]
        return network.logits(states[:, at]).log_softmax(-1)

    with torch.no_grad():
        states = network.reader.read(torch.tensor([read], device=task.device))[-1]
        guesses = network.logits(states[0, masks]).argmax(-1).tolist()
    token = guesses[masks.index(where)] if output is None else _one_token(tokeniser, output)

    @torch.no_grad()
    def without(units: Sequence[int]) -> float:
        refuse_nothing_left(units, len(read))
        kept = [place for place in range(len(read)) if place == where or place not in set(units)]  # the mask asks
        return float(score([read[place] for place in kept], kept.index(where))[0, token])

    side = words_of(tokeniser, read)
    question = _question(
        _Entering(network.reader, task), lambda copies: score(read, where, copies)[:, token], side, 0, len(read)
    )
    name, names = tokeniser.pieces([token])[0], tokeniser.pieces(guesses)
    return replace(
        question,
        chosen=name,
        without=without,
        text=text,
        output=name,
        see=partial(see_answer, task, text),
        queries=(where,),
        read=text,
        written=[token],
        choices=Words(names, names, range(len(names))),
        explained=(masks.index(where),),
    )


def _question(entrance: "_Entering", run: Callable[[int], Tensor], side: Words, offset: int, count: int) -> Question:
    """Return a question without what was chosen; `count` units follow after `offset` marks."""
    whole = entrance.place.vectors(lambda: run(1))
    if whole.shape[1] != len(side.tokens) or offset + count > whole.shape[1]:
        raise Fault("This model reads something else before the text, so its words cannot be told apart.")
    units = slice(offset, offset + count)

    def log_probability(vectors: Tensor) -> Tensor:
        parts = [whole[:, :offset], whole[:, offset + count :]]
        before, behind = (part.expand(len(vectors), -1, -1) for part in parts)
        with entrance.place.entering(torch.cat([before, vectors, behind], dim=1)):
            return run(len(vectors))

    words = _part(side, units)
    baseline = entrance.baseline(whole)[0, units]
    keys = range(offset, offset + count)
    return Question(words.tokens, "", whole[0, units], baseline, log_probability, None, words, keys=keys)


class _Entering:
    """Where the vectors of tokens enter a reader, and the vectors of tokens that say nothing."""

    def __init__(self, reader: Any, task: Any) -> None:
        self.reader, self.task = reader, task
        is_bert = isinstance(reader, Bert)
        self.place = Entrance(reader.norm, before=True) if is_bert else Entrance(reader.inputs)

    def baseline(self, whole: Tensor) -> Tensor:
        """Return zeros; for a BERT its mask, or padding if it has none, with the vectors of places and segment."""
        if not isinstance(self.reader, Bert):
            return torch.zeros_like(whole)
        reader, tokeniser = self.reader, self.task.tokeniser
        mask = reader.tokens[getattr(tokeniser, "mask", tokeniser.pad)]
        return (mask + reader.places[: whole.shape[1]] + reader.segments[0]).detach()[None]


def _read(task: Any, text: str) -> Any:
    """Return a text as a batch; refuse an empty one."""
    if not text.strip():
        raise Fault("There is no text to read; give a sentence.")
    try:
        return task.read([text])
    except TextFault as fault:
        raise fault.without_number() from None


def _one_token(tokeniser: Any, output: str) -> int:
    """Return the only token of a text."""
    tokens = tokeniser.encode(output)
    if len(tokens) != 1 or tokens[0] == tokeniser.unknown:
        raise Fault(f"'{output[:60]}' is not one token of this model, and a mask stands for one; give another.")
    return int(tokens[0])


def words_of_text(side: Any) -> Words:
    """Return a side that is known to be a text."""
    assert isinstance(side, Words)
    return side


def _part(side: Words, units: slice) -> Words:
    """Return some consecutive tokens of a text with their words."""
    places = list(side.places)[units]
    first, last = places[0], places[-1]
    return Words(list(side.tokens)[units], list(side.words)[first : last + 1], [place - first for place in places])
