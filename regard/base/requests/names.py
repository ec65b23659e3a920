"""Names of a request's fields as the caller writes them, for refusals.

A rule is stated once, with the names of fields in braces; the command line fills them with its options, JSON with the
fields themselves.
"""

from regard.base.recipe import Place, path_of


class Names:
    """The names of JSON: 'n_best' in a sentence, and sample.top_k as the place of a wrong value."""

    whole = "the request"
    table_word = "an object"

    def name(self, field: str) -> str:
        """A field in the middle of a sentence."""
        return f"'{field}'"

    def place(self, place: Place) -> str:
        """Where a value stands that is wrong in itself."""
        return path_of(place)

    def fill(self, sentence: str, **values: object) -> str:
        """A sentence with the names of the fields that stand in its braces, and other values."""
        return sentence.format_map(_Filling(self, values))


class _Filling(dict[str, object]):
    def __init__(self, names: Names, values: dict[str, object]) -> None:
        super().__init__(values)
        self.names = names

    def __missing__(self, field: str) -> str:
        return self.names.name(field)


JSON = Names()
