"""Torch's optimisers by name, and their state as named tensors that a checkpoint can hold without pickling."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.hardware.memory import is_out_of_memory
from regard.training.options import OptimizerOptions
from regard.training.sharding import is_sharded, like

SPARSE = ("sgd", "adagrad")  # optimisers that accept the sparse gradients of an embedding


def build(module: nn.Module, options: OptimizerOptions, is_stacked: bool = False) -> torch.optim.Optimizer:
    """Build the optimiser over the parameters that learn; with adamw, vectors (norms, biases) do not decay.

    In a stack of members each parameter has one more axis.
    """
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    axes = 2 if is_stacked else 1
    of_vectors = 0.0 if options.kind == "adamw" else options.weight_decay
    groups = [
        {"params": [p for p in parameters if p.dim() > axes], "weight_decay": options.weight_decay},
        {"params": [p for p in parameters if p.dim() <= axes], "weight_decay": of_vectors},
    ]
    on_gpu = any(parameter.is_cuda for parameter in parameters)
    kind, settings = _torchs_own(options, on_gpu)
    return kind([group for group in groups if group["params"]], lr=options.learning_rate, **settings)


def _torchs_own(options: OptimizerOptions, on_gpu: bool) -> tuple[Callable[..., torch.optim.Optimizer], dict[str, Any]]:
    """Return the optimiser's class, and its options under torch's names."""
    match options.kind:
        case "adam" | "adamw":
            kind = torch.optim.Adam if options.kind == "adam" else torch.optim.AdamW
            return kind, {"betas": (options.beta1, options.beta2), "eps": options.epsilon, "fused": True}
        case "sgd":
            return torch.optim.SGD, {"momentum": options.momentum, "nesterov": options.nesterov}
        case "adagrad":
            return torch.optim.Adagrad, {"eps": options.epsilon, "initial_accumulator_value": options.first_sum}
        case "rmsprop":
            settings = {"alpha": options.smoothing, "momentum": options.momentum, "centered": options.centred}
            return torch.optim.RMSprop, settings | {"eps": options.epsilon}
        case "asgd":  # its lambd decays the rate, which schedules do here; "capturable" reads no numbers from a GPU
            return torch.optim.ASGD, {"t0": _last_unaveraged(options, None), "lambd": 0.0, "capturable": on_gpu}


def numbers_per_weight(options: OptimizerOptions) -> int:
    """Return the number of values an optimiser stores for each weight."""
    match options.kind:
        case "adam" | "adamw":
            return 2
        case "sgd":
            return int(bool(options.momentum))
        case "rmsprop":
            return 1 + bool(options.momentum) + bool(options.centred)
        case "adagrad" | "asgd":
            return 1


def set_averaging(optimizer: torch.optim.Optimizer, options: OptimizerOptions, triggered: int | None) -> None:
    """Let ASGD average the weights from the step at which averaging was triggered, if it waits for that."""
    for group in optimizer.param_groups if options.kind == "asgd" else ():
        group["t0"] = _last_unaveraged(options, triggered)


def _last_unaveraged(options: OptimizerOptions, triggered: int | None) -> float:
    """Return torch's t0: averaging starts with the second step after it."""
    if options.average_trigger:
        return math.inf if triggered is None else triggered - 2
    assert options.average_from is not None
    return options.average_from - 2


def check_sparse(optimizer: torch.optim.Optimizer, options: OptimizerOptions) -> None:
    """Refuse sparse gradients that the optimiser cannot handle, or for which it would need dense memory."""
    gradients = (parameter.grad for group in optimizer.param_groups for parameter in group["params"])
    if any(gradient is not None and gradient.is_sparse for gradient in gradients):
        if options.kind not in SPARSE:
            kinds = " or ".join(f"'{kind}'" for kind in SPARSE)
            raise Fault(
                f"training.optimizer.kind is '{options.kind}', which cannot use the sparse gradients of this model. "
                f"Choose {kinds}."
            )
        if options.weight_decay or options.momentum:
            name = "weight_decay" if options.weight_decay else "momentum"
            raise Fault(f"training.optimizer.{name} does not work with this model's sparse gradients. Set it to 0.")


def scale_gradients(module: nn.Module, count: Tensor | int, clip: float, is_stacked: bool = False) -> Tensor:
    """Turn the gradient of a sum over `count` items into that of their mean, clipped to `clip`; return its norm.

    In a stack each member has its own gradient, and the mean of their norms is returned.
    """
    gradients = [_numbers(parameter) for parameter in module.parameters() if parameter.grad is not None]
    if is_stacked:
        norms = (
            torch.stack([gradient.reshape(len(gradient), -1).norm(dim=1) for gradient in gradients]).norm(dim=0) / count
        )
        for gradient in gradients:
            gradient.mul_(_factor(norms, count, clip).view(-1, *[1] * (gradient.dim() - 1)))
        return norms.mean()
    if gradients and is_sharded(gradients[0]):
        norm = torch.nn.utils.get_total_norm(gradients).full_tensor() / count  # type: ignore[attr-defined]  # a DTensor
        gradients = [gradient.to_local() for gradient in gradients]  # type: ignore[attr-defined]
    else:
        norm = torch.nn.utils.get_total_norm(gradients) / count
    torch._foreach_mul_(gradients, _factor(norm, count, clip))
    return norm


def _factor(norm: Tensor, count: Tensor | int, clip: float) -> Tensor:
    return torch.clamp(clip / (norm + 1e-6), max=1.0) / count if clip else torch.ones_like(norm) / count


def _numbers(parameter: nn.Parameter) -> Tensor:
    """Return the gradient of a parameter, or the values of a sparse gradient, with each row once."""
    assert parameter.grad is not None
    if not parameter.grad.is_sparse:
        return parameter.grad
    parameter.grad = parameter.grad.coalesce()
    return parameter.grad.values()


def step(optimizer: torch.optim.Optimizer, learning_rate: float) -> None:
    """Take one step at this learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    for memory in optimizer.state.values():
        if "eta" in memory:  # ASGD's copy of the learning rate, from the previous step
            memory["eta"].fill_(learning_rate)
    try:
        # Adagrad makes sparse tensors, and torch must be told whether to check them.
        with torch.sparse.check_sparse_tensor_invariants(enable=False):
            optimizer.step()
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        megabytes = 2 * sum(weight.numel() * weight.element_size() for weight in weights) / 1e6
        raise Fault(
            "There is too little memory for the optimiser, which keeps up to two numbers for each weight "
            f"({megabytes:,.0f} MB together). Choose a smaller model."
        ) from None


def state_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimiser's state as tensors named by parameter number and role, such as "12.exp_avg"."""
    return {
        f"{number}.{role}": value
        for number, roles in optimizer.state_dict()["state"].items()
        for role, value in roles.items()
        if value is not None
    }


def load_state_tensors(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Restore the state that `state_tensors` returned."""
    state: dict[int, dict[str, Tensor]] = {}
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    for name, tensor in tensors.items():
        number, role = name.split(".")
        weight = weights[int(number)]
        state.setdefault(int(number), {})[role] = like(tensor, weight) if tensor.shape == weight.shape else tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
