"""Exact speculation against plain greedy search or sampling, one text at a time, in one process on the same texts.

For each draft: milliseconds a text, how many times as fast as the plain search (by the clock and by CPU time), tokens
written by a pass, the share of proposed tokens that were right, plain steps that decided near ties, and how many
outputs differ, which must be none. The draft `none` proposes nothing: it shows what the loop of speculation alone
saves, without the bookkeeping of a beam.

    .venv/bin/python benchmarks/speculation.py runs/demo --draft none lookup runs/student
    .venv/bin/python benchmarks/speculation.py runs/gpt-shakespeare-tiny --draft lookup runs/ngram --tokens 200
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

import regard
from regard.data.demo.corpus import pairs
from regard.decoding.speculation import Counts, NoDraft
from regard.verbs.generate.continuing import generate
from regard.verbs.generate.drafting import drafting_for
from regard.verbs.generate.request import GenerateRequest
from regard.verbs.translate.drafting import drafting_of
from regard.verbs.translate.plan import Piece
from regard.verbs.translate.search import find

PROMPTS = [
    "ROMEO:",
    "KING RICHARD III:",
    "First Citizen:",
    "JULIET:\nO ",
    "DUKE VINCENTIO:",
    "What say you",
    "My lord,",
]
WARM = 3  # texts before the clock starts
Output = tuple[tuple[Any, ...], float]  # tokens and score


@dataclass
class Row:
    """One way to search: its outputs, its times and the work of its speculation."""

    name: str
    run: Callable[[str], Output]
    counts: Counts
    outputs: list[Output] = field(default_factory=list)
    clock: float = 0.0
    core: float = 0.0

    def add(self, text: str, is_timed: bool) -> None:
        """Search one text."""
        clock, core = time.perf_counter(), time.process_time()
        output = self.run(text)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        if is_timed:
            self.clock += time.perf_counter() - clock
            self.core += time.process_time() - core
            self.outputs.append(output)

    def record(self, plain: "Row") -> dict[str, Any]:
        """Return the figures, compared with the plain search."""
        counts, texts = self.counts, max(1, len(self.outputs))
        together = list(zip(self.outputs, plain.outputs, strict=True))
        return {
            "draft": self.name,
            "texts": texts,
            "ms": self.clock / texts * 1e3,
            "core_ms": self.core / texts * 1e3,
            "times": plain.clock / self.clock,
            "core_times": plain.core / self.core,
            "tokens_a_pass": counts.written / counts.passes if counts.passes else 1.0,
            "right": counts.accepted / counts.proposed if counts.proposed else None,
            "differ": sum(ours[0] != theirs[0] for ours, theirs in together),
            "score_difference": max((abs(ours[1] - theirs[1]) for ours, theirs in together), default=0.0),
            **asdict(counts),
        }


def translating(model: Any, draft: str | None, drafter: Any) -> Row:
    """Return a row that translates sentences."""
    plan = model.plan(beam=1)
    if draft is None:
        return Row("plain", lambda text: _of(find([model.task], [Piece(text)], plan)[0][0]), Counts())
    drafting = drafting_of(model, "lookup" if draft == "none" else drafter or draft, plan.options)
    if draft == "none":
        drafting = replace(drafting, open=lambda piece, row, choose: NoDraft())
    return Row(draft, lambda text: _of(find([model.task], [Piece(text)], plan, None, drafting)[0][0]), drafting.counts)


def _of(hypothesis: Any) -> Output:
    return tuple(hypothesis.tokens), hypothesis.score


def continuing(model: Any, draft: str | None, drafter: Any, way: dict[str, Any]) -> Row:
    """Return a row that continues prompts."""
    name = "lookup" if draft == "none" else draft
    drafting = drafting_for(model, GenerateRequest(draft=name)) if name else None
    if draft == "none":
        drafting = replace(drafting, student=_Nothing())
    elif drafter is not None:
        drafting = replace(drafting, student=drafter.task)

    def run(prompt: str) -> Output:
        request = GenerateRequest.read({"prompt": [prompt], **way})
        ((text,),) = generate(model.task, model.recipe.decoding, request, drafting=drafting)
        return tuple(text.tokens), text.score

    return Row(draft or "plain", run, drafting.counts if drafting else Counts())


class _Nothing:
    """A language model that is never sure enough to propose anything."""

    def __init__(self) -> None:
        self.begin, self.end = 0, 0

    def start(self, batch: Any) -> Any:
        return ()

    def step(self, tokens: Any, state: Any) -> Any:
        return torch.zeros(1, 1), state


def texts_for(given: argparse.Namespace, is_translator: bool) -> list[str]:
    """Return the texts to search: those of a file, the demo's test sentences or a few prompts."""
    if given.text is not None:
        texts = [line for line in given.text.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        texts = [source for source, _ in pairs("test")] if is_translator else PROMPTS
    return (
        (texts * (given.lines // len(texts) + 1))[: given.lines + WARM]
        if not is_translator
        else texts[: given.lines + WARM]
    )


def show(records: list[dict[str, Any]]) -> None:
    """Print the table as Markdown."""
    print("| draft | ms a text | times plain | by core | tokens a pass | right | near ties | outputs that differ |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in records:
        right = "" if row["right"] is None else f"{row['right']:.0%}"
        print(
            f"| {row['draft']} | {row['ms']:.1f} | {row['times']:.2f} | {row['core_times']:.2f} | "
            f"{row['tokens_a_pass']:.2f} | {right} | {row['plain_steps']} | {row['differ']} of {row['texts']} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a translator or a language model")
    parser.add_argument("--draft", nargs="+", default=["none", "lookup"], help="none, lookup, source, or model folders")
    parser.add_argument("--text", type=Path, help="lines to translate, or prompts (demo test sentences, six prompts)")
    parser.add_argument("--lines", type=int, default=100, help="texts to search")
    parser.add_argument("--tokens", type=int, default=200, help="tokens to write after a prompt")
    parser.add_argument("--sample", action="store_true", help="sample instead of searching greedily (language models)")
    parser.add_argument("--temperature", type=float, default=1.0, help="of samples")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path, help="append the figures to this file, a line for each draft")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    model: Any = regard.load(given.model, device=given.device)
    is_translator = "translate" in model.verbs
    way: dict[str, Any] = {"tokens": given.tokens, "past_end": True}
    way |= {"sample": {"temperature": given.temperature}} if given.sample else {"beam": 1}
    make = translating if is_translator else partial(continuing, way=way)
    loaded = {name: regard.load(name, device=given.device) for name in given.draft if Path(name).is_dir()}
    rows = [make(model, None, None), *(make(model, name, loaded.get(name)) for name in given.draft)]
    for number, text in enumerate(texts_for(given, is_translator)):
        if number == WARM:
            for row in rows:
                vars(row.counts).update(vars(Counts()))
        for row in rows:
            row.add(text, number >= WARM)
    about = {"model": str(given.model), "threads": given.threads, "device": given.device, "sample": given.sample}
    records = [about | row.record(rows[0]) for row in rows]
    show(records)
    if given.json is not None:
        with given.json.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
    sys.exit(any(record["differ"] for record in records))


if __name__ == "__main__":
    main()
