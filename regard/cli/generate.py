"""`regard generate`: a prompt goes in, and comes out with what a language model writes after it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from regard.base.faults import Fault
from regard.base.recipe import apply_settings
from regard.cli import options

if TYPE_CHECKING:
    from regard.verbs.generate.model import LanguageModel


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    prompt: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="What the text begins with; may be given several times.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="The most tokens that are written after the prompt (100).")
    ] = None,
    past_end: Annotated[
        bool, typer.Option("--past-end", help="Go on past the end of a line with the next, as far as the tokens reach.")
    ] = False,
    samples: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Texts that are drawn for each prompt (1).")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw at random; so it is unless something is said of a beam.")
    ] = False,
    temperature: options.Temperature = None,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    seed: options.Seed = None,
    beam: options.Beam = None,
    length_penalty: options.LengthPenalty = None,
    n_best: options.NBest = None,
    settings: options.Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each text.")] = False,
) -> None:
    """Write on after a prompt, or from nothing; the prompt is part of what is printed."""
    from regard.cli.option_names import OptionNames
    from regard.verbs.requests.generate import GenerateRequest

    table = apply_settings({}, settings or [])
    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    drawing = {name: value for name, value in drawing.items() if value is not None}
    if not isinstance(own := table.pop("sampling", {}), dict):
        raise Fault("Sampling takes a table of options; give one of them, as --set sampling.min_p=0.05.")
    drawing |= own
    named = {"tokens": tokens, "samples": samples, "beam": beam, "length_penalty": length_penalty, "n_best": n_best}
    given = {name: value for name, value in named.items() if value is not None}
    given |= {name: table.pop(name) for name in named if name in table and name not in given}
    given |= {"past_end": True} if past_end else {}
    request = GenerateRequest.read(
        {"prompt": prompt or [""], "sample": drawing if sample or drawing else None, "search": table, **given},
        OptionNames(),
    )
    from regard.model import load
    from regard.verbs.table import needs

    loaded = load(model)
    needs(loaded.recipe, "generate")
    for texts in cast("LanguageModel", loaded).generate_by(request):
        for each in texts:
            print(json.dumps(each.as_dict(), ensure_ascii=False) if as_json else each.text, flush=True)
