"""Command-line names of a request's fields, so that refusals name options."""

from regard.base.recipe import Place
from regard.base.requests.names import Names

_OPTIONS = {  # fields of a request -> the options or arguments that fill them, where the names differ
    "search": "--set",
    "prefix": "--prefixes",
    "forbidden": "--forbid",
    "forced": "--force",
    "explain": "--json",
    "words": "WORD",
    "a": "A",
    "b": "B",
    "c": "C",
}
DRAWING = ("temperature", "top_k", "top_p", "seed")  # sampling options with a command-line option


class OptionNames(Names):
    """Names as typed on the command line, such as --n-best; a wrong `sample.top_k` is reported as --top-k."""

    whole = "the command"
    table_word = "a table"

    def name(self, field: str) -> str:
        field, _, inner = field.partition(".")
        option = _OPTIONS.get(field, f"--{field.replace('_', '-')}")
        return f"{option} {inner}" if inner else option

    def place(self, place: Place) -> str:
        field, *inner = (part for part in place if isinstance(part, str))
        if field != "sample" or not inner:
            return self.name(field)
        return self.name(inner[0]) if inner[0] in DRAWING else f"--set sampling.{inner[0]}"
