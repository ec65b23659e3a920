"""The linear chain of a tagger without torch, for one sentence; `regard.models.tagging.crf` has the formulas."""

from typing import NamedTuple

import numpy as np


class TagChain(NamedTuple):
    """Scores of neighbouring tags [before, after], of first tags and of last tags."""

    between: np.ndarray
    first: np.ndarray
    last: np.ndarray

    def best(self, emissions: np.ndarray) -> list[int]:
        """Return the most probable tags by Viterbi's algorithm, the first of equal ones."""
        alpha, origins = self.first + emissions[0], []
        for row in emissions[1:]:
            scores = alpha[:, None] + self.between
            origins.append(scores.argmax(axis=0))
            alpha = row + scores.max(axis=0)
        tags = [int((alpha + self.last).argmax())]
        for origin in reversed(origins):
            tags.append(int(origin[tags[-1]]))
        return tags[::-1]

    def probabilities(self, emissions: np.ndarray, tags: list[int]) -> tuple[list[float], float]:
        """Return the marginal probability of each of these tags, and that of all together."""
        forward, backward = [self.first + emissions[0]], [self.last]
        for row in emissions[1:]:
            forward.append(row + _log_sum(forward[-1][:, None] + self.between, axis=0))
        for row in emissions[:0:-1]:
            backward.append(_log_sum(self.between + (row + backward[-1])[None], axis=1))
        total = _log_sum(forward[-1] + self.last, axis=0)
        marginals = [
            float(np.exp(before[tag] + after[tag] - total))
            for before, after, tag in zip(forward, backward[::-1], tags, strict=True)
        ]
        score = emissions[range(len(tags)), tags].sum() + self.between[tags[:-1], tags[1:]].sum()
        return marginals, float(np.exp(score + self.first[tags[0]] + self.last[tags[-1]] - total))


def _log_sum(values: np.ndarray, axis: int) -> np.ndarray:
    highest = values.max(axis=axis, keepdims=True)
    summed: np.ndarray = np.log(np.exp(values - highest).sum(axis=axis)) + np.squeeze(highest, axis)
    return summed
