"""The keeper of a run that several ranks train: the one that leads reads and writes, and tells the others."""

from dataclasses import asdict

from torch import Tensor

from regard.training.ranks import Ranks
from regard.training.sharding import whole
from regard.training.snapshot import Facts, Keeper, Snapshot, Validation


class SharedKeeper:
    """One rank's view of the keeper; only the leading rank asks it for anything."""

    def __init__(self, keeper: Keeper, ranks: Ranks) -> None:
        self.keeper, self.ranks = keeper, ranks

    def save(self, snapshot: Snapshot) -> None:
        tensors = {group: whole(each, wanted=self.ranks.leads) for group, each in snapshot.tensors.items()}
        if self.ranks.leads:
            self.keeper.save(Snapshot(tensors, snapshot.facts))

    def latest(self) -> Snapshot | None:
        own = self.keeper.latest() if self.ranks.leads else None
        facts, *_ = self.ranks.gather(asdict(own.facts) if own else None)
        if facts is None:
            return None
        groups, *_ = self.ranks.gather(list(own.tensors) if own else [])
        shared = {group: self.ranks.share(own.tensors[group] if own else {}) for group in groups}
        return own or Snapshot(shared, Facts(**facts))

    def publish(self, weights: dict[str, Tensor], validation: Validation | None) -> None:
        all_of_them = whole(weights, wanted=self.ranks.leads)
        if self.ranks.leads:
            self.keeper.publish(all_of_them, validation)

    def average(self, last: int) -> dict[str, Tensor]:
        return self.ranks.share(self.keeper.average(last) if self.ranks.leads else {})
