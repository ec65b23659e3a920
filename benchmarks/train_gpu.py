"""Training speed on a GPU: our Transformer beside those that people would pick instead, in one process, on one work.

Run it with `.venv/bin/python benchmarks/train_gpu.py [--preset base|big] [--tokens 25600] [--compiled]`. Lengths are
log-normal around 28 tokens and bucketed, the vocabulary has 32,000 tokens; all learn with label smoothing, dropout,
Adam, clipping and bf16. What counts is target tokens a second without padding, and its ratio to the peers'.
"""

import argparse
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from device import DEVICE, seconds_of, wait
from torch import Tensor, nn

from regard.attention.positions import sinusoids
from regard.base.recipe import check
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import PRESETS, TransformerOptions
from regard.protocols import Loss
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.objectives import CrossEntropy
from regard.tasks.translation.packs import PackedBatch, pack
from regard.training import optimizers
from regard.training.options import OptimizerOptions
from regard.training.passes import Passes

VOCABULARY, PAD, BEGIN, DROPOUT, SMOOTHING = 32_000, 0, 1, 0.1, 0.1


def batches(tokens: int, count: int) -> list[PairBatch]:
    """Log-normal lengths around 28 tokens, pairs of like length together, so many target tokens each; on the host."""
    generator = np.random.default_rng(0)
    rows = count * tokens // 28
    target = np.clip(28 * np.exp(0.5 * generator.standard_normal(rows)), 4, 120).astype(int)
    source = np.clip(target * np.exp(0.12 * generator.standard_normal(rows)), 4, 120).astype(int)
    order = np.lexsort((source, target))
    number = np.cumsum(target[order]) // tokens
    made = []
    for chosen in generator.permutation(number.max()):
        own = order[number == chosen]
        sides = [_table(lengths[own], generator) for lengths in (source, target)]
        made.append(PairBatch.of(*sides[0], *sides[1], begin=BEGIN))
    return made


def _table(lengths: np.ndarray, generator: np.random.Generator) -> tuple[Tensor, Tensor]:
    table = generator.integers(4, VOCABULARY, (len(lengths), int(lengths.max())))
    table[np.arange(table.shape[1]) >= lengths[:, None]] = PAD
    return torch.from_numpy(table), torch.from_numpy(lengths)


class Embedded(nn.Module):
    """Embeddings, positions and a tied output layer around a body, with the loss that all peers share."""

    def __init__(self, sizes: dict[str, int], body: nn.Module) -> None:
        super().__init__()
        width = sizes["width"]
        self.weight = nn.Parameter(torch.randn(VOCABULARY, width) * width**-0.5)
        self.register_buffer("places", sinusoids(torch.arange(128), width))
        self.body, self.dropout, self.width = body, nn.Dropout(DROPOUT), width

    def embed(self, tokens: Tensor) -> Tensor:
        return self.dropout(F.embedding(tokens, self.weight) * self.width**0.5 + self.places[: tokens.shape[1]])

    def forward(self, source: Tensor, real: Tensor, inputs: Tensor, target: Tensor) -> Tensor:
        states = self.body(self.embed(source), self.embed(inputs), real)
        return smoothed(F.linear(states, self.weight), target)


def smoothed(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(
        logits.flatten(0, 1).float(), target.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING, reduction="sum"
    )


class TorchBody(nn.Module):
    """torch.nn.Transformer."""

    def __init__(self, sizes: dict[str, int]) -> None:
        super().__init__()
        layers = sizes["encoder_layers"], sizes["decoder_layers"], sizes["feed_forward"]
        self.body = nn.Transformer(sizes["width"], sizes["heads"], *layers, DROPOUT, batch_first=True, norm_first=True)

    def forward(self, source: Tensor, target: Tensor, real: Tensor) -> Tensor:
        ahead = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        return self.body(
            source,
            target,
            tgt_mask=ahead,
            src_key_padding_mask=~real,
            memory_key_padding_mask=~real,
            tgt_is_causal=True,
        )


class PlainBlock(nn.Module):
    """A pre-norm block on torch's fused attention, as one writes it today."""

    def __init__(self, sizes: dict[str, int], crosses: bool) -> None:
        super().__init__()
        width, self.heads = sizes["width"], sizes["heads"]
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if crosses else 2))
        self.to_all, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        if crosses:
            self.to_query, self.to_memory = nn.Linear(width, width), nn.Linear(width, 2 * width)
            self.cross_out = nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, sizes["feed_forward"]), nn.Linear(sizes["feed_forward"], width)
        self.dropout = nn.Dropout(DROPOUT)

    def look(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
        parts = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (query, key, value))
        return F.scaled_dot_product_attention(*parts, attn_mask=mask, is_causal=causal).transpose(1, 2).flatten(2)

    def forward(self, states: Tensor, mask: Tensor, memory: Tensor | None = None) -> Tensor:
        parts = self.to_all(self.norms[0](states)).chunk(3, -1)
        own = self.look(*parts, None, True) if memory is not None else self.look(*parts, mask, False)
        states = states + self.dropout(self.out(own))
        if memory is not None:
            query = self.to_query(self.norms[2](states))
            found = self.look(query, *self.to_memory(memory).chunk(2, -1), mask, False)
            states = states + self.dropout(self.cross_out(found))
        return states + self.dropout(self.outer(F.relu(self.inner(self.norms[1](states)))))


