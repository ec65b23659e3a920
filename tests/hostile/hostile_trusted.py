"""Modules that read files but have no row in the table of hostile files, each with the reason."""

_LINES = "Lines of text without a form of their own, by read_lines, whose rows are text and pairs."
_SHIPPED = "Files that are part of regard."
_RANKS = "Messages between processes of one training."
_WORKING = "A file that this machine wrote for itself while it worked, in a folder of the user's."
_PREPARED = "Arrays and records that regard prepared on this machine; checksums find damage before they are opened."
_WRITES = "It writes such files and reads none."
_GET = "Content is compared with the catalogue's checksum before it is used."
_FOLDER = (
    "Files of a model folder that base.model_folder has read and bounded; a table checked by pydantic, as labels.json."
)

TRUSTED: dict[str, str] = {
    "base.plugin_record": _FOLDER,
    "promises.learning": _WORKING,
    "promises.using": _WORKING,
    "base.processes": "What Linux says of a process.",
    "verbs.translate.bulk.finishing": _WORKING,
    "verbs.translate.bulk.workers": _WORKING,
    "console.lines": _LINES,
    "commands.serve": "The file with the user's own key.",
    "commands.judge.given": "Lines of text by read_lines, and bytes of bounded size that a browser shows.",
    "serving.judging.app": "Bodies of requests, which have a table of their own.",
    "viewing.lesson_page": "A picture that it has just drawn itself.",
    "verbs.translate.command": _LINES,
    "verbs.translate.unfinished": _WORKING,
    "verbs.translate.line_translator": _LINES,
    "data.captions.prepare": _PREPARED,
    "data.catalogue.conversions": _GET,
    "data.catalogue.download": _GET,
    "data.catalogue.entries": _SHIPPED,
    "data.catalogue.fetching": _GET,
    "data.catalogue.get": "The record of what `regard data get` wrote itself.",
    "data.corpora.hashes": _WORKING,
    "data.corpora.pieces": _WORKING,
    "data.corpora.prepare": _WORKING,
    "data.demo.entries": _SHIPPED,
    "data.generated.styles": _SHIPPED,
    "data.pictures.scenes": "Numbers drawn from a hash.",
    "data.tagging.prepare": _PREPARED,
    "data.texts.recipe_lines": _LINES,
    "data.texts.prepare": _PREPARED,
    "data.tokenisers.space_loops": "Lines in memory, as bytes.",
    "engines.ctranslate2.spec": _WRITES,
    "engines.onnx.graph": _WRITES,
    "engines.onnx.transformer": _WRITES,
    "kernels.arpa_lines": _WRITES,
    "metrics.sentence_counts": "Texts in memory, as numbers.",
    "metrics.files": _LINES,
    "metrics.wordnet": _GET,
    "models.efficientnet": "Weights that a package of the environment brings.",
    "models.ngram.arpa_text": _WRITES,
    "models.ngram.scratch": "Temporary files of its own, which have no name.",
    "models.words.ngrams": "Words in memory, as numbers.",
    "runs.compare.formats": _WRITES,
    "runs.compare.outcomes": _WORKING,
    "runs.compare.side_by_side": _WORKING,
    "runs.open": _WORKING,
    "runs.ranks": _RANKS,
    "runs.rank_process": _RANKS,
    "runs.recipes": _SHIPPED,
    "serving.http.bodies": "Bodies of requests, which have a table of their own.",
    "serving.known": _FOLDER,
    "serving.queue.process_memory": "What Linux says of this process.",
    "serving.shared_metrics": _WORKING,
    "serving.static": _SHIPPED,
    "tasks.classification.contexts": "Weights of a model folder, bounded as all others are.",
    "training.pace": _WORKING,
    "training.process_group": _RANKS,
    "training.pulse": _RANKS,
    "verbs.embed.archive": _WRITES,
    "verbs.generate.evaluation": _LINES,
    "verbs.translate.certainty": _FOLDER,
    "verbs.translate.evaluation": _LINES,
    "viewing.modules": _SHIPPED,
    "viewing.texts": _SHIPPED,
    "viewing.view": "A picture that regard has just drawn.",
}
