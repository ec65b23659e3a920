"""Which option someone may mean: by what other tools call it, by its name in another section, or by a slip."""

from collections.abc import Sequence
from difflib import get_close_matches

MOST = 3  # named at once
NEAR = 0.8  # how alike a name from elsewhere must be; one of the same section may be further off

# What other tools call an option, and what it is called here, or what does its job.
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "lr": ("learning_rate",),
    "epoch": ("steps",),
    "epochs": ("steps",),
    "num_epochs": ("steps",),
    "max_epochs": ("steps",),
    "num_train_epochs": ("steps",),
    "max_steps": ("steps",),
    "train_steps": ("steps",),
    "max_update": ("steps",),
    "max_updates": ("steps",),
    "iterations": ("steps",),
    "batch": ("batch_tokens",),
    "batch_size": ("batch_tokens",),
    "max_tokens": ("batch_tokens",),
    "gradient_accumulation_steps": ("accumulate",),
    "update_freq": ("accumulate",),
    "warmup_steps": ("warmup",),
    "warmup_updates": ("warmup",),
    "clip_norm": ("clip",),
    "max_grad_norm": ("clip",),
    "early_stopping": ("patience",),
    "early_stopping_patience": ("patience",),
    "eval_steps": ("validate_every",),
    "valid_steps": ("validate_every",),
    "save_steps": ("save_every",),
    "fp16": ("precision",),
    "bf16": ("precision",),
    "gpu": ("device",),
    "cuda": ("device",),
    "optim": ("optimizer.kind",),
    "optimiser": ("optimizer",),
    "vocab": ("vocabulary",),
    "vocab_size": ("vocabulary",),
    "joint_vocab": ("shared",),
    "arch": ("preset",),
    "d_model": ("width",),
    "dim": ("width",),
    "embed_dim": ("width",),
    "emb_dim": ("width",),
    "hidden_size": ("width",),
    "layers": ("encoder_layers", "decoder_layers"),
    "n_layers": ("encoder_layers", "decoder_layers"),
    "num_layers": ("encoder_layers", "decoder_layers"),
    "nhead": ("heads",),
    "n_heads": ("heads",),
    "num_heads": ("heads",),
    "d_ff": ("feed_forward",),
    "ffn_dim": ("feed_forward",),
    "dim_feedforward": ("feed_forward",),
    "max_length": ("longest",),
    "max_len": ("longest",),
    "max_seq_len": ("longest",),
    "beam_size": ("beam",),
    "beam_width": ("beam",),
    "num_beams": ("beam",),
    "nbest": ("n_best",),
    "lenpen": ("length_penalty",),
}


def paths_called(name: str, paths: Sequence[str]) -> list[str]:
    """Those of these dotted paths whose last part is `name`, or what other tools call so."""
    plain = _plain(name)
    endings = tuple(f".{each}" for each in ELSEWHERE.get(plain, (plain,)))
    return [path for path in paths if f".{path}".endswith(endings)][:MOST]


def paths_meant(name: str, section: str, paths: Sequence[str]) -> list[str]:
    """Which of these dotted paths someone may mean who wrote `name` in a section of them."""
    if found := paths_called(name, paths):
        return found
    plain = _plain(name)
    beside = {name: path for path in paths for parent, _, name in (path.rpartition("."),) if parent == section}
    if near := get_close_matches(plain, beside, 1):
        return [beside[near[0]]]
    last = {path.rpartition(".")[2]: path for path in paths}
    return [last[near] for near in get_close_matches(plain, last, 1, NEAR)]


def _plain(name: str) -> str:
    return name.lstrip("-").lower().replace("-", "_")
