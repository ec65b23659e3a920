"""`regard generate`: continue a prompt with a language model."""

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
    from regard.verbs.generate.exported import ExportedLanguage
    from regard.verbs.generate.generated import Generated
    from regard.verbs.generate.model import LanguageModel
    from regard.verbs.generate.request import GenerateRequest
    from regard.verbs.generate.telling import WrittenToken

_Prompts = Annotated[
    list[str] | None,
    typer.Option("--text", "--prompt", metavar="TEXT", help="The beginning of the text; repeatable."),
]


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: options.Inputs = None,
    prompt: _Prompts = None,
    tokens: Annotated[int | None, typer.Option(min=1, help="Maximum number of tokens after the prompt (100).")] = None,
    past_end: Annotated[
        bool, typer.Option("--past-end", help="Continue past the end of a line, until --tokens are written.")
    ] = False,
    when_full: Annotated[
        Literal["stop", "forget"] | None,
        typer.Option(help="When the context is full: stop, or forget its older half. By default as in the recipe."),
    ] = None,
    samples: Annotated[int | None, typer.Option(min=1, max=1000, help="Number of texts per prompt (1).")] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Sample at random; this is the default unless a beam option is given.")
    ] = False,
    temperature: options.Temperature = None,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    seed: options.Seed = None,
    beam: options.Beam = None,
    length_penalty: options.LengthPenalty = None,
    n_best: options.NBest = None,
    draft: options.Draft = None,
    engine: options.TextEngine = "auto",
    settings: options.Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each text.")] = False,
) -> None:
    """Continue a prompt, or write from nothing. The output includes the prompt."""
    from regard.console.option_names import OptionNames
    from regard.verbs.generate.request import GenerateRequest

    prompts = [text for source in inputs_after_model(inputs, prompt) for text in source.inputs()]
    table = apply_settings({}, settings or [])
    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    drawing = {name: value for name, value in drawing.items() if value is not None}
    if not isinstance(sampling := table.pop("sampling", {}), dict):
        raise Fault("Sampling has several options; give one of them, as in --set sampling.min_p=0.05.")
    drawing |= sampling
    flags = ({"past_end": True} if past_end else {}) | ({"when_full": when_full} if when_full else {})
    options_by_name: dict[str, object] = {"tokens": tokens, "samples": samples, "beam": beam, "n_best": n_best}
    options_by_name |= {"length_penalty": length_penalty, "draft": draft, "engine": engine}
    fields = {name: value for name, value in options_by_name.items() if value is not None}
    fields |= {name: table.pop(name) for name in options_by_name if name in table and name not in fields}
    request = GenerateRequest.read(
        {
            "prompt": prompts or [""],
            "sample": drawing if sample or drawing else None,
            "search": table,
            **fields,
            **flags,
        },
        OptionNames(),
    )
    _print(_open(model, request), request, as_json)


def _open(folder: Path, request: "GenerateRequest") -> "LanguageModel | ExportedLanguage":
    """Open the export of a model if it may and can be used, else the model."""
    if request.engine != "torch":
        from regard.verbs.generate.exported import load_exported

        if (exported := load_exported(folder, request)) is not None:
            return exported
    from regard.verbs.opening import model_in

    return cast("LanguageModel", model_in(folder, verb="generate"))


def _print(model: "LanguageModel | ExportedLanguage", request: "GenerateRequest", as_json: bool) -> None:
    """Print the texts; a single text for a person at a terminal is printed token by token."""
    if not as_json and len(request.prompt) == 1 and (request.samples or 1) == 1 and is_live(sys.stdout):
        _write_aloud(model, request)
        return
    for texts in model.generate_by(request):
        for text in texts:
            print(json.dumps(text.as_dict(), ensure_ascii=False) if as_json else text.text, flush=True)
            _remark_on(text)


def _write_aloud(model: "LanguageModel | ExportedLanguage", request: "GenerateRequest") -> None:
    """Print a text while it is written, then the rest of it and the other texts of a beam."""
    (prompt,) = request.prompt
    printed = model.stem(prompt)
    print(printed, end="", flush=True)

    def tell(token: "WrittenToken") -> None:
        nonlocal printed
        printed += token.text
        print(token.text, end="", flush=True)

    first, *others = model.generate_aloud(request, tell)
    print(first.text.removeprefix(printed), *(text.text for text in others), sep="\n", flush=True)
    for text in (first, *others):
        _remark_on(text)


def _remark_on(text: "Generated") -> None:
    """Remark on a text that the end of the context cut or changed."""
    if text.remark:
        remark(text.remark)
