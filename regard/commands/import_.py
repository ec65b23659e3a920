"""`regard import`: models of other tools become model folders."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from regard.console import console_progress, refuse_existing, remark

app = typer.Typer(add_completion=False, help="Bring in a model of another tool.")


@app.callback()
def _tools() -> None:
    """Bring in a model of another tool."""


@app.command("marian")
def marian(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Hugging Face folder of a MarianMT model.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the imported model.")],
    target_language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Of a model that writes several languages, the one to write.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Import a Marian model, such as those of OPUS-MT.

    It can then be used like any other: it translates, is scored, looked into and exported. DIR holds config.json,
    model.safetensors or pytorch_model.bin, vocab.json, source.spm and target.spm. Nothing in it is run, and it is not
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
    """Import a GPT-2, or a model of its kind such as DistilGPT-2.

    It can then score text, go on with prompts, be looked into, trained on and exported. DIR holds config.json,
    model.safetensors or pytorch_model.bin, and vocab.json with merges.txt or tokenizer.json. Nothing in it is run, and
    it is not changed.
    """
    refuse_existing(out, overwrite)
    from regard.engines.gpt2.importing import import_gpt2

    with console_progress() as progress:
        import_gpt2(folder, out, progress)
    remark(f"{out} is a model folder; try `regard generate {shlex.quote(str(out))} --prompt 'text'`")


@app.command("bert")
def bert(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Hugging Face folder of a BERT.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the imported model.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Import a BERT, such as bert-base-uncased.

    It can then fill masks, give vectors, be looked into, be tuned for classes and tags (`regard train … --from`) and be
    exported. DIR holds config.json, model.safetensors or pytorch_model.bin, and vocab.txt or tokenizer.json. Nothing in
    it is run, and it is not changed.
    """
    refuse_existing(out, overwrite)
    from regard.engines.bert.importing import import_bert

    with console_progress() as progress:
        import_bert(folder, out, remark, progress)
    remark(f"{out} is a model folder; try `echo 'a [MASK]' | regard answer {shlex.quote(str(out))}`")


@app.command("arpa")
def arpa(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An ARPA file, plain or packed (.gz, .xz, .zst).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the imported model.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Import an n-gram model, such as those of KenLM and SRILM.

    It can then score text, go on with prompts and be exported. Its words are those that spaces part; <unk>, <s> and
    </s> are what they are in every such file.
    """
    refuse_existing(out, overwrite)
    from regard.engines.arpa import import_arpa

    import_arpa(file, out)
    remark(f"{out} is a model folder; try `regard generate {shlex.quote(str(out))}`")


def _word_vectors(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file of word vectors, plain or packed (.gz, .xz, .zst).")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the imported model.")],
    vocabulary: Annotated[int | None, typer.Option(min=1, help="The first words alone, so many of them.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Import word vectors of word2vec (text or binary), GloVe or fastText (.vec); FILE itself says which.

    They can then be asked for neighbours and analogies, be scored, drawn, served and exported, and open at once.
    """
    refuse_existing(out, overwrite)
    from regard.engines.vector_files import import_vectors

    with console_progress() as progress:
        import_vectors(file, out, vocabulary, progress, remark)
    remark(f"{out} is a model folder; try `regard neighbours {shlex.quote(str(out))} WORD`")


for _name in ("vectors", "word2vec", "glove", "fasttext"):
    app.command(_name)(_word_vectors)
