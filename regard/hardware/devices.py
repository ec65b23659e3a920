"""Where to compute: the device of a name, made ready for its work."""

from contextlib import suppress

import torch

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.hardware.threads import suit_threads


def pick_device(name: str) -> torch.device:
    """The device of that name; `auto` is the GPU where there is one."""
    if name == "auto":
        return _make_ready(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    try:
        device = torch.device(name)
    except RuntimeError:
        raise Fault(f"There is no device '{name}'; give auto, cpu, cuda or cuda:1.") from None
    if device.type not in ("cpu", "cuda"):
        raise Fault(f"There is no device '{name}'; give auto, cpu, cuda or cuda:1.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise Fault(
            f"There is no device '{name}': torch finds {quantity(torch.cuda.device_count(), 'GPU')}; give cpu or auto."
        )
    return _make_ready(device)


def _make_ready(device: torch.device) -> torch.device:
    """Choose settings of torch that suit the device, batches of ever new shapes, and runs that resume bit by bit."""
    suit_threads(device)
    if device.type == "cuda":
        torch.backends.cudnn.deterministic = True  # convolutions would else add up gradients in any order
        torch.backends.cuda.enable_cudnn_sdp(False)  # it makes a new plan for every new shape, which costs seconds
    return device


def wait_for_gpu() -> None:
    """Wait for the work that this process has given to a GPU, before the process ends without Python's own end.

    Several processes that shared a GPU by NVIDIA's MPS once failed together when one of them was interrupted; nobody
    has shown that work left on the GPU was the reason, but leaving none costs nothing.
    """
    if torch.cuda.is_initialized():
        with suppress(RuntimeError):  # a GPU that has failed already says so again
            torch.cuda.synchronize()


def seed_generators(seed: int, device: torch.device) -> None:
    """Seed what draws numbers on this device, and on the CPU.

    On a CPU this is not `torch.manual_seed`, which, where there is no GPU, writes down the whole stack for the day that
    there is one: that takes longer than a step of a small model.
    """
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
