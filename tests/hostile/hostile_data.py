"""Honest data files for each reader, and how they are read."""

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Make = Callable[[Path], Path]
Read = Callable[[Path], object]


def written(name: str, content: bytes | str) -> Make:
    """Write this content under this name."""

    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name

    return make


TEXT = "".join(f"The number {n} is one of many numbers, and so is {n * 7919 % 1000}.\n" for n in range(60))
PAIRS = "".join(f"The number {n}.\tDie Zahl {n}.\n" for n in range(60))
CSV = "source,target\n" + "".join(f'"{n}, a ""quoted"" text",um texto {n}\n' for n in range(12))
TMX = "".join(
    [
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">',
        '<header srclang="en"/><body>\n',
        *(
            f'<tu><tuv xml:lang="en"><seg>Number <ph x="1">{n}</ph>{n}.</seg></tuv>'
            f'<tuv xml:lang="pt"><seg>O número &#{n + 48};.</seg></tuv></tu>\n'
            for n in range(12)
        ),
        "</body></tmx>\n",
    ]
)
XLIFF = "".join(
    [
        '<xliff version="2.0" srcLang="en" trgLang="pt"><file id="f"><unit id="u">\n',
        *(f"<segment><source>Number {n}</source><target>Número {n}</target></segment>\n" for n in range(12)),
        "</unit></file></xliff>\n",
    ]
)
JSON_LINES = "".join(f'{{"source": "a text {n}", "target": "um texto {n}"}}\n' for n in range(12))


def make_edits(folder: Path) -> Path:
    from regard.base.edits import Edit, Edits

    edits = [
        Edit(at="cross.1.2", do="move", keys=[1, 2], to=0, by=0.5, queries=[3]),
        Edit(at="encoder.0", part="output", do="replace", values=[[1.0, 2.0], [3.0, 4.0]], units=[0, 1]),
    ]
    Edits(model="a" * 64, edits=edits).save(folder / "edits.json")
    return folder / "edits.json"


def read_edits(path: Path) -> object:
    from regard.base.edits import Edits

    return Edits.load(path).describe()


def read_text(path: Path) -> object:
    from regard.data.lines import read_lines

    return list(read_lines(path))


def make_zstandard(folder: Path) -> Path:
    import zstandard

    return written("a.txt.zst", zstandard.ZstdCompressor().compress(TEXT.encode()))(folder)


def read_pairs(path: Path, **more: Any) -> object:
    from regard.base.recipe import check
    from regard.data.corpora.options import Corpus
    from regard.data.corpora.text import read_pairs

    return list(read_pairs(check(Corpus, {"pairs": str(path), **more})))


def read_pairs_of(columns: str) -> Read:
    """Return a reader of the pairs in these columns of a table."""
    return lambda path: read_pairs(path, columns=columns)


def read_head_of_sound(path: Path) -> object:
    from regard.data.media_sizes import sound_seconds

    return sound_seconds(path.read_bytes())


def read_head_of_video(path: Path) -> object:
    from regard.data.media_sizes import picture_pixels

    return picture_pixels(path.read_bytes(), moving=True)


def make_table(name: str) -> Make:
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


def make_folder_of_tables(folder: Path) -> Path:
    make_table("a.arrow")(folder)
    return written("state.json", json.dumps({"_data_files": [{"filename": "a.arrow"}]}))(folder)


def make_archive(name: str) -> Make:
    """Write an archive of a few recordings, in the folder its name requires."""

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


def read_recordings(path: Path) -> object:
    from regard.data.sounds.options import SoundFiles
    from regard.data.sounds.recordings import read_recordings

    return read_recordings(SoundFiles(recordings=str(path)), 4000)


def unpack(path: Path) -> object:
    import tempfile

    from regard.data.catalogue.unpack import folder_checksum, unpack

    with tempfile.TemporaryDirectory() as place:
        unpack(path, Path(place) / "set", 1 << 24)
    return folder_checksum(path, 1 << 24)


def unusable() -> type[Exception]:
    from regard.data.catalogue.unpack import Unusable

    return Unusable


def make_sound(name: str) -> Make:
    def make(folder: Path) -> Path:
        import soundfile
        from sound_files import tone

        soundfile.write(folder / name, tone(440, 0.2, 8000), 8000)
        return folder / name

    return make


def read_sound(path: Path) -> object:
    from regard.data.sounds.files import read_sound

    return read_sound(path, 16_000)


def make_picture(name: str, mode: str = "RGB") -> Make:
    def make(folder: Path) -> Path:
        from PIL import Image

        pixels = np.arange(40 * 30 * 3, dtype=np.uint8).reshape(40, 30, 3)
        Image.fromarray(pixels).convert(mode).save(folder / name)
        return folder / name

    return make


def read_picture(path: Path) -> object:
    from regard.data.pictures.files import read_colours

    return read_colours(path)


def read_small_picture(path: Path) -> object:
    from regard.data.pictures.files import read_picture_file

    return read_picture_file(path)


def make_video(folder: Path) -> Path:
    from PIL import Image

    frames = [Image.fromarray(np.full((20, 24, 3), 40 * n, np.uint8)) for n in range(5)]
    frames[0].save(folder / "a.gif", save_all=True, append_images=frames[1:])
    return folder / "a.gif"


def read_video(path: Path) -> object:
    from regard.data.pictures.videos import read_frames

    return list(read_frames(path, str(path), 3))


def make_picture_store(name: str) -> Make:
    def make(folder: Path) -> Path:
        make_picture("a.png")(folder)
        with tarfile.open(folder / name, "w:gz" if name.endswith("gz") else "w") as archive:
            for number in range(3):
                archive.add(folder / "a.png", f"pictures/{number}.png")
        return folder / name

    return make


