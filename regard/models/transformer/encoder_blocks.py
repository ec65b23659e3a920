"""The options of a Transformer's encoder blocks, for models that are built of such blocks and have no decoder."""

from typing import Any

from regard.models.transformer.options import TransformerOptions

_SHARED = ("width", "feed_forward", "heads", "dropout", "longest")  # what both call by one name


def block_options(model: Any, **others: Any) -> TransformerOptions:
    """Those of a model with `layers` blocks, and `others` by their names; the decoder that they tell of is not made."""
    shared = {name: getattr(model, name) for name in _SHARED}
    return TransformerOptions(encoder_layers=model.layers, decoder_layers=1, **shared, **others)
