"""`regard show`: views that teach, of cells and positions in general and of one trained model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli.console import refuse_existing, remark, say_table, terminal_width, wants_colour
from regard.faults import Fault
from regard.files import write_file

if TYPE_CHECKING:
    from regard.viewing.lessons import Lesson, Panel

app = typer.Typer(add_completion=False, help="Show what is worth seeing once: gradients, gates, positions, losses.")

SUFFIXES = (".png", ".svg", ".json")
CELLS = ("vanilla", "lstm", "gru")
_TOLD = (0, 1, 2, 5, 10, 20, 50, 100, 200)  # steps of a line that are told in the terminal, and the last

_Model = Annotated[Path, typer.Argument(help="A model folder.")]
_Text = Annotated[str, typer.Option(help="A sentence for the model to read.")]
_Out = Annotated[Path | None, typer.Option("-o", "--out", help="A .png, .svg or .json file; without it, the terminal.")]
_Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")]
_Layer = Annotated[int | None, typer.Option(min=1, help="The recurrent layer, counted from 1; by default the first.")]
_Tokens = Annotated[bool, typer.Option("--tokens", help="Tokens in place of whole words.")]


@app.command("gradients")
def gradients(
    context: typer.Context,
    out: _Out = None,
    cells: Annotated[str, typer.Option(help="Which of vanilla, lstm and gru, with commas between.")] = ",".join(CELLS),
    length: Annotated[int, typer.Option(min=2, max=200, help="Steps of the sequence.")] = 50,
    width: Annotated[int, typer.Option(min=2, max=128, help="Units of the cells.")] = 32,
    gain: Annotated[float, typer.Option(min=0.05, max=10, help="What U of all cells is multiplied by.")] = 1.0,
    orthogonal: Annotated[bool, typer.Option(help="Orthogonal U in all cells; without it, drawn evenly.")] = False,
    keep: Annotated[float, typer.Option(help="Bias of the gates that keep: forget of an LSTM, update of a GRU.")] = 1.0,
    input_scale: Annotated[float, typer.Option(min=0, help="Standard deviation of the drawn inputs.")] = 1.0,
    gains: Annotated[str, typer.Option(help="Gains of the orthogonal vanilla cells, with commas.")] = "0.5,1,1.5,3",
    clip: Annotated[float, typer.Option(min=0.0001, help="Largest norm of the clipped gradient.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="The seed of weights and inputs.")] = 1,
    model: Annotated[Path | None, typer.Option(help="A trained seq2seq to look at instead.")] = None,
    text: Annotated[str | None, typer.Option(help="The sentence that it reads.")] = None,
    overwrite: _Overwrite = False,
) -> None:
    """Draw how gradients vanish and explode.

    The norm of dh(T)/dh(T-d) by distance d for vanilla, LSTM and GRU cells beside the bound of the vanilla one, for
    orthogonal U of several gains, and the whole gradient with and without clipping. The weights are drawn from the
    seed; with --model they are those of a trained encoder, over the tokens of --text.
    """
    _check_out(out, overwrite)
    if (model is None) != (text is None):
        raise Fault("--model and --text belong together; give both or neither.")
    from regard.lessons.gradients import Experiment, gradients_lesson, trained_lesson

    if model is not None and text is not None:
        _refuse_drawing(context)
        from regard.model import load

        _show_lesson(trained_lesson(load(model), text), out)
        return
    experiment = Experiment(length, width, seed, gain, orthogonal, keep, input_scale)
    _show_lesson(gradients_lesson(_cells(cells), _gains(gains), clip, experiment), out)


def _refuse_drawing(context: typer.Context) -> None:
    """With a trained model nothing is drawn, so whoever says how to draw it is mistaken."""
    free = {"model", "text", "out", "overwrite"}
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in free and source is not None and source.name == "COMMANDLINE":
            raise Fault(f"--{name.replace('_', '-')} says how weights are drawn; leave it away with --model.")


def _cells(names: str) -> list[str]:
    chosen = [name.strip() for name in names.split(",")]
    for name in chosen:
        if name not in CELLS:
            raise Fault(f"--cells names {name!r}, expected some of {', '.join(CELLS)} with commas between.")
    return list(dict.fromkeys(chosen))


def _gains(numbers: str) -> list[float]:
    try:
        gains = [float(number) for number in numbers.split(",")]
    except ValueError:
        gains = []
    if not gains or len(gains) > 6 or not all(0.05 <= gain <= 10 for gain in gains):
        raise Fault(f"--gains is {numbers!r}, expected at most six numbers from 0.05 to 10 with commas between.")
    return list(dict.fromkeys(gains))


def _show_lesson(lesson: "Lesson", out: Path | None) -> None:
    from regard.viewing.lessons import draw_lesson, lesson_to_json

    if out is None:
        for panel in lesson.panels:
            _say_panel(panel)
    elif out.suffix == ".json":
        _write_json(lesson_to_json(lesson), out)
    else:
        _tell_missing(draw_lesson(lesson, out))


def _say_panel(panel: "Panel") -> None:
    """The named lines of a panel as columns, at some of their steps, and then what one sees in them."""
    import textwrap

    from regard.lessons.gradients import in_tens

    named = [line for line in panel.lines if line.name]
    last = int(named[0].points[-1][0])
    values: dict[int, list[str]] = {int(step): [] for step, _ in named[0].points if step in (*_TOLD, last)}
    for line in named:
        for step, value in line.points:
            if step in values:
                values[int(step)].append(in_tens(value))
    print(panel.title)
    say_table([panel.along, *(line.name for line in named)], [[str(step), *told] for step, told in values.items()])
    print(textwrap.fill(panel.caption, terminal_width()), end="\n\n")


@app.command("positions")
def positions(
    out: Annotated[Path, typer.Option("-o", "--out", help="A .png, .svg or .json file.")],
    kind: Annotated[
        Literal["all", "sinusoidal", "rotary", "alibi"], typer.Option(help="Which encoding, or all of them.")
    ] = "all",
    length: Annotated[int, typer.Option(min=2, max=1024, help="Places.")] = 64,
    width: Annotated[int, typer.Option(min=2, max=1024, help="Coordinates of each place, an even number.")] = 64,
    heads: Annotated[int, typer.Option(min=1, max=64, help="Heads, which ALiBi gives a slope each.")] = 4,
    overwrite: _Overwrite = False,
) -> None:
    """Draw how a token can know its place."""
    _check_out(out, overwrite)
    if width % 2:
        raise Fault(f"--width is {width}, but coordinates come in pairs; give an even number.")
    from regard.lessons.positions import encodings
    from regard.viewing.positions import draw_positions

    found = encodings(None if kind == "all" else kind, length, width, heads)
    if out.suffix == ".json":
        _write_json({name: table.tolist() for name, table in found.items()}, out)
    else:
        _tell_missing(draw_positions(found, out))


@app.command("gates")
def gates(
    model: _Model,
    text: _Text,
    out: _Out = None,
    layer: _Layer = None,
    direction: Annotated[
        Literal["forward", "backward"], typer.Option(help="From the first token on, or from the last back.")
    ] = "forward",
    tokens: _Tokens = False,
    overwrite: _Overwrite = False,
) -> None:
    """Draw the gates of an encoder, word by word.

    Of an LSTM the forget, input and output gates and the memory cell, of a GRU the update and reset gates and the
    state: the mean over the units, and each unit.
    """
    _check_out(out, overwrite)
    from regard.lessons.gates import gates_of
    from regard.model import load
    from regard.viewing.gates import draw_gates, gates_to_json

    found = gates_of(load(model), text, layer, direction == "backward", by_word=not tokens)
    if out is None:
        means = found.means
        rows = zip(found.words, *([f"{value:.2f}" for value in mean] for mean in means.values()), strict=True)
        say_table(["token" if tokens else "word", *means], list(rows))
    elif out.suffix == ".json":
        _write_json(gates_to_json(found), out)
    else:
        _tell_missing(draw_gates(found, out))


@app.command("implied")
def implied(
    model: _Model,
    text: _Text,
    target: Annotated[str | None, typer.Option(help="The output to look at; without it, the model's own.")] = None,
    out: _Out = None,
    layer: _Layer = None,
    tokens: _Tokens = False,
    overwrite: _Overwrite = False,
) -> None:
    """Draw the attention that a GRU implies.

    A state of a GRU is a weighted sum of all candidates before it, the weights being products of its gates. Each unit
    has weights of its own; what is drawn is their mean, beside the attention that the model learnt, if it has one.
    """
    _check_out(out, overwrite)
    import sys

    from regard.lessons.implied import CAPTION, implied_matrices
    from regard.model import load
    from regard.viewing.beside import draw_beside
    from regard.viewing.matrix import to_json
    from regard.viewing.terminal import matrix_lines

    matrices = implied_matrices(load(model), text, target, layer, by_word=not tokens)
    if out is None:
        for matrix in matrices:
            print("\n".join(matrix_lines(matrix, terminal_width(), wants_colour(sys.stdout))))
    elif out.suffix == ".json":
        _write_json(to_json(matrices), out)
    else:
        _tell_missing(draw_beside(matrices, out, CAPTION))


@app.command("loss")
def loss(
    model: _Model,
    text: _Text,
    target: Annotated[str, typer.Option(help="Its translation, whose tokens are judged.")],
    out: _Out = None,
    others: Annotated[int, typer.Option(min=0, max=20, help="How many other tokens stand beside each.")] = 3,
    overwrite: _Overwrite = False,
) -> None:
    """Show the loss of a sentence, token by token.

    Every token is judged with the true ones before it in view, as in training, and beside it stand the tokens that the
    model thought likeliest instead. The loss is -log p in nats, without the smoothing that training may add.
    """
    _check_out(out, overwrite)
    from regard.lessons.losses import sentence_loss
    from regard.model import load
    from regard.viewing.losses import draw_losses, losses_to_json, others_in_words

    found = sentence_loss(load(model), text, target, others)
    if out is None:
        rows = [
            [each.token, f"{each.loss:.2f}", f"{each.probability:.2f}", str(each.rank), others_in_words(each)]
            for each in found.tokens
        ]
        say_table(["token", "loss", "p", "rank", "the likeliest others"], rows)
        print(found.summary)
    elif out.suffix == ".json":
        _write_json(losses_to_json(found), out)
    else:
        _tell_missing(draw_losses(found, out))


def _check_out(out: Path | None, overwrite: bool) -> None:
    if out is not None:
        refuse_existing(out, overwrite)
        if out.suffix not in SUFFIXES:
            raise Fault(f"{out} is neither .png, .svg nor .json; the suffix says what to draw.")


def _write_json(value: dict[str, Any], out: Path) -> None:
    import json

    write_file(out, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())


def _tell_missing(characters: set[str]) -> None:
    if characters:
        remark(f"No font here can draw {' '.join(sorted(characters))}; an .svg leaves that to its reader.")
