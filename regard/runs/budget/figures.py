"""Figures that budgets rest on: how fast regard trained models, and how long others took for what they reached."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class MeasuredPace:
    """Tokens a second of one model on one GPU, as regard trained it; of translators these are target tokens."""

    family: str
    tokens: float
    device: str
    source: str  # the command that measures it again, and when it did
    task: str
    data: dict[str, Any]  # what of the recipe decides its work
    model: dict[str, Any]
    training: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PublishedRun:
    """What others reached, on what, in how many hours."""

    data: str  # the set in the catalogue
    preset: str
    score: str
    hours: float
    gpus: int
    device: str
    source: str

    def in_words(self) -> str:
        time = f"{self.hours / 24:.1f} days" if self.hours >= 48 else f"{self.hours:.1f} hours"
        whole = f"{self.hours * self.gpus:,.0f} GPU hours"
        return f"{self.score} after {time} on {self.gpus} {self.device}, {whole} ({self.source})"


def _pairs(vocabulary: int) -> dict[str, Any]:
    return {"train": "pairs.tsv", "tokeniser": {"kind": "bpe", "vocabulary": vocabulary}}


_UPDATES = "an update by benchmarks/train_gpu.py, 25,600 tokens a batch, 15 November 2026"
_TEXT_OF_BERT = {"train": "text.txt", "tokeniser": {"vocabulary": 12_000}}

MEASURED = (
    MeasuredPace(
        "transformer", 945_134, "H200", f"{_UPDATES}: 'regard, norm after'", "translation", _pairs(32_000),
        {"preset": "base"},
    ),
    MeasuredPace(
        "transformer", 318_519, "H200", "wmt14-en-fr by benchmarks/wmt_speed.py, the whole loop, 17 November 2026",
        "translation", _pairs(32_000), {"preset": "big"},
    ),
    MeasuredPace(
        "transformer", 581_000, "H200", "regard train multi30k-en-de, 15 November 2026", "translation", _pairs(8000),
        {"preset": "small", "encoder_layers": 4, "decoder_layers": 4}, {"consistency": 5.0},
    ),
    MeasuredPace(
        "transformer", 698_638, "H200", "regard train multi30k-en-de-tiny, 8,192 tokens a batch, 15 November 2026",
        "translation", _pairs(8000), {"preset": "tiny"},
    ),
    MeasuredPace(
        "bert", 495_000, "H200", "an update by benchmarks/bert.py, 64 spans of 512 tokens", "masked", _TEXT_OF_BERT,
        {"preset": "base"}, {"span": 512},
    ),
    MeasuredPace(
        "bert", 2_080_000, "H200", "an update by benchmarks/bert.py, 64 spans of 512 tokens", "masked", _TEXT_OF_BERT,
        {"preset": "small"}, {"span": 512},
    ),
    MeasuredPace(
        "gpt", 501_734, "H200", "an update by benchmarks/gpt.py, 32 rows of 1,024 tokens", "language",
        {"train": "text.txt", "tokeniser": {"kind": "bpe", "vocabulary": 50_257}}, {"preset": "small"},
    ),
)  # fmt: skip

_PAPER = "Vaswani et al. 2017"
_SCALING = "Ott et al. 2018, larger batches in half precision"

PUBLISHED = (
    PublishedRun("wmt14-en-de", "base", "27.3 BLEU", 12, 8, "P100", _PAPER),
    PublishedRun("wmt14-en-de", "big", "28.4 BLEU", 84, 8, "P100", _PAPER),
    PublishedRun("wmt14-en-de", "big", "28.69 BLEU", 446 / 60, 8, "V100", "NVIDIA, Transformer for PyTorch"),
    PublishedRun("wmt14-en-de", "big", "29.3 BLEU", 85 / 60, 128, "V100", _SCALING),
    PublishedRun("wmt14-en-fr", "base", "38.1 BLEU", 12, 8, "P100", _PAPER),
    PublishedRun("wmt14-en-fr", "big", "41.8 BLEU", 84, 8, "P100", _PAPER),
    PublishedRun("wmt14-en-fr", "big", "43.2 BLEU", 8.5, 128, "V100", _SCALING),
)
