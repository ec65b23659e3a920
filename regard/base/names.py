"""Names in an order that people expect."""

import re


def natural_order(name: str) -> list[tuple[int, str]]:
    """What sorts names by their letters, and the numbers in them by their size."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name)]
