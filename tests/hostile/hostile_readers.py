"""Every reader of files that others may have made: an honest file for it, and how it is read.

`test_every_reader.py` finds the modules of regard that read files and fails where one is neither named in a row here
nor among `TRUSTED`. `benchmarks/hostile_files.py` damages each honest file thousands of times.
"""

import gzip
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import hostile_data as data
import hostile_models as models
from hostile_data import Make, Read


@dataclass(frozen=True)
class Reader:
    """Reader of one kind of file; `modules` are regard's modules that read it.

    `make` writes an honest file into a folder; `seal` makes the checksum that vouches for it fit what it holds now.
    Errors among `refusals` are what the reader promises to its callers, who make a fault of them.
    """

    modules: tuple[str, ...]
    make: Make
    read: Read
    seal: Callable[[Path], None] | None = None
    refusals: tuple[type[Exception], ...] = ()
    megabytes_of_a_process: float = 100.0  # of a process that the reader starts, before it reads anything


def _model(family: str, file: str, *modules: str) -> Reader:
    return Reader((*modules, "base.model_folder"), models.make_toy(family, file), models.load, models.vouch)


def _tokeniser(kind: str, *modules: str) -> Reader:
    return Reader(("data.tokenisers.tokeniser", *modules), models.make_tokeniser(kind), models.read_tokeniser(kind))


CONTENT, LINES = "data.catalogue.unpack", "data.lines"
TABLES = ("data.corpora.tables", "data.corpora.table_rows", "base.confinement")
TENSORS = ("base.tensors", "training.checkpoint")
PICTURES = ("data.pictures.files",)

