"""Decisions after a validation: which weights to publish, and when patience runs out."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import torch
from torch import Tensor, nn

from regard.protocols import Adapts, Measure
from regard.training.events import Validated
from regard.training.guards import OtherWeights, StandIn
from regard.training.options import TrainingOptions
from regard.training.sharding import whole_weights
from regard.training.snapshot import Facts, Keeper, Validation, named_weights


class Judge:
    """Validates the weights of a module, or those that replace them, and publishes the best."""

    def __init__(
        self,
        module: nn.Module,
        options: TrainingOptions,
        keeper: Keeper,
        validate: Callable[[], Validation],
        stand_in: StandIn | None,
    ) -> None:
        self.module, self.options, self.keeper = module, options, keeper
        self._validate, self._stand_in = validate, stand_in
        self.loss_is_another = False  # True if the last validation changed the loss

    def judge(self, facts: Facts) -> Validated:
        """Validate, and publish these weights if no earlier ones were better."""
        with self.standing_in():
            validation = self.validation()
            best = self._decide(facts, validation)
        if isinstance(self.module, Adapts):
            self.loss_is_another = self.module.adapt(facts.step, validation.measures)
        return _validation_event(facts, validation, best)

    def _decide(self, facts: Facts, validation: Validation) -> bool:
        """Return True if the validated weights are the best so far, and publish them then."""
        best = facts.improve(self._note(facts, validation))
        if best:
            self.keeper.publish(named_weights(self.module), validation)
        return best

    def _note(self, facts: Facts, validation: Validation) -> Measure:
        """Record a validation, and return the measure by which it is judged."""
        options = self.options
        return facts.add_validation(validation.measures, options.best_by, options.optimizer.average_trigger)

    def publish_unfinished(self, facts: Facts, in_a_hurry: bool) -> Validated | None:
        """Publish the weights of a run that never reached a validation, validated once if there is time.

        That validation is not part of the run's facts, or a resumed run would differ from one that was never stopped.
        """
        with self.standing_in():
            validation = None if in_a_hurry else self.validation()
            self.keeper.publish(named_weights(self.module), validation)
        return _validation_event(replace(facts, since_best=0), validation, True) if validation else None

    def publish_final(self) -> None:
        """Publish the weights that the options ask for; the best ones are already published."""
        if self.options.final == "last":
            with self.standing_in():
                self.keeper.publish(named_weights(self.module), self.validation())
        elif self.options.final == "average":
            self.publish(self.keeper.average(self.options.keep))

    def publish(self, weights: dict[str, Tensor]) -> None:
        """Validate and publish weights other than the module's, which keeps its own."""
        with OtherWeights(self.module, weights).standing_in():
            self.keeper.publish(named_weights(self.module), self.validation())

    def is_out_of_patience(self, facts: Facts) -> bool:
        return 0 < self.options.patience <= facts.since_best

    def after_step(self) -> None:
        """Run after each update of the weights."""

    def before_save(self) -> dict[str, Tensor]:
        """Run before each checkpoint; return the tensors to store in it."""
        return {}

    def restore(self, facts: Facts, tensors: dict[str, Tensor]) -> None:
        """Continue from the contents of a checkpoint, once the module has its weights."""

    def validation(self) -> Validation:
        """Validate the weights that are in the module now."""
        self.module.eval()
        with torch.no_grad(), whole_weights(self.module):
            return self._validate()

    def standing_in(self) -> AbstractContextManager:
        """Replace the weights by their mean, if there is one."""
        return self._stand_in.standing_in() if self._stand_in else nullcontext()


def _validation_event(facts: Facts, validation: Validation, best: bool) -> Validated:
    """Return the event that reports a validation to listeners."""
    samples, details, deviations = validation.samples, validation.details, validation.deviations
    return Validated(facts.step, validation.values, best, facts.since_best, samples, details, deviations)
