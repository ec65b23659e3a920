"""Translation by sums over alignments: what follows a prefix sums over all its alignments to the source."""

from jaxtyping import Float, Int
from torch import Tensor

from regard.models.ctc.prefixes import with_end
from regard.protocols import State
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.task import Translation


class AlignedTranslation(Translation):
    """A translator whose network gives log-probabilities of all tokens, followed by that of the end."""

    def forced_log_probabilities(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        state = self.start(batch)
        log_probabilities, _ = self._write(batch.inputs, state)
        return log_probabilities.flatten(0, 1)[batch.places], batch.target.flatten()[batch.places]

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Tensor, State]:
        log_probabilities, after = self._write(tokens[:, None], state)
        return log_probabilities[:, 0].float(), after

    def _write(self, tokens: Int[Tensor, "row time"], state: State) -> tuple[Float[Tensor, "row time token"], State]:
        """Return the log-probabilities of what follows each token, and the state after the last."""
        labels = tokens.masked_fill(tokens == self.begin, self.model.blank)
        following, past = self.model.write(labels, state.sentence, state.row)
        return with_end(following[..., :-1], following[..., -1], self.end), State(state.sentence, past)
