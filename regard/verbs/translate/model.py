"""A translator as it is loaded: how it plans, its outputs in words, and what it makes of outputs that it is given."""

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from regard.attention.alignments import links
from regard.attention.watch import count_gazes, watching, without_watching
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.notebook import Results
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.output import Hypothesis
from regard.engines.fast import CALLED, Choice, FastEngine, load_fast
from regard.engines.translated import Alignment, Translated
from regard.families.abilities import needs
from regard.loading import Loaded, load_as
from regard.tasks.translation.covering import crossing
from regard.tasks.translation.forcing import force_batch, forced_scores, forced_token_scores
from regard.tasks.translation.lengths import check_length, check_target
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.task import Translation
from regard.verbs.place_names import name_rows
from regard.verbs.translate.certainty import Certainty, certainty_in
from regard.verbs.translate.plan import Piece, Plan, plan_for
from regard.verbs.translate.request import TranslateRequest
from regard.verbs.translate.search import SEARCH_TOKENS, batches_of, find

ALIGNED_TOKENS = 2048  # tokens x rows in one batch whose attention is kept


class Wording(NamedTuple):
    """The tokens of an output as people read them, and the tokeniser that knows them."""

    tokens: Sequence[int]
    target: Tokeniser


class TranslationModel(Loaded):
    """A translator with its tokenisers and its recipe, alone or together with others of the same tokens."""

    task: Translation
    recipe: TranslationRecipe

    def __init__(self, task: Translation, recipe: TranslationRecipe, others: Sequence[Translation] = ()) -> None:
        super().__init__(task, recipe)
        self.others = [other.eval() for other in others]
        self.certainty: Certainty | None = None
        self._exports: dict[Choice, FastEngine | None] = {}

    def take_files(self, files: Mapping[str, bytes], folder: Path) -> None:
        self.certainty = certainty_in(files, folder)

    def has_tokens_of(self, other: "TranslationModel") -> bool:
        """Return True if both cut text into the same tokens."""
        return [other.task.source.files("source"), other.task.target.files("target")] == [
            self.task.source.files("source"),
            self.task.target.files("target"),
        ]

    def together(self, others: Sequence["TranslationModel"]) -> Self:
        """This model as one with others of the same tokens: they write by the mean of their probabilities.

        What is looked at and forced is still this one.
        """
        for number, other in enumerate(others, start=1):
            if not self.has_tokens_of(other):
                raise Fault(
                    f"Translator {number} beside the first cuts text into other tokens; combine models of one corpus."
                )
            if type(self.task) is not type(other.task):
                raise Fault("Some of these translators copy words of the source and others cannot; combine like ones.")
        return type(self)(self.task, self.recipe, [*self.others, *(other.task for other in others)])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        target = self.task.target
        return {piece: token for token, piece in reversed(list(enumerate(target.pieces(range(target.size)))))}

    def target_tokens(self, pieces: Sequence[str], text: str, called: str = "") -> list[int]:
        """Return the tokens of an output for a text by their names; `called` is the name of this model in a fault."""
        target = self.task.target_for(text)
        beyond = range(self.task.target.size, target.size)  # words that can only be copied from the text
        numbers = ChainMap(self._numbers, dict(zip(target.pieces(beyond), beyond, strict=True)))
        longest = self.task.model.options.longest - 1
        unknown = next((piece for piece in pieces if piece not in numbers), None)
        if unknown is not None:
            raise Fault(f"{unknown[:40]!r} is not a token of the model{called and f' {called}'}.")
        if len(pieces) > longest:
            raise Fault(f"There are {len(pieces)} tokens, but an output has {longest} at most.")
        return [numbers[piece] for piece in pieces]

    def export(self, engine: Choice) -> FastEngine | None:
        """Return the engine of the export that its folder has; None for torch, or by auto where there is no export."""
        if self.folder is None:
            if engine in CALLED:
                raise Fault(f"This model does not come from a folder with an export for {CALLED[engine]}; use torch.")
            return None
        if engine not in self._exports:
            self._exports[engine] = load_fast(self.folder, engine)
        return self._exports[engine]

    @property
    def learnt(self) -> int:
        """Tokens of the longest text that it learnt from, the end counted."""
        return min(self.recipe.model.longest, self.recipe.data.cleaning.longest + 1)

    def plan(self, **fields: Any) -> Plan:
        """Return how it translates what these fields of a request ask for; what is not given is as its recipe says."""
        return plan_for(TranslateRequest.unchecked(**fields), self.recipe.decoding)

    def wordings(self, texts: Sequence[str], found: Sequence[list[Hypothesis]]) -> list[list[Wording]]:
        """Return what was found for each text, as people read it."""
        targets = [self.task.target_for(text) for text in texts]
        return [[Wording(each.tokens, target) for each in own] for target, own in zip(targets, found, strict=True)]

    def translations(
        self, texts: Sequence[str], found: Sequence[list[Hypothesis]], worded: list[list[Wording]] | None = None
    ) -> list[Translated]:
        """Return the translations found for each text, `worded` in this way or unchanged."""
        worded = worded or self.wordings(texts, found)
        # All at once, when the first is asked for.
        aligned = cache(
            lambda: self.align(texts, [hypotheses[0].tokens for hypotheses in found], [own[0] for own in worded])
        )

        def alignment(number: int) -> Alignment:
            return aligned()[number]

        def told(number: int, hypotheses: list[Hypothesis]) -> Translated:
            best, own = hypotheses[0], worded[number]
            written = [(each.target.decode(each.tokens), one.score) for each, one in zip(own, hypotheses, strict=True)]
            pieces = own[0].target.pieces(own[0].tokens)
            return Translated(
                written[0][0],
                best.score,
                pieces,
                best.token_scores,
                written,
                partial(alignment, number),
                best.language_scores,
            )

        return Results(told(number, hypotheses) for number, hypotheses in enumerate(found))

    @torch.no_grad()
    def force(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> Tensor:
        """Let the model read these texts and write just these tokens; the log-probability of each output."""
        return forced_scores(self.task, force_batch(self.task, texts, outputs))

    def force_watched(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> None:
        """Write just these tokens for whoever watches, and name the tokens on both sides of what is looked at."""
        since, task = count_gazes(), self.task
        self.force(texts, outputs)
        sides = [task.sides(task.read([text]), [own], text) for text, own in zip(texts, outputs, strict=True)]
        name_rows(since, sides)

    @torch.no_grad()
    def translate_as(self, texts: Sequence[str], outputs: Sequence[str]) -> list[Translated]:
        """The given outputs as if the model had written them, each scored by its log-probability."""
        if len(texts) != len(outputs):
            raise Fault(
                f"There are {quantity(len(outputs), 'output')} for {quantity(len(texts), 'text')}; give one for each."
            )
        found: list[list[Hypothesis]] = [[] for _ in texts]
        tokens = self.task.encode_targets(texts, outputs)
        lengths = {
            number: max(check_length(self.task, text, number), check_target(self.task, outputs[number], number))
            for number, text in enumerate(texts)
        }
        for numbers in batches_of(lengths, SEARCH_TOKENS):
            batch = force_batch(self.task, [texts[n] for n in numbers], [tokens[n] for n in numbers])
            for number, own in zip(numbers, forced_token_scores(self.task, batch), strict=True):
                found[number] = [Hypothesis(tokens[number], own.tolist(), float(own.sum()))]
        return self.translations(texts, found)

    def search_tokens(self, text: str) -> list[int]:
        """The tokens of the best output for one text."""
        with without_watching():
            return find([self.task], [Piece(text)], Plan(self.recipe.decoding))[0][0].tokens

    def align(
        self, texts: Sequence[str], outputs: Sequence[Sequence[int]], worded: Sequence[Wording] | None = None
    ) -> list[Alignment]:
        """For each word of an output the word of its text that its attention, summed over its tokens, prefers.

        A model without attention aligns nothing. The words are those of outputs as they are `worded`, if not as found.
        """
        found: list[Alignment] = [[] for _ in texts]
        for number, weights in self.looks(texts, outputs):
            text = texts[number]
            (source,) = self.task.encode_sources([text])
            shown = Wording(outputs[number], self.task.target_for(text)) if worded is None else worded[number]
            written, read = shown.target.words(shown.tokens), self.task.source_for(text).words(source)
            found[number] = sorted(links(weights, written, read), key=lambda link: link[1])
        return found

    def looks(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> Iterator[tuple[int, Tensor]]:
        """Where each output looked at its text, (target, source) by number, if both have tokens and the model looks.

        The attention is the mean over the heads of the block that aligns best.
        """
        where, sources = crossing(self.task.model), self.task.encode_sources(texts)
        lengths = {n: max(len(sources[n]), len(outputs[n])) + 1 for n in range(len(texts)) if sources[n] and outputs[n]}
        for numbers in batches_of(lengths, ALIGNED_TOKENS) if where else ():
            with watching(self, where=where) as gazes:
                self.force([texts[number] for number in numbers], [outputs[number] for number in numbers])
            yield from zip(numbers, gazes[0].weights.mean(dim=1), strict=True)


def as_translator(model: Loaded) -> TranslationModel:
    """Return the model, refused if it cannot translate."""
    if not isinstance(model, TranslationModel):
        needs(model.recipe, "translate")
        raise RuntimeError(f"{type(model).__name__} says that it translates, and is no translator")
    return model


def load_translation_model(folder: str | Path, device: str = "auto", precision: str = "float32") -> TranslationModel:
    """Load a model folder that must be able to translate."""
    return load_as(_translator, folder, device, precision, "translate")


def _translator(task: Any, recipe: Any) -> TranslationModel:
    return TranslationModel(task, recipe)
