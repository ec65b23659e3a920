"""Speed of GPT-2's 124M at a context of 1,024, beside the chip's own and Hugging Face's GPT-2, in one process.

Run it with `.venv/bin/python benchmarks/gpt.py` on a GPU that nobody else uses; `--compiled` adds Hugging Face's model
by torch.compile, which takes minutes, and `--profile` shows where our time goes. Tokens are drawn at random. All learn
in bf16 with AdamW and clipping, without dropout as GPT-2's successors are trained, or with `--dropout 0.1`.

A token takes 6 N + 12 · layers · width · context floating-point operations, N being the weights of all matrices
(Chowdhery et al. 2022, PaLM, appendix B; that attention is causal is not counted in its favour). The chip's rate is
that of the product of two square bf16 matrices, measured here.

`--generate` times writing instead: texts of 128 tokens after prompts of 32, one at a time and 64, drawn and greedy, by
our captured steps and by `generate`, both in bf16 with weights drawn at random. Without a GPU both write in float32,
and `--generate --preset tiny --rows 4` takes seconds; its texts are as long as its context allows.
"""

import argparse
import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from device import DEVICE, seconds_of
from jaxtyping import Int
from torch import Tensor, nn
from train_gpu import Contender, our_update, profile

from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.decoding.fixed_beam import fixed_beam_search
from regard.decoding.fixed_sampling import fixed_sample
from regard.decoding.options import DecodingOptions
from regard.decoding.step_graphs import captures_of
from regard.models.gpt.network import GPT
from regard.models.gpt.options import PRESETS, GPTOptions
from regard.tasks.language.batches import Prompts
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.language.options import GradientLanguageTraining
from regard.tasks.language.reserving import ReservingLanguage
from regard.tasks.language.streams import StreamBatch
from regard.training.options import OptimizerOptions
from regard.verbs.generate.continuing import PastEnds

VOCABULARY, SQUARE = 50_257, 8192
PROMPT, WRITTEN = 32, 128  # tokens of a prompt, and at most of what is written after it
WRITING_ROUNDS = 2  # after one that warms up
Update = Callable[[StreamBatch], None]


def options_of(preset: str, dropout: float) -> GPTOptions:
    return check(GPTOptions, {"preset": preset, "dropout": dropout, "attention_dropout": dropout})


def operations(options: GPTOptions) -> float:
    """Floating-point operations of learning from one token."""
    inside = options.layers * (4 * options.width**2 + 2 * options.width * options.inside)
    return 6 * (inside + VOCABULARY * options.width) + 12 * options.layers * options.width * options.context


def matrix_rate(rounds: int = 10) -> float:
    """Floating-point operations a second of a product of square bf16 matrices, the best of some rounds."""
    one, other = (torch.randn(SQUARE, SQUARE, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    times = [seconds_of(lambda: [one @ other for _ in range(10)]) / 10 for _ in range(rounds + 1)]
    return 2 * SQUARE**3 / min(times[1:])


def ours(options: GPTOptions, captured: bool = True) -> Update:
    task = GradientLanguage(GPT(options, VOCABULARY), ByteTokeniser(), GradientLanguageTraining())
    learning = OptimizerOptions(kind="adamw", weight_decay=0.1)
    return our_update(task, learning, lambda batch: batch.count, captured)


def hugging_face(options: GPTOptions, compiled: bool = False) -> Update:
    module: nn.Module = their_model(options).to(DEVICE).train()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4, weight_decay=0.1, fused=True)
    forward: Any = torch.compile(module) if compiled else module

    def loss_of(tokens: Tensor, wanted: Tensor) -> Tensor:
        logits = forward(tokens, use_cache=False).logits
        return nn.functional.cross_entropy(logits.flatten(0, 1).float(), wanted.flatten())

    def update(batch: StreamBatch) -> None:
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=DEVICE.type == "cuda"):
            loss = loss_of(batch.tokens, batch.wanted)
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return update


