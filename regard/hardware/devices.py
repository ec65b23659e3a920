"""Where to compute: the device of a name, made ready for its work."""

import torch

from regard.base.faults import Fault
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
        raise Fault(f"There is no device '{name}': torch finds {torch.cuda.device_count()} GPUs; give cpu or auto.")
    return _make_ready(device)


def _make_ready(device: torch.device) -> torch.device:
    """Settings of torch that suit the device, and text, whose batches have ever new shapes."""
    suit_threads(device)
    if device.type == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)  # it makes a new plan for every new shape, which costs seconds
    return device
