"""Several members of a small model, with other seeds or restarts, trained as one module and judged separately.

Every parameter has a leading axis `member`, and no member's loss depends on another's parameters.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.training.events import Validated
from regard.training.guards import StandIn
from regard.training.judge import Judge
from regard.training.options import TrainingOptions
from regard.training.snapshot import Facts, Keeper, Validation, named_weights


class MembersJudge(Judge):
    """Keeps the best weights of each member, and freezes a member once its patience is used up.

    The published weights have each member's best. As they change with nearly every validation, they are published only
    with the checkpoints.
    """

    def __init__(
        self,
        members: int,
        module: nn.Module,
        options: TrainingOptions,
        keeper: Keeper,
        validate: Callable[[], Validation],
        stand_in: StandIn | None,
    ) -> None:
        super().__init__(module, options, keeper, validate, stand_in)
        self.members = members
        for name, parameter in module.named_parameters():
            if parameter.dim() == 0 or len(parameter) != members:
                raise ValueError(f"{name} has the shape {tuple(parameter.shape)}, but there are {members} members")
        self._best: dict[str, Tensor] = {}
        self._unpublished = False
        self._held: list[tuple[nn.Parameter, Tensor]] = []  # the weights of the members without patience
        self._without_patience: list[int] = []

    def judge(self, facts: Facts) -> Validated:
        validated = super().judge(facts)
        self._hold(facts)
        return validated

    def _decide(self, facts: Facts, validation: Validation) -> bool:
        """Return True if any member improved; only the best weights of those that did are replaced."""
        measure = self._note(facts, validation)
        if len(measure.members) != self.members:
            raise ValueError(f"there are {self.members} members, but the measure has {len(measure.members)} values")
        bests = facts.member_bests or [None] * self.members
        ages = facts.member_ages or [0] * self.members
        better = [
            not self._is_out_of_patience(age) and measure.improves(value, best)
            for value, best, age in zip(measure.members, bests, ages, strict=True)
        ]
        comparisons = zip(better, measure.members, bests, strict=True)
        facts.member_bests = [value if is_better else best for is_better, value, best in comparisons]
        facts.member_ages = [0 if is_better else age + 1 for is_better, age in zip(better, ages, strict=True)]
        facts.since_best = min(facts.member_ages)
        bests_so_far = [best for best in facts.member_bests if best is not None]
        facts.best = sum(bests_so_far) / len(bests_so_far) if bests_so_far else None
        self._replace([member for member, is_better in enumerate(better) if is_better])
        return any(better)

    def _replace(self, members: list[int]) -> None:
        live = named_weights(self.module)
        if not self._best:
            self._best = {name: tensor.clone() for name, tensor in live.items()}
        for name, best in self._best.items():
            if best.dim() and len(best) == self.members:  # every parameter, and buffers with a row per member
                best[members] = live[name][members]
            else:
                best.copy_(live[name])
        self._unpublished |= bool(members)

    def _is_out_of_patience(self, age: int) -> bool:
        return 0 < self.options.patience <= age

    def _hold(self, facts: Facts) -> None:
        self._without_patience = [m for m, age in enumerate(facts.member_ages) if self._is_out_of_patience(age)]
        members = self._without_patience
        self._held = (
            [(parameter, parameter.detach()[members].clone()) for parameter in self.module.parameters()]
            if members
            else []
        )

    @torch.no_grad()
    def after_step(self) -> None:
        """Restore the weights of the members without patience, as if they had not learnt."""
        for parameter, weights in self._held:
            parameter[self._without_patience] = weights

    def publish_final(self) -> None:
        super().publish_final()
        self._unpublished &= self.options.final == "best"

    def before_save(self) -> dict[str, Tensor]:
        """Publish the best weights of all members, validated together, and return them for the checkpoint."""
        if self._unpublished:
            self.publish(self._best)
            self._unpublished = False
        return self._best

    def restore(self, facts: Facts, tensors: dict[str, Tensor]) -> None:
        live = named_weights(self.module)
        self._best = {name: tensor.to(live[name].device) for name, tensor in tensors.items()}
        self._unpublished = False
        self._hold(facts)
