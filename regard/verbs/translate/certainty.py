"""Certainty of a translator's outputs, and when it is called unsure.

The certainty of an output is the mean log-probability of its tokens, its end counted: 0 is certain, less is less so.
A translator is unsure of an output that is less certain than all but the least certain twentieth of what it wrote for
its own validation data. So of texts like those it learnt from about one in twenty is marked, whatever the model and
however long the texts are, and of texts unlike them more. It is no judge of a translation: what is wrong with certainty
is not marked. `benchmarks/certainty.py` counts.

Nothing here needs torch, so that a fast engine can answer without loading it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.base.faults import Fault
from regard.base.model_folder import CERTAINTY
from regard.engines.translated import Translated

PERCENTILE = 5
FEWEST = 20  # outputs, below which the least certain twentieth is not one of them


class Certainty(BaseModel):
    """Usual certainty of a translator: outputs below the threshold are those it is unsure of."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    measure: Literal["mean token log-probability"] = "mean token log-probability"
    threshold: float = Field(le=0, allow_inf_nan=False)
    percentile: int = Field(PERCENTILE, ge=1, le=99)  # of validation outputs that lie below the threshold
    outputs: int = Field(ge=FEWEST)  # that it was found on

    def to_bytes(self) -> bytes:
        return self.model_dump_json(indent=1).encode()

    def mark(self, outputs: Iterable[Translated]) -> list[Translated]:
        """Mark each output that the translator is unsure of; one without scores is not marked."""
        return [
            replace(each, unsure=certainty_of(each.token_scores) < self.threshold) if each.token_scores else each
            for each in outputs
        ]


def certainty_of(token_scores: Sequence[float]) -> float:
    """Return the certainty of an output with these log-probabilities."""
    import numpy as np  # a tenth of a second, which a command that only reads a threshold need not wait

    return float(np.mean(token_scores))


def find_certainty(outputs: Iterable[Translated]) -> Certainty | None:
    """Find the usual certainty from outputs for validation texts; None if these are too few."""
    import numpy as np

    found = [certainty_of(each.token_scores) for each in outputs if each.token_scores]
    if len(found) < FEWEST or not np.isfinite(found).all():
        return None
    return Certainty(threshold=round(float(np.percentile(found, PERCENTILE)), 4), outputs=len(found))


def certainty_in(files: Mapping[str, bytes], folder: object) -> Certainty | None:
    """Read the certainty from the files of a model folder; an older one has none."""
    if CERTAINTY not in files:
        return None
    try:
        return Certainty.model_validate_json(files[CERTAINTY])
    except ValidationError:
        raise Fault(f"{folder}/{CERTAINTY} is damaged: it does not say how sure the model is as a rule.") from None
