"""Which beam searches exports can do, and our length penalty; imports no numpy."""

from regard.decoding.options import DecodingOptions


def first_unsupported(options: DecodingOptions) -> str | None:
    """Return the first option that asks for more than a plain beam search, or None."""
    impossible = {
        "coverage_penalty": options.coverage_penalty > 0,
        "ctc": options.ctc > 0,
        "nested": options.nested,
        "groups": options.groups > 1,
        "shortest": options.shortest > 0,
        "repetition_penalty": options.repetition_penalty != 1,
        "unrepeated": options.unrepeated > 0,
        "form": options.form != "text",
    }
    return next((name for name, is_so in impossible.items() if is_so), None)


def divisor(options: DecodingOptions, length: int) -> float:
    """Return our length penalty for `length` tokens, including the end (`regard.decoding.hypothesis_scores`)."""
    alpha = options.length_penalty
    match options.length_penalty_kind:
        case "wu":
            return ((5 + length) / 6) ** alpha
        case "average":
            return length**alpha
    return 1.0
