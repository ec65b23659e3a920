"""One of our Transformers in CTranslate2's terms: which weight goes where, and what it cannot express.

CTranslate2 has one linear layer for queries, keys and values of a self-attention, and one for keys and values of a
cross-attention. Its sinusoids are laid out differently from the published ones, so positions are written as a table,
one row per position.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.attention.heads import MultiHead
from regard.base.faults import Fault
from regard.models.parts import FeedForward, Residual
from regard.models.transformer.network import DecoderBlock, EncoderBlock, Transformer
from regard.models.transformer.options import TransformerOptions

_ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "swish": "SWISH"}  # CTranslate2's GELU is exact, like torch's

# Values that CTranslate2 can express, for options that shape the network.
_EXPRESSIBLE: dict[str, Sequence[str]] = {
    "norm": ("before", "after"),
    "positions": ("sinusoidal", "learned", "rotary", "none"),
    "score": ("scaled-dot", "dot"),
    "join": ("concatenated",),
    "activation": tuple(_ACTIVATIONS),
}
_KNOWN = {
    *("preset", "encoder_layers", "decoder_layers", "width", "feed_forward", "heads", "longest"),
    *("decoder_feed_forward", "decoder_heads", "key_value_heads", "shared_key_value"),
    *("tied", "shared_embeddings", "output_bias", "dropout", "attention_dropout", "feed_forward_dropout"),
    *_EXPRESSIBLE,
}


def check_expressible(options: TransformerOptions) -> None:
    """Refuse a Transformer that CTranslate2 cannot compute, naming the option at fault."""
    for name, field in type(options).model_fields.items():
        value = getattr(options, name)
        if name in _EXPRESSIBLE and value not in _EXPRESSIBLE[name]:
            able = ", ".join(map(repr, _EXPRESSIBLE[name]))
            raise Fault(f"CTranslate2 cannot compute model.{name} = '{value}'; it supports {able}.")
        if name not in _KNOWN and value != field.default:
            raise Fault(f"CTranslate2 cannot compute model.{name} = {value!r}; it supports {field.default!r}.")


def transformer_spec(network: Transformer) -> Any:
    """Return CTranslate2's description of the network, with its weights."""
    from ctranslate2.specs import transformer_spec as specs

    options = network.options
    check_expressible(options)
    decoder_heads = options.decoder_heads or options.heads
    encoder = specs.TransformerEncoderSpec(options.encoder_layers, options.heads, **_form(options, options.heads))
    decoder = specs.TransformerDecoderSpec(
        options.decoder_layers,
        decoder_heads,
        **_form(options, decoder_heads),
        # The last block but one, all heads: see `Model.align`.
        alignment_layer=max(0, options.decoder_layers - 2),
        alignment_heads=decoder_heads,
    )
    for spec, block in zip(encoder.layer, network.encoder, strict=True):
        assert isinstance(block, EncoderBlock)
        _fill_encoder_block(spec, block)
    for spec, block in zip(decoder.layer, network.decoder, strict=True):
        assert isinstance(block, DecoderBlock)
        _fill_decoder_block(spec, block)
    _fill_ends(encoder, decoder, network)
    return specs.TransformerSpec(encoder, decoder)


def _form(options: TransformerOptions, heads: int) -> dict[str, Any]:
    """Return the specification of an encoder or decoder with `heads` heads."""
    from ctranslate2.specs.common_spec import Activation

    return {
        "pre_norm": options.norm == "before",
        "activation": Activation[_ACTIVATIONS[options.activation]],
        "num_heads_kv": options.key_value_heads,
        "rotary_dim": options.width // heads if options.positions == "rotary" else None,
        "rotary_interleave": True,  # neighbouring coordinates make a pair
    }


def _fill_ends(encoder: Any, decoder: Any, network: Transformer) -> None:
    """Fill the layers before the first block and after the last."""
    options = network.options
    encoder.embeddings[0].weight = _array(network.source_embedding.weight)
    decoder.embeddings.weight = _array(network.target_embedding.weight)
    if options.positions != "rotary":
        encoder.position_encodings.encodings = _places(network.source_places, options)
        decoder.position_encodings.encodings = _places(network.target_places, options)
    if options.norm == "before":
        _fill_norm(encoder.layer_norm, network.encoder_norm)
        _fill_norm(decoder.layer_norm, network.decoder_norm)
    _fill_linear(decoder.projection, network.out)
    if network.output_bias is not None:
        decoder.projection.bias = _array(network.output_bias)


def _fill_encoder_block(spec: Any, block: EncoderBlock) -> None:
    _fill_self_attention(spec.self_attention, block.self_look, block.around_self)
    _fill_feed_forward(spec.ffn, block.feed_forward, block.around_feed_forward)


def _fill_decoder_block(spec: Any, block: DecoderBlock) -> None:
    _fill_self_attention(spec.self_attention, block.self_look, block.around_self)
    _fill_linear(spec.attention.linear[0], block.cross.to_query)
    _fill_linear(spec.attention.linear[1], *_keys_and_values(block.cross))
    _fill_around(spec.attention, block.cross, block.around_cross)
    _fill_feed_forward(spec.ffn, block.feed_forward, block.around_feed_forward)


def _fill_self_attention(spec: Any, heads: MultiHead, around: Residual) -> None:
    _fill_linear(spec.linear[0], heads.to_query, *_keys_and_values(heads))
    _fill_around(spec, heads, around)


def _fill_around(spec: Any, heads: MultiHead, around: Residual) -> None:
    _fill_linear(spec.linear[-1], heads.out)
    _fill_norm(spec.layer_norm, around.norm)
    if heads.options.score == "dot":
        spec.queries_scale = 1.0


def _keys_and_values(heads: MultiHead) -> list[nn.Module]:
    """Return the layer that makes keys and values, twice if they are shared."""
    return [heads.to_key_value] * (2 if heads.options.shared_key_value else 1)


def _fill_feed_forward(spec: Any, net: FeedForward, around: Residual) -> None:
    _fill_linear(spec.linear_0, net.inner)
    _fill_linear(spec.linear_1, net.outer)
    _fill_norm(spec.layer_norm, around.norm)


def _fill_linear(spec: Any, *layers: nn.Module) -> None:
    """Write several linear layers as one, with their outputs side by side."""
    spec.weight = np.concatenate([_array(layer.weight) for layer in layers])
    biases = [layer.bias for layer in layers if layer.bias is not None]
    if biases:
        spec.bias = np.concatenate([_array(bias) for bias in biases])


def _fill_norm(spec: Any, norm: nn.Module) -> None:
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _places(places: nn.Module, options: TransformerOptions) -> np.ndarray:
    """Return what is added at each position, by encoding zeros."""
    with torch.no_grad():
        nothing = torch.zeros(1, options.longest, options.width, device=_device(places))
        return _array(places(nothing)[0])


def _device(module: nn.Module) -> torch.device:
    return next((parameter.device for parameter in module.parameters()), torch.device("cpu"))


def _array(weight: Any) -> np.ndarray:
    assert isinstance(weight, Tensor)
    return weight.detach().to("cpu", torch.float32).numpy()
