"""Byte translators with random weights, as ours and as CTranslate2's, without a model folder."""

from pathlib import Path
from typing import Any

import ctranslate2
import torch

from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.ctranslate2.engine import CTranslate2Engine
from regard.engines.ctranslate2.export import describe_network
from regard.engines.ctranslate2.files import check_files
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.tasks.translation.task import Translation

SIZES: dict[str, Any] = {
    "encoder_layers": 2,
    "decoder_layers": 3,
    "width": 16,
    "feed_forward": 24,
    "heads": 4,
    "longest": 64,
}


def translation(**options: Any) -> Translation:
    """Return a byte Transformer with random weights, including biases and norms."""
    torch.manual_seed(0)
    tokens = ByteTokeniser()
    network = Transformer(check(TransformerOptions, SIZES | options), tokens.size, tokens.size, True, tokens.pad)
    with torch.no_grad():
        for weight in [*network.parameters(), *network.buffers()]:
            weight.add_(torch.randn_like(weight) * 0.1)
    return Translation(network, tokens, tokens).eval()


def opened(task: Translation, folder: Path, quantisation: str = "float32") -> ctranslate2.Translator:
    """Return the same translator in CTranslate2, written to a folder on the way."""
    assert isinstance(task.model, Transformer)
    spec = describe_network(task.model, task.source, task.target)
    spec.optimize(quantisation)
    spec.save(str(folder))
    return ctranslate2.Translator(str(folder), intra_threads=1)


def engine(task: Translation, folder: Path, rows: int = 32) -> CTranslate2Engine:
    translator = opened(task, folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    tokenisers = task.source, task.target
    names, longest = check_files(folder, files, *tokenisers), task.model.options.longest
    return CTranslate2Engine(translator, False, names, tokenisers, DecodingOptions(), longest, rows)
