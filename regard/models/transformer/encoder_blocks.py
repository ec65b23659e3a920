"""Options of Transformer encoder blocks, for models that are built of such blocks and have no decoder."""

from typing import Any

from regard.models.transformer.options import TransformerOptions

_SHARED = ("width", "feed_forward", "heads", "dropout", "longest")  # options with the same name in both


def block_options(model: Any, **others: Any) -> TransformerOptions:
    """Return Transformer options for a model with `layers` blocks, and `others` by name; its decoder is not built."""
    shared = {name: getattr(model, name) for name in _SHARED}
    return TransformerOptions(encoder_layers=model.layers, decoder_layers=1, **shared, **others)
