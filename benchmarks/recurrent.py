"""Training speed of the recurrent translators beside torch.nn.LSTM driven by hand, in one process, on the same batches.

    .venv/bin/python benchmarks/recurrent.py

It takes a GPU where there is one. By hand means what people write from torch's parts: nn.LSTM over packed sources, and
for the target nn.LSTM over all of it (no attention), or nn.LSTMCell step by step with the context of a general
attention and input feeding (Luong et al. 2015). Both sides have the same sizes, dropout, loss, optimiser, clipping and
precision; the ratio is what counts.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import torch
import torch.nn.functional as F
from table import Contender, Ratio, against, in_turns, run_alone
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.base.recipe import check
from regard.models.cross_entropy import projected_cross_entropy
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions

GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")
VOCABULARY, EMBEDDING, WIDTH, DROPOUT = 8000, 256, 512, 0.2
BATCH_TOKENS, BATCHES, ROUNDS = (4096, 24, 5) if GPU else (1024, 4, 5)


class ByHand(nn.Module):
    """A translator from torch's own recurrent parts."""

    def __init__(self, attention: bool) -> None:
        super().__init__()
        self.attention = attention
        self.source, self.target = (nn.Embedding(VOCABULARY, EMBEDDING, padding_idx=0) for _ in range(2))
        self.encoder = nn.LSTM(EMBEDDING, WIDTH // 2, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(WIDTH, 2 * WIDTH)
        self.decoder = nn.LSTM(EMBEDDING, WIDTH, batch_first=True)
        self.cell = nn.LSTMCell(EMBEDDING + WIDTH, WIDTH)
        self.general, self.combine = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.dropout, self.out = nn.Dropout(DROPOUT), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        packed = pack_padded_sequence(
            self.dropout(self.source(source)), lengths, batch_first=True, enforce_sorted=False
        )
        outputs, (last, _) = self.encoder(packed)
        memory, _ = pad_packed_sequence(outputs, batch_first=True, total_length=source.shape[1])
        hidden, cell = self.bridge(last.transpose(0, 1).flatten(1)).tanh().chunk(2, dim=-1)
        embedded = self.dropout(self.target(target))
        if not self.attention:
            states, _ = self.decoder(embedded, (hidden[None].contiguous(), cell[None].contiguous()))
            return self.dropout(states)
        real = lengths.to(source.device, non_blocking=True)
        padding = torch.arange(source.shape[1], device=source.device) >= real[:, None]
        memory = self.dropout(memory)
        keys = self.general(memory)
        fed, found = torch.zeros_like(hidden), []
        for place in range(target.shape[1]):
            hidden, cell = self.cell(torch.cat([embedded[:, place], fed], dim=-1), (hidden, cell))
            scores = (keys @ hidden.unsqueeze(-1)).squeeze(-1).masked_fill(padding, float("-inf"))
            context = (scores.softmax(-1).unsqueeze(1) @ memory).squeeze(1)
            fed = self.combine(torch.cat([context, hidden], dim=-1)).tanh()
            found.append(fed)
        return self.dropout(torch.stack(found, dim=1))

    def loss(self, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        logits = self.out(self(source, lengths, target)).flatten(0, 1)
        return F.cross_entropy(logits, target.flatten(), label_smoothing=0.1, reduction="sum")


class Ours(nn.Module):
    """The same translator as regard builds and trains it."""

    def __init__(self, attention: bool) -> None:
        super().__init__()
        sizes = {"embedding": EMBEDDING, "width": WIDTH, "dropout": DROPOUT}
        built = {"decoder": "luong", "score": "bilinear"} if attention else {"decoder": "bottleneck"}
        self.model = Seq2Seq(check(Seq2SeqOptions, sizes | built), VOCABULARY, VOCABULARY, False, pad=0)

    def loss(self, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        memory = self.model.read(source, lengths)
        states, _ = self.model.write(target, memory, self.model.begin(memory))
        return projected_cross_entropy(states.flatten(0, 1), self.model.out.weight, target.flatten(), 0.1)


def batches() -> list[tuple[Tensor, Tensor, Tensor]]:
    """Log-normal lengths around 14 tokens, rows of like length together; packing wants the lengths on the host."""
    generator = torch.Generator().manual_seed(0)
    made = []
    for length in (14 * torch.randn(BATCHES, generator=generator).mul(0.4).exp()).int().clamp(4, 60).tolist():
        rows = max(1, BATCH_TOKENS // length)
        lengths = torch.randint(max(1, length - 2), length + 1, (rows,), generator=generator)
        sides = (torch.randint(4, VOCABULARY, (rows, length), generator=generator) for _ in range(2))
        source, target = sides
        made.append((source.to(DEVICE), lengths.pin_memory() if GPU else lengths, target.to(DEVICE)))
    return made


def precision() -> AbstractContextManager:
    return torch.autocast("cuda", torch.bfloat16) if GPU else nullcontext()


def trainer(module: nn.Module, data: list) -> Contender:
    """One round over the batches; its work is the target tokens."""
    parameters = list(module.parameters())
    optimizer = torch.optim.Adam(parameters, betas=(0.9, 0.98), fused=True)

    def one_round() -> float:
        for batch in data:
            with precision():
                loss = module.loss(*batch)
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if GPU:
            torch.cuda.synchronize()
        return sum(target.numel() for _, _, target in data)

    return one_round


def ratios() -> Iterator[Ratio]:
    data = batches()
    for attention, name in ((False, "bottleneck"), (True, "luong")):
        torch.manual_seed(0)
        made = {"ours": Ours(attention), "torch.nn.LSTM by hand": ByHand(attention)}
        rates = in_turns({who: trainer(module.to(DEVICE).train(), data) for who, module in made.items()}, ROUNDS)
        yield from against(f"training {name} on {DEVICE}", rates.pop("ours"), rates, "target tokens")


if __name__ == "__main__":
    run_alone(__doc__, ratios)
