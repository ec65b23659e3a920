"""`regard generate`: a prompt goes in, and comes out with what a language model writes after it."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from regard.base.faults import Fault
from regard.base.recipe import apply_settings
from regard.console import is_live, options, remark
from regard.console.inputs import inputs_after_model

if TYPE_CHECKING:
    from regard.verbs.generate.continuing import Generated
    from regard.verbs.generate.model import LanguageModel
    from regard.verbs.generate.request import GenerateRequest
    from regard.verbs.generate.telling import WrittenToken

_Prompts = Annotated[
    list[str] | None,
    typer.Option("--text", "--prompt", metavar="TEXT", help="What the text begins with; repeatable."),
]


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: options.Inputs = None,
    prompt: _Prompts = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="The most tokens that are written after the prompt (100).")
    ] = None,
    past_end: Annotated[
        bool, typer.Option("--past-end", help="Go on past the end of a line with the next, as far as the tokens reach.")
    ] = False,
    when_full: Annotated[
        Literal["stop", "forget"] | None,
        typer.Option(
            help="When the context of a model that has one is full: stop, or forget the older half of it; by default "
            "as its recipe says."
        ),
    ] = None,
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
    from regard.console.option_names import OptionNames
    from regard.verbs.generate.request import GenerateRequest

    prompts = [text for source in inputs_after_model(inputs, prompt) for text in source.inputs()]
    table = apply_settings({}, settings or [])
    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    drawing = {name: value for name, value in drawing.items() if value is not None}
    if not isinstance(sampling := table.pop("sampling", {}), dict):
        raise Fault("Sampling takes a table of options; give one of them, as --set sampling.min_p=0.05.")
    drawing |= sampling
    own = ({"past_end": True} if past_end else {}) | ({"when_full": when_full} if when_full else {})
    named = {"tokens": tokens, "samples": samples, "beam": beam, "length_penalty": length_penalty, "n_best": n_best}
    given = {name: value for name, value in named.items() if value is not None}
    given |= {name: table.pop(name) for name in named if name in table and name not in given}
    request = GenerateRequest.read(
        {"prompt": prompts or [""], "sample": drawing if sample or drawing else None, "search": table, **given, **own},
        OptionNames(),
    )
    from regard.verbs.opening import model_in

    _print(cast("LanguageModel", model_in(model, verb="generate")), request, as_json)


def _print(model: "LanguageModel", request: "GenerateRequest", as_json: bool) -> None:
    """Print the texts, and while it is written one that a person waits for at a terminal."""
    if not as_json and len(request.prompt) == 1 and (request.samples or 1) == 1 and is_live(sys.stdout):
        _write_aloud(model, request)
        return
    for texts in model.generate_by(request):
        for each in texts:
            print(json.dumps(each.as_dict(), ensure_ascii=False) if as_json else each.text, flush=True)
            _remark_on(each)


def _write_aloud(model: "LanguageModel", request: "GenerateRequest") -> None:
    """Print a text while it is written, and in the end what is left of it; further ones of a beam follow."""
    from regard.verbs.generate.continuing import stem_of

    (prompt,) = request.prompt
    said = stem_of(prompt, model.task.write(model.task.read([prompt]).tokens[0]))
    print(said, end="", flush=True)

    def tell(token: "WrittenToken") -> None:
        nonlocal said
        said += token.text
        print(token.text, end="", flush=True)

    first, *others = model.generate_aloud(request, tell)
    print(first.text.removeprefix(said), *(each.text for each in others), sep="\n", flush=True)
    for each in (first, *others):
        _remark_on(each)


def _remark_on(text: "Generated") -> None:
    """Say what the end of the context did to a text, if anything."""
    if text.remark:
        remark(text.remark)