class PlainBody(nn.Module):
    """A plain pre-norm Transformer."""

    def __init__(self, sizes: dict[str, int]) -> None:
        super().__init__()
        self.encoder = nn.ModuleList(PlainBlock(sizes, False) for _ in range(sizes["encoder_layers"]))
        self.decoder = nn.ModuleList(PlainBlock(sizes, True) for _ in range(sizes["decoder_layers"]))
        self.norms = nn.ModuleList(nn.LayerNorm(sizes["width"]) for _ in range(2))

    def forward(self, source: Tensor, target: Tensor, real: Tensor) -> Tensor:
        mask = real[:, None, None]
        for block in self.encoder:
            source = block(source, mask)
        memory = self.norms[0](source)
        for block in self.decoder:
            target = block(target, mask, memory)
        return self.norms[1](target)


class Marian(nn.Module):
    """MarianMT of Hugging Face's transformers."""

    def __init__(self, sizes: dict[str, int]) -> None:
        super().__init__()
        from transformers import MarianConfig, MarianMTModel

        sides = {}
        for side in ("encoder", "decoder"):
            sides |= {f"{side}_layers": sizes[f"{side}_layers"], f"{side}_ffn_dim": sizes["feed_forward"]}
            sides |= {f"{side}_attention_heads": sizes["heads"]}
        self.model = MarianMTModel(
            MarianConfig(
                vocab_size=VOCABULARY,
                d_model=sizes["width"],
                **sides,
                activation_function="relu",
                dropout=DROPOUT,
                scale_embedding=True,
                max_position_embeddings=128,
                pad_token_id=PAD,
                eos_token_id=2,
                decoder_start_token_id=BEGIN,
                use_cache=False,
            )
        )

    def forward(self, source: Tensor, real: Tensor, inputs: Tensor, target: Tensor) -> Tensor:
        return smoothed(self.model(source, attention_mask=real.long(), decoder_input_ids=inputs).logits, target)


class Ours(nn.Module):
    """Our Transformer as `regard train` drives it."""

    def __init__(self, sizes: dict[str, int], norm: str = "before") -> None:
        super().__init__()
        options = check(TransformerOptions, sizes | {"dropout": DROPOUT, "norm": norm})
        self.model = Transformer(options, VOCABULARY, VOCABULARY, True, pad=PAD)

    def loss(self, batch: PairBatch | PackedBatch, carry: None = None) -> Loss:
        return CrossEntropy(SMOOTHING)(self.model, batch, None)


@dataclass(frozen=True)
class Contender:
    """What a batch is made into beforehand, and one update from it."""

    prepare: Callable[[PairBatch, int], Any]
    update: Callable[[Any], None]


def our_update(
    module: Any, options: OptimizerOptions, count: Callable[[Any], int], captured: bool = True
) -> Callable[[Any], None]:
    """One update of a task of ours, as `regard train` does it, from a batch of `count` tokens."""
    module = module.to(DEVICE).train()
    optimizer, passes = optimizers.build(module, options), Passes(module, module, "auto")

    def update(batch: Any) -> None:
        optimizer.zero_grad(set_to_none=not passes.capturing)
        passes(batch, None) if captured else passes.plainly(batch, None)
        optimizers.scale_gradients(module, count(batch), 1.0)
        optimizers.step(optimizer, 1e-4)

    return update


def ours(module: Ours, packed: bool = True, captured: bool = True) -> Contender:
    """Ours, with what can be switched off: packed sentences with their kernels, captured passes."""
    packed = packed and DEVICE.type == "cuda"

    def prepare(pairs: PairBatch, capacity: int) -> PairBatch | PackedBatch:
        return (pack(pairs, capacity, DEVICE) if packed else None) or pairs.to(DEVICE)

    return Contender(prepare, our_update(module, OptimizerOptions(clip=1.0), lambda batch: batch.tokens, captured))