def their_model(options: GPTOptions) -> Any:
    """Hugging Face's GPT-2 of these sizes, on torch's fused attention."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=options.context,
        n_embd=options.width,
        n_layer=options.layers,
        n_head=options.heads,
        resid_pdrop=options.dropout,
        embd_pdrop=options.dropout,
        attn_pdrop=options.attention_dropout,
        attn_implementation="sdpa",
    )
    return GPT2LMHeadModel(config)


CONTENDERS: dict[str, Callable[[GPTOptions], Update]] = {
    "regard": ours,
    "regard, not captured": lambda options: ours(options, captured=False),
    "HF GPT-2": hugging_face,
    "HF GPT-2, compiled": lambda options: hugging_face(options, compiled=True),
}


class Texts(NamedTuple):
    """What is to be written: after each prompt so many tokens, drawn or the most probable ones."""

    prompts: Int[Tensor, "row token"]
    length: int
    are_drawn: bool

    @classmethod
    def of(cls, rows: int, are_drawn: bool, context: int) -> "Texts":
        prompts = torch.randint(VOCABULARY, (rows, PROMPT), generator=torch.Generator().manual_seed(1))
        return cls(prompts, min(WRITTEN, context - PROMPT), are_drawn)

    @property
    def total(self) -> int:
        """Tokens written in all."""
        return len(self.prompts) * self.length

    def __str__(self) -> str:
        rows = len(self.prompts)
        return f"{rows} row{'s' if rows > 1 else ''}, {'drawn' if self.are_drawn else 'greedy'}"


def our_writing(task: GradientLanguage, texts: Texts) -> Callable[[], object]:
    """By captured steps."""
    rows = len(texts.prompts)
    prompts, limits = Prompts(texts.prompts.tolist()), torch.full((rows,), texts.length, device=DEVICE)
    options, captures = DecodingOptions(beam=1), captures_of(task)
    writer = PastEnds(ReservingLanguage(task), VOCABULARY)
    if texts.are_drawn:
        return lambda: fixed_sample(writer, prompts, limits, options, range(rows), captures, must_end=False)
    return lambda: fixed_beam_search(writer, prompts, limits, options, captures, must_end=False)


def their_writing(model: Any, texts: Texts) -> Callable[[], object]:
    """Hugging Face's `generate`."""
    prompts = texts.prompts.to(DEVICE)
    lengths = {"max_new_tokens": texts.length, "min_new_tokens": texts.length, "pad_token_id": VOCABULARY - 1}
    choice = {"do_sample": True, "top_k": 0} if texts.are_drawn else {"do_sample": False}
    return lambda: model.generate(prompts, attention_mask=torch.ones_like(prompts), **choice, **lengths)


def compare_writing(options: GPTOptions, most_rows: int) -> None:
    torch.manual_seed(0)
    kind = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32
    network = GPT(options, VOCABULARY)
    task = GradientLanguage(network, ByteTokeniser(), GradientLanguageTraining()).to(DEVICE, kind).eval()
    theirs = their_model(options).to(DEVICE, kind).eval()
    print(f"{'':18} {'':12} {'tokens/s':>10} {'ratio':>6} {'first call':>12}", flush=True)
    for rows in dict.fromkeys((1, most_rows)):
        for are_drawn in (True, False):
            texts, our_rate = Texts.of(rows, are_drawn, options.context), 0.0
            for name, work in (("regard", our_writing(task, texts)), ("HF generate", their_writing(theirs, texts))):
                first = seconds_of(work)
                rate = texts.total / min(seconds_of(work) for _ in range(WRITING_ROUNDS))
                our_rate = our_rate or rate
                print(f"{texts!s:18} {name:12} {rate:10,.0f} {our_rate / rate:6.2f} {first:10.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", choices=list(PRESETS), default="small")
    parser.add_argument("--rows", type=int, help="rows of a batch: 32, each as long as the context, or 64 texts")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--compiled", action="store_true", help="also what must be compiled first, which takes minutes")
    parser.add_argument("--only", nargs="*", choices=list(CONTENDERS))
    parser.add_argument("--generate", action="store_true", help="time writing instead")
    parser.add_argument("--profile", action="store_true", help="print where the time of our update goes instead")
    asked = parser.parse_args()
    options = options_of(asked.preset, asked.dropout)
    if asked.generate:
        compare_writing(options, asked.rows or 64)
        return
    rows = asked.rows or 32
    tokens, wanted = (torch.randint(VOCABULARY, (rows, options.context), device=DEVICE) for _ in range(2))
    batch = StreamBatch(tokens, wanted)
    if asked.profile:
        profile(Contender(lambda batch, capacity: batch, ours(options, captured=False)), [batch] * 4)
        return
    chip = matrix_rate() if DEVICE.type == "cuda" else float("nan")
    print(f"{asked.preset}, {rows} x {options.context} tokens; products of bf16 matrices {chip / 1e12:,.0f} TFLOP/s")
    print(f"{'':22} {'tokens/s':>10} {'TFLOP/s':>8} {'of the chip':>11} {'ratio':>6} {'memory':>9}", flush=True)
    names = asked.only or [name for name in CONTENDERS if asked.compiled or "compiled" not in name]
    base = None
    for name in names:
        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        torch.manual_seed(0)
        update = CONTENDERS[name](options)
        for _ in range(3):
            update(batch)
        took = statistics.median(seconds_of(lambda update=update: update(batch)) for _ in range(asked.rounds))
        base, rate = base or took, batch.count / took
        memory = torch.cuda.max_memory_allocated() / 2**30 if DEVICE.type == "cuda" else 0.0
        speed = rate * operations(options)
        print(
            f"{name:22} {rate:10,.0f} {speed / 1e12:8.1f} {speed / chip:11.1%} {took / base:6.2f} {memory:6.1f} GB",
            flush=True,
        )


if __name__ == "__main__":
    main()
