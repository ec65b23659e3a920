"""The keeper of a run that several ranks train: the leading rank reads and writes, and shares with the others."""

from dataclasses import asdict

from torch import Tensor

from regard.training.ranks import Ranks
from regard.training.sharding import whole
from regard.training.snapshot import Facts, Keeper, Snapshot, Validation


class SharedKeeper:
    """One rank's view of the keeper; only the leading rank uses it directly."""

    def __init__(self, keeper: Keeper, ranks: Ranks) -> None:
        self.keeper, self.ranks = keeper, ranks

    def save(self, snapshot: Snapshot) -> None:
        tensors = {
            group: whole(group_tensors, wanted=self.ranks.leads) for group, group_tensors in snapshot.tensors.items()
        }
        if self.ranks.leads:
            self.keeper.save(Snapshot(tensors, snapshot.facts))

    def latest(self) -> Snapshot | None:
        snapshot = self.keeper.latest() if self.ranks.leads else None
        facts, *_ = self.ranks.gather(asdict(snapshot.facts) if snapshot else None)
        if facts is None:
            return None
        groups, *_ = self.ranks.gather(list(snapshot.tensors) if snapshot else [])
        shared = {group: self.ranks.share(snapshot.tensors[group] if snapshot else {}) for group in groups}
        return snapshot or Snapshot(shared, Facts(**facts))

    def publish(self, weights: dict[str, Tensor], validation: Validation | None) -> None:
        whole_tensors = whole(weights, wanted=self.ranks.leads)
        if self.ranks.leads:
            self.keeper.publish(whole_tensors, validation)

    def average(self, last: int) -> dict[str, Tensor]:
        return self.ranks.share(self.keeper.average(last) if self.ranks.leads else {})
