"""What `regard show convolution` says in the terminal."""

from regard.console import say_table
from regard.viewing.head_places import ConvolutionLesson


def say_convolution(lesson: ConvolutionLesson) -> None:
    """Where each head looks and how wide, then by sharpness how far the heads are from the convolution."""
    for heads in lesson.heads:
        print(heads.title)
        rows = [
            [str(number), f"{down:+.2f}", f"{across:+.2f}", f"{spread:.2f}"]
            for number, ((down, across), spread) in enumerate(zip(heads.centres, heads.spreads, strict=True), 1)
        ]
        say_table(["head", "down", "across", "spread"], rows)
        print()
    say_table(["sharpness", "largest difference"], [[f"{each:g}", f"{most:.1e}"] for each, most in lesson.differences])
