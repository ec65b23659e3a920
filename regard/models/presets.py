"""Named sets of sizes, for model options that have a `preset`."""

from collections.abc import Mapping
from typing import Any

from regard.base.recipe import Options
from regard.models.bounds import WIDEST


def with_preset(options: type[Options], values: Any, presets: Mapping[str, Mapping[str, Any]]) -> Any:
    """Fill in the sizes of the preset that `values` do not set; an unknown preset is refused elsewhere, by name.

    Feed-forward nets follow a width that is set, in the preset's proportion.
    """
    if not isinstance(values, dict):
        return values
    default = options.model_fields["preset"].default
    sizes = presets.get(str(values.get("preset", default)), presets[default])
    width = values.get("width")
    if "feed_forward" in sizes and isinstance(width, int) and 0 < width <= WIDEST:  # any other is refused elsewhere
        sizes = {**sizes, "feed_forward": width * sizes["feed_forward"] // sizes["width"]}
    return {**sizes, **values}
