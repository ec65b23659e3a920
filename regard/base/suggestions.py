"""Suggest the option a user may mean: by its name in other tools or in another section, or by a typo."""

from collections.abc import Sequence
from difflib import get_close_matches

MOST = 3  # suggestions at once
NEAR = 0.8  # required similarity of a name from elsewhere; in the same section less is enough

# Names of options in other tools, and the names here of the same or a similar option.
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
    """Return the dotted paths whose last part is `name`, or what other tools call that."""
    plain = _plain(name)
    endings = tuple(f".{ending}" for ending in ELSEWHERE.get(plain, (plain,)))
    return [path for path in paths if f".{path}".endswith(endings)][:MOST]


def paths_meant(name: str, section: str, paths: Sequence[str]) -> list[str]:
    """Return the dotted paths that a user may mean who wrote `name` in a section."""
    if exact := paths_called(name, paths):
        return exact
    plain = _plain(name)
    siblings = {name: path for path in paths for parent, _, name in (path.rpartition("."),) if parent == section}
    if near := get_close_matches(plain, siblings, 1):
        return [siblings[near[0]]]
    last = {path.rpartition(".")[2]: path for path in paths}
    return [last[near] for near in get_close_matches(plain, last, 1, NEAR)]


def _plain(name: str) -> str:
    return name.lstrip("-").lower().replace("-", "_")
