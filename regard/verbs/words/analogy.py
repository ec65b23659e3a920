"""`regard analogy`: find the word that is to C as B is to A."""

from typing import Annotated

import typer

from regard.console import console_progress, print_json, remark, say_table
from regard.verbs.words import options as word_options


def command(
    model: word_options.ModelOrVectors,
    a: Annotated[str, typer.Argument(help="A word, such as man.")],
    b: Annotated[str, typer.Argument(help="A word related to A, such as king.")],
    c: Annotated[str, typer.Argument(help="Another word, such as woman; the answer is related to it in the same way.")],
    count: word_options.Count = None,
    side: word_options.Side = None,
    vocabulary: word_options.Vocabulary = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Find the words that are to C as B is to A: those nearest to B - A + C, without the three themselves."""
    from regard.console.option_names import OptionNames
    from regard.verbs.words.opening import open_lexicon
    from regard.verbs.words.request import AnalogyRequest

    request = AnalogyRequest.read({"a": a, "b": b, "c": c, **word_options.given(count, side)}, OptionNames())
    with console_progress() as progress:
        lexicon = open_lexicon(model, side, vocabulary, progress, remark)
    solution = lexicon.analogy(request.words, request.count, remark)
    if as_json:
        print_json(solution.as_dict(), indent=None)
    else:
        say_table(["word", "cosine"], [[word, f"{cosine:.4f}"] for word, cosine in solution.neighbours])
