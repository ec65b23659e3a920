"""The task of masked tokens: batches of text spans, tokens for masks as the answer, and attention to words."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.base.faults import Fault, TextFault
from regard.base.figures import shorten
from regard.base.progress import Progress, Remark
from regard.data.texts.prepare import PreparedText, check_files_of, check_validation_text, prepare_text
from regard.data.tokenisers.tokeniser import tokenisers_in
from regard.data.tokenisers.wordpiece import MASK, WordPieceTokeniser
from regard.models.bert.network import MaskedBert
from regard.models.shapes import ShapesOnly
from regard.models.text.texts import InputTokens
from regard.protocols import Answer, Loss, Measure, StepCost, Tally, TextVectors, mean
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.classification.batches import padded
from regard.tasks.language.measures import perplexity
from regard.tasks.masked.batches import MaskedBatch, MaskedRows, Spans, ordered_batches, shuffled_batches
from regard.tasks.masked.masking import NOTHING, Vocabulary
from regard.tasks.masked.options import MaskedRecipe
from regard.tasks.masked.ways import SHOWN, best_ways
from regard.tasks.text import inputs_of, text_vectors, words_of
from regard.viewing.sides import Side

MEASURES = ("loss", "perplexity", "accuracy")
Sums = Float[Tensor, "row sum"]


def sums_of_rows(
    logits: Float[Tensor, "row masked token"], targets: Int[Tensor, "row masked"]
) -> dict[str, Float[Tensor, "row sum"]]:
    """Return each row's contribution to the sums of each metric."""
    is_hidden = targets != NOTHING
    nats = F.cross_entropy(logits.mT, targets, reduction="none", ignore_index=NOTHING).double().sum(dim=1)
    right = ((logits.argmax(dim=-1) == targets) & is_hidden).sum(dim=1).double()
    count = is_hidden.sum(dim=1).double()
    of_loss, of_right = torch.stack([nats, count], dim=1), torch.stack([right, count], dim=1)
    return {"loss": of_loss, "perplexity": of_loss, "accuracy": of_right}


def measures_from_rows(sums: dict[str, Sums], how: str) -> dict[str, Measure]:
    """Return the measures from the sums of rows; `how` says in the signatures how tokens were hidden."""
    totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in sums.items()}
    return {
        "loss": Measure(Tally(totals["loss"], mean), "lower", f"nats per hidden token; {how}"),
        "perplexity": Measure(Tally(totals["perplexity"], perplexity), "lower", f"per hidden token; {how}"),
        "accuracy": Measure(Tally(totals["accuracy"], mean), "higher", f"of hidden tokens; {how}|range:0-1"),
    }


SOURCE = "source"  # the side that attends to itself
_MEASURED_KEY = (0, 0)  # seed of masks for measuring: the same in every run


