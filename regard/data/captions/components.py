"""Principal components that reduce picture features, so that a new picture is reduced in the same way."""

from dataclasses import dataclass

import numpy as np

from regard.base.faults import Fault
from regard.data.arrays import arrays_in

LARGEST = 127  # largest absolute value in eight bits


@dataclass(frozen=True)
class Components:
    """Mean (channel) of all features, directions (channel, width) they are projected on, and rounding step."""

    mean: np.ndarray
    directions: np.ndarray
    step: float

    def reduce(self, features: np.ndarray) -> np.ndarray:
        """Project features (…, channel) to (…, width), rounded in the same steps as features stored in eight bits."""
        if features.shape[-1] != len(self.mean):
            raise Fault(
                f"The components of this model reduce {len(self.mean):,} numbers per place, but there are "
                f"{features.shape[-1]:,}."
            )
        reduced = (features - self.mean) @ self.directions
        return np.clip(np.rint(reduced / self.step), -LARGEST, LARGEST).astype(np.float32) * np.float32(self.step)


def open_components(content: bytes, name: str) -> Components:
    """Read the components in an untrusted .npz file; nothing pickled is loaded."""
    try:
        arrays = arrays_in(content, "mean", "proj", "step")
        mean, directions = arrays["mean"].astype(np.float32), arrays["proj"].astype(np.float32)
        step = float(arrays["step"])
    except (ValueError, TypeError):
        raise Fault(f"{name} is not an .npz file with the arrays 'mean', 'proj' and 'step' in it.") from None
    if mean.ndim != 1 or directions.ndim != 2 or len(mean) != len(directions) or not directions.size:
        raise Fault(f"{name} holds a mean {mean.shape} and directions {directions.shape} that do not fit each other.")
    if not (np.isfinite(mean).all() and np.isfinite(directions).all() and np.isfinite(step) and step > 0):
        raise Fault(f"{name} holds numbers that are not finite, or a step that is not above 0.")
    return Components(mean, directions, step)
