"""Drafts for language models: what proposes the next tokens of a text, which the model then checks in one pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from regard.base.faults import Fault, faults_numbered
from regard.decoding.drafts import Lookup, model_draft
from regard.decoding.options import DecodingOptions, SamplingOptions, refuse_speculation
from regard.decoding.output import Hypothesis
from regard.decoding.picking import drawn_alike
from regard.decoding.speculation import Counts, Draft, Heard, Speculates, speculate
from regard.loading import Loaded, load_as
from regard.protocols import Stepwise
from regard.tasks.language.batches import Prompts
from regard.tasks.language.speculating import SpeculatingLanguage, speculation_obstacle
from regard.verbs.generate.request import LOOKUP, GenerateRequest


@dataclass(frozen=True)
class Drafting:
    """The model as speculation drives it, and the model that drafts; None looks up what was read and written."""

    writer: SpeculatingLanguage
    student: Stepwise | None
    counts: Counts

    def search(
        self,
        writer: Speculates,
        batch: Prompts,
        limits: Tensor,
        options: DecodingOptions,
        numbers: Sequence[int] | None,
        heard: Heard | None = None,
    ) -> list[list[Hypothesis]]:
        """Return the texts for each prompt, written one after another; with `numbers`, samples by them.

        `writer` is this one, or one that continues past ends.
        """
        refuse_speculation(options, numbers is not None)
        results = []
        for place, tokens in enumerate(batch.tokens):
            row, limit = Prompts([tokens], batch.forgets), limits[place : place + 1]
            copies = range(options.sampling.samples)
            keys = [None] if numbers is None else [(numbers[place], copy) for copy in copies]
            ask = partial(speculate, writer, row, limit, options, must_end=False, heard=heard, counts=self.counts)
            with faults_numbered([place]):
                found = [ask(partial(self._open, row, options.sampling, key), sample=key) for key in keys]
            results.append([hypothesis for hypotheses in found for hypothesis in hypotheses])
        return results

    def _open(self, row: Prompts, sampling: SamplingOptions, key: tuple[int, int] | None) -> Draft:
        if self.student is None:
            return Lookup(row.tokens[0])
        choose = None if key is None else drawn_alike(sampling, key)
        return model_draft(self.student, row, row.tokens[0], self.writer.task.device, choose)


def drafting_for(model: Loaded, request: GenerateRequest) -> Drafting | None:
    """Return how drafts are made for a request, if it asks for one."""
    draft: Any = request.draft
    if draft is None:
        return None
    if obstacle := speculation_obstacle(model.task):
        raise Fault(f"A draft cannot be used, because {obstacle}; omit it.")
    if draft == "source":
        raise Fault("The draft 'source' copies what a translator reads; give a language model 'lookup', or a model.")
    refuse_coarse(model.task.parameters())
    student = None if draft == LOOKUP else _student(model, draft)
    return Drafting(SpeculatingLanguage(model.task), student, Counts())


def refuse_coarse(weights: Any) -> None:
    """Refuse weights so coarse that a pass over several tokens and single steps could choose different tokens."""
    if any(torch.finfo(weight.dtype).bits < 32 for weight in weights):
        raise Fault(
            "A draft needs float32: in bf16 a pass over several tokens rounds too differently from single steps."
        )


def _student(model: Loaded, draft: Any) -> Any:
    """Return the task of the model that drafts; refuse models of other tokens."""
    drafter = load_as(Loaded, draft, "auto", "float32", "generate") if isinstance(draft, str) else draft.content
    if "generate" not in drafter.verbs:
        raise Fault("A draft for a language model needs another language model; this one gives something else.")
    ours, theirs = model.task.tokeniser, drafter.task.tokeniser
    if ours.files("tokeniser") != theirs.files("tokeniser"):
        raise Fault(
            f"The model has {ours.size:,} tokens and its draft {theirs.size:,}, which are not the same ones; train a "
            "draft with data.tokeniser.from set to the model's folder."
        )
    return drafter.task
