"""`regard demo`: the main job on the embedded corpus, from training to a picture, in a few minutes on a CPU."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.console import remark, terminal_width, wants_colour

# Sentences that the grammar can say, each with what it makes of it; only the first is in the training text.
SENTENCES = {
    "I love books.": "Eu amo livros.",
    "I see the red house.": "Eu vejo a casa vermelha.",
    "Ana doesn't eat the green apples.": "Ana não come as maçãs verdes.",
    "Will the girls buy three books?": "As meninas comprarão três livros?",
}
CROSSING = "I see the red house."


def command(
    out: Annotated[Path, typer.Option("--out", help="Folder of the model and its pictures.")] = Path("runs/demo"),
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of everything random.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted demo in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo in --out.")] = False,
) -> None:
    """Train a small English-Portuguese translator, score it, translate with it and draw what it looks at."""
    from regard.commands.train import say_result
    from regard.data.demo.corpus import NOTICE
    from regard.runs.request import TrainingRequest
    from regard.runs.start import console_audience, start_training

    remark(NOTICE)
    settings = [f"seed={seed}"] if seed is not None else []
    asked = TrainingRequest("demo", settings, out=out, resume=resume, overwrite=overwrite)
    started = start_training(asked, console_audience())
    if started.interrupted:
        raise typer.Exit(130)
    if not started.was_finished:
        say_result(out)
    _score(out)
    _show(out)
    tool = "regard" if shutil.which("regard") else _how_called()
    print("\nTry next:")
    print(f"  echo 'We read the old books.' | {tool} translate {out}")
    print(f"  {tool} look {out} --text 'The black cats sleep in the kitchen.' -o cats.png")
    print(f"  {tool} serve {out}     # a page where translations appear as you type")
    print(f"  {tool} train --source mine.en --target mine.pt --out runs/mine")


def _how_called() -> str:
    """Return how this command was called if no `regard` is on the path: by its file, or as a Python module."""
    return f"{sys.executable} -m regard" if Path(sys.argv[0]).name == "__main__.py" else sys.argv[0]


def _score(folder: Path) -> None:
    from regard.console import console_progress
    from regard.runs.kept_scores import keep_scores
    from regard.verbs.translate import evaluation
    from regard.verbs.translate.model import load_translation_model

    model = load_translation_model(folder)
    with console_progress() as progress:
        data = evaluation.from_split(model, folder, "test")
        scores = evaluation.evaluate(model, data, ["bleu", "chrf"], progress=progress).scores
    keep_scores(folder, scores)
    print("\nOn 1,000 sentences whose combinations of words were held out of training:")
    for score in scores:
        print(f"  {score.metric} {score.shown}  ({score.signature})")


def _show(folder: Path) -> None:
    from regard.seeing.looking import sight_page
    from regard.seeing.sentences import see
    from regard.verbs.translate.model import load_translation_model
    from regard.verbs.translate.plan import whole_texts
    from regard.verbs.translate.run import runner
    from regard.viewing.matrix import draw_matrix, draw_sheet, matrix_lines
    from regard.viewing.page import Start

    model = load_translation_model(folder)
    translations = runner(model, model.plan())(whole_texts(list(SENTENCES)))
    print()
    for (source, right), translated in zip(SENTENCES.items(), translations, strict=True):
        wrong = "" if translated.text == right else f"  (the grammar says: {right})"
        print(f"  {source}  →  {translated.text}{wrong}")
    sight = see(model, CROSSING)
    seen = sight.seen()
    pictures = folder / "pictures"
    pictures.mkdir(exist_ok=True)
    draw_matrix(seen.one(), pictures / "crossing.png")
    draw_sheet(seen.every(), pictures / "heads.png", across=seen.heads)
    sight_page(model, sight, Start()).write(pictures / "page.html")
    print("\nWhat it looked at for each word it wrote; adjective and noun change places:\n")
    print("\n".join(matrix_lines(seen.one(), terminal_width(), wants_colour(sys.stdout))))
    print(f"\nThe pictures are {pictures / 'crossing.png'} and {pictures / 'heads.png'}, the model is {folder}.")
    print(f"Open {pictures / 'page.html'} in a browser to choose blocks and heads and point at words.")