class MaskedTokens(NetworkTask[dict[str, Spans]]):
    """A network that fills masks, its tokeniser, and how it learns."""

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES
    unit: ClassVar[str] = "masked tokens"

    def __init__(self, model: MaskedBert, tokeniser: WordPieceTokeniser, recipe: MaskedRecipe) -> None:
        super().__init__(model)
        self.tokeniser, self.training_options = tokeniser, recipe.training
        every = range(tokeniser.size)
        marks = (tokeniser.pad, tokeniser.begin, tokeniser.end, tokeniser.mask, tokeniser.unknown)
        self.vocabulary = Vocabulary(
            np.array([tokeniser.goes_on(token) for token in every]),
            np.isin(np.array(every), marks),
            tokeniser.mask,
        )

    # Construction

    @classmethod
    def check(cls, recipe: MaskedRecipe, device: torch.device, folder: Path | None) -> None:
        check_validation_text(recipe.data)
        check_files_of(recipe.data, folder)
        check_size(recipe, InputTokens(size=5, pad=0, unknown=1))

    @classmethod
    def step_cost(cls, recipe: MaskedRecipe) -> StepCost:
        training, inputs = recipe.training, InputTokens(recipe.data.tokeniser.full().most_tokens, pad=0, unknown=1)
        with ShapesOnly():
            network = MaskedBert(build_network(recipe, inputs))
        reading = network.reader.multiplications(training.span)
        filling = network.multiplications(training.span) - reading  # one mask
        work = reading / training.span + training.masking.share * filling
        return StepCost(training.accumulate * training.batch * training.span, work)

    @classmethod
    def prepare(
        cls, recipe: MaskedRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedText:
        tokeniser = _tokeniser_of(recipe, start) if start else None
        return prepare_text(recipe.data, folder, progress, remark, tokeniser)

    @classmethod
    def build(cls, recipe: MaskedRecipe, files: Files) -> "MaskedTokens":
        tokeniser = _tokeniser_of(recipe, files)
        return cls(MaskedBert(build_network(recipe, inputs_of(tokeniser))), tokeniser, recipe)

    def learn_from(self, prepared: PreparedText, recipe: MaskedRecipe) -> None:
        marks = self.tokeniser.begin, self.tokeniser.pad
        self._material = {
            split: Spans(tokens, recipe.training.span, *marks) for split, tokens in prepared.splits.items()
        }

    # Training and evaluation

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[MaskedBatch]:
        if split not in self.material:
            return
        spans, options, is_learnt = self.material[split], self.training_options, split == "train"
        key = (seed, epoch) if is_learnt else _MEASURED_KEY
        if is_learnt:
            numbers = shuffled_batches(spans, options.batch, seed, epoch, start)
        else:
            numbers = ordered_batches(spans, start)
        for group in numbers:
            yield spans.batch(group, key, self.vocabulary, options.masking).to(self.device)

    def loss(self, batch: MaskedBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return −Σ log p(hidden tokens | tokens read)."""
        logits, targets = self._logits(batch).flatten(0, 1), batch.tensors.wanted.flatten()
        total = F.cross_entropy(logits.float(), targets, reduction="sum", ignore_index=NOTHING)
        count = (targets != NOTHING).sum()
        right = (logits.detach().argmax(dim=-1) == targets).sum()
        tallies = {"perplexity": Tally((total.detach(), count), perplexity), "accuracy": Tally((right, count), mean)}
        return Loss(total, batch.count, tallies)

    @torch.no_grad()
    def measure(self, batch: MaskedBatch) -> dict[str, Measure]:
        masking = self.training_options.masking
        how = f"{masking.share:.0%} of all{', whole words' if masking.whole_words else ''}"
        return measures_from_rows(self.sums_of_rows(batch), how)

    @torch.no_grad()
    def sums_of_rows(self, batch: MaskedBatch) -> dict[str, Float[Tensor, "row sum"]]:
        return sums_of_rows(self._logits(batch), batch.tensors.wanted)

    def _logits(self, batch: MaskedBatch) -> Float[Tensor, "row masked token"]:
        """Return the scores of all tokens at the masked places."""
        tokens, places, _ = batch.tensors
        states = self.model.reader.read(tokens, batch.lengths)[-1]
        chosen = states.gather(1, places[..., None].expand(-1, -1, states.shape[2]))
        return self.model.logits(chosen)

    # For people

    def read(self, inputs: Sequence[str]) -> MaskedBatch:
        """Read texts as people write them and ask for their masks, if any; an empty text has only its marks."""
        rows = self.tokeniser.encode_all(list(inputs))
        most = self.model.reader.most_tokens()
        for number, row in enumerate(rows):
            if most is not None and len(row) > most:
                raise TextFault(number, f"it has {len(row):,} tokens, but this model reads {most:,} at most; split it.")
        begin, end, pad = self.tokeniser.begin, self.tokeniser.end, self.tokeniser.pad
        tokens, lengths = padded([[begin, *row, end] for row in rows], pad)
        masks = [(row == self.tokeniser.mask).nonzero().flatten().tolist() for row in tokens]
        places, _ = padded([places_of_text or [0] for places_of_text in masks], 0)
        is_mask = (
            torch.arange(places.shape[1]) < torch.tensor([len(places_of_text) for places_of_text in masks])[:, None]
        )
        # The token at a mask is unknown: any number but NOTHING asks for it.
        targets = torch.where(is_mask, self.tokeniser.mask, NOTHING)
        return MaskedBatch(MaskedRows(tokens, places, targets), int(is_mask.sum()), lengths).to(self.device)

    def asks(self, batch: MaskedBatch) -> bool:
        """Return True if the batch has masks."""
        return batch.count > 0

    @torch.no_grad()
    def answers(self, batch: MaskedBatch) -> list[Answer]:
        """Return the most probable tokens for the masks of each text, each mask by itself, and other ways to fill
        them.
        """
        probabilities = self._logits(batch).float().softmax(dim=-1)
        every = probabilities.topk(min(SHOWN, probabilities.shape[-1]), dim=-1)
        counts = (batch.tensors.wanted != NOTHING).sum(dim=1).tolist()
        results = []
        for number, (count, likely, tokens) in enumerate(zip(counts, every.values, every.indices, strict=True)):
            if not count:
                raise TextFault(number, f"there is no {MASK} in it to fill.")
            names = [self.tokeniser.pieces(row) for row in tokens[:count].tolist()]
            ways = best_ways(names, likely[:count].tolist())
            best = next(iter(ways))
            results.append(Answer(best, ways[best], ways))
        return results

    @torch.no_grad()
    def embed(self, batch: MaskedBatch) -> list[TextVectors]:
        """Return the vectors of each text's tokens in all layers, without the marks around it."""
        layers = [states[:, 1:] for states in self.model.reader.read(batch.tensors.tokens, batch.lengths)]
        rows = zip(batch.tensors.tokens.tolist(), self._lengths(batch).tolist(), strict=True)
        return text_vectors([words_of(self.tokeniser, row[1 : length - 1]) for row, length in rows], layers)

    def sides(self, batch: MaskedBatch, outputs: Sequence[Answer]) -> dict[str, Side]:
        tokens = batch.tensors.tokens[0, : self._lengths(batch)[0]].tolist()
        return {SOURCE: words_of(self.tokeniser, tokens)}

    def extents(self, batch: MaskedBatch) -> dict[str, Tensor]:
        return {SOURCE: self._lengths(batch)}

    def _lengths(self, batch: MaskedBatch) -> Int[Tensor, " row"]:
        tokens = batch.tensors.tokens
        return torch.full((len(tokens),), tokens.shape[1]) if batch.lengths is None else batch.lengths

    # For people

    def outline(self, recipe: MaskedRecipe) -> list[str]:
        if not self._material:
            return []
        options, spans = self.training_options, self._material["train"]
        steps = -(-(spans.whole or len(spans)) // options.batch) / options.accumulate
        size = f"{options.batch} × {options.span} tokens"
        return [f"{self.tokeniser.size:,} tokens in the vocabulary", f"an epoch is {steps:,.0f} steps of {size}"]

    def quote(self, batch: MaskedBatch) -> str:
        return f"'{shorten(self.tokeniser.decode(batch.tensors.tokens[0].tolist()))}'"

    def facts(self) -> dict[str, Any]:
        options = self.model.reader.options
        return {"vocabulary": self.tokeniser.size, "layers": options.layers, "longest": options.longest}


def _tokeniser_of(recipe: MaskedRecipe, files: Files) -> WordPieceTokeniser:
    tokeniser = tokenisers_in(files, recipe.data.tokeniser.full())[0]
    if not isinstance(tokeniser, WordPieceTokeniser):
        raise Fault(f"The tokeniser is of kind {recipe.data.tokeniser.kind} and has no {MASK}.")
    return tokeniser
