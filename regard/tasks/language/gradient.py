"""A language model that learns by gradient: a network, its text and scores, and what people see.

The network can be any that has the methods of `LanguageNetwork`.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.base.figures import shorten
from regard.base.progress import Progress, Remark
from regard.data.texts.prepare import PreparedText, check_files_of, check_validation_text
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.hardware.precision import check_cell
from regard.models.language import TEXT, LanguageNetwork, Reading
from regard.models.shapes import ShapesOnly, refuse_too_large
from regard.protocols import Followed, Loss, Measure, State, StepCost, Tally, TextVectors
from regard.tasks.base import Files, build_network
from regard.tasks.language.batches import Prompts, Sentences
from regard.tasks.language.language_description import language_facts, never_written, tokeniser_of
from regard.tasks.language.language_task import LanguageTask
from regard.tasks.language.measures import measure_scores, perplexity
from regard.tasks.language.options import USUAL_SPAN, GradientLanguageRecipe, GradientLanguageTraining
from regard.tasks.language.prompts import check_fits, limits_within, memory_of, prompt_vectors
from regard.tasks.language.streams import (
    NOTHING,
    StreamBatch,
    measured_windows,
    padded_rows,
    spans_of,
    training_batches,
    training_windows,
    whole_stream,
)
from regard.tasks.language.teachers import LanguageTeachers
from regard.tasks.text import words_of
from regard.viewing.sides import Side

_FEWEST_TOKENS = 6
_AT_ONCE = 8192  # tokens of all rows scored at once
_ROWS = 64  # texts scored at once
_READ = -1  # stands for the last token of a prompt after it was read


class GradientLanguage(LanguageTask, nn.Module):
    """A network that predicts the next token, its tokeniser, and how it learns."""

    carry_ends_with_epoch = True
    unit = "tokens"
    teachers: LanguageTeachers | None = None

    def __init__(self, model: Any, tokeniser: Tokeniser, training: GradientLanguageTraining) -> None:
        super().__init__()
        self.model: LanguageNetwork = model
        self.tokeniser, self.training_options = tokeniser, training

    @property
    def device(self) -> torch.device:
        return self.model.output_vectors.device

    # Construction

    @classmethod
    def check(cls, recipe: GradientLanguageRecipe, device: torch.device, folder: Path | None) -> None:
        check_cell(getattr(recipe.model, "cell", None), recipe.training.precision, device)
        check_validation_text(recipe.data)
        check_files_of(recipe.data, folder)
        with ShapesOnly():  # before the text is read, with the smallest possible vocabulary
            network = build_network(recipe, _FEWEST_TOKENS)
        refuse_too_large(network)
        _check_spans(network, recipe.training)

    @classmethod
    def step_cost(cls, recipe: GradientLanguageRecipe) -> StepCost:
        training, cut = recipe.training, recipe.data.tokeniser
        if cut.is_taken_over:
            raise Fault(f"The tokeniser comes from {cut.from_}, so the cost of a step is not known yet.")
        if cut.vocabulary is None and cut.full().is_of_words:
            raise Fault(
                "The recipe does not limit its vocabulary, so the cost of a step is known only after its text is read; "
                "set a limit, such as --set data.tokeniser.vocabulary=10000."
            )
        with ShapesOnly():
            network = build_network(recipe, cut.full().most_tokens)
        span = training.span or network.context or USUAL_SPAN
        return StepCost(training.accumulate * training.batch * span, network.multiplications(span) / span)

    @classmethod
    def prepare(
        cls, recipe: GradientLanguageRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedText:
        prepared, training = super().prepare(recipe, folder, progress, remark, start), recipe.training
        tokens, context = len(prepared.splits["train"]), getattr(recipe.model, "context", None)
        if tokens < training.batch:
            raise Fault(
                f"data.train has {tokens} tokens, fewer than the {training.batch} parts of training.batch that "
                "are read side by side; give more text or a smaller training.batch."
            )
        if context and tokens < training.batch * (training.span or context):
            raise Fault(
                f"data.train has {tokens} tokens, fewer than a batch of {training.batch} rows of "
                f"{training.span or context}; give more text, or make training.batch or training.span smaller."
            )
        return prepared

    @classmethod
    def build(cls, recipe: GradientLanguageRecipe, files: Files) -> "GradientLanguage":
        tokeniser = tokeniser_of(recipe, files)
        network = build_network(recipe, tokeniser.size, never_written(tokeniser))
        return cls(network, tokeniser, recipe.training)

    def learn_from(self, prepared: PreparedText, recipe: GradientLanguageRecipe) -> None:
        self.text = prepared

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[StreamBatch]:
        """Yield spans of text for training, and the whole text for measuring.

        A network that carries its state reads consecutive spans, and measures all text as one batch; others read
        independent windows of the text.
        """
        tokens, options = self.tokens_of(split), self.training_options
        if split == "train" and self.model.carries:
            epoch_batches = training_batches(tokens, self.end, options.batch, self._spans(seed, epoch), start)
        elif split == "train":
            epoch_batches = training_windows(tokens, self.end, options.batch, self.span, seed, epoch, start)
        elif self.model.context is not None:
            epoch_batches = islice(self._windows(tokens, self.model.context), start, None)
        else:
            rows = options.valid_parts if split == "valid" else 1
            epoch_batches = iter([whole_stream(tokens, self.end, rows)][start:] if len(tokens) else [])
        return (batch.to(self.device) for batch in epoch_batches)

    @property
    def span(self) -> int:
        """Number of tokens that a gradient reaches back."""
        return self.training_options.span or self.model.context or USUAL_SPAN

    def _windows(self, tokens: np.ndarray, context: int) -> Iterator[StreamBatch]:
        rows = max(1, _AT_ONCE // context)
        return measured_windows(tokens, self.end, context, self.model.overlap, rows) if len(tokens) else iter(())

    def _spans(self, seed: int, epoch: int) -> list[int]:
        options = self.training_options
        return spans_of(len(self.tokens_of("train")) // options.batch, self.span, options.vary_span, seed, epoch)

    # Learning

    def learn_from_teachers(self, teachers: "Sequence[GradientLanguage]", weight: float, temperature: float) -> None:
        """Learn also from what these models, with the same tokens, would write at each place."""
        networks = [teacher.eval().requires_grad_(False).model for teacher in teachers]
        self.teachers = LanguageTeachers(networks, weight, temperature)

    def loss(self, batch: StreamBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return Σ −log p over all tokens, or that of distillation, plus their number times the penalties."""
        reading = self.model.read(batch.tokens, carry or self.model.begin(batch.rows))
        carried = reading.memory if self.model.carries else {}
        if self.teachers is None:
            learnt = nats = self.model.cross_entropy(reading.states, batch.wanted)
        else:
            learnt, remembered = self.teachers.loss(self.model, reading, batch, carry)
            carried = carried | remembered
            with torch.no_grad():
                nats = self.model.cross_entropy(reading.states, batch.wanted)
        total = learnt + batch.count * self._penalty(reading)
        tallies = {"perplexity": Tally((nats.detach(), float(batch.count)), perplexity)}
        # A longer or shorter span scales the learning rate in proportion (Merity et al. 2018, section 4.1).
        rate = batch.tokens.shape[1] / self.span if self.training_options.vary_span else 1.0
        return Loss(total, batch.count, tallies, carried or None, rate)

    def _penalty(self, reading: Reading) -> Tensor:
        """Return α mean(m ⊙ h_t)² + β mean(h_t − h_{t−1})², m being the dropout mask (Merity et al. 2018, section
        4.6).
        """
        options, penalty = self.training_options, self.model.output_vectors.new_zeros(())
        if options.state_penalty:
            # In the precision of the weights: the factor of the mean may be too large for 16 bits.
            penalty = penalty + options.state_penalty * reading.states.to(penalty.dtype).square().mean()
        if options.change_penalty and reading.undropped.shape[1] > 1:
            changes = reading.undropped.to(penalty.dtype).diff(dim=1)
            penalty = penalty + options.change_penalty * changes.square().mean()
        return penalty

    # Measuring

    def measure(self, batch: StreamBatch) -> dict[str, Measure]:
        real = (batch.wanted != NOTHING).cpu().numpy()
        targets = batch.wanted.cpu().numpy()[real]
        return measure_scores(
            self._scores(batch)[real],
            targets == self.tokeniser.unknown,
            int(np.count_nonzero(targets == self.end)),
            self._manner(batch),
        )

    def _manner(self, batch: StreamBatch) -> str:
        """Return how measured text is read, for the signature."""
        if (context := self.model.context) is None:
            parts = "in one piece" if batch.rows == 1 else f"in {batch.rows} pieces"
            return f"state carried from sentence to sentence, {parts}"
        overlap = f", {self.model.overlap} of them from the one before" if self.model.overlap else ""
        return f"in windows of {context} tokens, each read from nothing{overlap}"

    def text_batch(self, rows: Sequence[Sequence[int]]) -> StreamBatch:
        """Return the tokens of consecutive sentences as a batch to measure."""
        tokens = np.array([token for row in rows for token in (*row, self.end)], np.int64)
        if (context := self.model.context) is not None:
            (batch,) = measured_windows(tokens, self.end, context, self.model.overlap, rows=len(tokens))
        else:
            batch = whole_stream(tokens, self.end, 1)
        return batch.to(self.device)

    def token_scores(self, batch: Sentences) -> Float64[np.ndarray, " token"]:
        """Return the natural log-probabilities of all tokens of sentences, each read by itself."""
        rows = [row[1:] for row in np.split(batch.tokens, np.flatnonzero(batch.starts)[1:])]
        if self.model.stops_when_full:
            check_fits(self.model, Prompts([row[:-1].tolist() for row in rows]))
        order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
        scores_of: dict[int, np.ndarray] = {}
        for first in range(0, len(order), _ROWS):
            numbers = order[first : first + _ROWS]
            scores = self._scores(padded_rows([rows[number] for number in numbers], self.end).to(self.device))
            scores_of |= {number: row[: len(rows[number])] for number, row in zip(numbers, scores, strict=True)}
        return np.concatenate([scores_of[number] for number in range(len(rows))])

    @torch.no_grad()
    def _scores(self, batch: StreamBatch) -> Float64[np.ndarray, "row time"]:
        """Return log p of each target token, read from the start; a piece at a time, because logits take much
        memory.
        """
        pieces = []
        for rows in batch.split(-(-batch.rows // _ROWS)):
            memory, losses = self.model.begin(rows.rows), []
            span = max(1, _AT_ONCE // rows.rows)
            for tokens, targets in zip(rows.tokens.split(span, 1), rows.wanted.split(span, 1), strict=True):
                reading = self.model.read(tokens, memory)
                memory = reading.memory
                logits = self.model.logits(reading.states)
                losses.append(F.cross_entropy(logits.mT, targets, reduction="none", ignore_index=NOTHING))
            pieces.append(torch.cat(losses, dim=1))
        return -torch.cat(pieces).double().cpu().numpy()

    # For people

    @torch.no_grad()
    def follow(self, text: str) -> Followed:
        """Read the lines of a text after an end token, with an end after each, as in training."""
        lines = self.tokeniser.encode_all(text.splitlines())
        tokens = [self.end, *(token for line in lines for token in (*line, self.end))][:-1]
        self.model.read(torch.tensor([tokens], device=self.device), self.model.begin(1))
        return Followed(words_of(self.tokeniser, tokens))

    @torch.no_grad()
    def foresee(self, batch: Prompts) -> Float[Tensor, "1 token"]:
        """Read a single prompt in one pass, so that watchers see all attention; return next-token log-probabilities."""
        check_fits(self.model, batch)
        tokens = torch.tensor([[self.end, *batch.tokens[0]]], device=self.device)
        reading = self.model.read(tokens, self.model.begin(1))
        return self.model.logits(reading.states[:, -1]).log_softmax(-1)

    def sides(self, batch: Prompts, outputs: Sequence[Any]) -> dict[str, Side]:
        """Return the text of a single prompt, after the end token that it is read after; it attends to itself."""
        return {TEXT: words_of(self.tokeniser, [self.end, *batch.tokens[0]])}

    def extents(self, batch: StreamBatch) -> dict[str, Tensor]:
        return {TEXT: (batch.wanted != NOTHING).cumsum(1).argmax(1) + 1}

    @torch.no_grad()
    def embed(self, batch: Prompts) -> list[TextVectors]:
        """Return the vectors of every layer for each text, without the end token read before it."""
        return prompt_vectors(self.model, self.tokeniser, batch, self.device)

    # Continuing a prompt

    def prompt_scores(self, tokens: Sequence[int]) -> Float64[np.ndarray, " token"]:
        """Return the natural log-probabilities of a prompt's tokens, including the ends of its lines."""
        if not tokens:
            return np.zeros(0)
        return self._scores(padded_rows([np.asarray(tokens)], self.end).to(self.device))[0]

    @torch.no_grad()
    def start(self, batch: Prompts) -> State:
        """Return the memory of each prompt without its last token, which the first step reads.

        A search begins with the begin token, which here stands for that last token. Before the first word of a text the
        model reads an end token, as between any two sentences.
        """
        whole = [[self.end, *tokens] for tokens in batch.tokens]
        memory = memory_of(self.model, [row[:-1] for row in whole], self.device)
        return State((), {"memory": memory, "last": torch.tensor([row[-1] for row in whole], device=self.device)})

    def limits(self, batch: Prompts, options: DecodingOptions) -> Int[Tensor, " row"]:
        """Return how many tokens fit into the context, if the network has one and must not forget."""
        if self.model.context is None or batch.forgets:
            return super().limits(batch, options).to(self.device)
        return limits_within(self.model.context, batch).to(self.device)

    def forgotten(self, tokens: int) -> int:
        """Return how many tokens of a text are forgotten after reading `tokens` after an end token."""
        return max(0, self.model.forgotten(tokens + 1) - 1)

    @torch.no_grad()
    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Float[Tensor, "row token"], State]:
        """Return the natural log-probabilities of the next token."""
        reading = self.read_more(tokens[:, None], state)
        return self.model.logits(reading.states[:, 0]).float().log_softmax(-1), self.state_after(reading, state)

    @torch.no_grad()
    def nearness(self, batch: Prompts) -> Float[Tensor, "row token"]:
        """Return cos(v, h) of the state h after each prompt and each row v of V; −1 for tokens that cannot be
        written.
        """
        states = self.read_more(torch.full((batch.rows, 1), self.end, device=self.device), self.start(batch)).states[
            :, 0
        ]
        cosines = F.cosine_similarity(states[:, None], self.model.output_vectors[None], dim=-1)
        return cosines.masked_fill(self.model.logits(states).isinf(), -1.0)

    def read_more(self, tokens: Int[Tensor, "row time"], state: State) -> Reading:
        """Read tokens that follow a state; the first of them stands for the last token of a prompt until it is read."""
        last = state.row["last"]
        first = torch.where(last == _READ, tokens[:, 0], last)
        tokens = first[:, None] if tokens.shape[1] == 1 else torch.cat([first[:, None], tokens[:, 1:]], dim=1)
        return self.model.read(tokens, state.row["memory"])

    def state_after(self, reading: Reading, state: State) -> State:
        """Return the state after reading more."""
        return State((), {"memory": reading.memory, "last": torch.full_like(state.row["last"], _READ)})

    # For people

    def outline(self, recipe: GradientLanguageRecipe) -> list[str]:
        options = self.training_options
        batches = len(self._spans(recipe.seed, 0)) if self.model.carries else self._full_batches()
        about = "about " if options.vary_span else ""
        steps = f"{about}{batches / options.accumulate:,.0f} steps"
        return [f"an epoch is {steps} of {options.batch} × {about}{self.span} tokens"]

    def _full_batches(self) -> int:
        return len(self.tokens_of("train")) // (self.span * self.training_options.batch)

    def quote(self, batch: StreamBatch) -> str:
        return f"'{shorten(self.tokeniser.decode(batch.wanted[0].tolist()))}'"

    def facts(self) -> dict[str, Any]:
        return language_facts(self.tokeniser.size - len(self.model.never), self.model.context)

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of a text of `size` tokens."""
        return {"multiplications": self.model.multiplications(size)}


def _check_spans(network: LanguageNetwork, training: GradientLanguageTraining) -> None:
    """Refuse spans that a network cannot read."""
    if network.context is not None and training.span is not None and training.span > network.context:
        raise Fault(
            f"training.span is {training.span}, but model.context is {network.context}; a span cannot be longer."
        )
    if training.vary_span and not network.carries:
        raise Fault("training.vary_span is for networks that carry their state; this one reads each span from nothing.")
