"""Every reader of files that others may have made: an honest file for it, and how it is read.

`test_every_reader.py` finds the modules of regard that read files and fails where one is neither named in a row here
nor among `TRUSTED`. `benchmarks/hostile_files.py` damages each honest file thousands of times.
"""

import gzip
import io
import json
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Make = Callable[[Path], Path]
Read = Callable[[Path], object]


@dataclass(frozen=True)
class Reader:
    """How one kind of file is read; `modules` are those of regard in which that happens.

    `make` writes an honest file into a folder; `seal` makes the checksum that vouches for it fit what it holds now.
    Errors among `refusals` are what the reader promises to its callers, who make a fault of them.
    """

    modules: tuple[str, ...]
    make: Make
    read: Read
    seal: Callable[[Path], None] | None = None
    refusals: tuple[type[Exception], ...] = ()
    megabytes_of_a_process: float = 100.0  # of one that the reader starts, before it reads anything


def _written(name: str, content: bytes | str) -> Make:
    """Write this content under this name."""

    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name

    return make


TEXT = "".join(f"The number {n} is one of many numbers, and so is {n * 7919 % 1000}.\n" for n in range(60))
PAIRS = "".join(f"The number {n}.\tDie Zahl {n}.\n" for n in range(60))


def _read_lines(path: Path) -> object:
    from regard.data.corpora.text import read_lines

    return list(read_lines(path))


def _make_zstandard(folder: Path) -> Path:
    import zstandard

    return _written("a.txt.zst", zstandard.ZstdCompressor().compress(TEXT.encode()))(folder)


def _read_pairs(path: Path, **more: Any) -> object:
    from regard.base.recipe import check
    from regard.data.corpora.options import Corpus
    from regard.data.corpora.text import read_pairs

    return list(read_pairs(check(Corpus, {"pairs": str(path), **more})))


def _make_table(name: str) -> Make:
    def make(folder: Path) -> Path:
        import pyarrow
        from pyarrow import ipc, parquet

        rows = [line.split("\t") for line in PAIRS.splitlines()]
        table = pyarrow.table({"source": [one for one, _ in rows], "target": [two for _, two in rows]})
        if name.endswith(".parquet"):
            parquet.write_table(table, folder / name)
        else:
            with (ipc.new_file if "file" in name else ipc.new_stream)(folder / name, table.schema) as file:
                file.write_table(table)
        return folder / name

    return make


def _make_folder_of_tables(folder: Path) -> Path:
    _make_table("a.arrow")(folder)
    return _written("state.json", json.dumps({"_data_files": [{"filename": "a.arrow"}]}))(folder)


def _make_archive(name: str) -> Make:
    """Write an archive of a few recordings, in the folder that its name asks for."""

    def make(folder: Path) -> Path:
        from sound_files import write_tones

        sounds, path = sorted(write_tones(folder / "plain", numbers=1).iterdir()), folder / name
        if name.endswith(".zip"):
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for sound in sounds:
                    archive.write(sound, f"set/{sound.name}")
        else:
            with tarfile.open(path, f"w:{name.rpartition('.')[2].removeprefix('tar')}") as packed:
                for sound in sounds:
                    packed.add(sound, f"set/{sound.name}")
        return path

    return make


def _read_recordings(path: Path) -> object:
    from regard.data.sounds.options import SoundFiles
    from regard.data.sounds.recordings import read_recordings

    return read_recordings(SoundFiles(recordings=str(path)), 4000)


def _unpack(path: Path) -> object:
    import tempfile

    from regard.data.catalogue.unpack import folder_checksum, unpack

    with tempfile.TemporaryDirectory() as place:
        unpack(path, Path(place) / "set", 1 << 24)
    return folder_checksum(path, 1 << 24)


def _unusable() -> type[Exception]:
    from regard.data.catalogue.unpack import Unusable

    return Unusable


def _make_sound(name: str) -> Make:
    def make(folder: Path) -> Path:
        import soundfile
        from sound_files import tone

        soundfile.write(folder / name, tone(440, 0.2, 8000), 8000)
        return folder / name

    return make


def _read_sound(path: Path) -> object:
    from regard.data.sounds.files import read_sound

    return read_sound(path, 16_000)


