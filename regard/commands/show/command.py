"""`regard show`: lessons about cells and positions in general, and about one trained model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.commands.show import measured, transformer
from regard.commands.show.attention import attention, forward
from regard.commands.show.tables import lesson_view
from regard.commands.show.view import (
    AsJson,
    AsTokens,
    LessonFile,
    ModelFolder,
    OutFile,
    Overwrite,
    RecurrentLayer,
    Sentence,
    View,
    check_out,
    refuse_given,
    show_view,
)
from regard.console import (
    console_progress,
    refuse_existing,
    remark,
    remark_written,
    say_table,
    terminal_width,
    wants_colour,
)

if TYPE_CHECKING:
    from regard.viewing.head_places import ConvolutionLesson
    from regard.viewing.lessons import Lesson
    from regard.viewing.losses import SentenceLoss
    from regard.viewing.matrix import Matrix

app = typer.Typer(add_completion=False, help="Draw lessons: attention, costs, decoding, gradients, gates and others.")
app.command("attention")(attention)
app.command("forward")(forward)
app.command("embedding")(transformer.embedding)
app.command("feed-forward")(transformer.feed_forward)
app.command("permutation")(transformer.permutation)
app.command("positions")(transformer.positions)
app.command("cost")(measured.cost)
app.command("jacobians")(measured.jacobians)
app.command("decoding")(measured.decoding)

CELLS = ("vanilla", "lstm", "gru")
FURTHER = ("logistic", "gru-reset-first", "clockwork", "delays")  # cells drawn only on request


@app.command("gradients")
def gradients(
    context: typer.Context,
    out: LessonFile = None,
    cells: Annotated[
        str, typer.Option(help=f"Which of {', '.join((*CELLS, *FURTHER[:-1]))} and {FURTHER[-1]}, separated by commas.")
    ] = ",".join(CELLS),
    length: Annotated[int, typer.Option(min=2, max=200, help="Length of the sequence.")] = 50,
    width: Annotated[int, typer.Option(min=2, max=128, help="Hidden size of the cells or layers.")] = 32,
    gain: Annotated[float, typer.Option(min=0.05, max=10, help="Factor for U in all cells.")] = 1.0,
    orthogonal: Annotated[
        bool, typer.Option(help="Make U orthogonal in all cells; otherwise it is drawn uniformly.")
    ] = False,
    keep: Annotated[
        float,
        typer.Option(min=-100, max=100, help="Bias of the LSTM's forget gate and the GRU's update gate."),
    ] = 1.0,
    input_scale: Annotated[float, typer.Option(min=0, max=1000, help="Standard deviation of the random inputs.")] = 1.0,
    gains: Annotated[
        str, typer.Option(help="Gains of the orthogonal vanilla cells, separated by commas.")
    ] = "0.5,1,1.5,3",
    clip: Annotated[float, typer.Option(min=0.0001, max=1e6, help="Norm at which gradients are clipped.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights and inputs.")] = 1,
    depth: Annotated[
        bool, typer.Option("--depth", help="Go down a deep stack, with and without residuals and norms, instead.")
    ] = False,
    layers: Annotated[int, typer.Option(min=1, max=200, help="Layers of the deep stack.")] = 24,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            help="A trained seq2seq model to use instead, or one or more models of the task sequences; with --depth, a "
            "Transformer or a GPT."
        ),
    ] = None,
    text: Annotated[str | None, typer.Option(help="The sentence for the model.")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw how gradients vanish and explode.

    Shows the norm of dh(T)/dh(T-d) by distance d for vanilla, LSTM and GRU cells with the bound of the vanilla cell,
    for orthogonal U of several gains, and the whole gradient with and without clipping. Weights are random by --seed;
    with --model they are those of a trained encoder, over the tokens of --text. For models of long sequences it is the
    gradient of the last loss with respect to the input d steps before. With --depth it is the norm by layer of a deep
    stack, plain, with norms, with residual connections and with both, or by block of a Transformer or GPT.
    """
    check_out(out, overwrite, has_page=True)
    if model or text is not None:
        refuse_given(context, {"depth", "model", "text"}, "is for random weights; omit it with --model.")
        show_view(lesson_view(_trained_lesson(model or [], text, depth)), out, as_json)
    elif depth:
        from regard.seeing.lessons.depth import DeepStack, depth_lesson

        refuse_given(context, {"depth", "layers", "width", "seed"}, "is for recurrent cells; omit it with --depth.")
        show_view(lesson_view(depth_lesson(DeepStack(layers, width, seed))), out, as_json)
    else:
        from regard.seeing.lessons.gradients import Experiment, gradients_lesson

        refuse_given(context, set(context.params) - {"layers"}, "is for a deep stack; give --depth too.")
        experiment = Experiment(length, width, seed, gain, orthogonal, keep, input_scale)
        show_view(lesson_view(gradients_lesson(_cells(cells), _gains(gains), clip, experiment)), out, as_json)


