"""Certainty of a translator's outputs, and when an output counts as unsure.

The certainty of an output is the mean log-probability of its tokens, including the end: 0 is certain, lower is less
sure. An output is unsure if its certainty is below that of 95% of the model's own validation outputs. So about one in
twenty outputs is marked for texts like the training data, whatever the model and the length, and more for other texts.
This does not judge translations: a wrong output of high certainty is not marked. `benchmarks/certainty.py` counts.

Nothing here needs torch, so a fast engine can answer without loading it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.base.faults import Fault
from regard.base.model_folder import CERTAINTY
from regard.engines.translated import Translated

PERCENTILE = 5
FEWEST = 20  # outputs; with fewer, a twentieth is less than one of them


class Certainty(BaseModel):
    """The usual certainty of a translator; it is unsure of outputs below the threshold."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    measure: Literal["mean token log-probability"] = "mean token log-probability"
    threshold: float = Field(le=0, allow_inf_nan=False)
    percentile: int = Field(PERCENTILE, ge=1, le=99)  # share of validation outputs below the threshold
    outputs: int = Field(ge=FEWEST)  # number of validation outputs

    def to_bytes(self) -> bytes:
        return self.model_dump_json(indent=1).encode()

    def mark(self, outputs: Iterable[Translated]) -> list[Translated]:
        """Mark each output that the translator is unsure of; one without scores is not marked."""
        return [
            replace(output, unsure=certainty_of(output.token_scores) < self.threshold)
            if output.token_scores
            else output
            for output in outputs
        ]


def certainty_of(token_scores: Sequence[float]) -> float:
    """Return the certainty of an output with these log-probabilities."""
    import numpy as np  # takes a tenth of a second, which commands that only read a threshold need not wait

    return float(np.mean(token_scores))


def find_certainty(outputs: Iterable[Translated]) -> Certainty | None:
    """Return the usual certainty of validation outputs; None if there are too few."""
    import numpy as np

    certainties = [certainty_of(output.token_scores) for output in outputs if output.token_scores]
    if len(certainties) < FEWEST or not np.isfinite(certainties).all():
        return None
    return Certainty(threshold=round(float(np.percentile(certainties, PERCENTILE)), 4), outputs=len(certainties))


def certainty_in(files: Mapping[str, bytes], folder: object) -> Certainty | None:
    """Read the certainty from the files of a model folder; older folders have none."""
    if CERTAINTY not in files:
        return None
    try:
        return Certainty.model_validate_json(files[CERTAINTY])
    except ValidationError:
        raise Fault(f"{folder}/{CERTAINTY} is damaged: it does not give the model's usual certainty.") from None
