"""Speed of learning masked tokens, beside Hugging Face's BertForMaskedLM, in one process and on the same batches.

Run it with `.venv/bin/python benchmarks/bert.py` on a GPU that nobody else uses. Tokens are drawn at random, 15 % of
them hidden; all learn in bf16 with AdamW and clipping, with the dropout of 0.1 that BERT has. Ours scores the hidden
places alone, as the authors' code does; Hugging Face's scores every place.
"""

import argparse
import statistics
from collections.abc import Callable

import numpy as np
import torch
from device import DEVICE, seconds_of
from torch import nn
from train_gpu import our_update

from regard.data.tokenisers.wordpiece import MARKS, WordPieceOptions, WordPieceTokeniser
from regard.families import check_recipe
from regard.models.bert.options import PRESETS, BertOptions
from regard.tasks.masked.batches import MaskedBatch, Spans
from regard.tasks.masked.masking import NOTHING
from regard.tasks.masked.task import MaskedTokens
from regard.training.options import OptimizerOptions

IGNORED = -100  # by Hugging Face's loss
Update = Callable[[MaskedBatch], None]


def task_of(preset: str, span: int, vocabulary: int) -> MaskedTokens:
    """A new model with a vocabulary of pieces that mean nothing."""
    pieces = [*MARKS, *(f"piece{number}" for number in range(vocabulary - len(MARKS)))]
    model = {"preset": preset, "longest": max(span, 512)}
    recipe = check_recipe({"family": "bert", "data": {"train": "none"}, "model": model, "training": {"span": span}})
    tokeniser = WordPieceTokeniser(pieces, WordPieceOptions())
    return MaskedTokens.build(recipe, tokeniser.files("tokeniser"))


def batches_of(task: MaskedTokens, rows: int, span: int) -> list[MaskedBatch]:
    """Some batches of random text."""
    text = np.random.default_rng(1).integers(len(MARKS), task.tokeniser.size, 4 * rows * (span - 1))
    spans = Spans(text, span, task.tokeniser.begin, task.tokeniser.pad)
    masking = task.training_options.masking
    numbers = np.arange(4 * rows).reshape(4, rows)
    return [spans.batch(some, (1, 0), task.vocabulary, masking).to(DEVICE) for some in numbers]


def ours(task: MaskedTokens, captured: bool = True) -> Update:
    learning = OptimizerOptions(kind="adamw", weight_decay=0.01)
    return our_update(task, learning, lambda batch: batch.count, captured)


def hugging_face(options: BertOptions, vocabulary: int) -> Update:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=options.width,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        intermediate_size=options.feed_forward,
        max_position_embeddings=options.longest,
        attn_implementation="sdpa",
    )
    module: nn.Module = BertForMaskedLM(config).to(DEVICE).train()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4, weight_decay=0.01, fused=DEVICE.type == "cuda")

    def update(batch: MaskedBatch) -> None:
        tokens, places, wanted = batch.tensors
        # Where nothing is wanted the place is 0, which is never hidden.
        labels = torch.full_like(tokens, IGNORED).scatter(1, places, wanted.masked_fill(wanted == NOTHING, IGNORED))
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=DEVICE.type == "cuda"):
            loss = module(input_ids=tokens, labels=labels).loss
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return update


def rate_of(update: Update, batches: list[MaskedBatch], rounds: int) -> float:
    """Tokens a second, the median of some rounds after one that warms up."""
    tokens = sum(batch.tensors.tokens.numel() for batch in batches)

    def update_by_all() -> None:
        for batch in batches:
            update(batch)

    return statistics.median([tokens / seconds_of(update_by_all) for _ in range(rounds + 1)][1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="+", choices=list(PRESETS), default=["small", "base"])
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--span", type=int, default=512)
    parser.add_argument("--vocabulary", type=int, default=12_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    for preset in asked.presets:
        task = task_of(preset, asked.span, asked.vocabulary)
        batches, options = batches_of(task, asked.rows, asked.span), task.model.reader.options
        contenders: dict[str, Callable[[], Update]] = {
            "regard": lambda task=task: ours(task),
            "regard, not captured": lambda task=task: ours(task, captured=False),
            "HF BertForMaskedLM": lambda options=options: hugging_face(options, asked.vocabulary),
        }
        print(f"{preset}, {asked.rows} x {asked.span} tokens", flush=True)
        our_rate = 0.0
        for name, make in contenders.items():
            rate = rate_of(make(), batches, asked.rounds)
            our_rate = our_rate or rate
            print(f"{name:22} {rate:12,.0f} tokens/s {our_rate / rate:6.2f}", flush=True)


if __name__ == "__main__":
    main()
