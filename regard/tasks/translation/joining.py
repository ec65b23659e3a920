"""A translator whose decoder and CTC head write together, if it was trained with both.

    log p(k | l, x) = λ · log p_CTC(k | l, x) + (1 − λ) · log p_attention(k | l, x)

(Watanabe et al. 2017, equation 15, one pass), not normalised. With λ = 1 only the CTC head counts.
"""

from jaxtyping import Int
from torch import Tensor

from regard.base.faults import Fault
from regard.decoding.options import DecodingOptions
from regard.models.ctc.prefixes import empty_prefixes, extend, next_labels, with_end
from regard.protocols import State, Stepwise
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.covering import Covering
from regard.tasks.translation.task import Translation


def writer_for(task: Translation, options: DecodingOptions) -> Stepwise:
    """Return the translator as searches drive it, with coverage or its CTC head if the options ask for them."""
    writer = Covering(task) if options.coverage_penalty else task
    return Joining(writer, options.ctc) if options.ctc else writer


class Joining:
    """A stepwise translator whose rows also remember the paths of their prefix.

    `writer` is the translator itself, or one that tracks coverage.
    """

    def __init__(self, writer: Translation | Covering, weight: float) -> None:
        task = writer.task if isinstance(writer, Covering) else writer
        if getattr(task.model, "ctc_head", None) is None or not hasattr(task.model.options, "ctc"):
            raise Fault("This model has no CTC head next to its decoder (model.ctc); set ctc to 0.")
        self.writer, self.weight = writer, weight
        self.begin, self.end = writer.begin, writer.end

    def start(self, batch: PairBatch) -> State:
        state = self.writer.start(batch)
        return State(state.sentence, (state.row, empty_prefixes(state.sentence.frames[0])))

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Tensor, State]:
        row, prefixes = state.row
        log_probabilities, after = self.writer.step(tokens, State(state.sentence, row))
        (frames,) = state.sentence.frames
        frames = frames.repeat_interleave(len(tokens) // len(frames), 0)  # the rows of a beam share the encoding
        prefixes = extend(frames, prefixes, tokens.masked_fill(tokens == self.begin, frames.shape[-1] - 1))
        by_ctc = with_end(*next_labels(frames, prefixes), self.end).to(log_probabilities.dtype)
        return self.weight * by_ctc + (1 - self.weight) * log_probabilities, State(
            after.sentence, (after.row, prefixes)
        )

    def coverage(self, state: State) -> Tensor:
        """Return the writer's coverage, if it tracks any."""
        if not isinstance(self.writer, Covering):
            raise Fault("This model does not record its attention as it writes. Set coverage_penalty to 0.")
        return self.writer.coverage(State(state.sentence, state.row[0]))