READERS: dict[str, Reader] = {
    "text": Reader((LINES,), data.written("a.txt", data.TEXT), data.read_text),
    "text, gzip": Reader((LINES, CONTENT), data.written("a.txt.gz", gzip.compress(data.TEXT.encode())), data.read_text),
    "text, xz": Reader((LINES, CONTENT), data.written("a.txt.xz", lzma.compress(data.TEXT.encode())), data.read_text),
    "text, Zstandard": Reader((LINES, "data.catalogue.zstandard"), data.make_zstandard, data.read_text),
    "pairs": Reader((LINES, "data.corpora.text"), data.written("a.tsv", data.PAIRS), data.read_pairs),
    "table, CSV": Reader(("data.tables.reading",), data.written("a.csv", data.CSV), data.read_pairs),
    "table, JSON lines": Reader(
        ("data.tables.reading",), data.written("a.jsonl", data.JSON_LINES), data.read_pairs_of("source:target")
    ),
    "memory, TMX": Reader(("data.corpora.memories",), data.written("a.tmx", data.TMX), data.read_pairs),
    "memory, XLIFF": Reader(("data.corpora.memories",), data.written("a.xlf", data.XLIFF), data.read_pairs),
    "head of a sound": Reader(("data.media_sizes",), data.make_sound("a.flac"), data.read_head_of_sound),
    "head of a video": Reader(("data.media_sizes",), data.make_video, data.read_head_of_video),
    "table, parquet": Reader(TABLES, data.make_table("a.parquet"), data.read_pairs),
    "table, Arrow stream": Reader(TABLES, data.make_table("a.arrow"), data.read_pairs),
    "table, Arrow file": Reader(TABLES, data.make_table("file.arrow"), data.read_pairs),
    "folder of tables": Reader(TABLES[:1], data.make_folder_of_tables, lambda path: data.read_pairs(path.parent)),
    "archive, zip": Reader((CONTENT,), data.make_archive("set.zip"), data.unpack, refusals=(data.unusable(),)),
    "archive, tar": Reader((CONTENT,), data.make_archive("set.tar"), data.unpack, refusals=(data.unusable(),)),
    "archive, tar.gz": Reader((CONTENT,), data.make_archive("set.tar.gz"), data.unpack, refusals=(data.unusable(),)),
    "archive, tar.xz": Reader((CONTENT,), data.make_archive("set.tar.xz"), data.unpack, refusals=(data.unusable(),)),
    "recordings, zip": Reader(("data.sounds.recordings",), data.make_archive("set.zip"), data.read_recordings),
    "recordings, tar": Reader(("data.sounds.recordings",), data.make_archive("set.tar"), data.read_recordings),
    "sound, wav": Reader(("data.sounds.files",), data.make_sound("a.wav"), data.read_sound),
    "sound, flac": Reader(("data.sounds.files",), data.make_sound("a.flac"), data.read_sound),
    "picture, PNG": Reader(PICTURES, data.make_picture("a.png"), data.read_picture),
    "picture, palette": Reader(PICTURES, data.make_picture("a.png", "P"), data.read_picture),
    "picture, grey": Reader(PICTURES, data.make_picture("a.png", "L"), data.read_small_picture),
    "picture, JPEG": Reader(PICTURES, data.make_picture("a.jpg"), data.read_picture),
    "picture, BMP": Reader(PICTURES, data.make_picture("a.bmp"), data.read_picture),
    "picture, PPM": Reader(PICTURES, data.make_picture("a.ppm"), data.read_picture),
    "picture, TIFF": Reader(PICTURES, data.make_picture("a.tiff"), data.read_picture),
    "picture, WEBP": Reader(PICTURES, data.make_picture("a.webp"), data.read_picture),
    "video": Reader(("data.pictures.videos", *PICTURES), data.make_video, data.read_video),
    "pictures in a tar": Reader(("data.captions.pixels",), data.make_picture_store("a.tar"), data.read_picture_store),
    "pictures in a tar.gz": Reader(
        ("data.captions.pixels",), data.make_picture_store("a.tar.gz"), data.read_picture_store
    ),
    "pictures, idx": Reader(("data.pictures.idx",), data.make_idx, data.read_idx),
    "array": Reader(("data.captions.files", "data.arrays"), data.written("a.npy", data.array()), data.read_array),
    "array, gzip": Reader(
        ("data.captions.files",), data.written("a.npy.gz", gzip.compress(data.array())), data.read_array
    ),
    "components": Reader(
        ("data.captions.components", "data.captions.features"), data.make_components, data.read_components
    ),
    "shortlist": Reader(("engines.shortlist",), data.make_shortlist, data.read_shortlist, refusals=(ValueError,)),
    "drawings, archive": Reader(
        ("data.strokes.archives", "data.pickles"), data.make_drawings("a.npz"), data.read_drawings
    ),
    "drawings, JSON": Reader(("data.strokes.drawings",), data.make_drawings("a.ndjson"), data.read_drawings),
    "drawings, SVG": Reader(("data.strokes.drawings",), data.written("a.svg", data.SVG), data.read_drawings),
    "Planetoid, matrix": Reader(
        ("data.graphs.planetoid", "data.pickles"), data.make_planetoid("allx"), data.read_planetoid
    ),
    "Planetoid, neighbours": Reader(("data.graphs.planetoid",), data.make_planetoid("graph"), data.read_planetoid),
    "graph, plain": Reader(("data.graphs.prepare",), data.make_plain_graph, data.read_plain_graph),
    "graph, prepared": Reader(("data.graphs.prepare", "data.graphs.labelled"), models.make_graph, models.read_graph),
    "stories": Reader(("data.stories.reading",), data.make_stories, data.read_stories),
    "tagged sentences": Reader(("data.tagging.files",), data.make_tagged, data.read_tagged),
    "labelled texts": Reader(("data.labelled.reading",), data.make_labelled, data.read_labelled),
    "captions": Reader(("data.captions.files",), models.make_captions, models.read_captions),
    "word vectors, text": Reader(
        ("data.vectors.files", "data.vectors.text"), data.make_vectors("a.vec", "word2vec"), data.read_vectors
    ),
    "word vectors, binary": Reader(
        ("data.vectors.files", "data.vectors.binary"), data.make_vectors("a.bin", "word2vec-binary"), data.read_vectors
    ),
    "word vectors, gzip": Reader(("data.vectors.files",), data.make_vectors("a.txt.gz", "glove"), data.read_vectors),
    "word questions": Reader(
        ("data.vectors.questions",), data.written("questions.txt", data.ANALOGIES), data.read_questions
    ),
    "n-grams, ARPA": Reader(("engines.arpa",), data.written("a.arpa", data.ARPA), data.import_arpa),
    "n-grams, mapped": Reader(
        ("models.ngram.mapped", "loading"), models.make_mapped, models.score_mapped, models.seal_mapped
    ),
    "Marian, config": Reader(
        ("engines.hugging_face.files", "engines.marian.config"),
        models.make_marian("config.json"),
        models.import_from("marian"),
    ),
    "Marian, vocabulary": Reader(
        ("engines.marian.tokenisers", "data.tokenisers.marian"),
        models.make_marian("vocab.json"),
        models.import_from("marian"),
    ),
    "Marian, pieces": Reader(
        ("data.tokenisers.sentencepieces",), models.make_marian("source.spm"), models.import_from("marian")
    ),
    "Marian, weights": Reader(
        ("engines.hugging_face.stored",), models.make_marian("model.safetensors"), models.import_from("marian")
    ),
    "Marian, pickle": Reader(
        ("engines.hugging_face.stored",), models.make_marian("pytorch_model.bin"), models.import_from("marian")
    ),
    "GPT-2, config": Reader(("engines.gpt2.config",), models.make_gpt2("config.json"), models.import_from("gpt2")),
    "BERT, config": Reader(("engines.bert.config",), models.make_bert("config.json"), models.import_from("bert")),
    "GPT-2, vocabulary": Reader(
        ("engines.hugging_face.files",), models.make_gpt2("vocab.json"), models.import_from("gpt2")
    ),
    "GPT-2, pairs": Reader(("engines.gpt2.tokenisers",), models.make_gpt2("merges.txt"), models.import_from("gpt2")),
    "BERT, vocabulary": Reader(
        ("engines.bert.vocabularies",), models.make_bert("vocab.txt"), models.import_from("bert")
    ),
    "BERT, weights": Reader(
        ("engines.hugging_face.stored",), models.make_bert("model.safetensors"), models.import_from("bert")
    ),
    "votes": Reader(("serving.judging.votes",), data.written("votes.jsonl", models.VOTES), models.read_votes),
    "progress": Reader(("course.progress",), data.written("progress.json", models.PROGRESS), models.read_progress),
    "recipe": Reader(("base.recipe", "base.parsing"), data.written("a.toml", models.RECIPE), models.read_recipe),
    "model, manifest": Reader(
        ("base.model_folder", "base.files"), models.make_toy("transformer", "manifest.json"), models.load
    ),
    "model, recipe": _model("transformer", "recipe.toml", "base.parsing"),
    "model, weights": _model("transformer", "weights.safetensors", *TENSORS),
    "model, described": Reader(
        ("families.model_folder", "base.tensors"),
        models.make_toy("transformer", "weights.safetensors"),
        models.describe,
        models.vouch,
    ),
    "model, words": _model("transformer", "tokeniser.json", "data.tokenisers.words"),
    "model, n-grams of a bag": _model("bag", "ngrams.npy", "tasks.classification.task"),
    "model, labels": _model("bag", "labels.json", "data.labelled.prepare"),
    "model, counted n-grams": _model("ngram", "weights.safetensors", *TENSORS),
    "model, counts of words": _model("word2vec", "counts.json", "models.words.vocabulary"),
    "model, features": _model("captioner", "features.json", "data.captions.features"),
    "model, graph": _model("gat", "graph.safetensors", "data.graphs.labelled"),
    "model, scale of strokes": _model("sketch-rnn", "strokes.json", "data.strokes.prepare"),
    "model, alphabet": _model("ctc", "alphabet.json", "data.prepared"),
    "model, stories": _model("memory", "vocabulary.json", "data.stories.prepare"),
    "tokeniser, subwords": Reader(
        ("data.tokenisers.subwords", "data.tokenisers.sentencepieces"),
        models.make_subwords,
        models.read_subwords,
        refusals=(ValueError,),
    ),
    "tokeniser, normal forms": Reader(
        ("data.tokenisers.sentencepieces",), models.make_normalising, models.read_normalising, refusals=(ValueError,)
    ),
    "tokeniser, words": _tokeniser("words", "data.tokenisers.words"),
    "tokeniser, WordPiece": _tokeniser("wordpiece", "data.tokenisers.wordpiece"),
    "tokeniser, byte pairs": _tokeniser("gpt2", "data.tokenisers.byte_pairs"),
    "prepared corpus, shard": Reader(
        ("data.corpora.prepared", "data.corpora.shards"), models.make_corpus("000-00000.bin"), models.read_corpus
    ),
    "prepared corpus, record": Reader(
        ("data.corpora.prepared", "base.checksums"), models.make_corpus("finished.json"), models.read_corpus
    ),
    "model, scores": Reader(
        ("runs.kept_scores",), models.make_toy("transformer", "scores.json"), models.read_scores, models.vouch
    ),
    "card, purpose": Reader(("runs.card.facts",), models.make_corpus("purpose.json"), models.read_card_data),
    "model, about": Reader(
        ("runs.about",), models.make_toy("transformer", "about.json"), models.read_scores, models.vouch
    ),
    "model, labels of pictures": _model("ram", "labels.json", "data.pictures.prepare"),
    "model, words of captions": _model("painter", "words.json", "data.prepared"),
    "model, lexicon": _model("tagging rnn", "lexicon.json", "data.prepared"),
    "model, voices": _model("tacotron", "voices.json", "data.prepared"),
    "model of words, weights": Reader(
        ("tasks.words.ready_vectors",), models.make_words_folder, models.read_words_folder, models.vouch
    ),
    "checkpoint, facts": Reader(("training.checkpoint",), models.make_checkpoint, models.read_checkpoint, models.vouch),
    "edits": Reader(("base.edits",), data.make_edits, data.read_edits),
    "export, record": Reader(
        ("engines.exported", "engines.ctranslate2.engine"),
        models.make_export("ctranslate2", "export.json"),
        models.load_export,
    ),
    "export, vocabulary": Reader(
        ("engines.ctranslate2.files",),
        models.make_export("ctranslate2", "shared_vocabulary.json"),
        models.load_export,
        models.vouch_for_export,
    ),
    "export, ONNX": Reader(
        ("engines.onnx.engine", "engines.onnx.sessions"),
        models.make_export("onnx", "encoder.onnx"),
        models.load_export,
    ),
    "export, facts of a tagger": Reader(
        ("engines.onnx.text_exports",),
        models.make_export("onnx", "about.json", "tagging bert"),
        models.tag_by_export,
        models.vouch_for_export,
    ),
}
