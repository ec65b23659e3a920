"""Names in the order that people expect."""

import re


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a sort key that orders names alphabetically, and numbers inside them by value."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name)]
