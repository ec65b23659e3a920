"""The configuration of a Hugging Face Marian model, checked and converted to our Transformer's options."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from regard.base.faults import Fault
from regard.base.recipe import Options, check, faults_of
from regard.decoding.options import DecodingOptions
from regard.engines.hugging_face.files import CONFIG, GENERATION, read_config_of, read_json

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}
STOPS: dict[bool | str, str] = {False: "settled", True: "first", "never": "exhaustive"}


class MarianConfig(Options):
    """The fields of `config.json` that affect what the model computes; the defaults are those of transformers."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    d_model: int = Field(1024, ge=2, le=2**16)
    vocab_size: int = Field(58_101, ge=4, le=2**24)
    decoder_vocab_size: int | None = Field(None, ge=4, le=2**24)
    encoder_layers: int = Field(12, ge=1, le=512)
    decoder_layers: int = Field(12, ge=1, le=512)
    encoder_attention_heads: int = Field(16, ge=1, le=2**16)
    decoder_attention_heads: int = Field(16, ge=1, le=2**16)
    encoder_ffn_dim: int = Field(4096, ge=1, le=2**20)
    decoder_ffn_dim: int = Field(4096, ge=1, le=2**20)
    max_position_embeddings: int = Field(1024, ge=2, le=2**24)
    activation_function: str = "gelu"
    scale_embedding: bool = False
    share_encoder_decoder_embeddings: bool = True
    tie_word_embeddings: bool = True
    dropout: float = Field(0.1, ge=0, lt=1)
    attention_dropout: float = Field(0.0, ge=0, lt=1)
    activation_dropout: float = Field(0.0, ge=0, lt=1)
    pad_token_id: int = Field(58_100, ge=0)
    eos_token_id: int | list[int] = 0
    decoder_start_token_id: int = Field(58_100, ge=0)

    @property
    def target_tokens(self) -> int:
        return self.vocab_size if self.share_encoder_decoder_embeddings else self.decoder_vocab_size or self.vocab_size

    @property
    def end(self) -> int:
        ends = self.eos_token_id if isinstance(self.eos_token_id, list) else [self.eos_token_id]
        if len(ends) != 1:
            raise Fault(f"{CONFIG} has {len(ends)} tokens that end an output, but regard supports only one.")
        return ends[0]


class Generation(Options):
    """Search options of transformers: `generation_config.json`, or part of `config.json` in older folders."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    num_beams: int = 1
    length_penalty: float = 1.0
    early_stopping: bool | Literal["never"] = False
    max_length: int | None = Field(None, ge=2)
    min_length: int = 0
    no_repeat_ngram_size: int = 0
    repetition_penalty: float = 1.0
    bad_words_ids: list[list[int]] = []
    renormalize_logits: bool = False


def read_config(folder: Path) -> MarianConfig:
    """Read the sizes of the model in a folder; refuse other models."""
    table = read_config_of(folder, "marian")
    with faults_of(folder / CONFIG):
        return check(MarianConfig, table, CONFIG)


def read_generation(folder: Path) -> Generation:
    path = folder / (GENERATION if (folder / GENERATION).is_file() else CONFIG)
    table = read_json(path)
    with faults_of(path):
        return check(Generation, table, path.name)


def model_table(config: MarianConfig) -> dict[str, Any]:
    """Return the options of our Transformer that computes the same."""
    if config.activation_function not in ACTIVATIONS:
        supported = ", ".join(dict.fromkeys(ACTIVATIONS.values()))
        raise Fault(f"The model's activation is '{config.activation_function}', but regard supports only {supported}.")
    return {
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "width": config.d_model,
        "feed_forward": config.encoder_ffn_dim,
        "decoder_feed_forward": config.decoder_ffn_dim,
        "heads": config.encoder_attention_heads,
        "decoder_heads": config.decoder_attention_heads,
        "dropout": float(config.dropout),
        "attention_dropout": float(config.attention_dropout),
        "feed_forward_dropout": float(config.activation_dropout),
        "activation": ACTIVATIONS[config.activation_function],
        "norm": "after",
        "positions": "sinusoidal",
        "tied": config.tie_word_embeddings,
        "output_bias": True,
        "longest": config.max_position_embeddings,
    }


def decoding_table(generation: Generation, longest: int, remark: Callable[[str], None]) -> dict[str, Any]:
    """Return search options that find what transformers would find; report what cannot be expressed.

    Transformers counts the begin token as part of an output, and limits all outputs alike.
    """
    table = {
        "beam": generation.num_beams,
        "length_penalty": float(generation.length_penalty),
        "length_penalty_kind": "average",
        "stop": STOPS[generation.early_stopping],
        "shortest": max(0, generation.min_length - 1),
        "longest_ratio": 1e-6,
        "longest_extra": min(longest, (generation.max_length or longest + 1) - 1),
        "unrepeated": generation.no_repeat_ngram_size,
        "repetition_penalty": float(generation.repetition_penalty),
    }
    try:
        check(DecodingOptions, table, "the search")
    except Fault as fault:
        remark(f"Its search cannot be used ({'; '.join(fault.sentences)}); regard's default is used instead.")
        return {}
    if generation.renormalize_logits and (table["unrepeated"] or table["repetition_penalty"] != 1):
        remark("Its search redistributes the probability of forbidden repeats; regard's does not and may differ.")
    return table
