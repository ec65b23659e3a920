"""Questions to models that read texts: which words made it give this class, this tag, this word behind a mask?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from regard.base.faults import Fault, TextFault
from regard.loading import Loaded
from regard.models.bert.network import Bert
from regard.models.tagging.crf import Chain
from regard.models.tagging.tagger import TokenInputs
from regard.seeing.gazes import see_answer
from regard.seeing.why.decision import (
    Question,
    chosen_class,
    chosen_places,
    refuse_place,
    units_left,
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
        kept = units_left(units, tokens.shape[1])
        lengths = torch.full_like(batch.texts.lengths, len(kept))
        return float(score(batch.texts._replace(tokens=tokens[:, kept], lengths=lengths)))

    is_about_aspect = batch.texts.aspects is not None and not task.data.has_pairs
    question = _question(
        _Entering(network.reader, task), run, side, len(network.around[0]), int(batch.texts.lengths[0])
    )
    return replace(
        question,
        chosen=task.labels.classes[number],
        without=None if is_about_aspect else without,
        inseparable="The aspect has its place in the text, so no word of the text can be left out; use occlusion.",
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
    """Return the question why a tagger gives a word its tag; by default the last one with a letter or digit."""
    task, network = model.task, model.task.model
    batch = _read(task, text)
    words = list(batch.sentences[0].words)
    (where, *_) = chosen_places(Words([*words, ""], [*words, ""], range(len(words) + 1)), place, word)
    if where >= len(words):
        raise Fault(f"The sentence has {len(words)} words, so there is no word number {where + 1}.")
    with torch.no_grad():
        tags = choose_tags(network, network.states(batch.inputs), batch.inputs.lengths)
    number = chosen_class(task.lexicon.tags, output, int(tags[0, where]))
    decision = _Tag(network, batch.inputs, tags, where, number)
    entering = _Entering(network.reader, task)
    side = words_of_text(task.sides(batch, [])["source"])
    return replace(
        _question(entering, decision.scores, side, decision.offset, decision.units),
        chosen=f"{words[where]}: {task.lexicon.tags[number]}",
        without=partial(_without_words, decision, entering),
        text=text,
        output=" ".join(task.lexicon.tags[tag] for tag in tags[0, : len(words)].tolist()),
        see=partial(see_answer, task, text),
        queries=(decision.offset + decision.unit,),
        choices=Words(words, words, range(len(words))),
        explained=(where,),
    )


@dataclass(frozen=True)
class _Tag:
    """The tag that a tagger gives to one word of a sentence; other words have the tags that it chose for them."""

    network: Any
    inputs: TokenInputs
    tags: Tensor
    where: int  # the word
    number: int  # its tag

    @property
    def offset(self) -> int:
        """Number of marks before the first unit."""
        return len(self.network.reader.around[0]) if self.network.reads_pieces else 0

    @property
    def units(self) -> int:
        """Number of words, or of pieces if words are read in pieces."""
        return int((self.inputs.piece_lengths if self.network.reads_pieces else self.inputs.lengths)[0])

    @property
    def unit(self) -> int:
        """The unit of the word: itself, or its first piece."""
        return int(self.inputs.firsts[0, self.where]) if self.network.reads_pieces else self.where

    def scores(self, copies: int) -> Tensor:
        """Return the log-probability of the tag for each of some equal rows."""
        network, fields = self.network, self.inputs._asdict()
        letters = fields.pop("letters")
        rows = {name: tensor.expand(copies, *tensor.shape[1:]) for name, tensor in fields.items()}
        inputs = TokenInputs(**rows, letters=letters)
        states = network.states(inputs)
        if network.chain is not None:
            return _log_marginal(network.chain, network.scores(states), inputs.lengths, self.where, self.number)
        before = None if network.after_label is None else shift_right(self.tags, network.begin).expand(copies, -1)
        return network.scores(states, before)[:, self.where].log_softmax(-1)[:, self.number]

    @property
    def homes(self) -> list[int]:
        """The word of each unit."""
        if not self.network.reads_pieces:
            return list(range(self.units))
        begins = torch.zeros(self.units, dtype=torch.long)
        begins[self.inputs.firsts[0, 1:].cpu()] = 1
        return [int(word) for word in begins.cumsum(0)]

    def keep(self, units: Sequence[int]) -> "_Tag":
        """Return the same decision in a sentence of these units alone; a word without any is not there."""
        inputs, homes = self.inputs, [self.homes[unit] for unit in units]
        words = sorted(set(homes))
        fields = {name: getattr(inputs, name)[:, words] for name in ("words", "shapes", "columns", "forms", "firsts")}
        fields["lengths"] = torch.full_like(inputs.lengths, len(words))
        if self.network.reads_pieces:
            fields["pieces"] = inputs.pieces[:, list(units)]
            fields["piece_lengths"] = torch.full_like(inputs.piece_lengths, len(units))
            fields["firsts"] = inputs.firsts.new_tensor([[homes.index(word) for word in words]])
        left = inputs._replace(**fields)
        return replace(self, inputs=left, tags=self.tags[:, words], where=words.index(self.where))


@torch.no_grad()
def _without_words(decision: _Tag, entering: "_Entering", units: Sequence[int]) -> float:
    """Return the log-probability of a tag without some words or pieces.

    The word that is tagged keeps its place: if nothing of it is left, the baseline stands there. Letters and columns
    that a tagger reads next to word pieces stay, as for every other method.
    """
    kept = units_left(units, decision.units)
    if any(decision.homes[unit] == decision.where for unit in kept):
        return float(decision.keep(kept).scores(1))
    left = decision.keep(sorted([*kept, decision.unit]))
    vectors = entering.place.vectors(lambda: left.scores(1)).clone()
    at = left.offset + left.unit
    vectors[:, at] = entering.baseline(vectors)[:, at]
    with entering.place.entering(vectors):
        return float(left.scores(1))


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
        kept = sorted({*units_left(units, len(read)), where})  # the mask asks
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
        return (mask + reader.place_vectors(whole.shape[1]) + reader.segments[0]).detach()[None]


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
