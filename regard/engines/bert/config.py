"""The configuration of a Hugging Face BERT, checked and converted to our options."""

from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from regard.base.faults import Fault
from regard.base.recipe import Options, check, faults_of
from regard.data.tokenisers.wordpiece import MARKS, WordPieceTokeniser
from regard.engines.folders import BERT
from regard.engines.hugging_face.files import CONFIG, read_config_of
from regard.models.bert.options import BertOptions

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}
# Required values: regard's BERT supports nothing else.
_ASKED = {"position_embedding_type": "absolute", "is_decoder": False, "tie_word_embeddings": True}


class BertConfig(Options):
    """The fields of `config.json` that affect what the model computes; the defaults are those of transformers."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    vocab_size: int = Field(30_522, ge=len(MARKS), le=2**24)
    hidden_size: int = Field(768, ge=2, le=2**16)
    num_hidden_layers: int = Field(12, ge=1, le=512)
    num_attention_heads: int = Field(12, ge=1, le=2**16)
    intermediate_size: int = Field(3072, ge=1, le=2**20)
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = Field(0.1, ge=0, lt=1)
    attention_probs_dropout_prob: float = Field(0.1, ge=0, lt=1)
    max_position_embeddings: int = Field(512, ge=3, le=2**24)
    type_vocab_size: int = Field(2, ge=1, le=64)
    layer_norm_eps: float = Field(1e-12, gt=0, le=1)
    position_embedding_type: str = "absolute"
    is_decoder: bool = False
    tie_word_embeddings: bool = True


def read_config(folder: Path) -> BertConfig:
    """Read the sizes of the model in a folder; refuse other models, and BERTs that ours cannot compute."""
    table = read_config_of(folder, BERT)
    with faults_of(folder / CONFIG):
        config = check(BertConfig, table, CONFIG)
        if config.hidden_act not in ACTIVATIONS:
            supported = ", ".join(dict.fromkeys(ACTIVATIONS.values()))
            raise Fault(f"hidden_act is '{config.hidden_act}', but regard supports only {supported}.")
        for name, expected in _ASKED.items():
            if (value := getattr(config, name)) != expected:
                raise Fault(f"{name} is {value!r}, but regard's BERT supports only {expected!r}.")
    return config


def model_table(config: BertConfig, pooler: bool) -> dict[str, Any]:
    """Return the options of our BERT that computes the same."""
    return {
        "layers": config.num_hidden_layers,
        "width": config.hidden_size,
        "heads": config.num_attention_heads,
        "feed_forward": config.intermediate_size,
        "longest": config.max_position_embeddings,
        "segments": config.type_vocab_size,
        "activation": ACTIVATIONS[config.hidden_act],
        "dropout": float(config.hidden_dropout_prob),
        "attention_dropout": float(config.attention_probs_dropout_prob),
        "norm_epsilon": float(config.layer_norm_eps),
        "pooler": pooler,
    }


def config_table(options: BertOptions, tokeniser: WordPieceTokeniser) -> dict[str, Any]:
    """Return `config.json` for one of our models."""
    return {
        "model_type": BERT,
        "architectures": ["BertForMaskedLM"],
        "vocab_size": tokeniser.size,
        "hidden_size": options.width,
        "num_hidden_layers": options.layers,
        "num_attention_heads": options.heads,
        "intermediate_size": options.feed_forward,
        "hidden_act": "silu" if options.activation == "swish" else options.activation,
        "hidden_dropout_prob": options.dropout,
        "attention_probs_dropout_prob": options.attention_dropout,
        "max_position_embeddings": options.longest,
        "type_vocab_size": options.segments,
        "layer_norm_eps": options.norm_epsilon,
        "pad_token_id": tokeniser.pad,
        "position_embedding_type": "absolute",
        "tie_word_embeddings": True,
        "dtype": "float32",
    }
