"""The plan of a comparison: variants of one recipe, all checked before training begins."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from regard.base.faults import Fault
from regard.base.recipe import Options, Recipe, check, merge_tables
from regard.families import task_class
from regard.runs.parents import resolve

COMPARE = "compare"  # the recipe table that makes it a comparison
RESERVED = (
    "corpora",
    "comparison.csv",
    "comparison.json",
    "comparison.md",
    "comparison.png",
    "comparison.tex",
    "comparison.toml",
    "by-length.png",
    "losses.png",
)
TRANSLATED = ("bleu", "chrf")  # metrics for translations unless others are named
_LONGEST_NAME = 60  # characters in a folder name


class CompareOptions(Options):
    """Options of a comparison: which runs it trains and how it scores them."""

    seeds: int = Field(default=3, ge=1, le=1000, description="Runs of each variant, from the recipe's seed upwards.")
    metrics: list[str] = Field(
        default=[],
        description="Metrics to score the variants with. By default, bleu and chrf for translators, "
        "and for other models every measure of their task.",
    )
    by_length: bool = Field(default=False, description="Also report scores by source length.")
    vary: dict[str, Any] = Field(
        default={}, description="Options to vary, each with a list of values; several options give every combination."
    )
    variants: dict[str, dict[str, Any]] = Field(
        default={}, description="Variants by names you choose, each with the options it changes."
    )

    @field_validator("metrics")
    @classmethod
    def _count_once(cls, metrics: list[str]) -> list[str]:
        return list(dict.fromkeys(metrics))


class _Whole(Options):
    compare: CompareOptions


@dataclass(frozen=True)
class PlannedRun:
    """One training of a comparison."""

    variant: str
    recipe: Recipe
    folder: Path

    @property
    def title(self) -> str:
        return f"{self.variant}, seed {self.recipe.seed}"


@dataclass(frozen=True)
class Variant:
    """One way to change the recipe: its name, its folder, the options it changes, and its recipe for each seed."""

    name: str
    place: str
    changes: dict[str, Any]
    recipes: list[Recipe]

    def runs(self, folder: Path) -> list[PlannedRun]:
        """Return the runs of this variant in a comparison's folder."""
        return [PlannedRun(self.name, recipe, folder / self.place / f"seed-{recipe.seed}") for recipe in self.recipes]


@dataclass(frozen=True)
class ComparisonPlan:
    """A whole comparison; `differ_in` names the options in which its variants differ, `table` is its whole recipe."""

    name: str
    differ_in: str
    options: CompareOptions
    variants: list[Variant]
    table: dict[str, Any]

    @property
    def metrics(self) -> list[str]:
        """Metrics that the variants are scored with."""
        first = self.variants[0].recipes[0]
        usual = TRANSLATED if first.task == "translation" else task_class(first).MEASURES
        return self.options.metrics or list(usual)

    def runs(self, folder: Path) -> list[PlannedRun]:
        """Return all runs, seed by seed, so that early runs cover every variant."""
        by_variant = [variant.runs(folder) for variant in self.variants]
        return [run for runs_of_seed in zip(*by_variant, strict=True) for run in runs_of_seed]


def make_plan(table: dict[str, Any], name: str) -> ComparisonPlan:
    """Plan the comparison in a recipe with a table `compare`; report all that is wrong with any variant at once."""
    options = check(_Whole, {COMPARE: table.get(COMPARE, {})}).compare
    base = {key: value for key, value in table.items() if key != COMPARE}
    varied = dict(_flat(options.vary, ""))
    named = list(_variants(options.variants, varied))
    if len(named) < 2:
        raise Fault(
            "A comparison needs two variants or more: give --vary as in --vary model.norm=before,after, "
            "or --variant once for each."
        )
    if any("seed" in changes for _, changes in named):
        raise Fault("The seed is not an option to vary: --seeds N trains every variant with N seeds.")
    recipes = _check_recipes(base, named, options.seeds)
    places = _places([variant for variant, _ in named])
    variants = [
        Variant(variant, place, changes, of_variant)
        for (variant, changes), place, of_variant in zip(named, places, recipes, strict=True)
    ]
    _check_different(variants)
    if len({recipe.task for variant in variants for recipe in variant.recipes}) > 1:
        raise Fault("The variants have different tasks, so their scores cannot be compared.")
    differ_in = ", ".join([*(["variant"] if options.variants else []), *varied])
    return ComparisonPlan(name, differ_in, options, variants, base | {COMPARE: options.model_dump()})


def _flat(vary: dict[str, Any], path: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the options of a table by their full names, each with its values."""
    for name, value in vary.items():
        whole = f"{path}.{name}".lstrip(".")
        if isinstance(value, dict):
            yield from _flat(value, whole)
        elif not isinstance(value, list) or not value:
            raise Fault(f"compare.vary.{whole} is {value!r}, expected a list of values")
        else:
            yield whole, value


def _variants(bundles: dict[str, dict[str, Any]], varied: dict[str, list[Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every combination of the named variants and the values, by name."""
    first = list(bundles.items()) or [("", {})]
    rest = [[(_show(value), _nest(name, value)) for value in values] for name, values in varied.items()]
    for choice in product(first, *rest):
        changes: dict[str, Any] = {}
        for _, more in choice:
            changes = merge_tables(changes, more)
        yield ", ".join(name for name, _ in choice if name), changes


def _show(value: Any) -> str:
    return value if isinstance(value, str) and value.strip() else json.dumps(value, ensure_ascii=False)


def _nest(name: str, value: Any) -> dict[str, Any]:
    for part in reversed(name.split(".")):
        value = {part.strip(): value}
    return dict(value)


def _check_recipes(base: dict[str, Any], named: Sequence[tuple[str, dict[str, Any]]], seeds: int) -> list[list[Recipe]]:
    """Return the recipes of each variant, or raise one fault with all errors; an error common to all is given once."""
    recipes: list[list[Recipe]] = []
    wrong: dict[str, list[str]] = {}
    for name, changes in named:
        try:
            table = merge_tables(base, changes)
            first = resolve(table)
            recipes.append([resolve(table | {"seed": first.seed + more}) for more in range(seeds)])
        except Fault as fault:
            for sentence in fault.sentences:
                wrong.setdefault(sentence, []).append(name)
    if wrong:
        raise Fault(
            *(
                sentence if len(names) == len(named) else f"{', '.join(names)}: {sentence}"
                for sentence, names in wrong.items()
            )
        )
    return recipes


def _check_different(variants: Sequence[Variant]) -> None:
    for one, other in combinations(variants, 2):
        if one.recipes == other.recipes:
            raise Fault(f"'{one.name}' and '{other.name}' are the same recipe; there is nothing to compare.")
        if one.name == other.name:
            raise Fault(f"Two different variants are called '{one.name}'; give each a name with --variant.")


def _places(names: Sequence[str]) -> list[str]:
    """Return a folder name for each variant, without characters that shells interpret, all different."""
    taken = list(RESERVED)
    for name in names:
        plain = re.sub(r"[^\w.=+-]+", "-", name)[:_LONGEST_NAME].strip("-.") or "variant"
        free = (f"{plain}-{number}" if number > 1 else plain for number in range(1, len(taken) + 2))
        taken.append(next(place for place in free if place.casefold() not in map(str.casefold, taken)))
    return taken[len(RESERVED) :]
