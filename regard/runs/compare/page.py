"""A comparison for people: its table, scores by length, and a Markdown page with both."""

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence

from regard.base.figures import in_figures
from regard.metrics.significance import CONFIDENCE, RESAMPLES, TRIALS
from regard.runs.compare.findings import Findings, Found, SeedScores, spread

Table = tuple[list[str], list[list[str]]]  # columns and rows


def table(comparison: Findings) -> Table:
    """Return the columns and rows that people see."""
    metrics = [measure.metric for measure in comparison.variants[0].measures]
    columns = [comparison.differ_in]
    for metric in metrics:
        columns += [metric, "against the first"]
    return [*columns, "parameters", _pace_column(comparison)], [_row(variant) for variant in comparison.variants]


def _is_text(comparison: Findings) -> bool:
    return any(outcome.sources for variant in comparison.variants for outcome in variant.outcomes)


def _pace_column(comparison: Findings) -> str:
    return "tokens/s" if _is_text(comparison) else "items/s"


def _row(variant: Found) -> list[str]:
    cells = [variant.variant]
    for measure in variant.measures:
        cells += [show_values(measure.values), _shown_difference(measure)]
    pace = variant.tokens_per_second
    return [*cells, f"{variant.parameters:,}", "–" if pace is None else f"{pace:,.0f}"]


def show_values(values: Sequence[float]) -> str:
    """Return the mean over the seeds, ± the largest minus the smallest; a dash if a seed has no value."""
    if any(map(math.isnan, values)):
        return "–"
    digits = _digits(values)
    mean = in_figures(statistics.fmean(values), digits)
    return f"{mean} ± {in_figures(spread(values), digits)}" if len(values) > 1 else mean


def _digits(values: Sequence[float]) -> int:
    """Return two digits after the point, or four for shares, where two would give whole percents only."""
    return 4 if max(map(abs, values)) <= 1 else 2


def _shown_difference(measure: SeedScores) -> str:
    if measure.difference is None or math.isnan(measure.difference):
        return "–"
    remark = " (within spread)" if measure.within_spread else ""
    sure = f", {_probability(measure.against_first.randomisation)}" if measure.against_first else ""
    return f"{in_figures(measure.difference, _digits(measure.values), '+')}{sure}{remark}"


def _probability(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def length_table(comparison: Findings, place: int) -> Table:
    """Return the columns and rows of one metric by source length."""
    columns = ["source words", "sentences", *(variant.variant for variant in comparison.variants)]
    rows = [
        [bucket.label, str(len(bucket.sentences))]
        + [show_values(variant.measures[place].by_length[number]) for variant in comparison.variants]
        for number, bucket in enumerate(comparison.buckets)
    ]
    return columns, rows


def notes(comparison: Findings) -> list[str]:
    """Return notes on how to read the table."""
    counts = {len(variant.outcomes) for variant in comparison.variants}
    seeds = f"{min(counts)} seeds" if len(counts) == 1 else "the seeds that were trained"
    at_once = f", {comparison.jobs} runs at once" if comparison.jobs > 1 else ""
    items, item = ("sentences", "sentence") if _is_text(comparison) else ("items", "item")
    is_paired = any(outcome.sums for variant in comparison.variants for outcome in variant.outcomes)
    lines = [f"Scored on {comparison.sentences:,} {items} of the split {comparison.split}."]
    if max(counts) > 1:
        lines.append(f"Values are the mean of {seeds} ± their spread, the largest minus the smallest.")
    if is_paired:
        lines.append(
            f"p: how often a difference this large arises when outputs are swapped at random, {item} by {item} "
            f"(approximate randomisation, {TRIALS:,} trials, two-sided)."
        )
    if max(counts) > 1:
        apart = f"It says what to expect on other {items}; within" if is_paired else "Within"
        lines.append(f"{apart} spread: with other seeds the difference may disappear.")
    unit = "target tokens" if _is_text(comparison) else "items"
    return [*lines, f"{_pace_column(comparison)}: {unit} in training, without validations{at_once}."]


def page(comparison: Findings) -> str:
    """Return the comparison as a Markdown page."""
    parts = [f"# {comparison.name}", _markdown(*table(comparison)), _bullets(notes(comparison))]
    if comparison.failures:
        parts += ["## Runs that failed", _bullets(_failure_lines(comparison))]
    for place, measure in enumerate(comparison.variants[0].measures if comparison.buckets else []):
        parts += [f"## {measure.metric} by length of the source", _markdown(*length_table(comparison, place))]
    if bounds := [line for variant in comparison.variants for line in _bounds(variant)]:
        parts += ["## Against the first", _bullets(bounds)]
    signatures = dict.fromkeys(
        f"{measure.metric}: `{measure.signature}`" for variant in comparison.variants for measure in variant.measures
    )
    return "\n\n".join([*parts, "## Signatures", _bullets(signatures)]) + "\n"


def _failure_lines(comparison: Findings) -> Iterator[str]:
    """Yield each failed run with its reason, and the variants that have no trained run left."""
    shown_variants = {variant_findings.variant for variant_findings in comparison.variants}
    yield from map(str, comparison.failures)
    for variant in dict.fromkeys(failure.run.variant for failure in comparison.failures):
        if variant not in shown_variants:
            yield f"{variant} is not in the table, because none of its runs was trained."


def _bounds(variant: Found) -> Iterator[str]:
    """Yield the confidence bounds of a variant's differences from the first."""
    for measure in variant.measures:
        if against := measure.against_first:
            bounds = (against.value, against.low, against.high)
            value, low, high = (in_figures(bound, _digits(measure.values), "+") for bound in bounds)
            yield (
                f"{variant.variant}, {measure.metric}: {value}, from {low} to {high} in {CONFIDENCE}% of "
                f"{RESAMPLES:,} resampled test sets (paired bootstrap, {_probability(against.bootstrap)})"
            )


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