def _make_picture(name: str, mode: str = "RGB") -> Make:
    def make(folder: Path) -> Path:
        from PIL import Image

        pixels = np.arange(40 * 30 * 3, dtype=np.uint8).reshape(40, 30, 3)
        Image.fromarray(pixels).convert(mode).save(folder / name)
        return folder / name

    return make


def _read_picture(path: Path) -> object:
    from regard.data.pictures.files import read_colours

    return read_colours(path)


def _read_small_picture(path: Path) -> object:
    from regard.data.pictures.files import read_picture_file

    return read_picture_file(path)


def _make_video(folder: Path) -> Path:
    from PIL import Image

    frames = [Image.fromarray(np.full((20, 24, 3), 40 * n, np.uint8)) for n in range(5)]
    frames[0].save(folder / "a.gif", save_all=True, append_images=frames[1:])
    return folder / "a.gif"


def _read_video(path: Path) -> object:
    from regard.data.pictures.videos import read_frames

    return list(read_frames(path, str(path), 3))


def _make_picture_store(name: str) -> Make:
    def make(folder: Path) -> Path:
        _make_picture("a.png")(folder)
        with tarfile.open(folder / name, "w:gz" if name.endswith("gz") else "w") as archive:
            for number in range(3):
                archive.add(folder / "a.png", f"pictures/{number}.png")
        return folder / name

    return make


def _read_picture_store(path: Path) -> object:
    from regard.base.progress import silent
    from regard.data.captions.pixels import read_pixels

    return read_pixels(str(path), ["0.png", "2.png"], 8, None, silent)


def _make_idx(folder: Path) -> Path:
    from picture_files import write_idx

    return Path(write_idx(folder / "a.gz", np.arange(6 * 8 * 8).reshape(6, 8, 8) % 256))


def _read_idx(path: Path) -> object:
    from regard.data.pictures.idx import read_pictures

    return read_pictures(path)


def _array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(60, dtype=np.float32).reshape(5, 4, 3))
    return buffer.getvalue()


def _read_array(path: Path) -> object:
    from regard.data.captions.files import read_array

    return read_array(path, str(path))


def _make_components(folder: Path) -> Path:
    arrays = {"mean": np.ones(6, np.float32), "proj": np.ones((6, 3), np.float32), "step": np.float32(0.5)}
    np.savez_compressed(folder / "components.npz", **arrays)
    return folder / "components.npz"


def _read_components(path: Path) -> object:
    from regard.data.captions.components import open_components
    from regard.data.captions.features import step_of

    return open_components(path.read_bytes(), str(path)), step_of(path.read_bytes(), str(path))


def _make_shortlist(folder: Path) -> Path:
    from regard.engines.shortlist import Shortlist

    return _written("shortlist.npz", Shortlist([1, 2, 3], {n: [n, n + 1] for n in range(40)}).to_bytes())(folder)


def _read_shortlist(path: Path) -> object:
    from regard.engines.shortlist import Shortlist

    return Shortlist.from_bytes(path.read_bytes(), 100).candidates(range(40))


def _make_drawings(name: str) -> Make:
    def make(folder: Path) -> Path:
        from stroke_files import write_archive, write_drawings

        if not name.endswith(".npz"):
            return write_drawings(folder / name, 5)
        moves = [np.array([[1, 2, 0], [3, n, 1]], np.int16) for n in range(6)]
        return write_archive(folder / name, train=moves, test=moves[:2])

    return make


def _read_drawings(path: Path) -> object:
    from regard.data.strokes.drawings import read_labelled, read_strokes

    return read_labelled(path, "train", finest=0.5), read_strokes(path)


SVG = '<svg><polyline points="0,0 5,5 9,1"/><polygon points="1 1 2 2 3 4"/></svg>'


def _make_planetoid(kind: str) -> Make:
    def make(folder: Path) -> Path:
        from planetoid_files import write_graph

        write_graph(folder)
        return folder / "planetoid" / f"ind.cora.{kind}"

    return make


def _read_planetoid(path: Path) -> object:
    from regard.data.graphs import planetoid

    os.environ["REGARD_DATA"] = str(path.parent.parent)
    planetoid.VALIDATION = 2
    return planetoid.read_planetoid("planetoid:cora", normalise=True)


def _make_plain_graph(folder: Path) -> Path:
    from small_graph import write_small_graph

    return Path(write_small_graph(folder)["features"])


