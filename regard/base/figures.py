"""Numbers and quotations as people read them."""

_LARGE = 1e6  # from here on, powers of ten are easier to read
_SNIPPET = 60  # most characters of a quotation


def quantity(count: int, one: str, several: str | None = None) -> str:
    """Return a count with its noun in the right number: 1 step, 2,000 steps, 3 batches."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def in_figures(value: float, digits: int, sign: str = "") -> str:
    """Return a number with `digits` decimals, a large one by its power of ten: 12.50, 2.7e43.

    With the sign "+", positive numbers have a sign too.
    """
    if not abs(value) >= _LARGE:
        return f"{value:{sign}.{digits}f}"
    mantissa, _, power = f"{value:{sign}.1e}".partition("e")
    return f"{mantissa}e{int(power)}" if power else mantissa


def shorten(text: str) -> str:
    """Return the beginning of a text, enough to recognise it."""
    return text if len(text) <= _SNIPPET else text[: _SNIPPET - 1] + "…"
