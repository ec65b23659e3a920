"""Transducers: written label by label as by the lattice, searched for, and heard piece by piece."""

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.models.ctc.head import ctc_loss
from regard.models.transcriber import as_labels
from regard.models.transducer.network import HeardFrames
from regard.models.transducer.prefixes import empty_prefixes, extend, following
from regard.models.transducer.sounds import SoundTransducer, SoundTransducerOptions
from regard.models.transducer.streaming import FrameStream
from regard.tasks.transcription.label_steps import LabelSteps

SYMBOLS, FEATURES = 2, 3
SMALL = {"width": 6, "layers": 1, "stack": 2, "embedding": 3, "predictor_width": 5, "joint_width": 4, "dropout": 0.0}


def build(seed: int = 1, **model: Any) -> SoundTransducer:
    torch.manual_seed(seed)
    network = SoundTransducer(check(SoundTransducerOptions, SMALL | model), FEATURES, SYMBOLS).double().eval()
    with torch.no_grad():
        network.joint.out.weight.mul_(4)  # so that it is sure of something
    return network


def sounds(batch: int, time: int, seed: int = 2) -> Tensor:
    return torch.randn(batch, time, FEATURES, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def heard_by(network: SoundTransducer, *lengths: int) -> HeardFrames:
    with torch.no_grad():
        return network.hear(sounds(len(lengths), max(lengths)), torch.tensor(lengths))


def score(network: SoundTransducer, heard: HeardFrames, labels: tuple[int, ...]) -> float:
    with torch.no_grad():
        return float(network.score(heard, *as_labels([labels], heard.frames.device)))


def every_labelling(longest: int) -> list[tuple[int, ...]]:
    return [labels for count in range(longest + 1) for labels in itertools.product(range(SYMBOLS), repeat=count)]


@pytest.mark.parametrize("cell", ["lstm", "gru", "vanilla"])
def test_label_by_label_is_the_sum_over_the_lattice(cell: str) -> None:
    network = build(predictor_cell=cell, predictor_layers=2)
    heard, prefixes, total = heard_by(network, 5), None, 0.0
    with torch.no_grad():
        prefixes = empty_prefixes(network, heard)
        for symbol in (network.blank, 1, 0, 0, 1):
            prefixes, scores = extend(network, heard, prefixes, torch.tensor([symbol]))
            found = following(heard, prefixes, scores)
            everything = torch.cat([found.labels[0], found.end])
            assert float(everything.logsumexp(0)) == pytest.approx(0.0, abs=1e-12)
            assert float(found.starts.sum() + found.end.exp()) == pytest.approx(1.0)
            written = [(), (1,), (1, 0), (1, 0, 0), (1, 0, 0, 1)][0 if total == 0 else length]
            length = len(written) + 1
            total = float(prefixes.whole) or total or -1e-300
            assert float(prefixes.whole + found.end) == pytest.approx(score(network, heard, written))
