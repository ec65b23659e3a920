"""Training speed on the CPU: our Transformer beside torch's own, in one process, on the same batches.

Run it with `make bench`. Both learn with the same sizes, dropout, loss, optimiser and clipping; the ratio is what
counts, not the tokens a second, which belong to the machine.
"""

import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.models.transformer import Transformer, TransformerOptions
from regard.recipe import check

VOCABULARY, ROUNDS, BATCH_TOKENS = 8000, 5, 2048


class Peer(nn.Module):
    """torch.nn.Transformer with the embeddings, positions and tied output layer that a translator needs."""

    def __init__(self, ours: Transformer) -> None:
        super().__init__()
        o = ours.options
        self.ours = ours  # for its embedding and positions, which torch has not
        self.body = nn.Transformer(
            o.width, o.heads, o.encoder_layers, o.decoder_layers, o.feed_forward, o.dropout, batch_first=True
        )

    def forward(self, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        padding = torch.arange(source.shape[1]) >= lengths[:, None]
        ahead = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        states = self.body(
            self.ours.dropout(self.ours.source_places(self.ours.source_embedding(source))),
            self.ours.dropout(self.ours.target_places(self.ours.target_embedding(target))),
            tgt_mask=ahead,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return self.ours.logits(states.flatten(0, 1))


def our_logits(model: Transformer) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def forward(source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        states, _ = model.write(target, model.read(source, lengths), [])
        return model.logits(states.flatten(0, 1))

    return forward


def batches(count: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Log-normal lengths around 28 tokens, rows of like length together."""
    generator = torch.Generator().manual_seed(0)
    made = []
    for length in (28 * torch.randn(count, generator=generator).mul(0.5).exp()).int().clamp(4, 100).tolist():
        rows = max(1, BATCH_TOKENS // length)
        source = torch.randint(4, VOCABULARY, (rows, length), generator=generator)
        lengths = torch.randint(max(1, length - 2), length + 1, (rows,), generator=generator)
        made.append((source, lengths, torch.randint(4, VOCABULARY, (rows, length), generator=generator)))
    return made


def seconds_a_round(parameters: list[nn.Parameter], forward: Callable[..., Tensor], data: list) -> list[float]:
    optimizer = torch.optim.Adam(parameters, betas=(0.9, 0.98), fused=True)
    times = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        for source, lengths, target in data:
            logits = forward(source, lengths, target)
            F.cross_entropy(logits, target.flatten(), label_smoothing=0.1).backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad()
        times.append(time.perf_counter() - began)
    return times[1:]  # the first round warms up


def main() -> None:
    print(f"{'preset':8} {'ours tokens/s':>14} {'torch tokens/s':>15} {'ratio':>6}")
    for preset, count in (("tiny", 4), ("small", 2)):
        ours = Transformer(check(TransformerOptions, {"preset": preset}), VOCABULARY, VOCABULARY, True, pad=0)
        peer, data = Peer(Transformer(ours.options, VOCABULARY, VOCABULARY, True, pad=0)), batches(count)
        tokens = sum(target.numel() for _, _, target in data)
        mine = statistics.median(seconds_a_round(list(ours.parameters()), our_logits(ours), data))
        own = set(peer.body.parameters()) | {peer.ours.out.weight}
        theirs = statistics.median(seconds_a_round(list(own), peer, data))
        print(f"{preset:8} {tokens / mine:14,.0f} {tokens / theirs:15,.0f} {theirs / mine:6.2f}")


if __name__ == "__main__":
    main()
