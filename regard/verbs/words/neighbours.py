"""`regard neighbours`: list the words whose vectors are nearest to those of given words."""

from typing import Annotated

import typer

from regard.base.faults import Fault
from regard.console import console_progress, print_json, remark, say_table
from regard.console.lines import TextInput
from regard.verbs.words import options as word_options


def command(
    model: word_options.ModelOrVectors,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD…", help="Words; by default the lines of standard input.")
    ] = None,
    count: word_options.Count = None,
    side: word_options.Side = None,
    vocabulary: word_options.Vocabulary = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each word.")] = False,
) -> None:
    """List the words nearest to each WORD, by the cosine between their vectors."""
    from regard.console.option_names import OptionNames
    from regard.verbs.words.opening import open_lexicon
    from regard.verbs.words.request import NeighboursRequest

    lines = TextInput()
    if not words:
        lines.check()
        words = [line for line in lines.lines() if line.strip()]
    if not words:
        raise Fault("There are no words; name them, or write one on each line of standard input.")
    request = NeighboursRequest.read({"words": words, **word_options.given(count, side)}, OptionNames())
    with console_progress() as progress:
        lexicon = open_lexicon(model, side, vocabulary, progress, remark)
    results = lexicon.neighbours(request.words, request.count, remark)
    if as_json:
        for result in results:
            print_json(result.as_dict(), indent=None)
    else:
        rows = [[result.word, word, f"{cosine:.4f}"] for result in results for word, cosine in result.neighbours]
        say_table(["word", "neighbour", "cosine"], rows)