def _read_plain_graph(path: Path) -> object:
    from regard.data.graphs.options import GraphData
    from regard.data.graphs.plain import read_plain

    return read_plain(GraphData(**{name: str(path.parent / name) for name in ("edges", "features", "labels", "split")}))


def _make_stories(folder: Path) -> Path:
    from story_files import write_stories

    return write_stories(folder / "qa1_train.txt", 5)


def _read_stories(path: Path) -> object:
    from regard.data.stories.reading import read_story_files

    return read_story_files(str(path))


def _make_tagged(folder: Path) -> Path:
    from tagged_files import write_tagged

    return write_tagged(folder / "tagged.txt", 6)


def _read_tagged(path: Path) -> object:
    from tagged_files import CHUNKS

    from regard.data.tagging.files import ReadingReport, read_sentences
    from regard.data.tagging.options import TaggingData

    options = TaggingData(train=str(path), **CHUNKS)
    return list(read_sentences([str(path)], options, ReadingReport()))


def _make_labelled(folder: Path) -> Path:
    from labelled_files import write_labelled

    return write_labelled(folder / "labelled.txt", 8)


def _read_labelled(path: Path) -> object:
    from regard.data.labelled.options import LabelledData
    from regard.data.labelled.reading import read_examples

    return list(read_examples(LabelledData(train=str(path)), str(path)))


def _make_vectors(name: str, kind: str) -> Make:
    def make(folder: Path) -> Path:
        from regard.data.vectors.files import write_vectors
        from regard.data.vectors.word_vectors import WordVectors

        words = [f"word{n}" for n in range(12)]
        write_vectors(folder / name, WordVectors(words, np.arange(48, dtype=np.float32).reshape(12, 4)), kind)
        return folder / name

    return make


def _read_vectors(path: Path) -> object:
    from regard.data.vectors.files import read_vectors

    return read_vectors(path)


ANALOGIES = ": capitals\nAthens Greece Oslo Norway\nRome Italy Paris France\n"


def _read_questions(path: Path) -> object:
    from regard.data.vectors.questions import read_analogies

    return read_analogies(path)


ARPA = (
    "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-1.0\t<unk>\n-99\t<s>\t-0.3\n-0.7\t</s>\n-0.6\tthe\t-0.2\n"
    "-0.9\tcat\t-0.1\n\n\\2-grams:\n-0.2\t<s> the\n-0.4\tthe cat\n-0.3\tcat </s>\n\n\\end\\\n"
)


def _import_arpa(path: Path) -> object:
    import tempfile

    from regard.engines.arpa import import_arpa

    with tempfile.TemporaryDirectory() as place:
        import_arpa(path, Path(place) / "model")
    return None


def _make_marian(file: str) -> Make:
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


def _import(kind: str) -> Read:
    """Import a folder of another tool into one that is thrown away."""

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


def _make_gpt2(file: str) -> Make:
    def make(folder: Path) -> Path:
        from gpt2_models import write_gpt2

        return write_gpt2(folder / "theirs") / file

    return make


def _make_bert(file: str) -> Make:
    def make(folder: Path) -> Path:
        from test_bert_folders import drawn_weights, write_folder

        return write_folder(folder / "theirs", drawn_weights()) / file

    return make


def _make_toy(family: str, file: str) -> Make:
    """Train a small model of a family; the file is one of its folder."""

    def make(folder: Path) -> Path:
        from toys import open_trained_toy

        open_trained_toy(family, folder)
        return folder / "run" / file

    return make


def _load(path: Path) -> object:
    import regard

    return regard.load(path.parent, device="cpu")


def _vouch(path: Path) -> None:
    """Give the manifest of a model folder the checksum of a file that was changed: whoever forges one can do so too."""
    from regard.base.files import checksum
    from regard.runs.folder import read_manifest, write_manifest

    write_manifest(path.parent, read_manifest(path.parent) | {path.name: [checksum(path.read_bytes())]})


def _model(family: str, file: str, *modules: str) -> Reader:
    return Reader((*modules, "runs.folder"), _make_toy(family, file), _load, _vouch)


def _make_subwords(folder: Path) -> Path:
    from regard.data.tokenisers.subwords import train_subwords

    return _written("tokeniser.model", train_subwords("unigram", 320, True, TEXT.splitlines()))(folder)


