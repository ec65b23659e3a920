"""Drafts for translators: what proposes the next tokens of an output, which the translator then checks in one pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from torch import Tensor

from regard.base.faults import Fault, faults_numbered
from regard.decoding.drafts import Choose, Copy, Lookup, Student, model_draft
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.picking import drawn_alike
from regard.decoding.speculation import Counts, Draft, speculate
from regard.tasks.language.batches import Prompts
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.speculating import SpeculatingTranslator, speculation_obstacle
from regard.tasks.translation.task import Translation
from regard.verbs.generate.drafting import refuse_coarse
from regard.verbs.translate.fusion import refuse_other_tokens
from regard.verbs.translate.plan import Piece

if TYPE_CHECKING:
    from regard.loading import Loaded

# Opens the draft for a sentence, given it, its tokens, and how a model chooses if outputs are sampled.
Open = Callable[[Piece, PairBatch, Choose | None], Draft]


@dataclass(frozen=True)
class Drafting:
    """A translator, the options of its search, and how a draft is opened for each sentence."""

    task: Translation
    options: DecodingOptions
    open: Open
    counts: Counts

    def search(
        self, pieces: Sequence[Piece], batch: PairBatch, limits: Tensor, demands: Demands, draws: bool
    ) -> list[list[Hypothesis]]:
        """Return the outputs for each piece of a batch, found one after another."""
        outputs = []
        for number, row in enumerate(batch.split(batch.rows)):
            wanted = replace(demands, prefixes=demands.prefixes[number : number + 1])
            with faults_numbered([number]):
                outputs.append(self._one(pieces[number], row, limits[number : number + 1], wanted, draws))
        return outputs

    def _one(self, piece: Piece, row: PairBatch, limits: Tensor, demands: Demands, draws: bool) -> list[Hypothesis]:
        keys = [(piece.key, copy) for copy in range(self.options.sampling.samples)] if draws else [None]
        found = (
            speculate(
                SpeculatingTranslator(self.task),
                row,
                limits,
                self.options,
                partial(self.open, piece, row, key and drawn_alike(self.options.sampling, key)),
                demands,
                sample=key,
                counts=self.counts,
            )
            for key in keys
        )
        return [hypothesis for hypotheses in found for hypothesis in hypotheses]


def drafting_of(
    translator: "Loaded", drafter: "Loaded | str", options: DecodingOptions, called: str = "the draft"
) -> Drafting:
    """Return how drafts are made for a translator: by a loaded model, or by `lookup` or `source`.

    `called` is the name of the model in messages.
    """
    task = translator.task
    if obstacle := speculation_obstacle(task, options):
        raise Fault(f"A draft cannot be used, because {obstacle}; omit it.")
    refuse_coarse(task.parameters())
    return Drafting(task, options, _open_by(translator, drafter, called), Counts())


def _open_by(translator: "Loaded", drafter: "Loaded | str", called: str) -> Open:
    task = translator.task
    if drafter == "source":
        return lambda piece, row, choose: Copy(task.target.encode(piece.text.strip()))
    if isinstance(drafter, str):
        shared = task.source.files("tokeniser") == task.target.files("tokeniser")
        return lambda piece, row, choose: Lookup(row.source[0, :-1].tolist() if shared else [])
    student = drafter.task
    if "translate" not in drafter.verbs:
        refuse_other_tokens(translator, drafter, called)
        return lambda piece, row, choose: model_draft(student, Prompts([[]]), [], task.device, choose)
    if any(getattr(task, side).files("t") != getattr(student, side).files("t") for side in ("source", "target")):
        raise Fault(f"{called} and the translator have different tokens; a draft needs a model of the same tokens.")
    if student.known is not None:
        raise Fault(f"{called} copies words of the source, so it cannot draft for this translator.")
    return lambda piece, row, choose: Student(student, row, task.device, choose)
