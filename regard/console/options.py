"""Options that several commands share: what follows MODEL, and how outputs are chosen, one after the other."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT", help="Texts, or files of text (plain, .gz, .xz, .zst) with one a line; - is standard input."
    ),
]
OneInput = Annotated[
    list[str] | None,
    typer.Argument(metavar="INPUT", help="A text, or a file of text that holds one; - is standard input."),
]
Texts = Annotated[
    list[str] | None, typer.Option("--text", metavar="TEXT", help="A text to read, never a file's name; repeatable.")
]
NoTexts = Annotated[list[str] | None, typer.Option("--text", hidden=True)]  # so that a refusal says what is read

Beam = Annotated[int | None, typer.Option(help="Width of the beam; 1 is greedy.", min=1, max=64)]
LengthPenalty = Annotated[float | None, typer.Option(help="Alpha of the length penalty.", min=0)]
NBest = Annotated[
    int | None,
    typer.Option(help="Candidates for each line, best first; samples in the order drawn.", min=1, max=10_000),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Any other option of the search: groups=2, stop=exhaustive, sampling.min_p=0.05.",
        metavar="NAME=VALUE",
    ),
]

Sample = Annotated[bool, typer.Option("--sample", help="Draw outputs at random, --n-best of them.")]
Temperature = Annotated[
    float | None, typer.Option(help="Below 1 is more cautious, above 1 bolder, 0 is greedy search.", min=0, max=100)
]
TopK = Annotated[int | None, typer.Option(help="Draw among the K most probable tokens.", min=0)]
TopP = Annotated[
    float | None, typer.Option(help="Draw among the fewest tokens whose probability reaches P.", min=0, max=1)
]
Seed = Annotated[int | None, typer.Option(help="The same seed draws the same outputs.", min=0)]
Risk = Annotated[
    str | None, typer.Option("--mbr", help="Choose among samples by minimum Bayes risk.", metavar="METRIC")
]
Samples = Annotated[int | None, typer.Option(help="Samples that --mbr chooses among (32).", min=2)]

Prefixes = Annotated[
    Path | None, typer.Option("--prefixes", help="A file with what each output begins with, line by line.")
]
Required = Annotated[Path | None, typer.Option(help="A file with phrases for each output, parted by tabs.")]
Forced = Annotated[
    Path | None, typer.Option("--force", help="Translate nothing: score the outputs in this file, line by line.")
]
Forbid = Annotated[list[str] | None, typer.Option("--forbid", help="No output may have it.", metavar="PHRASE")]
Vocabulary = Annotated[Path | None, typer.Option(help="Write with the tokens of this text alone.")]

Ensemble = Annotated[
    list[Path] | None, typer.Option("--with", help="Write by the mean of this model too.", metavar="MODEL")
]
Channel = Annotated[Path | None, typer.Option(help="A model of the other direction, which reranks the beam.")]
ChannelWeight = Annotated[float | None, typer.Option(help="How much the channel model counts (1).", min=0, max=1e6)]

Prior = Annotated[
    Path | None, typer.Option(help="With --channel: a language model of the outputs, which reranks too.", metavar="LM")
]
PriorWeight = Annotated[float | None, typer.Option(help="How much that language model counts (0.2).", min=0, max=1e6)]
Fuse = Annotated[
    Path | None,
    typer.Option(help="A language model of the same tokens, which has its say at each step.", metavar="LM"),
]
FuseWeight = Annotated[
    float | None, typer.Option(help="How much the language model counts (0.1); 0 is not at all.", min=0, max=1e6)
]

SplitSentences = Annotated[bool, typer.Option("--split-sentences", help="Translate each sentence of a line alone.")]
TooLong = Annotated[
    Literal["refuse", "split", "truncate"],
    typer.Option(help="What to do with sentences longer than the model takes; truncate reads their beginning."),
]
ReplaceUnknown = Annotated[
    bool, typer.Option("--replace-unknown", help="Write the word that was looked at in place of an unknown one.")
]
Dictionary = Annotated[
    Path | None, typer.Option(help="With --replace-unknown: a file of words, tab, what they become.")
]
Precision = Annotated[
    Literal["float32", "bf16"],
    typer.Option(help="In which torch computes; on a GPU bf16 is faster, and a close choice may fall otherwise."),
]
Engine = Annotated[
    Literal["auto", "torch", "ctranslate2", "onnx"],
    typer.Option(help="What computes the translations; auto is an export in the model folder, if there is one."),
]

Workers = Annotated[
    int | None,
    typer.Option(help="Translate in shards by so many worker processes.", min=1, max=1024, metavar="N"),
]
Shard = Annotated[str | None, typer.Option(help="Translate this shard of so many and no more, as 3/8.", metavar="I/N")]
Join = Annotated[bool, typer.Option("--join", help="Join the shards that --shard has written into the output.")]
On = Annotated[Literal["ray"] | None, typer.Option(help="Let the workers be those of a Ray cluster.")]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Which columns, by number or name: 1+3:2 joins 1 and 3 as source, 2 is the target; text:label; word:tag."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line names the columns; seen from it if not given."),
]