def _make_normalising(folder: Path) -> Path:
    """Write a SentencePiece model with a table of normal forms, as those of Marian have it."""
    from marian_models import pieces

    return _written("source.spm", pieces(0))(folder)


def _read_subwords(path: Path) -> object:
    from regard.data.tokenisers.subwords import SubwordTokeniser

    tokeniser = SubwordTokeniser(path.read_bytes(), "unigram", 0.1)
    return tokeniser.encode(TEXT), tokeniser.sample(TEXT[:100], (1, 2)), tokeniser.decode(range(20))


def _read_normalising(path: Path) -> object:
    from regard.data.tokenisers.sentencepieces import open_model

    return open_model(path.read_bytes()).encode("ﬁne ① Ⅳ ½ " + TEXT)


def _read_tokeniser(kind: str) -> Read:
    def read(path: Path) -> object:
        from regard.data.tokenisers.tokeniser import TokeniserOptions, load_tokeniser

        return load_tokeniser(path.parent, "tokeniser", TokeniserOptions(kind=kind, shared=True)).encode(TEXT)

    return read


def _make_tokeniser(kind: str) -> Make:
    def make(folder: Path) -> Path:
        from gpt2_models import END, PAIRS as JOINED, WORDS

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


def _tokeniser(kind: str, *modules: str) -> Reader:
    return Reader(("data.tokenisers.tokeniser", *modules), _make_tokeniser(kind), _read_tokeniser(kind))


RECIPE = 'family = "transformer"\ntask = "translation"\n[data]\ntrain = ["a", "b"]\n[model]\nwidth = 16\nheads = 2\n'


def _read_recipe(path: Path) -> object:
    from regard.base.recipe import read_table
    from regard.families import check_recipe

    return check_recipe(read_table(path))


def _make_graph(folder: Path) -> Path:
    from small_graph import write_small_graph

    from regard.data.graphs.options import GraphData
    from regard.data.graphs.prepare import prepare_graph

    prepare_graph(GraphData(**write_small_graph(folder / "plain")), folder / "graph")
    return folder / "graph" / "graph.safetensors"


def _read_graph(path: Path) -> object:
    from regard.data.graphs.options import GraphData
    from regard.data.graphs.prepare import prepare_graph

    names = ("edges", "features", "labels", "split")
    return prepare_graph(GraphData(**{name: name for name in names}), path.parent)


def _make_corpus(file: str) -> Make:
    """Prepare a small corpus; its files carry checksums."""

    def make(folder: Path) -> Path:
        from regard.base.recipe import check
        from regard.data.corpora.options import PairData
        from regard.data.corpora.prepare import prepare

        _written("a.tsv", PAIRS)(folder)
        _written("b.tsv", PAIRS.replace("number", "figure").replace("Zahl", "Ziffer"))(folder)
        named = {"train": str(folder / "a.tsv"), "valid": str(folder / "b.tsv"), "tokeniser": {"kind": "words"}}
        prepare(check(PairData, named), folder / "corpus")
        return next((folder / "corpus").rglob(file))

    return make


def _read_corpus(path: Path) -> object:
    from regard.data.corpora.prepared import open_prepared

    folder = path
    while folder.name != "corpus":
        folder = folder.parent
    corpus = open_prepared(folder)
    return [corpus.train.tokens("source", row) for row in range(len(corpus.train))]


def _make_captions(folder: Path) -> Path:
    from caption_files import write_captions

    write_captions(folder)
    return folder / "captions.txt"


def _read_captions(path: Path) -> object:
    from regard.data.captions.files import read_captions

    return read_captions(str(path))


CONTENT, LINES = "data.catalogue.unpack", "data.corpora.text"
TABLES = ("data.corpora.tables", "data.corpora.table_rows", "base.confinement")
TENSORS = ("base.tensors", "runs.checkpoint")
PICTURES = ("data.pictures.files",)

