"""Names in an order that people expect."""

import re


def natural_order(name: str) -> list[tuple[int, str]]:
    """Sort key that orders names by letters, and numbers inside them by size."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name)]
