"""Data for the pages of language models, classifiers, taggers and BERTs, besides their graphs."""

from typing import Any

from regard.base.faults import Fault
from regard.engines.onnx.texts import text_parts
from regard.loading import Loaded
from regard.models.bert import Bert
from regard.onefile.tokens import tokeniser_data


def text_data(model: Loaded) -> tuple[str, dict[str, Any]] | None:
    """Return the desk of a model that reads or continues texts, and its data; None for a model of another kind."""
    parts = text_parts(model)
    if parts is None:
        return None
    about, task = parts.about, model.task
    match about["kind"]:
        case "language":
            sizes = {"context": about["context"], "heads": about["past"]["heads"], "depth": about["past"]["key_depth"]}
            tokeniser = tokeniser_data(task.tokeniser, _options(model))
            return "write", {"sizes": sizes, "forgets": not task.model.stops_when_full, "tokeniser": tokeniser}
        case "classification":
            return "answer", _classifier_data(model)
        case "tagging":
            return "answer", _tagger_data(model, about["chain"])
    tokeniser = tokeniser_data(task.tokeniser, _options(model))
    longest = task.model.reader.most_tokens()
    return "answer", {"kind": "masked", "tokeniser": tokeniser, "mask": task.tokeniser.mask, "longest": longest}


def _classifier_data(model: Loaded) -> dict[str, Any]:
    task = model.task
    if task.data.has_pairs or task.is_about_aspects:
        raise Fault("Pages classify one text at a time, and this model reads pairs or aspects; serve it instead.")
    reader, options = task.model.reader, task.model.reader.options
    is_bert = isinstance(reader, Bert)
    before, _ = reader.around
    room = options.longest - len(before) - is_bert
    return {
        "kind": "classification",
        "tokeniser": tokeniser_data(task.tokeniser, _options(model)),
        "classes": task.labels.classes,
        "framed": is_bert,
        "first": None if is_bert or not before else before[0],
        "longest": room if is_bert else min(room, task.data.longest),
        "ends": is_bert and options.too_long == "ends",
    }


def _tagger_data(model: Loaded, chain: dict[str, Any] | None) -> dict[str, Any]:
    task = model.task
    lexicon = task.lexicon
    pieces = None if task.tokeniser is None else tokeniser_data(task.tokeniser, _options(model))
    longest = task.model.options.longest
    return {
        "kind": "tagging",
        "lexicon": {name: getattr(lexicon, name) for name in ("words", "letters", "fold_case", "fold_digits")},
        "tags": lexicon.tags,
        "scheme": task.data.scheme,
        "tokeniser": pieces,
        "longest": {"words": min(task.data.longest, longest), "tokens": longest},
        "chain": chain,
    }


def _options(model: Loaded) -> Any:
    """Return the complete options of a tokeniser."""
    data: Any = model.recipe.data
    return data.tokeniser.full()
