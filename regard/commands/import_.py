"""`regard import`: turn models of other tools into model folders."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from regard.console import console_progress, refuse_existing, remark

app = typer.Typer(add_completion=False, help="Import a model from another tool.")


@app.callback()
def _tools() -> None:
    """Import a model from another tool."""


@app.command("marian")
def marian(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Hugging Face folder of a MarianMT model.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the imported model.")],
    target_language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Target language, for a model with several.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Import a Marian model, such as one from OPUS-MT.

    You can then use it like any other: translate, score, look inside and export. DIR holds config.json,
    model.safetensors or pytorch_model.bin, vocab.json, source.spm and target.spm. No code in it is run, and it is not
    changed.
    """
    refuse_existing(out, overwrite)
    from regard.engines.marian.importing import import_marian

    with console_progress() as progress:
        import_marian(folder, out, target_language, remark, progress)
    remark(f"{out} is a model folder; try `regard translate {shlex.quote(str(out))}`")


@app.command("gpt2")
def gpt2(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Hugging Face folder of a GPT-2 model.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the imported model.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Import GPT-2 or a similar model such as DistilGPT-2.

    You can then score text with it, continue prompts, look inside, fine-tune and export. DIR holds config.json,
    model.safetensors or pytorch_model.bin, and vocab.json with merges.txt or tokenizer.json. No code in it is run, and
    it is not changed.
    """
    refuse_existing(out, overwrite)
    from regard.engines.gpt2.importing import import_gpt2

    with console_progress() as progress:
        import_gpt2(folder, out, progress)
    remark(f"{out} is a model folder; try `regard generate {shlex.quote(str(out))} --prompt 'text'`")


@app.command("bert")
def bert(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Hugging Face folder of a BERT model.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the imported model.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Import a BERT model, such as bert-base-uncased.

    You can then fill masks with it, embed text, look inside, fine-tune it for classes and tags
    (`regard train … --from`) and export it. DIR holds config.json, model.safetensors or pytorch_model.bin, and
    vocab.txt or tokenizer.json. No code in it is run, and it is not changed.
    """
    refuse_existing(out, overwrite)
    from regard.engines.bert.importing import import_bert

    with console_progress() as progress:
        import_bert(folder, out, remark, progress)
    remark(f"{out} is a model folder; try `echo 'a [MASK]' | regard answer {shlex.quote(str(out))}`")


@app.command("arpa")
def arpa(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An ARPA file, plain or compressed (.gz, .xz, .zst).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the imported model.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Import an n-gram model, such as one from KenLM or SRILM.

    You can then score text with it, continue prompts and export it. Words are separated by spaces; <unk>, <s> and </s>
    have their usual meaning.
    """
    refuse_existing(out, overwrite)
    from regard.engines.arpa import import_arpa

    import_arpa(file, out)
    remark(f"{out} is a model folder; try `regard generate {shlex.quote(str(out))}`")


def _word_vectors(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file of word vectors, plain or compressed (.gz, .xz, .zst).")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the imported model.")],
    vocabulary: Annotated[int | None, typer.Option(min=1, help="Import only the first N words.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Import word vectors of word2vec (text or binary), GloVe or fastText (.vec); the format is detected.

    You can then ask for neighbours and analogies, score, draw, serve and export them. The folder opens instantly.
    """
    refuse_existing(out, overwrite)
    from regard.engines.vector_files import import_vectors

    with console_progress() as progress:
        import_vectors(file, out, vocabulary, progress, remark)
    remark(f"{out} is a model folder; try `regard neighbours {shlex.quote(str(out))} WORD`")


for _name in ("vectors", "word2vec", "glove", "fasttext"):
    app.command(_name)(_word_vectors)
