"""`regard demo`: the main job on the embedded corpus, from training to a picture, in a few minutes on a CPU."""

import shutil
import sys
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from regard.console import remark, terminal_width, wants_colour


class Shown(NamedTuple):
    """Sentences of the grammar with their translations, and the one whose attention is drawn.

    Only the first is in the training text.
    """

    sentences: dict[str, str]
    crossing: str
    remark: str


PORTUGUESE = Shown(
    {
        "I love books.": "Eu amo livros.",
        "I see the red house.": "Eu vejo a casa vermelha.",
        "Ana doesn't eat the green apples.": "Ana não come as maçãs verdes.",
        "Will the girls buy three books?": "As meninas comprarão três livros?",
    },
    "I see the red house.",
    "adjective and noun change places",
)
RUSSIAN = Shown(
    {
        "I love books.": "Я люблю книги.",
        "I see the red house.": "Я вижу красный дом.",
        "Ana doesn't eat the green apples.": "Анна не ест зелёные яблоки.",
        "Will the girls buy three books?": "Девочки купят три книги?",
    },
    "Will the girls buy three books?",
    "Russian has no articles, and one word for will buy",
)
PORTUGUESE_PRONOUNS = Shown(
    {
        "Ana lost the key because it was old.": "Ana perdeu a chave porque ela era velha.",
        "Ana lost the book because it was old.": "Ana perdeu o livro porque ele era velho.",
        "The dog did not cross the street because it was tired.": (
            "O cachorro não atravessou a rua porque ele estava cansado."
        ),
        "The dog did not cross the street because it was quiet.": (
            "O cachorro não atravessou a rua porque ela era tranquila."
        ),
    },
    "Ana lost the key because it was old.",
    "the pronoun has the gender of the key",
)
RUSSIAN_PRONOUNS = Shown(
    {
        "Ana lost the key because it was old.": "Анна потеряла ключ, потому что он был старым.",
        "Ana lost the book because it was old.": "Анна потеряла книгу, потому что она была старой.",
        "The dog did not cross the street because it was tired.": (
            "Собака не пересекла улицу, потому что она была уставшей."
        ),
        "The dog did not cross the park because it was quiet.": "Собака не пересекла парк, потому что он был тихим.",
    },
    "Ana lost the key because it was old.",
    "the pronoun has the gender of the key",
)
SHOWN = {
    "demo": PORTUGUESE,
    "demo-ru": RUSSIAN,
    "demo-pronouns": PORTUGUESE_PRONOUNS,
    "demo-pronouns-ru": RUSSIAN_PRONOUNS,
}
HARDER_STEPS = 2000  # Russian inflects more and varies its order, and a pronoun must find its antecedent
TRY = {  # a text to translate, a text to look at, and the name of its picture
    False: ("We read the old books.", "The black cats sleep in the kitchen.", "cats"),
    True: ("Ana finds the key and Pedro loses it.", "Ana bought the chair because it was comfortable.", "chair"),
}


def command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the model and its pictures.")] = Path("runs/demo"),
    languages: Annotated[str, typer.Option(help="Source and target language: en-pt or en-ru.")] = "en-pt",
    pronouns: Annotated[
        bool, typer.Option("--pronouns", help="Learn sentences with a pronoun and its antecedent instead.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted demo in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo in --out.")] = False,
    write_corpus: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Only write the corpus and its true links into this folder; do not train."),
    ] = None,
) -> None:
    """Train a small English-Portuguese or English-Russian translator, score it, use it and draw its attention."""
    from regard.data.demo.corpus import LANGUAGES, NOTICE, corpus_name

    corpus = corpus_name(languages, pronouns)
    remark(NOTICE.format(language=LANGUAGES[languages]))
    if write_corpus is not None:
        _write_corpus(write_corpus, corpus, languages, overwrite)
        return
    from regard.commands.train import say_result
    from regard.runs.request import TrainingRequest
    from regard.runs.start import console_audience, start_training

    settings = [f"seed={seed}"] if seed is not None else []
    if corpus != "demo":
        settings += [f"data.{split}={corpus}:{split}" for split in ("train", "valid", "test")]
        settings += [f"data.target_language={languages.partition('-')[2]}"]
        settings += [f"training.steps={HARDER_STEPS}"]
    request = TrainingRequest("demo", settings, out=out, resume=resume, overwrite=overwrite)
    run = start_training(request, console_audience())
    if run.interrupted:
        raise typer.Exit(130)
    if not run.was_finished:
        say_result(out)
    _score(out)
    _show(out, SHOWN[corpus])
    tool = "regard" if shutil.which("regard") else _how_called()
    text, example, picture = TRY[pronouns]
    print("\nTry next:")
    print(f"  echo '{text}' | {tool} translate {out}")
    print(f"  {tool} look {out} --text '{example}' -o {picture}.png")
    print(f"  {tool} evaluate {out} --metric aer     # how well its attention aligns words, against the true links")
    print(f"  {tool} serve {out}     # a page where translations appear as you type")
    print(f"  {tool} train --source mine.en --target mine.{languages.partition('-')[2]} --out runs/mine")


def _write_corpus(folder: Path, corpus: str, languages: str, overwrite: bool) -> None:
    from regard.data.demo.files import write_corpus

    for file in write_corpus(folder, corpus, languages.split("-"), overwrite):
        print(file)


def _how_called() -> str:
    """Return how to call this program if `regard` is not on the path: by its file, or as a Python module."""
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
    print("\nOn 1,000 sentences whose word combinations were held out of training:")
    for score in scores:
        print(f"  {score.metric} {score.shown}  ({score.signature})")


def _show(folder: Path, shown: Shown) -> None:
    from regard.seeing.looking import sight_page
    from regard.seeing.sentences import see
    from regard.verbs.translate.model import load_translation_model
    from regard.verbs.translate.plan import whole_texts
    from regard.verbs.translate.run import runner
    from regard.viewing.matrix import draw_matrix, draw_sheet, matrix_lines
    from regard.viewing.page import Start

    model = load_translation_model(folder)
    translations = runner(model, model.plan())(whole_texts(list(shown.sentences)))
    print()
    for (source, expected), translation in zip(shown.sentences.items(), translations, strict=True):
        note = "" if translation.text == expected else f"  (the grammar says: {expected})"
        print(f"  {source}  →  {translation.text}{note}")
    sight = see(model, shown.crossing)
    seen = sight.seen()
    pictures = folder / "pictures"
    pictures.mkdir(exist_ok=True)
    draw_matrix(seen.one(), pictures / "crossing.png")
    draw_sheet(seen.every(), pictures / "heads.png", across=seen.heads)
    sight_page(model, sight, Start()).write(pictures / "page.html")
    print(f"\nWhere it looked as it wrote each word; {shown.remark}:\n")
    print("\n".join(matrix_lines(seen.one(), terminal_width(), wants_colour(sys.stdout))))
    print(f"\nThe pictures are {pictures / 'crossing.png'} and {pictures / 'heads.png'}, the model is {folder}.")
    print(f"Open {pictures / 'page.html'} in a browser to choose blocks and heads, and to point at words.")
