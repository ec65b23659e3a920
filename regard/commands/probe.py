"""`regard probe`: what the states of each layer know about words, compared with a control task."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.commands.show.view import View, check_out, show_view
from regard.console import console_progress, remark, say_table
from regard.data.word_labels import GENDER, KINDS, LINKS, NUMBER, POSITION, TAGS

if TYPE_CHECKING:
    from regard.base.progress import Progress
    from regard.data.word_labels import LabelledSentence
    from regard.loading import Loaded
    from regard.seeing.probes.word_states import WordStates
    from regard.viewing.probes import Probes

SENTENCES, SEEDS = 1500, 3
_OF_GRAMMAR = (NUMBER, GENDER, LINKS)  # a tagged file has none of these
Side = Literal["encoder", "decoder"]


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    what: Annotated[
        str | None, typer.Option(help=f"Labels to probe for, with commas: {', '.join(KINDS)}. By default all.")
    ] = None,
    layers: Annotated[
        str | None, typer.Option(help="Layers, with commas, as in 0,2; 0 is the embeddings. By default all.")
    ] = None,
    side: Annotated[Side, typer.Option(help="For translators: the states to probe.")] = "encoder",
    tagged: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Tagged sentences: CoNLL-U, columns, or word_TAG with a sentence a line."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="With --tagged: columns of word and tag, by number or name, as in form:upos.")
    ] = None,
    language: Annotated[
        Literal["en", "pt", "ru"] | None,
        typer.Option(help="Language of the generated sentences; by default the model's."),
    ] = None,
    sentences: Annotated[int, typer.Option(min=20, max=20_000, help="Most sentences to use.")] = SENTENCES,
    seeds: Annotated[int, typer.Option(min=1, max=20, help="Number of probes with different seeds.")] = SEEDS,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A .png, .svg, .html or .json file; otherwise print a table.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Probe what each layer of a model knows about words: tag, number, gender, position, and links to other words.

    Linear classifiers learn it from the frozen states of some sentences and are tested on others. Sentences come from
    the demo's grammar, which knows all of this, or from a tagged file.
    """
    check_out(out, overwrite, has_page=True)
    whats, numbers = _whats(what, tagged), _layers(layers)
    _check_options(tagged, columns, language, side)
    from regard.loading import load_able
    from regard.seeing.probes.probing import probe_layers
    from regard.viewing.probes import Probes

    loaded = load_able(model, "embed")
    with console_progress() as progress:
        if tagged is not None:
            states = _tagged_states(loaded, tagged, columns, sentences, numbers, progress)
        else:
            states = _generated_states(loaded, language, side, sentences, numbers, progress)
        scores = probe_layers(states, whats, seeds, progress, remark)
    words = sum(len(sentence.words) for sentence in states.sentences)
    _show(Probes(model.resolve().name, side, len(states.sentences), words, seeds, scores), out, as_json)


def _whats(what: str | None, tagged: str | None) -> list[str]:
    """Return the labels to probe for; refuse unknown ones, and those that a tagged file lacks."""
    if what is None:
        return [TAGS, POSITION] if tagged else list(KINDS)
    names = list(dict.fromkeys(filter(None, (name.strip() for name in what.split(",")))))
    if not names or (unknown := [name for name in names if name not in KINDS]):
        about = f"there is no '{unknown[0]}'" if names else "it is empty"
        raise Fault(f"--what takes some of {', '.join(KINDS)}; {about}.")
    if tagged and (missing := [name for name in names if name in _OF_GRAMMAR]):
        raise Fault(f"--what {missing[0]} needs generated sentences; a tagged file has tags and positions alone.")
    return names


def _layers(layers: str | None) -> list[int] | None:
    if layers is None:
        return None
    parts = [part.strip() for part in layers.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):
        raise Fault(f"--layers is '{layers}', expected numbers with commas, such as 0,2.")
    return list(dict.fromkeys(int(part) for part in parts))


def _check_options(tagged: str | None, columns: str | None, language: str | None, side: Side) -> None:
    if columns is not None and tagged is None:
        raise Fault("--columns needs --tagged, the file that has them.")
    if tagged is not None and language is not None:
        raise Fault("--language chooses generated sentences; omit it with --tagged.")
    if tagged is not None and side == "decoder":
        raise Fault("A tagged file has no translations for a decoder to write; omit --tagged or --side decoder.")


def _tagged_states(
    model: "Loaded", file: str, columns: str | None, count: int, layers: list[int] | None, progress: "Progress"
) -> "WordStates":
    from regard.data.word_labels import read_tagged
    from regard.seeing.probes.word_states import encoder_states

    return encoder_states(model.task, read_tagged(file, count, columns), layers, progress)


def _generated_states(
    model: "Loaded",
    language: str | None,
    side: Side,
    count: int,
    layers: list[int] | None,
    progress: "Progress",
) -> "WordStates":
    """Return the states of generated sentences that no model has learnt from."""
    from regard.seeing.probes.generated import corpus_for, unlearnt_pairs
    from regard.seeing.probes.translators import decoder_states, refuse_decoderless
    from regard.seeing.probes.word_states import encoder_states

    if side == "decoder":
        refuse_decoderless(model.task)
    corpus, is_turned = corpus_for(model, language, side)
    progress("generating", 0, count)
    pairs = unlearnt_pairs(corpus, count)
    progress("generating", len(pairs), len(pairs))
    if side == "decoder":
        return decoder_states(model.task, [pair[::-1] if is_turned else pair for pair in pairs], layers, progress)
    return encoder_states(model.task, [_side_of(pair, is_turned) for pair in pairs], layers, progress)


def _side_of(pair: "Sequence[LabelledSentence]", is_turned: bool) -> "LabelledSentence":
    return pair[1] if is_turned else pair[0]


def _show(probes: "Probes", out: Path | None, as_json: bool) -> None:
    from regard.viewing.probes import COLUMNS, draw_probes, probes_page, probes_rows, probes_to_json

    def say() -> None:
        say_table(COLUMNS, probes_rows(probes))
        remark(
            f"Measured on {probes.sentences:,} sentences with {probes.words:,} words, three quarters of them to learn "
            f"from; mean ± deviation over {quantity(probes.seeds, 'seed')}. Selectivity is accuracy less that on "
            "random labels (control)."
        )

    view = View(
        lambda: probes_to_json(probes), lambda path: draw_probes(probes, path), say, lambda: probes_page(probes)
    )
    show_view(view, out, as_json)
