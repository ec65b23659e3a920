"""The `config.json` of a GPT-2, checked, to and from our options."""

from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from regard.base.faults import Fault
from regard.base.recipe import Options, check, faults_of
from regard.engines.hugging_face.files import CONFIG, read_config_of
from regard.models.gpt.options import GPTOptions

ACTIVATIONS = {
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu": "gelu",
    "relu": "relu",
    "silu": "swish",
    "swish": "swish",
}
# The only values that our network computes.
_ASKED: dict[str, Any] = {
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
    "layer_norm_epsilon": 1e-5,
}
# The only values of our options that GPT-2 computes.
_OURS: dict[str, Any] = {"norm": "before", "positions": "learned"}


class GPT2Config(Options):
    """The fields of `config.json` that affect what the model computes; the defaults are those of transformers."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    vocab_size: int = Field(50_257, ge=2, le=2**24)
    n_positions: int = Field(1024, ge=2, le=2**24)
    n_embd: int = Field(768, ge=2, le=2**16)
    n_layer: int = Field(12, ge=1, le=512)
    n_head: int = Field(12, ge=1, le=2**16)
    n_inner: int | None = Field(None, ge=1, le=2**20)
    activation_function: str = "gelu_new"
    resid_pdrop: float = Field(0.1, ge=0, lt=1)
    embd_pdrop: float = Field(0.1, ge=0, lt=1)
    attn_pdrop: float = Field(0.1, ge=0, lt=1)
    layer_norm_epsilon: float = 1e-5
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False
    add_cross_attention: bool = False
    tie_word_embeddings: bool = True
    eos_token_id: int = Field(50_256, ge=0)


def read_config(folder: Path) -> GPT2Config:
    """Read the sizes of the model in a folder; refuse other models, and those that compute differently."""
    table = read_config_of(folder, "gpt2")
    with faults_of(folder / CONFIG):
        config = check(GPT2Config, table, CONFIG)
    for name, expected in _ASKED.items():
        if (value := getattr(config, name)) != expected:
            raise Fault(f"{folder / CONFIG} says {name} = {value}, but regard supports only {expected}.")
    if config.activation_function not in ACTIVATIONS:
        supported = ", ".join(ACTIVATIONS)
        raise Fault(f"The model's activation is '{config.activation_function}', but regard supports only {supported}.")
    if not config.eos_token_id < config.vocab_size:
        raise Fault(f"{folder / CONFIG} ends texts with token {config.eos_token_id} of only {config.vocab_size}.")
    return config


def model_table(config: GPT2Config) -> dict[str, Any]:
    """Return the options of our network that computes the same."""
    return {
        "layers": config.n_layer,
        "width": config.n_embd,
        "heads": config.n_head,
        "context": config.n_positions,
        "feed_forward": config.n_inner,
        "dropout": float(config.resid_pdrop),
        "attention_dropout": float(config.attn_pdrop),
        "activation": ACTIVATIONS[config.activation_function],
        "tied": config.tie_word_embeddings,
        **_OURS,
    }


def config_table(options: GPTOptions, tokens: int, end: int) -> dict[str, Any]:
    """Return `config.json` for one of our networks; refuse one that GPT-2 cannot express, naming the option."""
    for name, expected in _OURS.items():
        if (value := getattr(options, name)) != expected:
            raise Fault(f"GPT-2 cannot express model.{name} = '{value}'; it is always '{expected}'.")
    if options.key_value_heads not in (None, options.heads):
        raise Fault(
            f"GPT-2 cannot express model.key_value_heads = {options.key_value_heads}; each of its heads has its own."
        )
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": tokens,
        "n_positions": options.context,
        "n_embd": options.width,
        "n_layer": options.layers,
        "n_head": options.heads,
        "n_inner": options.inside,
        "activation_function": next(theirs for theirs, ours in ACTIVATIONS.items() if ours == options.activation),
        "resid_pdrop": options.dropout,
        "embd_pdrop": options.dropout,
        "attn_pdrop": options.attention_dropout,
        "layer_norm_epsilon": _ASKED["layer_norm_epsilon"],
        "tie_word_embeddings": options.tied,
        "bos_token_id": end,
        "eos_token_id": end,
        "dtype": "float32",
    }
