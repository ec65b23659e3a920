"""Honest model folders, tokenisers and folders of other tools, and how they are read."""

from pathlib import Path

from hostile_data import PAIRS, TEXT, Make, Read, written


def make_marian(file: str) -> Make:
    def make(folder: Path) -> Path:
        import torch
        from safetensors.torch import load_file
        from toys import TOYS

        import regard
        from regard.base.progress import silent
        from regard.engines.marian.export import export_marian
        from regard.families import check_recipe
        from regard.runs.open import open_run
        from regard.runs.train import train

        table = TOYS["transformer"].table(folder)
        table["data"]["tokeniser"] = {"kind": "unigram", "vocabulary": 320}
        recipe = check_recipe(table | {"family": "transformer"})
        train(open_run(recipe, folder / "run", True, silent, lambda remark: None), [])
        export_marian(regard.load(folder / "run", device="cpu"), folder / "theirs")
        if file == "pytorch_model.bin":
            weights = load_file(folder / "theirs" / "model.safetensors")
            torch.save({name: tensor.clone() for name, tensor in weights.items()}, folder / "theirs" / file)
            (folder / "theirs" / "model.safetensors").unlink()
        return folder / "theirs" / file

    return make


def import_from(kind: str) -> Read:
    """Import a folder of another tool into a temporary one."""

    def read(path: Path) -> object:
        import tempfile

        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / "ours"
            if kind == "marian":
                from regard.engines.marian.importing import import_marian

                import_marian(path.parent, out, None, lambda remark: None)
            elif kind == "gpt2":
                from regard.engines.gpt2.importing import import_gpt2

                import_gpt2(path.parent, out)
            else:
                from regard.engines.bert.importing import import_bert

                import_bert(path.parent, out)
        return None

    return read


def make_gpt2(file: str) -> Make:
    def make(folder: Path) -> Path:
        from gpt2_models import write_gpt2

        return write_gpt2(folder / "theirs") / file

    return make


def make_bert(file: str) -> Make:
    def make(folder: Path) -> Path:
        from test_bert_folders import drawn_weights, write_folder

        return write_folder(folder / "theirs", drawn_weights()) / file

    return make


def make_toy(family: str, file: str) -> Make:
    """Train a small model of a family; the file is one of its folder."""

    def make(folder: Path) -> Path:
        from toys import open_trained_toy

        open_trained_toy(family, folder)
        return folder / "run" / file

    return make


def load(path: Path) -> object:
    import regard

    return regard.load(path.parent, device="cpu")


def make_mapped(folder: Path) -> Path:
    """Write a small n-gram model as one file that is mapped."""
    import regard
    from regard.engines.arpa import export_mapped

    model = regard.load(make_toy("ngram", "weights.safetensors")(folder).parent, device="cpu")
    export_mapped(model.task, model.recipe, folder / "model.ngrams")
    return folder / "model.ngrams"


def seal_mapped(path: Path) -> None:
    """Give the head of a mapped file a matching checksum."""
    import hashlib

    content = path.read_bytes()
    end = 48 + int.from_bytes(content[8:16], "little")
    path.write_bytes(content[:16] + hashlib.sha256(content[48:end]).digest() + content[48:])


def score_mapped(path: Path) -> object:
    import regard
    from regard.base.faults import Fault

    try:
        return regard.load(path, device="cpu").score(["the cat"])
    except FileNotFoundError as error:
        raise Fault(str(error)) from None


def describe(path: Path) -> object:
    from regard.families.model_folder import describe_folder

    return describe_folder(path.parent, 32)


def vouch(path: Path) -> None:
    """Update a changed file's checksum in the manifest of a model folder, as a forger could."""
    from regard.base.files import checksum
    from regard.base.model_folder import read_manifest, write_manifest

    write_manifest(path.parent, read_manifest(path.parent) | {path.name: [checksum(path.read_bytes())]})


