"""Names of a request's fields as the caller writes them, for refusals.

A rule is stated once, with the names of fields in braces. The command line fills them with its options, JSON with the
fields themselves.
"""

from regard.base.recipe import Place, path_of


class Names:
    """Names in JSON: 'n_best' in a sentence, and sample.top_k as the place of a wrong value."""

    whole = "the request"
    table_word = "an object"

    def name(self, field: str) -> str:
        """Return the name of a field in the middle of a sentence."""
        return f"'{field}'"

    def place(self, place: Place) -> str:
        """Return the place of a value that is wrong in itself."""
        return path_of(place)

    def fill(self, sentence: str, **values: object) -> str:
        """Fill the names of the fields in a sentence's braces, and other values."""
        return sentence.format_map(_Filling(self, values))


class _Filling(dict[str, object]):
    def __init__(self, names: Names, values: dict[str, object]) -> None:
        super().__init__(values)
        self.names = names

    def __missing__(self, field: str) -> str:
        return self.names.name(field)


JSON = Names()