def peer(module: nn.Module, compiled: bool = False) -> Contender:
    module = module.to(DEVICE).train()
    parameters = list(module.parameters())
    optimizer = torch.optim.Adam(parameters, lr=1e-4, betas=(0.9, 0.98), fused=True)
    forward: Callable[..., Tensor] = torch.compile(module, dynamic=True) if compiled else module

    def prepare(pairs: PairBatch, capacity: int) -> tuple[PairBatch, Tensor]:
        moved = pairs.to(DEVICE)
        return moved, moved.source != PAD

    def update(prepared: tuple[PairBatch, Tensor]) -> None:
        batch, real = prepared
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=DEVICE.type == "cuda"):
            loss = forward(batch.source, real, batch.inputs, batch.target) / batch.tokens
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return Contender(prepare, update)


CONTENDERS: dict[str, Callable[[dict[str, int]], Contender]] = {
    "regard": lambda sizes: ours(Ours(sizes)),
    "regard, norm after": lambda sizes: ours(Ours(sizes, "after")),
    "regard, not captured": lambda sizes: ours(Ours(sizes), captured=False),
    "regard, plain path": lambda sizes: ours(Ours(sizes), packed=False),
    "torch.nn.Transformer": lambda sizes: peer(Embedded(sizes, TorchBody(sizes))),
    "HF Marian": lambda sizes: peer(Marian(sizes)),
    "plain": lambda sizes: peer(Embedded(sizes, PlainBody(sizes))),
    "plain, compiled": lambda sizes: peer(Embedded(sizes, PlainBody(sizes)), compiled=True),
    "HF Marian, compiled": lambda sizes: peer(Marian(sizes), compiled=True),
}


def seconds(contender: Contender, data: list[Any], rounds: int) -> tuple[float, float]:
    """Of the first update, with what it compiles, and of a round over the data, the median of several."""

    def update_by(batches: list[Any]) -> None:
        for batch in batches:
            contender.update(batch)

    rounds_over = (data[:1], data, *[data] * rounds)  # the second warms up for all shapes
    times = [seconds_of(lambda batches=batches: update_by(batches)) for batches in rounds_over]
    return times[0], statistics.median(times[2:])


def profile(contender: Contender, data: list[Any]) -> None:
    """Where the time of an update goes, by kernel; to be seen without capturing, for a graph tells nothing."""
    from torch.profiler import ProfilerActivity

    for batch in data[:3]:
        contender.update(batch)
    with torch.profiler.profile(activities=[ProfilerActivity.CUDA], acc_events=True) as seen:
        for batch in data[:4]:
            contender.update(batch)
        wait()
    events: Any = [event for event in seen.key_averages() if event.self_device_time_total > 0]
    print(f"{sum(event.self_device_time_total for event in events) / 4000:.2f} ms of kernels an update")
    for event in sorted(events, key=lambda event: -event.self_device_time_total)[:40]:
        print(f"{event.self_device_time_total / 4000:8.3f} ms {event.count / 4:6.1f} times  {event.key[:110]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", choices=list(PRESETS), default="base")
    parser.add_argument("--tokens", type=int, default=25_600, help="target tokens of a batch")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compiled", action="store_true", help="also what must be compiled first, which takes minutes")
    parser.add_argument("--only", nargs="*", choices=list(CONTENDERS))
    parser.add_argument("--profile", choices=list(CONTENDERS), help="print where the time of an update goes instead")
    asked = parser.parse_args()
    torch.backends.cuda.enable_cudnn_sdp(False)  # it makes a plan for every new shape; the peers gain from its absence
    sizes, pairs = PRESETS[asked.preset], batches(asked.tokens, asked.batches)
    capacity = max(max(len(each.source_places), each.tokens) for each in pairs)
    if asked.profile:
        contender = CONTENDERS[asked.profile](sizes)
        profile(contender, [contender.prepare(each, capacity) for each in pairs])
        return
    tokens = sum(each.tokens for each in pairs)
    names = asked.only or [name for name in CONTENDERS if asked.compiled or "compiled" not in name]
    print(f"{asked.preset}, {asked.tokens} tokens a batch, on {DEVICE}", flush=True)
    print(f"{'':22} {'tokens/s':>10} {'ratio':>6} {'first':>8} {'memory':>9}")
    base = None
    for name in names:
        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        torch.manual_seed(0)
        contender = CONTENDERS[name](sizes)
        first, took = seconds(contender, [contender.prepare(each, capacity) for each in pairs], asked.rounds)
        base = base or took
        memory = torch.cuda.max_memory_allocated() / 2**30 if DEVICE.type == "cuda" else 0.0
        print(f"{name:22} {tokens / took:10,.0f} {took / base:6.2f} {first:6.1f} s {memory:6.1f} GB", flush=True)


if __name__ == "__main__":
    main()