def make_subwords(folder: Path) -> Path:
    from regard.data.tokenisers.subwords import train_subwords

    return written("tokeniser.model", train_subwords("unigram", 320, True, TEXT.splitlines()))(folder)


def make_normalising(folder: Path) -> Path:
    """Write a SentencePiece model with a table of normal forms, as those of Marian have it."""
    from marian_models import pieces

    return written("source.spm", pieces(0))(folder)


def read_subwords(path: Path) -> object:
    from regard.data.tokenisers.subwords import SubwordTokeniser

    tokeniser = SubwordTokeniser(path.read_bytes(), "unigram", 0.1)
    return tokeniser.encode(TEXT), tokeniser.sample(TEXT[:100], (1, 2)), tokeniser.decode(range(20))


def read_normalising(path: Path) -> object:
    from regard.data.tokenisers.sentencepieces import open_model

    return open_model(path.read_bytes()).encode("ﬁne ① Ⅳ ½ " + TEXT)


def read_tokeniser(kind: str) -> Read:
    def read(path: Path) -> object:
        from regard.data.tokenisers.tokeniser import TokeniserOptions, load_tokeniser

        return load_tokeniser(path.parent, "tokeniser", TokeniserOptions(kind=kind, shared=True)).encode(TEXT)

    return read


def make_tokeniser(kind: str) -> Make:
    def make(folder: Path) -> Path:
        from gpt2_models import END, WORDS
        from gpt2_models import PAIRS as JOINED

        from regard.data.tokenisers.byte_pairs import BytePairTokeniser
        from regard.data.tokenisers.tokeniser import TokeniserOptions, train_tokeniser

        if kind == "gpt2":
            files = BytePairTokeniser(WORDS, JOINED, WORDS.index(END)).files("tokeniser")
        else:
            options = TokeniserOptions(kind=kind, vocabulary=320, shared=True)
            files = train_tokeniser(options, TEXT.splitlines()).files("tokeniser")
        for name, content in files.items():
            (folder / name).write_bytes(content)
        return folder / "tokeniser.json"

    return make


RECIPE = 'family = "transformer"\ntask = "translation"\n[data]\ntrain = ["a", "b"]\n[model]\nwidth = 16\nheads = 2\n'


VOTES = """\
{"comparison": "ab12", "a": "one.txt", "b": "two.txt", "items": 2, "question": "better", "person": null}
{"comparison": "ab12", "judge": "Ana", "item": "1", "order": ["b", "a"], "choice": "a", "time": "2026-11-18T03:00:00"}
{"comparison": "ab12", "judge": "Ana", "item": "2", "order": ["a", "b"], "choice": "tie", "time": "2026-11-18T03:01:00"}
"""


def read_votes(path: Path) -> object:
    from regard.serving.judging.votes import read_votes

    return read_votes(path).ballots


PROGRESS = """\
{
 "language": "pt",
 "lessons": {
  "5": {"steps": {"sampling": {"temperature": 0.5, "width": 3, "way": "beam"}, "looks": {}}, "solved": {"a": "0,67"}},
  "7": {"steps": {}, "solved": {"heads": ["a", "c"], "wider": "--beam 5"}}
 }
}
"""


def read_progress(path: Path) -> object:
    from regard.course.progress import ProgressFile

    return ProgressFile(path.parent).read()


def read_recipe(path: Path) -> object:
    import torch  # noqa: F401  the options of other families, which a refusal names, import it; builds differ in size

    from regard.base.recipe import read_table
    from regard.families import check_recipe

    return check_recipe(read_table(path))


def make_graph(folder: Path) -> Path:
    from small_graph import write_small_graph

    from regard.data.graphs.options import GraphData
    from regard.data.graphs.prepare import prepare_graph

    prepare_graph(GraphData(**write_small_graph(folder / "plain")), folder / "graph")
    return folder / "graph" / "graph.safetensors"