def read_picture_store(path: Path) -> object:
    from regard.base.progress import silent
    from regard.data.captions.pixels import read_pixels

    return read_pixels(str(path), ["0.png", "2.png"], 8, None, silent)


def make_idx(folder: Path) -> Path:
    from picture_files import write_idx

    return Path(write_idx(folder / "a.gz", np.arange(6 * 8 * 8).reshape(6, 8, 8) % 256))


def read_idx(path: Path) -> object:
    from regard.data.pictures.idx import read_pictures

    return read_pictures(path)


def array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(60, dtype=np.float32).reshape(5, 4, 3))
    return buffer.getvalue()


def read_array(path: Path) -> object:
    from regard.data.captions.files import read_array

    return read_array(path, str(path))


def make_components(folder: Path) -> Path:
    arrays = {"mean": np.ones(6, np.float32), "proj": np.ones((6, 3), np.float32), "step": np.float32(0.5)}
    np.savez_compressed(folder / "components.npz", **arrays)
    return folder / "components.npz"


def read_components(path: Path) -> object:
    from regard.data.captions.components import open_components
    from regard.data.captions.features import step_of

    return open_components(path.read_bytes(), str(path)), step_of(path.read_bytes(), str(path))


def make_shortlist(folder: Path) -> Path:
    from regard.engines.shortlist import Shortlist

    return written("shortlist.npz", Shortlist([1, 2, 3], {n: [n, n + 1] for n in range(40)}).to_bytes())(folder)


def read_shortlist(path: Path) -> object:
    from regard.engines.shortlist import Shortlist

    return Shortlist.from_bytes(path.read_bytes(), 100).candidates(range(40))


def make_drawings(name: str) -> Make:
    def make(folder: Path) -> Path:
        from stroke_files import write_archive, write_drawings

        if not name.endswith(".npz"):
            return write_drawings(folder / name, 5)
        moves = [np.array([[1, 2, 0], [3, n, 1]], np.int16) for n in range(6)]
        return write_archive(folder / name, train=moves, test=moves[:2])

    return make


def read_drawings(path: Path) -> object:
    from regard.data.strokes.drawings import read_labelled, read_strokes

    return read_labelled(path, "train", finest=0.5), read_strokes(path)


SVG = '<svg><polyline points="0,0 5,5 9,1"/><polygon points="1 1 2 2 3 4"/></svg>'


def make_planetoid(kind: str) -> Make:
    def make(folder: Path) -> Path:
        from planetoid_files import write_graph

        write_graph(folder)
        return folder / "planetoid" / f"ind.cora.{kind}"

    return make


def read_planetoid(path: Path) -> object:
    from regard.data.graphs import planetoid

    os.environ["REGARD_DATA"] = str(path.parent.parent)
    planetoid.VALIDATION = 2
    return planetoid.read_planetoid("planetoid:cora", normalise=True)


def make_plain_graph(folder: Path) -> Path:
    from small_graph import write_small_graph

    return Path(write_small_graph(folder)["features"])


def read_plain_graph(path: Path) -> object:
    from regard.data.graphs.options import GraphData
    from regard.data.graphs.prepare import read_plain

    return read_plain(GraphData(**{name: str(path.parent / name) for name in ("edges", "features", "labels", "split")}))


def make_stories(folder: Path) -> Path:
    from story_files import write_stories

    return write_stories(folder / "qa1_train.txt", 5)


def read_stories(path: Path) -> object:
    from regard.data.stories.reading import read_story_files

    return read_story_files(str(path))


def make_tagged(folder: Path) -> Path:
    from tagged_files import write_tagged

    return write_tagged(folder / "tagged.txt", 6)


def read_tagged(path: Path) -> object:
    from tagged_files import CHUNKS

    from regard.data.tagging.files import ReadingReport, read_sentences
    from regard.data.tagging.options import TaggingData

    options = TaggingData(train=str(path), **CHUNKS)
    return list(read_sentences([str(path)], options, ReadingReport()))


def make_labelled(folder: Path) -> Path:
    from labelled_files import write_labelled

    return write_labelled(folder / "labelled.txt", 8)


def read_labelled(path: Path) -> object:
    from regard.data.labelled.options import LabelledData
    from regard.data.labelled.reading import read_examples

    return list(read_examples(LabelledData(train=str(path)), str(path)))


def make_vectors(name: str, kind: str) -> Make:
    def make(folder: Path) -> Path:
        from regard.data.vectors.files import write_vectors
        from regard.data.vectors.word_vectors import WordVectors

        words = [f"word{n}" for n in range(12)]
        write_vectors(folder / name, WordVectors(words, np.arange(48, dtype=np.float32).reshape(12, 4)), kind)
        return folder / name

    return make


def read_vectors(path: Path) -> object:
    from regard.data.vectors.files import read_vectors

    return read_vectors(path)


ANALOGIES = ": capitals\nAthens Greece Oslo Norway\nRome Italy Paris France\n"


def read_questions(path: Path) -> object:
    from regard.data.vectors.questions import read_analogies

    return read_analogies(path)


ARPA = (
    "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-1.0\t<unk>\n-99\t<s>\t-0.3\n-0.7\t</s>\n-0.6\tthe\t-0.2\n"
    "-0.9\tcat\t-0.1\n\n\\2-grams:\n-0.2\t<s> the\n-0.4\tthe cat\n-0.3\tcat </s>\n\n\\end\\\n"
)


def import_arpa(path: Path) -> object:
    import tempfile

    from regard.engines.arpa import import_arpa

    with tempfile.TemporaryDirectory() as place:
        import_arpa(path, Path(place) / "model")
    return None