def _trained_lesson(models: list[Path], text: str | None, depth: bool) -> "Lesson":
    """Return the gradients of a trained model over a text, or of sequence models over their own examples."""
    if depth:
        if len(models) != 1 or text is None:
            raise Fault("--depth of a trained model needs one --model and a --text for it to read.")
        from regard.model import load
        from regard.seeing.lessons.depth import trained_depth_lesson

        return trained_depth_lesson(load(models[0]), text)
    if text is not None:
        if len(models) != 1:
            raise Fault("--text needs one --model, the seq2seq that reads the text.")
        from regard.seeing.lessons.gradients import trained_lesson
        from regard.verbs.translate.model import load_translation_model

        return trained_lesson(load_translation_model(models[0]), text)
    from regard.model import load
    from regard.seeing.lessons.distances import distances_lesson

    return distances_lesson([load(place, device="cpu") for place in models])


def _cells(names: str) -> list[str]:
    chosen = [name.strip() for name in names.split(",")]
    for name in chosen:
        if name not in (*CELLS, *FURTHER):
            names_known = ", ".join((*CELLS, *FURTHER))
            raise Fault(f"--cells names {name!r}, expected some of {names_known}, separated by commas.")
    return list(dict.fromkeys(chosen))


def _gains(numbers: str) -> list[float]:
    try:
        gains = [float(number) for number in numbers.split(",")]
    except ValueError:
        gains = []
    if not gains or len(gains) > 6 or not all(0.05 <= gain <= 10 for gain in gains):
        raise Fault(f"--gains is {numbers!r}, expected at most six numbers from 0.05 to 10, separated by commas.")
    return list(dict.fromkeys(gains))


