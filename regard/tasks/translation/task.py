"""Translation: pairs of sentences for batches, smoothed cross-entropy to minimise, text in and text out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor, nn

from regard.base.faults import Fault, TooLong
from regard.data.corpora.batching import Plan
from regard.data.corpora.cleaning import shortened
from regard.data.corpora.prepared import Prepared
from regard.data.corpora.resampling import PairCutter, SampledPairs, workers_beside_gpu
from regard.data.corpora.shards import Pairs
from regard.data.tokenisers.labels import is_spelled_word, labels
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.models.transformer.network import Transformer
from regard.models.transformer.packing import obstacle, serves
from regard.protocols import Loss, Measure, State, Tally, mean
from regard.tasks.translation.batches import PairBatch, Translator
from regard.tasks.translation.objectives import CrossEntropy, Objective, forced
from regard.tasks.translation.packs import PackedBatch, pack
from regard.viewing.sides import Side, Words

VALIDATION_ROWS = 64  # rows of a batch that is only measured


class Translation(nn.Module):
    """A translator: the network, the two tokenisers, and what its outputs mean."""

    unit = "tokens"  # that batches are counted in

    def __init__(
        self, model: Translator, source: Tokeniser, target: Tokeniser, objective: Objective | None = None
    ) -> None:
        super().__init__()
        self.model, self.source, self.target = model, source, target
        self.objective = objective or CrossEntropy()
        self.begin, self.end = target.begin, target.end
        self._corpus: tuple[Prepared, Plan] | None = None
        self._sampled: SampledPairs | None = None
        self._capacity = 0

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    # What the trainer and the evaluator ask for

    def learn_from(self, corpus: Prepared, batch_tokens: int, sampling: bool = False, fast: bool = True) -> None:
        """Take the batches from `corpus`, at most `batch_tokens` tokens of the longer side each.

        With `sampling` the text is cut into tokens anew in every epoch, else it is as the corpus was prepared. Where it
        can be done, and `fast` allows it, the batches are packed.
        """
        pairs, workers = corpus.train, workers_beside_gpu() if self.device.type == "cuda" else 0
        cutter = PairCutter(pairs, self.source, self.target, self.model.options.longest - 1)
        self._sampled = SampledPairs(cutter, workers) if sampling else None
        self._capacity = batch_tokens if fast else 0
        self._corpus = corpus, Plan(pairs.source_lengths, pairs.target_lengths, batch_tokens, pairs.corpora)

    @property
    def path(self) -> str:
        """Which path training takes on a GPU, and if it is the slower one, why; nothing where there is no choice."""
        if self.device.type != "cuda" or not isinstance(self.model, Transformer):
            return ""
        if not self._capacity:
            return "by the plain path, as training.fast or training.precision says"
        if serves(self.model, longest=1):
            return "on packed sentences, by fused kernels and captured passes"
        return f"by the plain path: {obstacle() or 'the kernels have other heads, positions or activations'}"

    @property
    def sampling_workers(self) -> int:
        """How many worker processes cut the text anew; none where this process does it itself, or nobody."""
        return self._sampled.workers if self._sampled else 0

    @property
    def plan(self) -> Plan:
        """How the training data is cut into batches."""
        return self._learning_from()[1]

    def _learning_from(self) -> tuple[Prepared, Plan]:
        if self._corpus is None:
            raise RuntimeError("a translation task has batches only once it learns from a corpus")
        return self._corpus

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[Any]:
        corpus, plan = self._learning_from()
        if split == "train":
            for sources, targets in self._token_rows(corpus.train, plan.batches(seed, epoch, start), seed, epoch):
                yield self._training_batch(sources, targets)
        else:
            pairs = {"valid": corpus.valid, "test": corpus.test}[split]
            for first in range(start * VALIDATION_ROWS, len(pairs), VALIDATION_ROWS):
                yield self.pair_up(pairs[first : first + VALIDATION_ROWS])

    def _token_rows(
        self, pairs: Pairs, batches: Iterable[np.ndarray], seed: int, epoch: int
    ) -> Iterator[tuple[list[np.ndarray], list[np.ndarray]]]:
        """The tokens of both sides for each batch of rows."""
        if self._sampled is not None:
            yield from self._sampled.batches(batches, seed, epoch)
        else:
            for rows in batches:
                pairs.check_lengths()
                yield [pairs.tokens("source", row) for row in rows], [pairs.tokens("target", row) for row in rows]

    def _training_batch(self, sources: list[np.ndarray], targets: list[np.ndarray]) -> PairBatch | PackedBatch:
        batch = self._host_batch(sources, targets)
        longest = max(batch.source.shape[1], batch.target.shape[1])
        packed = pack(batch, self._capacity, self.device) if serves(self.model, longest) else None
        return packed or batch.to(self.device)

    def pair_up(self, pairs: Sequence[tuple[str, str]]) -> PairBatch:
        """A batch of these sentences and their translations, without the spaces at their ends, as they are learnt."""
        sources = self.source.encode_all([source.strip() for source, _ in pairs])
        targets = self.target.encode_all([target.strip() for _, target in pairs])
        return self.token_batch([np.array(s) for s in sources], [np.array(t) for t in targets])

    def token_batch(self, sources: list[np.ndarray], targets: list[np.ndarray]) -> PairBatch:
        """A batch of these token rows, on the device of the model."""
        return self._host_batch(sources, targets).to(self.device)

    def _host_batch(self, sources: list[np.ndarray], targets: list[np.ndarray]) -> PairBatch:
        source, source_lengths = _padded(sources, self.source.pad, last=self.source.end)
        target, target_lengths = _padded(targets, self.target.pad, last=self.end)
        return PairBatch.of(source, source_lengths, target, target_lengths, self.begin)

    def loss(self, batch: PairBatch | PackedBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        return self.objective(self.model, batch, carry)

    @torch.no_grad()
    def measure(self, batch: PairBatch) -> dict[str, Measure]:
        logits, wanted = self._forced(batch)
        nats = float(F.cross_entropy(logits, wanted, reduction="sum"))
        right, count = float((logits.argmax(-1) == wanted).sum()), float(batch.tokens)
        return {
            "loss": Measure(Tally((nats, count), mean), "lower"),
            "perplexity": Measure(Tally((nats, count), _perplexity), "lower", "per token, end counted"),
            "accuracy": Measure(Tally((right, count), mean), "higher"),
        }

    def _forced(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """The logits of the real target tokens, each given the true ones before it, and those tokens."""
        found = forced(self.model, batch)
        return self.model.logits(found.states), found.wanted

    # What the searches ask for

    def start(self, batch: PairBatch) -> State:
        memory = self.model.read(batch.source, batch.source_lengths)
        return State(sentence=memory, row=self.model.begin(memory))

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Tensor, State]:
        states, past = self.model.write(tokens[:, None], state.sentence, state.row)
        return self.model.logits(states[:, 0]).float().log_softmax(-1), State(state.sentence, past)

    # What people see

    def force_batch(self, inputs: Sequence[str], outputs: Sequence[Sequence[int]]) -> PairBatch:
        """A batch in which these tokens, and no others, are written."""
        sources = self.source.encode_all([text.strip() for text in inputs])
        return self.token_batch([np.array(s) for s in sources], [np.array(tokens) for tokens in outputs])

    def forced_distributions(self, batch: PairBatch) -> list[Tensor]:
        """For each row the log-probabilities (place, token) from which its target, end included, is written."""
        logits, _ = self._forced(batch)
        rows = batch.places // batch.target.shape[1]
        return list(logits.log_softmax(-1).split(torch.bincount(rows, minlength=batch.rows).tolist()))

    def forced_scores(self, batch: PairBatch) -> Tensor:
        """The log-probability of each target in the batch, its end counted."""
        return torch.stack([own.sum() for own in self.forced_token_scores(batch)])

    def forced_token_scores(self, batch: PairBatch) -> list[Tensor]:
        """For each row the log-probabilities of its target's tokens, that of the end last."""
        logits, wanted = self._forced(batch)
        own = logits.log_softmax(-1).gather(1, wanted[:, None]).squeeze(1)
        rows = batch.places // batch.target.shape[1]
        return list(own.split(torch.bincount(rows, minlength=batch.rows).tolist()))

    def read(self, inputs: Sequence[str]) -> PairBatch:
        """The sentences as a batch with empty targets."""
        return self.read_tokens(self.source.encode_all([text.strip() for text in inputs]))

    def read_tokens(self, rows: Sequence[Sequence[int]]) -> PairBatch:
        """The same of sentences that are cut into tokens already."""
        return self.token_batch([np.array(row) for row in rows], [np.array([])] * len(rows))

    def write(self, tokens: Sequence[int]) -> str:
        return self.target.decode(tokens)

    def source_tokens(self, text: str, number: int) -> list[int]:
        """The tokens of a sentence; one longer than the model was made for is refused by its number."""
        tokens, longest = self.source.encode(text.strip()), self.model.options.longest
        if len(tokens) + 1 > longest:
            raise TooLong(
                number, f"{text[:40]!r}… has {len(tokens) + 1} tokens, but the model takes {longest} at most; split it."
            )
        return tokens

    def check_length(self, text: str, number: int) -> int:
        """How many tokens a sentence has with its end, if they are not too many."""
        return len(self.source_tokens(text, number)) + 1

    def check_target(self, text: str, number: int) -> int:
        """The same of a translation that is to be forced."""
        length, longest = len(self.target.encode(text)) + 1, self.model.options.longest
        if length > longest:
            raise TooLong(number, f"its translation has {length} tokens, but the model takes {longest} at most.")
        return length

    def target_tokens(self, text: str, what: str) -> list[int]:
        """The tokens of what an output is asked to have; `what` it is called if it cannot be written."""
        tokens, longest = self.target.encode(text), self.model.options.longest
        if self.target.unknown in tokens:
            unknown = next((word for word in text.split() if self.target.unknown in self.target.encode(word)), text)
            raise Fault(
                f"The {what} has {unknown!r}, for which this model has no tokens; give one that it could write."
            )
        if len(tokens) + 1 > longest:
            raise Fault(f"The {what} has {len(tokens)} tokens, but an output has {longest - 1} at most; shorten it.")
        return tokens

    def quote(self, batch: PairBatch | PackedBatch) -> str:
        pairs = batch.pairs if isinstance(batch, PackedBatch) else batch
        source = self.source.decode(pairs.source[0, : int(pairs.source_lengths[0]) - 1].tolist())
        target = self.target.decode(pairs.target[0, : int(pairs.target_lengths[0]) - 1].tolist())
        return f"'{shortened(source)}' | '{shortened(target)}'"

    def sides(self, batch: PairBatch, outputs: Sequence[Sequence[int]]) -> dict[str, Side]:
        (written,) = outputs
        source = batch.source[0, : int(batch.source_lengths[0])].tolist()
        # Within the target a place is named by the token that it reads, not by the one that it writes.
        as_read = _words(self.target, [self.begin, *written])
        return {
            "source": _words(self.source, source),
            "target": replace(_words(self.target, [*written, self.end]), as_read=as_read),
        }


def _words(tokeniser: Tokeniser, tokens: Sequence[int]) -> Words:
    """Tokens as one side of an attention; a single word that is spelled is shown by its letters."""
    joined = labels(tokeniser, tokens, by_word=not is_spelled_word(tokeniser, tokens))
    return Words(tokeniser.pieces(tokens), joined.texts, joined.places)


def _padded(rows: list[np.ndarray], pad: int, last: int) -> tuple[Tensor, Tensor]:
    """Rows of different lengths as one tensor, each closed by `last` and filled up with `pad`."""
    lengths = torch.tensor([len(row) + 1 for row in rows])
    table = np.full((len(rows), int(lengths.max())), pad, dtype=np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
        line[len(row)] = last
    return torch.from_numpy(table), lengths


def _perplexity(nats: float, tokens: float) -> float:
    return float(np.exp(min(mean(nats, tokens), 100.0)))
