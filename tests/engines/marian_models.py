"""Marian models made with transformers: random weights, and tokenisers trained on generated text."""

import io
import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from regard.attention.positions import sinusoids
from regard.data.demo.corpus import pairs
from regard.engines.marian.weights import order

if TYPE_CHECKING:
    from transformers import MarianMTModel

ENGLISH, PORTUGUESE = zip(*pairs("train", count=600), strict=True)
CODES = [">>por<<", ">>rus<<"]
SIZES: dict[str, Any] = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "activation_function": "swish",
    "scale_embedding": True,
    "max_position_embeddings": 64,
    "init_std": 0.5,
}
SEARCH: dict[str, Any] = {"num_beams": 4, "max_length": 30, "renormalize_logits": True}  # as in OPUS-MT


@cache
def transformers() -> ModuleType:
    """Return the library without its progress bar. Importing takes seconds, so collection does not do it."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    return transformers


@cache
def pieces(side: int) -> bytes:
    """Return a SentencePiece model of English (0) or Portuguese (1), with the usual NFKC."""
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter((ENGLISH, PORTUGUESE)[side]),
        model_writer=model,
        vocab_size=300,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
    )
    return model.getvalue()


def vocabulary(*models: bytes) -> dict[str, int]:
    """Return one vocabulary for some models' pieces in OPUS-MT's order: end, unknown, pieces, codes, padding."""
    names = ["</s>", "<unk>"]
    for model in models:
        processor = SentencePieceProcessor(model_proto=model)
        names += [processor.id_to_piece(number) for number in range(3, processor.get_piece_size())]
    return {name: number for number, name in enumerate(dict.fromkeys([*names, *CODES, "<pad>"]))}


def write_tokenisers(folder: Path, separate: bool = False) -> tuple[int, int]:
    """Write the tokenisers' files. Return the numbers of source and target tokens."""
    both = pieces(0), pieces(1)
    for name, model in zip(("source.spm", "target.spm"), both, strict=True):
        (folder / name).write_bytes(model)
    tables = [vocabulary(both[0]), vocabulary(both[1])] if separate else [vocabulary(*both)] * 2
    (folder / "vocab.json").write_text(json.dumps(tables[0]), encoding="utf-8")
    if separate:
        (folder / "target_vocab.json").write_text(json.dumps(tables[1]), encoding="utf-8")
    about = {"source_lang": "en", "target_lang": "pt", "separate_vocabs": separate}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    return len(tables[0]), len(tables[1])


def make(folder: Path, separate: bool = False, search: dict[str, Any] | None = None, **sizes: Any) -> "MarianMTModel":
    """Return a folder as transformers saves it, and its model."""
    folder.mkdir(parents=True, exist_ok=True)
    source_tokens, target_tokens = write_tokenisers(folder, separate)
    pad = min(source_tokens, target_tokens) - 1
    torch.manual_seed(3)
    config = transformers().MarianConfig(
        **SIZES | {"share_encoder_decoder_embeddings": not separate} | sizes,
        vocab_size=source_tokens,
        decoder_vocab_size=target_tokens,
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
        forced_eos_token_id=0,
    )
    model = transformers().MarianMTModel(config).eval()
    torch.nn.init.normal_(model.final_logits_bias)
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm | torch.nn.Linear) and module.bias is not None:
            torch.nn.init.normal_(module.bias, std=0.3)
    model.generation_config.update(**{"bad_words_ids": [[pad]]} | SEARCH | (search or {}))
    model.save_pretrained(folder)
    return model


@torch.no_grad()
def in_double(model: "MarianMTModel") -> "MarianMTModel":
    """Return the model in float64 with sinusoids computed as ours, since transformers rounds differently."""
    model = model.double()
    for side in (model.model.encoder, model.model.decoder):
        places, width = side.embed_positions.weight.shape
        side.embed_positions.weight.copy_(sinusoids(torch.arange(places), width)[:, order(width).argsort()])
    return model