def read_graph(path: Path) -> object:
    from regard.data.graphs.options import GraphData
    from regard.data.graphs.prepare import prepare_graph

    names = ("edges", "features", "labels", "split")
    return prepare_graph(GraphData(**{name: name for name in names}), path.parent)


def make_corpus(file: str) -> Make:
    """Prepare a small corpus; its files carry checksums."""

    def make(folder: Path) -> Path:
        from regard.base.recipe import check
        from regard.data.corpora.options import PairData
        from regard.data.corpora.prepare import prepare

        written("a.tsv", PAIRS)(folder)
        written("b.tsv", PAIRS.replace("number", "figure").replace("Zahl", "Ziffer"))(folder)
        named = {"train": str(folder / "a.tsv"), "valid": str(folder / "b.tsv"), "tokeniser": {"kind": "words"}}
        prepare(check(PairData, named), folder / "corpus")
        return next((folder / "corpus").rglob(file))

    return make


def read_corpus(path: Path) -> object:
    from regard.data.corpora.prepared import open_prepared

    folder = path
    while folder.name != "corpus":
        folder = folder.parent
    corpus = open_prepared(folder)
    return [corpus.train.tokens("source", row) for row in range(len(corpus.train))]


def make_captions(folder: Path) -> Path:
    from caption_files import write_captions

    write_captions(folder)
    return folder / "captions.txt"


def read_captions(path: Path) -> object:
    from regard.data.captions.files import read_captions

    return read_captions(str(path))


def make_export(kind: str, file: str, toy: str = "transformer") -> Make:
    """Export a small model for a fast engine."""

    def make(folder: Path) -> Path:
        from contextlib import redirect_stdout

        from regard.cli import main

        run = make_toy(toy, "recipe.toml")(folder).parent
        with redirect_stdout(None):
            main(["export", str(run), "--to", kind, "--quantisation", "float32"])
        return run / kind / file

    return make


def load_export(path: Path) -> object:
    """Load the engine of an export, and translate a word."""
    from regard.decoding.options import DecodingOptions
    from regard.engines.fast import load_fast

    engine = load_fast(path.parent.parent, path.parent.name)
    return engine.translations(["a"], DecodingOptions(beam=1))


def tag_by_export(path: Path) -> object:
    """Load the export of a tagger, and tag a sentence."""
    from regard.engines.onnx.reading import load_reader

    reader = load_reader(path.parent.parent, "onnx")
    return None if reader is None else reader.answers(["the bilo meta ."])


def vouch_for_export(path: Path) -> None:
    """Update a changed file's checksum in the record of an export."""
    import json

    from regard.base.files import checksum

    record = json.loads((path.parent / "export.json").read_bytes())
    record["files"][path.name] = checksum(path.read_bytes())
    (path.parent / "export.json").write_text(json.dumps(record), encoding="utf-8")


def read_scores(path: Path) -> object:
    """Read what `regard info` shows of a model besides its recipe."""
    from regard.runs.about import read_about
    from regard.runs.kept_scores import read_scores as read_stored

    return read_stored(path.parent), read_about(path.parent)


def read_card_data(path: Path) -> object:
    """Read what a card says about the files that text was prepared from."""
    from regard.runs.card.facts import data_files

    return list(data_files({"train": ["some.txt"]}, path.parent))


def make_words_folder(folder: Path) -> Path:
    return make_toy("word2vec", "weights.safetensors")(folder)


def read_words_folder(path: Path) -> object:
    from regard.families import check_recipe
    from regard.tasks.words.ready_vectors import vectors_in

    return vectors_in(path.parent, check_recipe)


def make_checkpoint(folder: Path) -> Path:
    make_toy("transformer", "recipe.toml")(folder)
    return folder / "run" / "training" / "checkpoints" / "00000004" / "facts.json"


def read_checkpoint(path: Path) -> object:
    from regard.training.checkpoint import RunFolder

    return RunFolder(path.parents[3]).latest()
