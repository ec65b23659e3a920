"""Write one of our Transformers so that transformers' MarianMTModel loads it and gives the same logits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.files import whole_file, write_file
from regard.data.tokenisers.marian import MarianTokeniser
from regard.engines.folders import FOLDERS, MARIAN, whole_folder
from regard.engines.hugging_face.files import CONFIG, GENERATION, Shape, to_json, write_tensors
from regard.engines.hugging_face.stored import SAFETENSORS
from regard.engines.marian.config import STOPS
from regard.engines.marian.tokenisers import tokeniser_files
from regard.engines.marian.weights import THEIR_BIAS, WeightPart, arrange, block_parts, order
from regard.loading import Loaded
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.tasks.translation.task import Translation
from regard.training.snapshot import named_weights

# The only values that Marian supports.
_ASKED: dict[str, Any] = {
    "norm": "after",
    "positions": "sinusoidal",
    "encoder": "transformer",
    "decoder_cell": "attention",
    "score": "scaled-dot",
    "shared_key_value": False,
    "join": "concatenated",
    "copies": False,
}


def export_marian(model: Loaded, out: Path, remark: Callable[[str], None] = lambda text: None) -> None:
    """Write a model as a Hugging Face folder `out`; refuse one that Marian cannot express, naming the option.

    Search settings that transformers lacks are not exported: its length penalty is length^alpha.
    """
    task, network = model.task, model.task.model
    if not isinstance(network, Transformer):
        raise Fault(f"Marian needs a Transformer, and this model is of the family {model.recipe.family}.")
    options = network.options
    _check(options)
    files = tokeniser_files(task.source, task.target, model.recipe.data, options.longest)
    files[CONFIG] = to_json(_config(task, network))
    files[GENERATION] = to_json(_generation(task, model.recipe))
    with whole_folder(out, FOLDERS[MARIAN]) as partial:
        for name, content in files.items():
            write_file(partial / name, content)
        tensors = _Tensors(network)
        with whole_file(partial / SAFETENSORS) as file:
            write_tensors(file, tensors.shapes, tensors, {"format": "pt"})
    if isinstance(task.source, MarianTokeniser) and task.source.vocabulary.code:
        remark(f"Other tools do not know the chosen language: begin each text with {task.source.vocabulary.code}.")


def _check(options: TransformerOptions) -> None:
    for name, expected in _ASKED.items():
        if (value := getattr(options, name)) != expected:
            problem = f"Marian cannot express model.{name} = {_show(value)}; it is always {_show(expected)}"
            raise Fault(f"{problem}; train a model with --set model.{name}={str(expected).lower()}.")
    heads = {options.heads, options.decoder_heads or options.heads}
    if options.key_value_heads is not None and {options.key_value_heads} != heads:
        count = options.key_value_heads
        raise Fault(f"Marian cannot express model.key_value_heads = {count}; each of its heads has its own.")


def _show(value: Any) -> str:
    return json.dumps(value)


def _config(task: Translation, network: Transformer) -> dict[str, Any]:
    options = network.options
    shared = network.source_embedding is network.target_embedding
    return {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "is_encoder_decoder": True,
        "d_model": options.width,
        "vocab_size": task.source.size,
        "decoder_vocab_size": task.target.size,
        "encoder_layers": options.encoder_layers,
        "decoder_layers": options.decoder_layers,
        "encoder_attention_heads": options.heads,
        "decoder_attention_heads": options.decoder_heads or options.heads,
        "encoder_ffn_dim": options.feed_forward,
        "decoder_ffn_dim": options.decoder_feed_forward or options.feed_forward,
        "max_position_embeddings": options.longest,
        "activation_function": options.activation,
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": shared,
        "tie_word_embeddings": options.tied,
        "dropout": options.dropout,
        "attention_dropout": options.attention_dropout,
        "activation_dropout": options.feed_forward_dropout,
        "dtype": "float32",
        "bos_token_id": None,
        **_special(task),
    }


def _special(task: Translation) -> dict[str, int]:
    return {
        "pad_token_id": task.target.pad,
        "eos_token_id": task.target.end,
        "forced_eos_token_id": task.target.end,
        "decoder_start_token_id": task.target.begin,
    }


def _generation(task: Translation, recipe: Any) -> dict[str, Any]:
    search, longest = recipe.decoding, task.model.options.longest
    return {
        "num_beams": search.beam,
        "length_penalty": 0.0 if search.length_penalty_kind == "none" else search.length_penalty,
        "early_stopping": next(theirs for theirs, ours in STOPS.items() if ours == search.stop),
        "max_length": search.limit(longest, longest) + 1,
        "min_length": search.shortest + 1 if search.shortest else 0,
        "no_repeat_ngram_size": search.unrepeated,
        "repetition_penalty": search.repetition_penalty,
        "bad_words_ids": [[task.target.pad]],
        "renormalize_logits": True,
        **_special(task),
    }


class _Tensors:
    """The weights of a Transformer by Marian's names, each made on demand."""

    def __init__(self, network: Transformer) -> None:
        self.own, self.bias = (
            {f"model.{name}": weight for name, weight in named_weights(network).items()},
            network.output_bias,
        )
        self.back = order(network.options.width).argsort()
        options = network.options
        blocks = [("encoder", options.encoder_layers), ("decoder", options.decoder_layers)]
        self.parts = [part for side, layers in blocks for number in range(layers) for part in block_parts(side, number)]
        self.made: dict[str, tuple[WeightPart, int]] = {
            name: (part, place) for part in self.parts for place, name in enumerate(part.theirs)
        }
        self.embeddings = _embeddings(network)
        self.tokens = network.out.out_features

    @property
    def shapes(self) -> dict[str, Shape]:
        shapes = {name: tuple(tensor.shape) for name, tensor in self.embeddings.items()}
        for name, (part, _) in self.made.items():
            rows, *rest = self.own[part.ours].shape
            shapes[name] = (rows // len(part.theirs), *rest)
        return shapes | {THEIR_BIAS: (1, self.tokens)}

    def __call__(self, name: str) -> Tensor:
        if name == THEIR_BIAS:
            return torch.zeros(1, self.tokens) if self.bias is None else self.bias[None]
        if name in self.embeddings:
            return self.embeddings[name].index_select(1, self.back.to(self.embeddings[name].device))
        part, place = self.made[name]
        tensor = self.own[part.ours].chunk(len(part.theirs))[place]
        return arrange(tensor, part, self.back.to(tensor.device))


def _embeddings(network: Transformer) -> dict[str, Tensor]:
    """Return the token matrices; tied ones appear once."""
    source, target = network.source_embedding.weight.detach(), network.target_embedding.weight.detach()
    shared, tied = network.source_embedding is network.target_embedding, network.options.tied
    if shared and tied:
        return {"model.shared.weight": source}
    # Written separately even if ours are shared: with a separate output layer, versions of transformers disagree on
    # sharing.
    both = {"model.encoder.embed_tokens.weight": source, "model.decoder.embed_tokens.weight": target}
    both |= {"model.shared.weight": source} if shared else {}
    return both if tied else both | {"lm_head.weight": network.out.weight.detach()}
