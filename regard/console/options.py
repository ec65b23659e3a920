"""Options that several commands share: the inputs after MODEL, and how outputs are chosen."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT", help="Texts, or text files (plain, .gz, .xz, .zst) with one per line; - is standard input."
    ),
]
OneInput = Annotated[
    list[str] | None,
    typer.Argument(metavar="INPUT", help="A text, or a file that holds one; - is standard input."),
]
Texts = Annotated[
    list[str] | None, typer.Option("--text", metavar="TEXT", help="A text to read, never a file name; repeatable.")
]
NoTexts = Annotated[
    list[str] | None, typer.Option("--text", hidden=True)
]  # hidden, so that the refusal can say what the model reads

Beam = Annotated[int | None, typer.Option(help="Beam size; 1 is greedy search.", min=1, max=64)]
LengthPenalty = Annotated[float | None, typer.Option(help="Length penalty alpha; 0 is none.", min=0)]
NBest = Annotated[
    int | None,
    typer.Option(help="Outputs per line, best first; samples come in the order drawn.", min=1, max=10_000),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Another search option: groups=2, stop=exhaustive, sampling.min_p=0.05.",
        metavar="NAME=VALUE",
    ),
]

Sample = Annotated[bool, typer.Option("--sample", help="Sample outputs at random, --n-best of them.")]
Temperature = Annotated[
    float | None,
    typer.Option(help="Sampling temperature: below 1 is more cautious, above 1 bolder, 0 greedy.", min=0, max=100),
]
TopK = Annotated[int | None, typer.Option(help="Sample among the K most probable tokens.", min=0)]
TopP = Annotated[
    float | None,
    typer.Option(
        help="Sample among the fewest tokens whose probabilities add up to P, above 0 and up to 1.", metavar="P"
    ),
]
Seed = Annotated[int | None, typer.Option(help="Random seed; the same seed gives the same outputs.", min=0)]
Risk = Annotated[
    str | None, typer.Option("--mbr", help="Choose among samples by minimum Bayes risk.", metavar="METRIC")
]
Samples = Annotated[int | None, typer.Option(help="Number of samples that --mbr chooses among (32).", min=2)]

Prefixes = Annotated[
    Path | None, typer.Option("--prefixes", help="A file with the prefix of each output, line by line.")
]
Required = Annotated[
    Path | None, typer.Option(help="A file with phrases each output must contain, line by line, separated by tabs.")
]
Forced = Annotated[
    Path | None, typer.Option("--force", help="Score the outputs in this file, line by line, instead of translating.")
]
Forbid = Annotated[
    list[str] | None,
    typer.Option("--forbid", help="A phrase that no output may contain; repeatable.", metavar="PHRASE"),
]
Vocabulary = Annotated[Path | None, typer.Option(help="Use only tokens that occur in this text file.")]

Ensemble = Annotated[
    list[Path] | None,
    typer.Option(
        "--with", help="Average probabilities with this model too (an ensemble); repeatable.", metavar="MODEL"
    ),
]
Channel = Annotated[Path | None, typer.Option(help="A model of the reverse direction that reranks the beam.")]
ChannelWeight = Annotated[float | None, typer.Option(help="Weight of the channel model (1).", min=0, max=1e6)]

Prior = Annotated[
    Path | None,
    typer.Option(help="With --channel: a language model of the target side that reranks too.", metavar="LM"),
]
PriorWeight = Annotated[float | None, typer.Option(help="Weight of the --prior model (0.2).", min=0, max=1e6)]
Fuse = Annotated[
    Path | None,
    typer.Option(help="A language model with the same vocabulary, mixed in at each step (fusion).", metavar="LM"),
]
FuseWeight = Annotated[
    float | None, typer.Option(help="Weight of the --fuse model (0.1); 0 turns it off.", min=0, max=1e6)
]

Draft = Annotated[
    str | None,
    typer.Option(
        help="Speculate, with the same outputs in fewer passes: lookup, source (translators), or a smaller model of "
        "the same tokens. Greedy search unless sampled.",
        metavar="DRAFT",
    ),
]

SplitSentences = Annotated[
    bool, typer.Option("--split-sentences", help="Translate each sentence of a line separately.")
]
TooLong = Annotated[
    Literal["refuse", "split", "truncate"],
    typer.Option(help="What to do with sentences that are too long for the model; truncate reads only the beginning."),
]
ReplaceUnknown = Annotated[
    bool, typer.Option("--replace-unknown", help="Replace an unknown word by the source word with the most attention.")
]
Dictionary = Annotated[Path | None, typer.Option(help="With --replace-unknown: a file of word, tab, translation.")]
Precision = Annotated[
    Literal["float32", "bf16"],
    typer.Option(help="Number format of torch; bf16 is faster on a GPU and may decide close calls differently."),
]
Engine = Annotated[
    Literal["auto", "torch", "ctranslate2", "onnx"],
    typer.Option(help="Engine; auto uses an export in the model folder if there is one."),
]
TextEngine = Annotated[
    Literal["auto", "torch", "onnx"],
    typer.Option(help="Engine; auto uses an ONNX export in the model folder if there is one."),
]

Workers = Annotated[
    int | None,
    typer.Option(help="Translate in shards with N worker processes.", min=1, max=1024, metavar="N"),
]
Shard = Annotated[str | None, typer.Option(help="Translate only shard I of N, such as 3/8.", metavar="I/N")]
Join = Annotated[bool, typer.Option("--join", help="Join the shards written by --shard into the output.")]
On = Annotated[Literal["ray"] | None, typer.Option(help="Run the workers on a Ray cluster.")]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Columns by number or name: 1+3:2 joins 1 and 3 as source, 2 is the target; text:label; word:tag."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line names the columns; detected by default."),
]
