"""Cost of attention by the length of the context: scores, memory and time, measured on this machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from regard.attention import Attention, Causal
from regard.attention.heads import MultiHead
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.viewing.lessons import Lesson, LessonPanel, Line

CONTEXT = "tokens of context, C"
PAPER = 2048  # GPT-3's context, the example of the lecture
MEGABYTE = 1e6
REPEATS = 3  # the fastest counts: the others were disturbed


@dataclass(frozen=True)
class Sizes:
    """Sizes of an attention; `blocks` counts how many of them a model has."""

    heads: int = 4
    depth: int = 64  # of each head
    blocks: int = 1


@dataclass(frozen=True)
class Cost:
    """Cost of one causal attention over a context: the scores of a head, peak bytes and seconds of both ways."""

    context: int
    plain_bytes: int
    fused_bytes: int
    plain_seconds: float
    fused_seconds: float

    @property
    def scores(self) -> int:
        """Scores of one head: each of C queries is compared with each of C keys."""
        return self.context**2


def own_device() -> tuple[torch.device, str]:
    """Return the device to measure on, a GPU if there is one, and its name."""
    if torch.cuda.is_available():
        return torch.device("cuda"), torch.cuda.get_device_name()
    return torch.device("cpu"), "CPU"


def sizes_of(model: Loaded) -> Sizes:
    """Return the sizes of a model's attention; refuse a model without heads."""
    looks = [part for part in model.task.modules() if isinstance(part, MultiHead)] if _is_network(model) else []
    if not looks:
        raise Fault(f"This {model.recipe.family} has no attention with heads; give a Transformer, a GPT or a BERT.")
    return Sizes(looks[0].heads, looks[0].to_query.out_features // looks[0].heads, len(looks))


def _is_network(model: Loaded) -> bool:
    return isinstance(model.task, nn.Module)


def doubled(longest: int, count: int = 5) -> list[int]:
    """Return `count` contexts, each twice the one before, up to the longest."""
    return [longest >> place for place in reversed(range(count)) if longest >> place]


@torch.no_grad()
def measure_costs(contexts: Sequence[int], sizes: Sizes, device: torch.device) -> list[Cost]:
    """Measure plain and fused attention over random queries, keys and values of each context."""
    look = Attention(looks_from="text", looks_at="text").eval()
    generator, costs = torch.Generator().manual_seed(1), []
    for context in contexts:
        shape = 1, sizes.heads, context, sizes.depth
        query, key, value = (torch.randn(shape, generator=generator).to(device) for _ in range(3))

        def plain(query: Tensor = query, key: Tensor = key, value: Tensor = value) -> Tensor:
            return look.full(query, key, value, Causal()).context

        def fused(query: Tensor = query, key: Tensor = key, value: Tensor = value) -> Tensor:
            context: Tensor = look(query, key, value, Causal())
            return context

        times = [fastest(run, device) for run in (plain, fused)]
        costs.append(Cost(context, peak_bytes(plain, device), peak_bytes(fused, device), *times))
    return costs


def fastest(run: Callable[[], Tensor], device: torch.device) -> float:
    """Return the seconds of the fastest of some runs, after one that is not counted."""
    run()
    times = []
    for _ in range(REPEATS):
        _wait(device)
        start = perf_counter()
        run()
        _wait(device)
        times.append(perf_counter() - start)
    return min(times)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak_bytes(run: Callable[[], Tensor], device: torch.device) -> int:
    """Return the most memory that a run holds at once, beyond its inputs: by CUDA's counter or torch's profiler."""
    if device.type == "cuda":
        _wait(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        run()
        return torch.cuda.max_memory_allocated(device) - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        run()
    held = most = 0
    for event in sorted(record.events(), key=lambda event: event.time_range.end):
        held += event.self_cpu_memory_usage  # what the operation allocated, minus what it freed
        most = max(most, held)
    return most


def cost_lesson(costs: Sequence[Cost], sizes: Sizes, device: str) -> Lesson:
    """Return a lesson with the scores, the memory and the time by context."""
    contexts = [cost.context for cost in costs]
    last, before = costs[-1], costs[-2] if len(costs) > 1 else costs[-1]
    one = [(c, float(c * c)) for c in contexts]
    scores = [Line("one head: C²", one, 0), Line(f"{sizes.heads} heads", [(c, y * sizes.heads) for c, y in one], 1)]
    if sizes.blocks > 1:
        total = sizes.blocks * sizes.heads
        scores.append(Line(f"{sizes.blocks} attentions", [(c, y * total) for c, y in one], 2))
    reference = [(c, costs[0].plain_bytes / MEGABYTE * (c / contexts[0]) ** 2) for c in contexts]
    memory = [
        Line("plain", [(cost.context, cost.plain_bytes / MEGABYTE) for cost in costs], 0),
        Line("fused", [(cost.context, cost.fused_bytes / MEGABYTE) for cost in costs], 1),
        Line("∝ C²", reference, 5, "dashed"),
    ]
    time = [
        Line("plain", [(cost.context, cost.plain_seconds * 1000) for cost in costs], 0),
        Line("fused", [(cost.context, cost.fused_seconds * 1000) for cost in costs], 1),
    ]
    shape = f"{sizes.heads} heads of depth {sizes.depth}"
    panels = [
        LessonPanel("Scores", CONTEXT, "scores", scores, _scores_in_words(), doubles=True),
        LessonPanel(
            f"Memory, {shape}",
            CONTEXT,
            "peak megabytes",
            memory,
            f"Plain attention holds its C² weights and copies of them: {last.plain_bytes / MEGABYTE:.1f} MB at C = "
            f"{last.context:,}, {_ratio(last.plain_bytes, before.plain_bytes)} times as much as at half of it. The "
            f"fused kernel never holds them: {last.fused_bytes / MEGABYTE:.1f} MB.",
            doubles=True,
        ),
        LessonPanel(
            f"Time, {device}",
            CONTEXT,
            "milliseconds",
            time,
            f"Both compare every query with every key: at C = {last.context:,} plain attention takes "
            f"{last.plain_seconds * 1000:.1f} ms ({_ratio(last.plain_seconds, before.plain_seconds)} times as long as "
            f"at half of it), the fused kernel {last.fused_seconds * 1000:.1f} ms.",
            doubles=True,
        ),
    ]
    return Lesson("What attention costs by the length of the context", panels)


def _scores_in_words() -> str:
    return (
        "Each of C queries is compared with each of C keys, so a head has C² scores: with GPT-3's context of "
        f"{PAPER:,} tokens, {PAPER:,}² = {PAPER**2:,}. Twice the context has four times the scores."
    )


def _ratio(value: float, before: float) -> str:
    return f"{value / before:.1f}" if before else "–"
