"""Choose the device for computing, and prepare it."""

from contextlib import suppress

import torch

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.hardware.threads import suit_threads


def pick_device(name: str) -> torch.device:
    """Return the device of that name; `auto` is the GPU if there is one."""
    if name == "auto":
        return _make_ready(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):  # the latter from Python, where a name may be of any type
        raise Fault(f"There is no device '{name}'. Give auto, cpu, cuda or cuda:1.") from None
    if device.type not in ("cpu", "cuda"):
        raise Fault(f"There is no device '{name}'. Give auto, cpu, cuda or cuda:1.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise Fault(
            f"There is no device '{name}': torch finds {quantity(torch.cuda.device_count(), 'GPU')}. Give cpu or auto."
        )
    return _make_ready(device)


def _make_ready(device: torch.device) -> torch.device:
    """Choose torch settings that suit the device, batches of changing shapes, and runs that resume bit for bit."""
    suit_threads(device)
    if device.type == "cuda":
        torch.backends.cudnn.deterministic = True  # otherwise convolutions would sum gradients in any order
        torch.backends.cuda.enable_cudnn_sdp(False)  # it makes a new plan for every new shape, which takes seconds
    return device


def wait_for_gpu() -> None:
    """Wait for this process's work on a GPU, before the process ends without Python's normal shutdown.

    Several processes that shared a GPU by NVIDIA's MPS once failed together when one of them was interrupted. It is not
    proven that work left on the GPU was the reason, but leaving none costs nothing.
    """
    if torch.cuda.is_initialized():
        with suppress(RuntimeError):  # a GPU that has already failed reports it again
            torch.cuda.synchronize()


def seed_generators(seed: int, device: torch.device) -> None:
    """Seed the random generators of this device and of the CPU.

    On a CPU this is not `torch.manual_seed`, which without a GPU records the whole stack for when there is one: that
    takes longer than a step of a small model.
    """
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
