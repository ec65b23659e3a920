"""A language model that learns by counting: n-grams, their text and scores, and what people see."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from regard.base.faults import Fault
from regard.data.texts.prepare import PreparedText, check_files_of
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.models.ngram import NgramOptions, Ngrams
from regard.models.ngram.counting import NgramCounts, add, count, no_counts
from regard.models.ngram.next_tokens import NextTokens
from regard.models.ngram.scratch import IN_MEMORY, Scratch
from regard.models.ngram.smoothing import estimate
from regard.models.ngram.stored import counts_as_arrays, counts_of_arrays, model_as_arrays, model_of_arrays
from regard.models.ngram.trie import NOWHERE
from regard.protocols import Measure, State
from regard.tasks.base import Files
from regard.tasks.language.batches import Prompts, Sentences, cut_sentences, sentences_of
from regard.tasks.language.language_description import tokeniser_of
from regard.tasks.language.language_task import LanguageTask
from regard.tasks.language.lines import split_lines
from regard.tasks.language.measures import measure_scores
from regard.tasks.language.options import CountedLanguageRecipe

_LN_10 = math.log(10)


class CountedLanguage(LanguageTask):
    """An n-gram model of text: count text, estimate the model, then score text and continue it."""

    def __init__(self, options: NgramOptions, tokeniser: Tokeniser) -> None:
        self.options, self.tokeniser = options, tokeniser
        self._size = max(tokeniser.size, self.begin + 1)
        never = {tokeniser.pad, self.begin} - {self.end}
        self._possible = ~np.isin(np.arange(self._size), sorted(never))
        self._counted: list[NgramCounts] = []  # of pieces of text, larger ones first
        self._model: Ngrams | None = None
        self._check: Callable[[np.ndarray], None] | None = None  # for a model whose numbers were not checked yet
        self._next_tokens: dict[torch.device, NextTokens] = {}  # by device, once used
        self._batch_tokens, self._scratch = 0, IN_MEMORY

    @property
    def begin(self) -> int:
        """The tokeniser's begin, or a token after its vocabulary if begin and end are one, as in GPT-2.

        The begin of a sentence is never predicted but its end is, so they cannot be one word of an n-gram.
        """
        tokeniser = self.tokeniser
        return tokeniser.size if tokeniser.begin == tokeniser.end else tokeniser.begin

    # Construction

    @classmethod
    def check(cls, recipe: CountedLanguageRecipe, device: torch.device, folder: Path | None) -> None:
        if recipe.start_from is not None:
            raise Fault("An n-gram model cannot start from another: its counts are not stored after estimation.")
        if recipe.model.smoothing == "imported":
            raise Fault("model.smoothing is 'imported', but an imported model cannot be trained.")
        if (scratch := recipe.training.scratch) is not None and not Path(scratch).is_dir():
            raise Fault(f"training.scratch names {scratch}, but there is no such folder.")
        check_files_of(recipe.data, folder)

    @classmethod
    def build(cls, recipe: CountedLanguageRecipe, files: Files) -> "CountedLanguage":
        return cls(recipe.model, tokeniser_of(recipe, files))

    def learn_from(self, prepared: PreparedText, recipe: CountedLanguageRecipe) -> None:
        self.text, self._batch_tokens, self._scratch = prepared, recipe.training.batch_tokens, _scratch_of(recipe)

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[Sentences]:
        """Return the sentences of a split in order, whatever the seed and epoch."""
        return cut_sentences(self.tokens_of(split), self.begin, self.end, self._batch_tokens, start)

    # Counting

    def count(self, batch: Sentences) -> None:
        """Count a batch; pieces of similar size are merged, so that each is moved only a few times."""
        self._counted.append(count(batch.tokens, batch.starts, self.options.order, self._size))
        while len(self._counted) > 1 and self._counted[-2].size < 2 * self._counted[-1].size:
            self._put_together()

    def counts(self) -> dict[str, Tensor]:
        return _as_tensors(counts_as_arrays(self._all_counts()))

    def resume_counts(self, tensors: Mapping[str, Tensor]) -> None:
        self._counted = [counts_of_arrays(_as_arrays(tensors), self.options.order, self._size)]

    def estimate(self) -> None:
        counts, self._next_tokens = self._all_counts(), {}
        self._model = estimate(self.options, counts, self.begin, self._possible, self._scratch)

    def _all_counts(self) -> NgramCounts:
        if not self._counted:
            return no_counts(self.options.order, self._size)
        while len(self._counted) > 1:
            self._put_together()
        return self._counted[0]

    def _put_together(self) -> None:
        """Merge the two smallest pieces."""
        last = self._counted.pop()
        self._counted[-1] = add(self._counted[-1], last, self._scratch)

    def weights(self) -> dict[str, Tensor]:
        return _as_tensors(model_as_arrays(self.model))

    def load_weights(self, tensors: Mapping[str, Tensor]) -> None:
        if self._size > self.tokeniser.size and len(tensors.get("log_probabilities.1", ())) == self.tokeniser.size:
            raise Fault(
                "This n-gram model was counted by an older version of regard, which confused ends of texts with "
                "beginnings and never predicts an end; train it again."
            )
        self._model, self._next_tokens = model_of_arrays(_as_arrays(tensors), self.options.order, self._possible), {}

    def map_weights(self, model: Ngrams, check: Callable[[np.ndarray], None]) -> None:
        """Use a model whose arrays are mapped from a file; its numbers are checked on first use."""
        if model.trie.size != self._size or model.order != self.options.order:
            raise Fault("The weights do not fit the recipe, which has another size or order of n-grams.")
        self._model, self._next_tokens, self._check = model, {}, check

    @property
    def model(self) -> Ngrams:
        """The model, once estimated or loaded."""
        if self._check is not None:
            self._check(self._possible)
            self._check = None
        if self._model is None:
            raise RuntimeError("an n-gram model must be estimated before use")
        return self._model

    # Measuring

    def measure(self, batch: Sentences) -> dict[str, Measure]:
        is_unknown = batch.tokens[~batch.starts] == self.tokeniser.unknown
        return measure_scores(self.token_scores(batch), is_unknown, batch.rows, "each sentence by itself")

    def text_batch(self, rows: Sequence[Sequence[int]]) -> Sentences:
        """Return the tokens of some sentences as a batch to measure."""
        return sentences_of(rows, self.begin, self.end)

    def token_scores(self, batch: Sentences) -> Float64[np.ndarray, " token"]:
        """Return the natural log-probabilities of all tokens but those that begin a sentence."""
        return self.model.score(batch.tokens, batch.starts)[~batch.starts] * _LN_10

    # Continuing a prompt

    def prompt_scores(self, tokens: Sequence[int]) -> Float64[np.ndarray, " token"]:
        """Return the natural log-probabilities of a prompt's tokens, including the ends of its lines."""
        lines = split_lines(tokens, self.end)
        return self.token_scores(sentences_of(lines, self.begin, self.end))[:-1]

    def start(self, batch: Prompts) -> State:
        """Return the last words of each prompt, and separately the very last one, from which the first step continues.

        A search begins with the begin token, which here precedes the prompt; the first step replaces it by the prompt's
        last word.
        """
        length = self.options.order
        lines = [split_lines(tokens, self.end)[-1] for tokens in batch.tokens]  # earlier lines do not matter
        whole = [[NOWHERE] * length + [self.begin, *tokens] for tokens in lines]
        contexts = torch.tensor([row[-length - 1 : -1] for row in whole])
        return State((), {"context": contexts, "read": torch.tensor([row[-1] for row in whole])})

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Float[Tensor, "row token"], State]:
        """Return the natural log-probabilities of the next token, on the tokens' device.

        After an end, a new sentence begins without context.
        """
        context, read = state.row["context"], state.row["read"]
        written = torch.where(read == NOWHERE, tokens, read)
        ended = written == self.end
        context, written = context.masked_fill(ended[:, None], NOWHERE), written.masked_fill(ended, self.begin)
        context = torch.cat([context, written[:, None]], dim=1)[:, 1:]
        state = State((), {"context": context, "read": torch.full_like(read, NOWHERE)})
        return self._next_tokens_on(tokens.device)(context)[:, : self.tokeniser.size] * _LN_10, state

    def best_after(self, tokens: Sequence[int]) -> tuple[int, float] | None:
        """Return a token that probably follows a text and its probability, much faster than a step."""
        *ended, line = split_lines(tokens[-self.options.order :], self.end)
        begins = bool(ended) or len(tokens) < self.options.order
        found = self.model.best_after([self.begin, *line] if begins else line)
        return None if found is None else (found[0], 10 ** found[1])

    def _next_tokens_on(self, device: torch.device) -> NextTokens:
        if device not in self._next_tokens:
            self._next_tokens[device] = NextTokens(self.model, device)
        return self._next_tokens[device]

    # For people

    def facts(self) -> dict[str, Any]:
        counted = {f"{order}-grams": self.model.trie.rows(order) for order in range(2, self.model.order + 1)}
        return {"order": self.options.order, "vocabulary": int(self._possible.sum()), **counted}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of a text of `size` tokens: each looks up one n-gram of every order."""
        return {"lookups": size * self.options.order}


def _scratch_of(recipe: CountedLanguageRecipe) -> Scratch:
    """Return where counts are stored while counting."""
    memory, folder = recipe.training.memory, recipe.training.scratch
    return IN_MEMORY if memory is None else Scratch(int(memory * 2**30), None if folder is None else Path(folder))


def _as_tensors(arrays: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _as_arrays(tensors: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in tensors.items()}
