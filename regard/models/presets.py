"""Named sets of sizes, for model options that have a `preset`."""

from collections.abc import Mapping
from typing import Any

from regard.base.recipe import Options


def with_preset(options: type[Options], values: Any, presets: Mapping[str, Mapping[str, Any]]) -> Any:
    """Fill in the sizes of the preset that `values` do not set; an unknown preset is refused elsewhere, by name."""
    if not isinstance(values, dict):
        return values
    default = options.model_fields["preset"].default
    return {**presets.get(str(values.get("preset", default)), presets[default]), **values}
