"""Texts as the fast engines read them."""

from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.token_rows import rows_of


def test_spaces_at_the_ends_of_a_text_are_not_read() -> None:
    plain, spaced = rows_of(["a b", " a b \u3000", " "], ByteTokeniser(), 100, DecodingOptions())
    assert plain.tokens == spaced.tokens
    assert plain.limit == spaced.limit
    assert (plain.number, spaced.number) == (0, 1)
