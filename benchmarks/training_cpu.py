"""Training speed on the CPU: our Transformer beside Hugging Face's MarianMT and torch.nn.Transformer.

    .venv/bin/python benchmarks/training_cpu.py [tiny] [base]

All learn in one process on the same batches, with the same sizes, dropout (on embeddings and each sublayer's output),
label smoothing, fused Adam and clipping. Ours computes its loss and its products as `regard train` does. MarianMT
needs the package transformers and is passed over without it.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from table import Contender, Ratio, against, in_turns, show
from torch import Tensor, nn

from regard.base.recipe import check
from regard.models.cross_entropy import projected_cross_entropy
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.runs.start import quick_products
from regard.training import optimizers
from regard.training.options import OptimizerOptions

VOCABULARY, DROPOUT, SMOOTHING, PAD = 32_000, 0.1, 0.1, 0
RATE, ROUNDS = 1e-4, 3
TOKENS = {"tiny": (1024, 2), "base": (320, 1)}  # in a batch, and batches of a round
IGNORED = -100


class Batch(NamedTuple):
    source: Tensor
    lengths: Tensor
    inputs: Tensor
    wanted: Tensor  # padding is IGNORED

    @property
    def tokens(self) -> int:
        return int((self.wanted != IGNORED).sum())


Loss = Callable[[Batch], Tensor]  # summed over the tokens


def batches(preset: str) -> list[Batch]:
    """Log-normal lengths around 28 tokens, rows of like length together."""
    budget, count = TOKENS[preset]
    generator = torch.Generator().manual_seed(0)
    typical = (28 * torch.randn(count, generator=generator).mul(0.5).exp()).int().clamp(8, 100).tolist()
    return [_batch(max(1, budget // length), length, generator) for length in typical]


def _batch(rows: int, length: int, generator: torch.Generator) -> Batch:
    def drawn() -> tuple[Tensor, Tensor]:
        lengths = torch.randint(max(1, length - 2), length + 1, (rows,), generator=generator)
        lengths[0] = length
        tokens = torch.randint(4, VOCABULARY, (rows, length), generator=generator)
        return tokens.masked_fill(torch.arange(length) >= lengths[:, None], PAD), lengths

    (source, lengths), (target, _) = drawn(), drawn()
    return Batch(source, lengths, F.pad(target[:, :-1], (1, 0), value=2), target.masked_fill(target == PAD, IGNORED))


def summed(logits: Tensor, wanted: Tensor) -> Tensor:
    return F.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), ignore_index=IGNORED, label_smoothing=SMOOTHING, reduction="sum"
    )


def ours(options: TransformerOptions) -> tuple[nn.Module, Loss]:
    model = Transformer(options, VOCABULARY, VOCABULARY, True, pad=PAD)

    def loss(batch: Batch) -> Tensor:
        states, _ = model.write(batch.inputs, model.read(batch.source, batch.lengths), [])
        real = batch.wanted.flatten() != IGNORED
        return projected_cross_entropy(
            states.flatten(0, 1)[real], model.out.weight, batch.wanted.flatten()[real], SMOOTHING
        )

    return model, loss


class WithTorch(nn.Module):
    """torch.nn.Transformer with the embeddings, positions and tied output layer that a translator needs."""

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        made = Transformer(options, VOCABULARY, VOCABULARY, True, pad=PAD)
        self.embedding, self.places, self.dropout = made.source_embedding, made.source_places, made.dropout
        sizes = options.encoder_layers, options.decoder_layers, options.feed_forward
        self.body = nn.Transformer(options.width, options.heads, *sizes, DROPOUT, batch_first=True)
        for module in self.body.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0  # the one inside the feed-forward net

    def loss(self, batch: Batch) -> Tensor:
        padding = torch.arange(batch.source.shape[1]) >= batch.lengths[:, None]
        states = self.body(
            self.dropout(self.places(self.embedding(batch.source))),
            self.dropout(self.places(self.embedding(batch.inputs))),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(batch.inputs.shape[1]),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return summed(F.linear(states, self.embedding.weight), batch.wanted)


def with_torch(options: TransformerOptions) -> tuple[nn.Module, Loss]:
    model = WithTorch(options)
    return model, model.loss


def with_marian(options: TransformerOptions) -> tuple[nn.Module, Loss]:
    from transformers import MarianConfig, MarianMTModel

    sizes: dict[str, Any] = {"d_model": options.width, "vocab_size": VOCABULARY, "pad_token_id": PAD}
    for side, layers in (("encoder", options.encoder_layers), ("decoder", options.decoder_layers)):
        sizes |= {f"{side}_layers": layers, f"{side}_attention_heads": options.heads}
        sizes |= {f"{side}_ffn_dim": options.feed_forward}
    special = {"eos_token_id": 3, "decoder_start_token_id": 2, "forced_eos_token_id": None}
    dropout = {"dropout": DROPOUT, "attention_dropout": 0.0, "activation_dropout": 0.0}
    plain = {"activation_function": "relu", "scale_embedding": True, "use_cache": False}
    model = MarianMTModel(MarianConfig(**sizes, **special, **dropout, **plain))

    def loss(batch: Batch) -> Tensor:
        real = torch.arange(batch.source.shape[1]) < batch.lengths[:, None]
        found = model(input_ids=batch.source, attention_mask=real.long(), decoder_input_ids=batch.inputs)
        return summed(found.logits, batch.wanted)

    return model.train(), loss


def trainer(model: nn.Module, loss: Loss, data: list[Batch]) -> Contender:
    """One round over the batches, a step for each; its work is the target tokens without padding."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=RATE, betas=(0.9, 0.98), fused=True)

    def one_round() -> float:
        for batch in data:
            (loss(batch) / batch.tokens).backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad()
        return sum(batch.tokens for batch in data)

    return one_round


def our_trainer(model: nn.Module, loss: Loss, data: list[Batch]) -> Contender:
    """The same as `regard train` does it: gradients become those of the mean when they are clipped."""
    optimizer = optimizers.build(model, OptimizerOptions(clip=1.0))

    def one_round() -> float:
        with quick_products():
            for batch in data:
                loss(batch).backward()
                optimizers.scale_gradients(model, batch.tokens, 1.0)
                optimizers.step(optimizer, RATE)
                optimizer.zero_grad()
        return sum(batch.tokens for batch in data)

    return one_round


def ratios(presets: Iterable[str] = tuple(TOKENS)) -> Iterator[Ratio]:
    peers = {"HF MarianMT": with_marian} if find_spec("transformers") else {}
    peers["torch.nn.Transformer"] = with_torch
    for preset in presets:
        options, data = check(TransformerOptions, {"preset": preset, "dropout": DROPOUT}), batches(preset)
        contenders = {"ours": our_trainer(*ours(options), data)}
        contenders |= {name: trainer(*make(options), data) for name, make in peers.items()}
        for threads in (1, 2):
            torch.set_num_threads(threads)
            rates = in_turns(contenders, ROUNDS)
            mine, what = rates.pop("ours"), f"training {preset}, {threads} thread{'s' * (threads > 1)}"
            yield from against(what, mine, rates, "target tokens")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", choices=list(TOKENS), metavar="PRESET", help=", ".join(TOKENS))
    show(ratios(tuple(parser.parse_args().presets) or tuple(TOKENS)))