READERS: dict[str, Reader] = {
    "text": Reader((LINES, "data.corpora.folders"), _written("a.txt", TEXT), _read_lines),
    "text, gzip": Reader((LINES, CONTENT), _written("a.txt.gz", gzip.compress(TEXT.encode())), _read_lines),
    "text, xz": Reader((LINES, CONTENT), _written("a.txt.xz", lzma.compress(TEXT.encode())), _read_lines),
    "text, Zstandard": Reader((LINES, "data.catalogue.zstandard"), _make_zstandard, _read_lines),
    "pairs": Reader((LINES,), _written("a.tsv", PAIRS), _read_pairs),
    "table, parquet": Reader(TABLES, _make_table("a.parquet"), _read_pairs),
    "table, Arrow stream": Reader(TABLES, _make_table("a.arrow"), _read_pairs),
    "table, Arrow file": Reader(TABLES, _make_table("file.arrow"), _read_pairs),
    "folder of tables": Reader(TABLES[:1], _make_folder_of_tables, lambda path: _read_pairs(path.parent)),
    "archive, zip": Reader((CONTENT,), _make_archive("set.zip"), _unpack, refusals=(_unusable(),)),
    "archive, tar": Reader((CONTENT,), _make_archive("set.tar"), _unpack, refusals=(_unusable(),)),
    "archive, tar.gz": Reader((CONTENT,), _make_archive("set.tar.gz"), _unpack, refusals=(_unusable(),)),
    "archive, tar.xz": Reader((CONTENT,), _make_archive("set.tar.xz"), _unpack, refusals=(_unusable(),)),
    "recordings, zip": Reader(("data.sounds.recordings",), _make_archive("set.zip"), _read_recordings),
    "recordings, tar": Reader(("data.sounds.recordings",), _make_archive("set.tar"), _read_recordings),
    "sound, wav": Reader(("data.sounds.files",), _make_sound("a.wav"), _read_sound),
    "sound, flac": Reader(("data.sounds.files",), _make_sound("a.flac"), _read_sound),
    "picture, PNG": Reader(PICTURES, _make_picture("a.png"), _read_picture),
    "picture, palette": Reader(PICTURES, _make_picture("a.png", "P"), _read_picture),
    "picture, grey": Reader(PICTURES, _make_picture("a.png", "L"), _read_small_picture),
    "picture, JPEG": Reader(PICTURES, _make_picture("a.jpg"), _read_picture),
    "picture, BMP": Reader(PICTURES, _make_picture("a.bmp"), _read_picture),
    "picture, PPM": Reader(PICTURES, _make_picture("a.ppm"), _read_picture),
    "picture, TIFF": Reader(PICTURES, _make_picture("a.tiff"), _read_picture),
    "picture, WEBP": Reader(PICTURES, _make_picture("a.webp"), _read_picture),
    "video": Reader(("data.pictures.videos", *PICTURES), _make_video, _read_video),
    "pictures in a tar": Reader(("data.captions.pixels",), _make_picture_store("a.tar"), _read_picture_store),
    "pictures in a tar.gz": Reader(("data.captions.pixels",), _make_picture_store("a.tar.gz"), _read_picture_store),
    "pictures, idx": Reader(("data.pictures.idx",), _make_idx, _read_idx),
    "array": Reader(("data.captions.files", "data.arrays"), _written("a.npy", _array()), _read_array),
    "array, gzip": Reader(("data.captions.files",), _written("a.npy.gz", gzip.compress(_array())), _read_array),
    "components": Reader(("data.captions.components", "data.captions.features"), _make_components, _read_components),
    "shortlist": Reader(("engines.shortlist",), _make_shortlist, _read_shortlist, refusals=(ValueError,)),
    "drawings, archive": Reader(("data.strokes.archives", "data.pickles"), _make_drawings("a.npz"), _read_drawings),
    "drawings, JSON": Reader(("data.strokes.drawings",), _make_drawings("a.ndjson"), _read_drawings),
    "drawings, SVG": Reader(("data.strokes.drawings",), _written("a.svg", SVG), _read_drawings),
    "Planetoid, matrix": Reader(("data.graphs.planetoid", "data.pickles"), _make_planetoid("allx"), _read_planetoid),
    "Planetoid, neighbours": Reader(("data.graphs.planetoid",), _make_planetoid("graph"), _read_planetoid),
    "graph, plain": Reader((LINES,), _make_plain_graph, _read_plain_graph),
    "graph, prepared": Reader(("data.graphs.prepare", "data.graphs.labelled"), _make_graph, _read_graph),
    "stories": Reader(("data.stories.reading",), _make_stories, _read_stories),
    "tagged sentences": Reader((LINES,), _make_tagged, _read_tagged),
    "labelled texts": Reader((LINES,), _make_labelled, _read_labelled),
    "captions": Reader((LINES,), _make_captions, _read_captions),
    "word vectors, text": Reader(("data.vectors.files", "data.vectors.text"), _make_vectors("a.vec", "word2vec"), _read_vectors),
    "word vectors, binary": Reader(("data.vectors.files", "data.vectors.binary"), _make_vectors("a.bin", "word2vec-binary"), _read_vectors),
    "word vectors, gzip": Reader(("data.vectors.files",), _make_vectors("a.txt.gz", "glove"), _read_vectors),
    "word questions": Reader((LINES,), _written("questions.txt", ANALOGIES), _read_questions),
    "n-grams, ARPA": Reader(("engines.arpa", "models.ngram.arpa"), _written("a.arpa", ARPA), _import_arpa),
    "Marian, config": Reader(("engines.hugging_face.files",), _make_marian("config.json"), _import("marian")),
    "Marian, vocabulary": Reader(("engines.marian.tokenisers",), _make_marian("vocab.json"), _import("marian")),
    "Marian, pieces": Reader(("data.tokenisers.sentencepieces",), _make_marian("source.spm"), _import("marian")),
    "Marian, weights": Reader(("engines.hugging_face.stored",), _make_marian("model.safetensors"), _import("marian")),
    "Marian, pickle": Reader(("engines.hugging_face.stored",), _make_marian("pytorch_model.bin"), _import("marian")),
    "GPT-2, vocabulary": Reader(("engines.hugging_face.files",), _make_gpt2("vocab.json"), _import("gpt2")),
    "GPT-2, pairs": Reader(("engines.gpt2.tokenisers",), _make_gpt2("merges.txt"), _import("gpt2")),
    "BERT, vocabulary": Reader(("engines.bert.vocabularies",), _make_bert("vocab.txt"), _import("bert")),
    "BERT, weights": Reader(("engines.hugging_face.stored",), _make_bert("model.safetensors"), _import("bert")),
    "recipe": Reader(("base.recipe", "base.parsing"), _written("a.toml", RECIPE), _read_recipe),
    "model, manifest": Reader(("runs.folder", "base.files"), _make_toy("transformer", "manifest.json"), _load),
    "model, recipe": _model("transformer", "recipe.toml", "base.parsing"),
    "model, weights": _model("transformer", "weights.safetensors", *TENSORS),
    "model, words": _model("transformer", "source.json", "data.tokenisers.words"),
    "model, n-grams of a bag": _model("bag", "ngrams.npy", "tasks.classification.ngrams"),
    "model, labels": _model("bag", "labels.json", "data.labelled.prepare"),
    "model, counted n-grams": _model("ngram", "weights.safetensors", *TENSORS),
    "model, counts of words": _model("word2vec", "counts.json", "models.words.vocabulary"),
    "model, features": _model("captioner", "features.json", "data.captions.features"),
    "model, graph": _model("gat", "graph.safetensors", "data.graphs.labelled"),
    "model, scale of strokes": _model("sketch-rnn", "strokes.json", "data.strokes.prepare"),
    "model, alphabet": _model("ctc", "alphabet.json", "data.sounds.prepare"),
    "model, stories": _model("memory", "vocabulary.json", "data.stories.prepare"),
    "tokeniser, subwords": Reader(("data.tokenisers.subwords", "data.tokenisers.sentencepieces"), _make_subwords, _read_subwords, refusals=(ValueError,)),
    "tokeniser, normal forms": Reader(("data.tokenisers.sentencepieces",), _make_normalising, _read_normalising, refusals=(ValueError,)),
    "tokeniser, words": _tokeniser("words", "data.tokenisers.words"),
    "tokeniser, WordPiece": _tokeniser("wordpiece", "data.tokenisers.wordpiece"),
    "tokeniser, byte pairs": _tokeniser("gpt2", "data.tokenisers.byte_pairs"),
    "prepared corpus, shard": Reader(("data.corpora.prepared", "data.corpora.shards"), _make_corpus("000-00000.bin"), _read_corpus),
    "prepared corpus, record": Reader(("data.corpora.prepared", "base.checksums"), _make_corpus("finished.json"), _read_corpus),
}  # fmt: skip
