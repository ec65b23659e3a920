"""The optimisers, and their state as named tensors that a checkpoint can hold without pickling."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.hardware.memory import is_out_of_memory
from regard.training.options import OptimizerOptions


def build(module: nn.Module, options: OptimizerOptions) -> torch.optim.Optimizer:
    """Adam or AdamW over the module's parameters; vectors (norms, biases) never decay."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": options.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[options.kind]
    return kind(
        [group for group in groups if group["params"]],
        lr=options.learning_rate,
        betas=(options.beta1, options.beta2),
        eps=options.epsilon,
        fused=True,
    )


def scale_gradients(module: nn.Module, count: Tensor | int, clip: float) -> Tensor:
    """Turn the gradient of a sum over `count` items into that of their mean, no longer than `clip`; gives its norm."""
    gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients) / count
    factor = torch.clamp(clip / (norm + 1e-6), max=1.0) / count if clip else torch.ones_like(norm) / count
    torch._foreach_mul_(gradients, factor)
    return norm


def step(optimizer: torch.optim.Optimizer, learning_rate: float) -> None:
    """One step at this learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    try:
        optimizer.step()
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        megabytes = 2 * sum(weight.numel() * weight.element_size() for weight in weights) / 1e6
        raise Fault(
            "There is too little memory for the optimiser, which keeps two numbers for each weight "
            f"({megabytes:,.0f} MB together); choose a smaller model."
        ) from None


def state_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's memory as tensors named by the number of the parameter and the role, "12.exp_avg"."""
    return {
        f"{number}.{role}": value
        for number, roles in optimizer.state_dict()["state"].items()
        for role, value in roles.items()
    }


def load_state_tensors(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give the optimiser back the memory that `state_tensors` took down."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        number, role = name.split(".")
        state.setdefault(int(number), {})[role] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
