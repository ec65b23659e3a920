"""Findings of a comparison: each variant's metrics over the seeds, its size and speed, and significance."""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from regard.metrics.significance import FEWEST, Difference, difference
from regard.protocols import Better
from regard.runs.compare.lengths import Bucket
from regard.runs.compare.outcomes import Outcome
from regard.runs.compare.plan import ComparisonPlan, PlannedRun


def spread(values: Sequence[float]) -> float:
    """Return the largest value minus the smallest."""
    return max(values) - min(values)


@dataclass(frozen=True)
class SeedScores:
    """One metric of one variant: a value per seed, values by length, and the difference from the first variant."""

    metric: str
    signature: str
    values: list[float]
    better: Better
    difference: float | None  # of the mean from the first variant's mean; None for the first variant
    against_first: Difference | None  # paired difference with its significance, if per-example scores are known
    within_spread: bool | None  # True if seeds of this variant or of the first differ by more than the two variants
    by_length: list[list[float]] = field(default_factory=list)  # by bucket, then by seed

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    @property
    def spread(self) -> float:
        return spread(self.values)

    @property
    def _deviation(self) -> float | None:
        """Standard deviation over the seeds: None for one seed, and not a number if one seed has no value."""
        if len(self.values) < 2:
            return None
        return statistics.stdev(self.values) if all(map(math.isfinite, self.values)) else math.nan

    def as_dict(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "signature": self.signature,
            "mean": self.mean,
            "spread": self.spread,
            "deviation": self._deviation,
            "values": self.values,
            "better": self.better,
            "difference": self.difference,
            "against_first": asdict(self.against_first) if self.against_first else None,
            "within_spread": self.within_spread,
            "by_length": [[value if math.isfinite(value) else None for value in seeds] for seeds in self.by_length],
        }


@dataclass(frozen=True)
class Found:
    """Findings about one variant."""

    variant: str
    changes: dict[str, Any]
    outcomes: list[Outcome]
    measures: list[SeedScores]

    @property
    def parameters(self) -> int:
        return self.outcomes[0].parameters

    @property
    def tokens_per_second(self) -> float | None:
        """Target tokens learnt per second, over all seeds."""
        items, seconds = (sum(column) for column in zip(*(outcome.pace for outcome in self.outcomes), strict=True))
        return items / seconds if seconds else None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the numbers of each metric with the facts about the variant."""
        for measure in self.measures:
            against = measure.against_first
            yield {
                "variant": self.variant,
                "metric": measure.metric,
                "mean": measure.mean,
                "spread": measure.spread,
                "seeds": len(measure.values),
                "difference": measure.difference,
                "p": against.randomisation if against else None,
                "low": against.low if against else None,
                "high": against.high if against else None,
                "within_spread": measure.within_spread,
                "parameters": self.parameters,
                "tokens_per_second": self.tokens_per_second,
            }

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.variant,
            "changes": self.changes,
            "seeds": [outcome.run.recipe.seed for outcome in self.outcomes],
            "folders": [str(outcome.run.folder) for outcome in self.outcomes],
            "parameters": self.parameters,
            "tokens_per_second": self.tokens_per_second,
            "measures": [measure.as_dict() for measure in self.measures],
        }


@dataclass(frozen=True)
class Failure:
    """A run that could not be trained, and its error message."""

    run: PlannedRun
    sentences: Sequence[str]

    @property
    def reason(self) -> str:
        return " ".join(self.sentences)

    def __str__(self) -> str:
        return f"{self.run.title}: {self.reason}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.run.variant,
            "seed": self.run.recipe.seed,
            "folder": str(self.run.folder),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Findings:
    """The findings of a comparison as numbers; `Comparison` shows them."""

    name: str
    differ_in: str  # the options in which the variants differ
    split: str
    sentences: int
    jobs: int
    buckets: list[Bucket]  # lengths of sources, if scored by length
    variants: list[Found]  # the others are compared with the first
    failures: list[Failure] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Name of the comparison and the options in which the variants differ."""
        return self.name if self.differ_in == "variant" else f"{self.name}: {self.differ_in}"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Numbers of each variant and metric: mean, spread, difference from the first variant, and its p.

        `p` comes from approximate randomisation. In 95 of 100 resampled test sets the difference lies between `low` and
        `high`. Unknown values are None.
        """
        return [row for variant in self.variants for row in variant.rows()]

    def as_dict(self) -> dict[str, Any]:
        """Return the contents of comparison.json."""
        return {
            "name": self.name,
            "differ_in": self.differ_in,
            "split": self.split,
            "sentences": self.sentences,
            "jobs": self.jobs,
            "buckets": [asdict(bucket) | {"sentences": len(bucket.sentences)} for bucket in self.buckets],
            "variants": [variant.as_dict() for variant in self.variants],
            "failures": [failure.as_dict() for failure in self.failures],
        }


def find(plan: ComparisonPlan, outcomes: Sequence[Outcome], buckets: list[Bucket]) -> list[Found]:
    """Return the findings about each variant from the judged runs; a variant without a trained run is omitted."""
    of_variant = [[outcome for outcome in outcomes if outcome.run.variant == variant.name] for variant in plan.variants]
    return [
        Found(
            variant.name,
            variant.changes,
            runs,
            [_measure(place, metric, of_variant[0], runs, buckets) for place, metric in enumerate(plan.metrics)],
        )
        for variant, runs in zip(plan.variants, of_variant, strict=True)
        if runs
    ]


def _measure(
    place: int, metric: str, first: Sequence[Outcome], outcomes: Sequence[Outcome], buckets: Sequence[Bucket]
) -> SeedScores:
    values, of_first = ([outcome.scores[place].value for outcome in runs] for runs in (outcomes, first))
    against = _against(metric, first, outcomes) if outcomes is not first and outcomes[0].sums else None
    apart = None if outcomes is first or not first else statistics.fmean(values) - statistics.fmean(of_first)
    apart = against.value if against else apart
    return SeedScores(
        metric,
        outcomes[0].scores[place].signature,
        values,
        outcomes[0].better[metric],
        apart,
        against,
        None if apart is None or math.isnan(apart) else abs(apart) <= max(spread(values), spread(of_first)),
        [[outcome.sums[metric].value(bucket.sentences) for outcome in outcomes] for bucket in buckets],
    )


def _against(metric: str, first: Sequence[Outcome], outcomes: Sequence[Outcome]) -> Difference | None:
    """Return the difference from the first variant, over the seeds with which both were trained."""
    theirs = {outcome.run.recipe.seed: outcome.sums[metric] for outcome in first}
    ours = {outcome.run.recipe.seed: outcome.sums[metric] for outcome in outcomes}
    seeds = [seed for seed in ours if seed in theirs]
    if not seeds or len(ours[seeds[0]].rows) < FEWEST:
        return None
    return difference([theirs[seed] for seed in seeds], [ours[seed] for seed in seeds])
