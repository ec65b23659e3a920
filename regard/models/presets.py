"""Named sets of sizes, for the options of a model that has one of them as `preset`."""

from collections.abc import Mapping
from typing import Any

from regard.base.recipe import Options


def with_preset(options: type[Options], given: Any, presets: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return the given options on top of those of their preset; an unknown preset is refused elsewhere, by name."""
    if not isinstance(given, dict):
        return given
    usual = options.model_fields["preset"].default
    return {**presets.get(str(given.get("preset", usual)), presets[usual]), **given}