@app.command("gates")
def gates(
    model: ModelFolder,
    text: Sentence,
    out: OutFile = None,
    layer: RecurrentLayer = None,
    direction: Annotated[
        Literal["forward", "backward"], typer.Option(help="Reading direction of the layer.")
    ] = "forward",
    tokens: AsTokens = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw the gates of recurrent layers, word by word.

    For an LSTM: forget, input and output gates and the memory cell. For a GRU: update and reset gates and the state.
    Shows the mean over the units, and each unit. For a text classifier, also the answer it would give if the text ended
    at each word.
    """
    check_out(out, overwrite)
    from regard.model import load
    from regard.seeing.lessons.gates import gates_of
    from regard.viewing.gates import draw_gates, gates_table, gates_to_json

    gates_by_word = gates_of(load(model), text, layer, direction == "backward", by_word=not tokens)
    table = gates_table(gates_by_word, "token" if tokens else "word")
    view = View(
        lambda: gates_to_json(gates_by_word), lambda path: draw_gates(gates_by_word, path), lambda: say_table(*table)
    )
    show_view(view, out, as_json)


@app.command("implied")
def implied(
    model: ModelFolder,
    text: Sentence,
    target: Annotated[str | None, typer.Option(help="The output to look at; by default the model's own.")] = None,
    out: OutFile = None,
    layer: RecurrentLayer = None,
    tokens: AsTokens = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw the attention that a GRU implies.

    A GRU's state is a weighted sum of all earlier candidates; the weights are products of its gates. Each unit has its
    own weights; the picture shows their mean, next to the attention that the model learnt, if it has any.
    """
    check_out(out, overwrite)
    from regard.seeing.lessons.implied import CAPTION, implied_matrices
    from regard.verbs.translate.model import load_translation_model
    from regard.viewing.beside import draw_beside
    from regard.viewing.matrix import to_json

    matrices = implied_matrices(load_translation_model(model), text, target, layer, by_word=not tokens)
    view = View(
        lambda: to_json(matrices), lambda path: draw_beside(matrices, path, CAPTION), lambda: _say_matrices(matrices)
    )
    show_view(view, out, as_json)


def _say_matrices(matrices: "list[Matrix]") -> None:
    import sys

    from regard.viewing.matrix import matrix_lines

    for matrix in matrices:
        print("\n".join(matrix_lines(matrix, terminal_width(), wants_colour(sys.stdout))))


@app.command("loss")
def loss(
    model: ModelFolder,
    text: Sentence,
    target: Annotated[str, typer.Option(help="Its translation, whose tokens are scored.")],
    out: OutFile = None,
    others: Annotated[int, typer.Option(min=0, max=20, help="Number of likelier tokens to show next to each.")] = 3,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show the loss of a sentence, token by token.

    Each token is scored given the true tokens before it, as in training, and shown with the tokens that the model found
    most likely instead. The loss is -log p in nats, without label smoothing.
    """
    check_out(out, overwrite)
    from regard.seeing.lessons.losses import sentence_loss
    from regard.verbs.translate.model import load_translation_model
    from regard.viewing.losses import draw_losses, losses_to_json

    losses = sentence_loss(load_translation_model(model), text, target, others)
    view = View(lambda: losses_to_json(losses), lambda path: draw_losses(losses, path), lambda: _say_losses(losses))
    show_view(view, out, as_json)


def _say_losses(losses: "SentenceLoss") -> None:
    from regard.viewing.canvas import show_word
    from regard.viewing.losses import others_in_words

    rows = [
        [
            show_word(token.token),
            f"{token.loss:.2f}",
            token.probability_in_words,
            str(token.rank),
            others_in_words(token),
        ]
        for token in losses.tokens
    ]
    say_table(["token", "loss", "p", "rank", "most likely others"], rows)
    print(losses.summary)


@app.command("convolution")
def convolution(
    out: OutFile = None,
    kernel: Annotated[int, typer.Option(min=1, max=9, help="Size of the filters; odd.")] = 3,
    model: Annotated[
        Path | None, typer.Option(help="A model whose heads attend by position alone, to draw next to them.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the filters and the picture.")] = 1,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw how attention heads can form a convolution.

    Self-attention whose heads attend by position alone, each at its own offset, is a convolution once the heads are
    sharp enough: one head for each cell of the filter. With --model, the heads that it learnt are drawn too, by block.
    """
    check_out(out, overwrite)
    if kernel % 2 == 0:
        raise Fault(f"--kernel is {kernel}, but a filter needs a centre; give an odd number.")
    from regard.model import load
    from regard.seeing.lessons.convolution import convolution_lesson
    from regard.viewing.head_places import draw_head_places, lesson_to_json

    lesson = convolution_lesson(kernel, seed, None if model is None else load(model, device="cpu"))
    view = View(
        lambda: lesson_to_json(lesson), lambda path: draw_head_places(lesson, path), lambda: _say_convolution(lesson)
    )
    show_view(view, out, as_json)


def _say_convolution(lesson: "ConvolutionLesson") -> None:
    """Print where each head looks and how widely, then how far the heads are from the convolution by sharpness."""
    for heads in lesson.heads:
        print(heads.title)
        rows = [
            [str(number), f"{down:+.2f}", f"{across:+.2f}", f"{spread:.2f}"]
            for number, ((down, across), spread) in enumerate(zip(heads.centres, heads.spreads, strict=True), 1)
        ]
        say_table(["head", "down", "across", "spread"], rows)
        print()
    say_table(
        ["sharpness", "largest difference"],
        [[f"{sharpness:g}", f"{difference:.1e}"] for sharpness, difference in lesson.differences],
    )


@app.command("gallery")
def gallery(
    model: ModelFolder,
    out: Annotated[Path, typer.Option("-o", "--out", help="An .html file, which will contain the pictures.")],
    split: Annotated[Literal["test", "valid"], typer.Option(help="Split of the recipe's data.")] = "test",
    count: Annotated[int, typer.Option(min=1, max=200, help="Number of best and of worst captions.")] = 12,
    overwrite: Overwrite = False,
) -> None:
    """Write a page of the captions with the highest and lowest CIDEr, with their pictures and attention.

    The page contains the pictures; check their licence before you share it.
    """
    from regard.commands.show.gallery import caption_gallery
    from regard.families.abilities import needs_kind
    from regard.model import load
    from regard.viewing.gallery import gallery_page

    if out.suffix.lower() != ".html":
        raise Fault(f"A gallery is an HTML page, and {out} does not end in .html.")
    refuse_existing(out, overwrite)
    loaded = load(model)
    needs_kind(loaded.recipe, "caption", "A gallery is for models that caption pictures or videos")
    with console_progress() as progress:
        captions = caption_gallery(loaded, model, split, count, progress, remark)
    gallery_page(captions).write(out)
    remark_written(out)
