"""The task of text classification: batches of texts, a class as the answer, and attention to words."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.base.faults import Fault, TextFault
from regard.base.figures import quantity
from regard.base.progress import Progress, Remark
from regard.data.arrays import array_in
from regard.data.labelled.options import LabelledData
from regard.data.labelled.prepare import (
    LabelledTexts,
    OtherModels,
    PreparedExamples,
    TextLabels,
    check_texts_there,
    open_text_labels,
    open_tokeniser,
    prepare_labelled,
)
from regard.data.prepared import damaged
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.models.text.bag import NO_NGRAM, BagOptions, NgramTable, count_runs, ngram_keys
from regard.models.text.classifier import TextClassifier
from regard.models.text.pooling import ANSWER, SOURCE
from regard.models.text.texts import TextRows
from regard.protocols import Answer, Followed, Loss, Measure, TextVectors
from regard.tasks.base import Files, NetworkTask, network_class
from regard.tasks.classes import MEASURES_WITH_F1, answers_among, measures_with_f1, sums_with_f1
from regard.tasks.classification.batches import LabelledBatch, padded, text_batches, with_aspects
from regard.tasks.classification.contexts import (
    context_source,
    context_words,
    contexts_in,
    read_contexts,
    take_weights,
)
from regard.tasks.classification.options import ClassificationRecipe, reads_pairs
from regard.tasks.text import cut_words, inputs_of, text_vectors, with_marks, words_of
from regard.tasks.words.ready_vectors import open_vectors
from regard.viewing.sides import Side, Steps, Words

NGRAMS_FILE = "ngrams.npy"
_LARGEST_KEY = 2**63


def find_ngrams(texts: LabelledTexts, options: BagOptions, vocabulary: int, classes: int, pad: int) -> NgramTable:
    """Return the frequent n-grams of training texts, with the number of texts of each class that have them."""
    if (vocabulary + 1) ** options.ngrams >= _LARGEST_KEY:
        raise Fault(f"{vocabulary:,} tokens are too many for n-grams of {options.ngrams}; make model.ngrams smaller.")
    keys, labels = [], []
    for batch in text_batches(texts, pad, 100, None, 0):
        ngrams = ngram_keys(batch.texts, options.ngrams, vocabulary).sort(dim=1).values
        is_new = (count_runs(ngrams) > 0) & (ngrams != NO_NGRAM)
        keys.append(ngrams[is_new])
        labels.append(batch.labels[:, None].expand_as(ngrams)[is_new])
    every, number = torch.cat(keys).unique(return_inverse=True)
    counts = torch.zeros(len(every) * classes).index_add_(
        0, number * classes + torch.cat(labels), torch.ones(len(number))
    )
    by_class = counts.view(len(every), classes)
    is_frequent = by_class.sum(dim=1) >= options.at_least
    if not is_frequent.any():
        raise Fault(f"No n-gram is in {options.at_least} training texts; make model.at_least smaller.")
    return NgramTable(every[is_frequent], by_class[is_frequent], len(texts))


def ngrams_as_bytes(keys: Int[Tensor, " ngram"]) -> bytes:
    """Return the n-grams as the bytes of a file in the model folder."""
    buffer = io.BytesIO()
    np.save(buffer, keys.numpy(), allow_pickle=False)
    return buffer.getvalue()


def open_ngrams(files: Mapping[str, bytes]) -> Int[Tensor, " ngram"]:
    """Read the n-grams from the files of a model folder, which may be damaged."""
    try:
        keys = array_in(files[NGRAMS_FILE])
    except (KeyError, ValueError):
        keys = np.zeros(0)
    if keys.ndim != 1 or keys.dtype != np.int64 or not len(keys) or (np.diff(keys) <= 0).any():
        raise damaged(NGRAMS_FILE)
    return torch.from_numpy(keys)


_ASPECT = re.compile(r"\[([^\[\]]+)\]")
_UNKNOWN = 0  # the class of a text that people ask about; it is never used


class Classification(NetworkTask[PreparedExamples]):
    """A `Classifier` of texts, the names of its classes, and how it learns them."""

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES_WITH_F1
    unit: ClassVar[str] = "texts"
    measured_rows = 250

    def __init__(self, model: Any, tokeniser: Tokeniser, labels: TextLabels, recipe: ClassificationRecipe) -> None:
        super().__init__(model)
        self.tokeniser, self.labels = tokeniser, labels
        self.data: LabelledData = recipe.data
        self.training_options = recipe.training
        # True if the answer depends on the aspect.
        guides = getattr(recipe.model, "aspect", "ignored") != "ignored" or reads_pairs(recipe.model)
        self.is_about_aspects = self.data.asks_about_aspects and guides

    # Construction

    @classmethod
    def check(cls, recipe: ClassificationRecipe, device: torch.device, folder: Path | None) -> None:
        check_texts_there(recipe.data, folder)

    @classmethod
    def prepare(
        cls, recipe: ClassificationRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedExamples:
        extra: dict[str, bytes] = {}
        check = type(recipe).check_other
        others = OtherModels(vectors=partial(open_vectors, check))
        if (source := recipe.data.contexts) is not None:
            extra = contexts_in(start) if start else read_contexts(Path(source).expanduser())
            others = replace(others, words=lambda: context_words(extra, check))
        prepared = prepare_labelled(recipe.data, folder, progress, start, others)
        if not network_class(recipe).counts_ngrams:
            return replace(prepared, extra=extra)
        keys = open_ngrams(start) if start else _ngrams_of(prepared, recipe).keys
        return replace(prepared, extra={NGRAMS_FILE: ngrams_as_bytes(keys)})

    @classmethod
    def build(cls, recipe: ClassificationRecipe, files: Files) -> "Classification":
        tokeniser, labels = open_tokeniser(files, recipe.data), open_text_labels(files)
        network, classes = network_class(recipe), len(labels.classes)
        if network.counts_ngrams:
            return cls(network(recipe.model, tokeniser.size, open_ngrams(files), classes), tokeniser, labels, recipe)
        contexts = None
        if recipe.data.contexts is not None:
            contexts = context_source(files, tokeniser, type(recipe).check_other)
        vocabulary = replace(inputs_of(tokeniser), vector_width=labels.vector_width, contexts=contexts)
        return cls(TextClassifier(network(recipe.model, vocabulary), classes), tokeniser, labels, recipe)

    def begin_with(self, prepared: PreparedExamples, recipe: ClassificationRecipe) -> None:
        """Initialise weights from ready vectors and language models, and n-gram weights from the training texts."""
        if self.model.counts_ngrams:
            self.model.take_counts(_ngrams_of(prepared, recipe))
        if (inputs := self.model.inputs) is None:
            return
        if prepared.vectors is not None:
            inputs.take_vectors(*map(torch.from_numpy, prepared.vectors))
        if inputs.contexts is not None:
            take_weights(inputs.contexts.bilm, Path(str(recipe.data.contexts)).expanduser())

    def learn_from(self, prepared: PreparedExamples, recipe: ClassificationRecipe) -> None:
        for split, texts in prepared.splits.items():
            for length, second in np.unique(np.stack([texts.lengths, texts.aspect_lengths]), axis=1).T.tolist():
                if (most := self._most_tokens(second)) is not None and length > most:
                    raise Fault(
                        f"data.{split} has a text of {length:,} tokens, but this model reads {most:,} at most; with "
                        "model.too_long = 'ends' the middle of such a text is dropped."
                    )
        super().learn_from(prepared, recipe)

    def _most_tokens(self, second: int) -> int | None:
        """Return the most tokens of a text, given the length of a second text, which counts if the model reads
        pairs.
        """
        is_read = self.data.has_pairs or self.is_about_aspects
        return self.model.most_tokens(second if is_read else None)

    def outline(self, recipe: ClassificationRecipe) -> list[str]:
        return self._material.report if self._material else []

    # Training and evaluation

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[LabelledBatch]:
        for batch in super().batches(split, seed, epoch, start):
            yield self._fit(batch)

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[LabelledBatch]:
        chance = (seed, epoch) if split == "train" else None
        return text_batches(self.material.splits[split], self.tokeniser.pad, rows, chance, start)

    def _fit(self, batch: LabelledBatch) -> LabelledBatch:
        """Cut the texts of a batch to the length that the model reads."""
        return replace(batch, texts=self.model.fit(batch.texts))

    def loss(self, batch: LabelledBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return −Σ log p(y | x), plus the penalty on a bag of words' weights for each text."""
        nats = F.nll_loss(self.model.answer(batch.texts), batch.labels, reduction="sum")
        return Loss(nats + batch.rows * self.model.penalty(), batch.rows)

    @torch.no_grad()
    def measure(self, batch: LabelledBatch) -> dict[str, Measure]:
        return measures_with_f1(self.sums_of_rows(batch))

    @torch.no_grad()
    def sums_of_rows(self, batch: LabelledBatch) -> dict[str, Float[Tensor, "batch sum"]]:
        return sums_with_f1(self.model.answer(batch.texts), batch.labels)

    # For people

    def read(self, inputs: Sequence[str]) -> LabelledBatch:
        """Read texts as people write them; an aspect is in brackets, a second text follows a tab."""
        parts_of_texts = [self._parts_of(number, text) for number, text in enumerate(inputs)]
        tokens, seconds = (self.tokeniser.encode_all([parts[part] for parts in parts_of_texts]) for part in (0, 1))
        for number, (row, second) in enumerate(zip(tokens, seconds, strict=True)):
            if not row or (self.data.has_pairs and not second):
                raise TextFault(number, "there is no word in it.")
            most = min(filter(None, (self.data.longest, self._most_tokens(len(second)))))
            if len(row) > most:
                raise TextFault(number, f"it has {len(row):,} tokens, but the limit is {most:,}.")
        texts = TextRows(*padded(tokens, self.tokeniser.pad))
        if self.is_about_aspects or self.data.has_pairs:
            places = [len(row) for row in self.tokeniser.encode_all([before for _, _, before in parts_of_texts])]
            texts = with_aspects(texts, seconds, places, self.tokeniser.pad)
        unknown = torch.full((len(inputs),), _UNKNOWN)
        return self._fit(LabelledBatch(texts, unknown, [text for text, _, _ in parts_of_texts]).to(self.device))

    def _parts_of(self, number: int, text: str) -> tuple[str, str, str]:
        """Return a text without brackets, the text in them, and the text before them; or two texts separated by a
        tab.
        """
        if not isinstance(text, str):  # from Python
            raise TextFault(number, "it is no text.")
        if self.data.has_pairs:
            first, *others = text.split("\t")
            if len(others) != 1:
                raise TextFault(number, "it is not a pair: two texts with a tab between them are needed.")
            return first, others[0], ""
        if not self.data.asks_about_aspects:
            return text, "", ""
        aspects = _ASPECT.findall(text)
        if self.is_about_aspects and len(aspects) != 1:
            count = quantity(len(aspects), "aspect") if aspects else "no aspect"
            raise TextFault(number, f"it has {count} in brackets, expected one, as in: The [food] was good.")
        return _unmark(text), aspects[0] if aspects else "", text.partition("[")[0]

    def unfold(self, given: str) -> list[str]:
        """Return a text with several aspects in brackets once for each of them."""
        aspects = list(_ASPECT.finditer(given))
        if not self.is_about_aspects or len(aspects) < 2:
            return [given]
        return [_unmark(given[: aspect.start()]) + aspect[0] + _unmark(given[aspect.end() :]) for aspect in aspects]

    @torch.no_grad()
    def answers(self, batch: LabelledBatch) -> list[Answer]:
        return answers_among(self.labels.classes, self.model.answer(batch.texts))

    @torch.no_grad()
    def embed(self, batch: LabelledBatch) -> list[TextVectors]:
        """Return the vectors of the words of each text, from the layers below the classifier."""
        texts = [self._words(batch, row) for row in range(batch.rows)]
        return text_vectors(texts, self.model.layer_states(batch.texts))

    def _words(self, batch: LabelledBatch, row: int) -> Words:
        """Return the words of a text that people wrote."""
        tokens = batch.texts.tokens[row, : batch.texts.lengths[row]].tolist()
        return words_of(self.tokeniser, tokens, cut_words(self.data.tokeniser.kind, batch.inputs[row]))

    @torch.no_grad()
    def follow(self, text: str) -> Followed:
        """Read a text, and then each of its beginnings."""
        batch = self.read([text])
        answers = self.answers(batch)
        count = batch.texts.tokens.shape[1]
        rows = batch.texts.change(lambda tensor: tensor.expand(count, *tensor.shape[1:]))
        ends = torch.arange(1, count + 1, device=batch.texts.lengths.device)
        so_far = replace(batch, texts=rows._replace(lengths=ends), labels=batch.labels.expand(count))
        places = self.sides(batch, answers)[SOURCE]
        assert isinstance(places, Words)
        return Followed(places, self.answers(so_far))

    def sides(self, batch: LabelledBatch, outputs: Sequence[Answer]) -> dict[str, Side]:
        """Return the words of the text and the answer that attends to them, one for each aspect."""
        texts, (before, behind) = [self._words(batch, 0)], self.model.around
        if behind and batch.texts.aspects is not None:  # a framed aspect is read with the text
            texts.append(words_of(self.tokeniser, batch.texts.aspects[0].tolist()))
        return {SOURCE: with_marks(texts, before, behind), ANSWER: Steps(self._asked(batch, outputs))}

    def _asked(self, batch: LabelledBatch, outputs: Sequence[Answer]) -> list[str]:
        answers = [output.answer for output in outputs]
        if batch.texts.aspects is None or self.data.has_pairs:
            return answers
        aspects = map(self.tokeniser.decode, batch.texts.aspects.tolist())
        return [f"{aspect}: {answer}" for aspect, answer in zip(aspects, answers, strict=True)]

    def extents(self, batch: LabelledBatch) -> dict[str, Tensor]:
        """Return the number of real places: one for each answer, and the words of texts."""
        before, behind = self.model.around
        lengths, second = batch.texts.lengths, batch.texts.aspect_lengths
        places = lengths + len(before) + len(behind)
        if behind and second is not None:
            places = places + second + len(behind)
        return {SOURCE: places, ANSWER: torch.ones_like(lengths)}

    def quote(self, batch: LabelledBatch) -> str:
        text = self.tokeniser.decode(batch.texts.tokens[0].tolist())
        return f"'{text}', labelled '{self.labels.classes[int(batch.labels[0])]}'"

    def facts(self) -> dict[str, Any]:
        return {"classes": len(self.labels.classes), "vocabulary": self.tokeniser.size} | self.model.facts()


def _ngrams_of(prepared: PreparedExamples, recipe: ClassificationRecipe) -> NgramTable:
    tokeniser, classes = prepared.tokeniser, len(prepared.labels.classes)
    return find_ngrams(prepared.splits["train"], recipe.model, tokeniser.size, classes, tokeniser.pad)


def _unmark(text: str) -> str:
    """Return a text without the brackets around its aspects."""
    return _ASPECT.sub(r"\1", text)
