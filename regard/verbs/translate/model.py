"""A loaded translator: its plans, its outputs as text, and forced outputs."""

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
from regard.engines.fast import Choice, FastEngine, load_fast
from regard.engines.translated import Alignment, Translated
from regard.families.abilities import needs
from regard.loading import Loaded, load_as
from regard.tasks.translation.covering import crossing
from regard.tasks.translation.forcing import force_batch, forced_scores, forced_token_scores
from regard.tasks.translation.lengths import check_length, check_target
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.task import Translation
from regard.verbs.exports import export_of
from regard.verbs.place_names import name_rows
from regard.verbs.translate.certainty import Certainty, certainty_in
from regard.verbs.translate.plan import Piece, Plan, plan_for
from regard.verbs.translate.request import TranslateRequest
from regard.verbs.translate.search import SEARCH_TOKENS, batches_of, find

ALIGNED_TOKENS = 2048  # tokens x rows in one batch whose attention is recorded


class Wording(NamedTuple):
    """The tokens of an output, and the tokeniser that turns them into text."""

    tokens: Sequence[int]
    target: Tokeniser


class TranslationModel(Loaded):
    """A translator with its tokenisers and recipe, alone or in an ensemble with others of the same vocabulary."""

    task: Translation
    recipe: TranslationRecipe

    def __init__(self, task: Translation, recipe: TranslationRecipe, others: Sequence[Translation] = ()) -> None:
        super().__init__(task, recipe)
        self.others = [other.eval() for other in others]
        self.certainty: Certainty | None = None

    def take_files(self, files: Mapping[str, bytes], folder: Path) -> None:
        self.certainty = certainty_in(files, folder)

    def has_tokens_of(self, other: "TranslationModel") -> bool:
        """Return True if both have the same tokenisers."""
        return [other.task.source.files("source"), other.task.target.files("target")] == [
            self.task.source.files("source"),
            self.task.target.files("target"),
        ]

    def together(self, others: Sequence["TranslationModel"]) -> Self:
        """Return an ensemble of this model and others of the same vocabulary, which averages their probabilities.

        Attention and forced outputs are still those of this model.
        """
        for number, other in enumerate(others, start=1):
            if not self.has_tokens_of(other):
                raise Fault(f"Translator {number} after the first has different tokens; combine models of one corpus.")
            if type(self.task) is not type(other.task):
                raise Fault(
                    "Some of these translators copy words of the source and others cannot; combine models of one kind."
                )
        return type(self)(self.task, self.recipe, [*self.others, *(other.task for other in others)])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        target = self.task.target
        return {piece: token for token, piece in reversed(list(enumerate(target.pieces(range(target.size)))))}

    def target_tokens(self, pieces: Sequence[str], text: str, called: str = "") -> list[int]:
        """Return the tokens of a text's output, given their names; `called` is this model's name in messages."""
        target = self.task.target_for(text)
        beyond = range(self.task.target.size, target.size)  # words that can only be copied from the text
        numbers = ChainMap(self._numbers, dict(zip(target.pieces(beyond), beyond, strict=True)))
        longest = self.task.model.options.longest - 1
        unknown = next((piece for piece in pieces if piece not in numbers), None)
        if unknown is not None:
            raise Fault(f"{unknown[:40]!r} is not a token of the model{called and f' {called}'}.")
        if len(pieces) > longest:
            raise Fault(f"There are {len(pieces)} tokens, but an output has at most {longest}.")
        return [numbers[piece] for piece in pieces]

    def export(self, engine: Choice) -> FastEngine | None:
        """Return the engine of the folder's export; None for torch, or for auto without an export."""
        return export_of(self, engine, load_fast)

    @property
    def learnt(self) -> int:
        """Tokens of the longest text it was trained on, including the end."""
        return min(self.recipe.model.longest, self.recipe.data.cleaning.longest + 1)

    def plan(self, **fields: Any) -> Plan:
        """Return the plan for a request with these fields; defaults come from the recipe."""
        return plan_for(TranslateRequest.unchecked(**fields), self.recipe.decoding)

    def wordings(self, texts: Sequence[str], results: Sequence[list[Hypothesis]]) -> list[list[Wording]]:
        """Return the hypotheses of each text with the tokeniser that reads them."""
        targets = [self.task.target_for(text) for text in texts]
        return [
            [Wording(hypothesis.tokens, target) for hypothesis in hypotheses]
            for target, hypotheses in zip(targets, results, strict=True)
        ]

    def translations(
        self, texts: Sequence[str], results: Sequence[list[Hypothesis]], worded: list[list[Wording]] | None = None
    ) -> list[Translated]:
        """Return the hypotheses of each text as translations, `worded` in this way or unchanged."""
        worded = worded or self.wordings(texts, results)
        # All at once, when the first is needed.
        aligned = cache(
            lambda: self.align(
                texts, [hypotheses[0].tokens for hypotheses in results], [wordings[0] for wordings in worded]
            )
        )

        def alignment(number: int) -> Alignment:
            return aligned()[number]

        def translated(number: int, hypotheses: list[Hypothesis]) -> Translated:
            best, wordings = hypotheses[0], worded[number]
            candidates = [
                (wording.target.decode(wording.tokens), hypothesis.score)
                for wording, hypothesis in zip(wordings, hypotheses, strict=True)
            ]
            pieces = wordings[0].target.pieces(wordings[0].tokens)
            return Translated(
                candidates[0][0],
                best.score,
                pieces,
                best.token_scores,
                candidates,
                partial(alignment, number),
                best.language_scores,
            )

        return Results(translated(number, hypotheses) for number, hypotheses in enumerate(results))

    @torch.no_grad()
    def force(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> Tensor:
        """Force the model to write these tokens for these texts, and return the log-probability of each output."""
        return forced_scores(self.task, force_batch(self.task, texts, outputs))

    def force_watched(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> None:
        """Force the model to write these tokens while it is watched, and name the tokens on both sides."""
        since, task = count_gazes(), self.task
        self.force(texts, outputs)
        sides = [task.sides(task.read([text]), [tokens], text) for text, tokens in zip(texts, outputs, strict=True)]
        name_rows(since, sides)

    @torch.no_grad()
    def translate_as(self, texts: Sequence[str], outputs: Sequence[str]) -> list[Translated]:
        """Return the given outputs as if the model had written them, each scored by its log-probability."""
        if len(texts) != len(outputs):
            raise Fault(
                f"There are {quantity(len(outputs), 'output')} for {quantity(len(texts), 'text')}; give one for each."
            )
        results: list[list[Hypothesis]] = [[] for _ in texts]
        tokens = self.task.encode_targets(texts, outputs)
        lengths = {
            number: max(check_length(self.task, text, number), check_target(self.task, outputs[number], number))
            for number, text in enumerate(texts)
        }
        for numbers in batches_of(lengths, SEARCH_TOKENS):
            batch = force_batch(self.task, [texts[n] for n in numbers], [tokens[n] for n in numbers])
            for number, scores in zip(numbers, forced_token_scores(self.task, batch), strict=True):
                results[number] = [Hypothesis(tokens[number], scores.tolist(), float(scores.sum()))]
        return self.translations(texts, results)

    def search_tokens(self, text: str) -> list[int]:
        """Return the tokens of the best output for one text."""
        with without_watching():
            return find([self.task], [Piece(text)], Plan(self.recipe.decoding))[0][0].tokens

    def align(
        self, texts: Sequence[str], outputs: Sequence[Sequence[int]], worded: Sequence[Wording] | None = None
    ) -> list[Alignment]:
        """Return, for each word of an output, the source word with the most attention, summed over its tokens.

        A model without attention aligns nothing. If `worded` is given, the words are those of the outputs as worded.
        """
        alignments: list[Alignment] = [[] for _ in texts]
        for number, weights in self.looks(texts, outputs):
            text = texts[number]
            (source,) = self.task.encode_sources([text])
            wording = Wording(outputs[number], self.task.target_for(text)) if worded is None else worded[number]
            target_words, source_words = wording.target.words(wording.tokens), self.task.source_for(text).words(source)
            alignments[number] = sorted(links(weights, target_words, source_words), key=lambda link: link[1])
        return alignments

    def looks(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> Iterator[tuple[int, Tensor]]:
        """Yield the attention (target, source) of each output to its text, by number.

        It is the mean over the heads of the block that aligns best. Texts or outputs without tokens have none, and
        neither does a model without attention.
        """
        where, sources = crossing(self.task.model), self.task.encode_sources(texts)
        lengths = {n: max(len(sources[n]), len(outputs[n])) + 1 for n in range(len(texts)) if sources[n] and outputs[n]}
        for numbers in batches_of(lengths, ALIGNED_TOKENS) if where else ():
            with watching(self, where=where) as gazes:
                self.force([texts[number] for number in numbers], [outputs[number] for number in numbers])
            yield from zip(numbers, gazes[0].weights.mean(dim=1), strict=True)


def as_translator(model: Loaded) -> TranslationModel:
    """Return the model if it can translate, and refuse it otherwise."""
    if not isinstance(model, TranslationModel):
        needs(model.recipe, "translate")
        raise RuntimeError(f"{type(model).__name__} claims to translate, but is not a translator")
    return model


def load_translation_model(folder: str | Path, device: str = "auto", precision: str = "float32") -> TranslationModel:
    """Load the translator in a model folder; refuse other models."""
    return load_as(_translator, folder, device, precision, "translate")


def _translator(task: Any, recipe: Any) -> TranslationModel:
    return TranslationModel(task, recipe)
