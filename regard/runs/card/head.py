"""The head of a model card: YAML metadata with the fields of the Hugging Face Hub."""

import json
import math
from collections.abc import Iterator
from typing import Any

from regard.runs.card.facts import CardFacts

# Names that hubs use for our tasks; tasks without one are left out.
PIPELINES = {
    "translation": "translation",
    "language": "text-generation",
    "masked": "fill-mask",
    "classification": "text-classification",
    "tagging": "token-classification",
    "answering": "question-answering",
    "contexts": "feature-extraction",
    "words": "feature-extraction",
    "transcription": "automatic-speech-recognition",
    "speaking": "text-to-speech",
    "captioning": "image-to-text",
    "handwriting": "image-to-text",
    "glimpses": "image-classification",
    "drawing": "unconditional-image-generation",
    "painting": "text-to-image",
    "nodes": "graph-ml",
}
_UNKNOWN_LANGUAGES = {"src", "tgt"}  # placeholders for unnamed languages


def head_of(facts: CardFacts, licence: str | None) -> str:
    """Return the head of a card between two lines of dashes; unknown fields are omitted."""
    recipe = facts.recipe
    fields: dict[str, Any] = {
        "language": languages_of(facts),
        "license": licence and licence.lower(),
        "library_name": "regard",
        "pipeline_tag": PIPELINES.get(recipe.task),
        "tags": list(dict.fromkeys(["regard", "attention", recipe.family, recipe.task])),
        "datasets": [entry.name for entry in facts.sets],
        "metrics": list(dict.fromkeys(score["metric"] for score in facts.scores)),
        "model-index": [{"name": facts.name, "results": results}] if (results := list(_results(facts))) else [],
    }
    lines = _yaml_lines({name: value for name, value in fields.items() if value})
    return "\n".join(["---", *lines, "---"])


def languages_of(facts: CardFacts) -> list[str]:
    """Return the language codes that a model's recipe gives."""
    data = facts.recipe.data
    codes = [getattr(data, side, "") for side in ("source_language", "target_language")]
    valid = [code for code in codes if code.isalpha() and code.islower() and len(code) in (2, 3)]
    return [code for code in dict.fromkeys(valid) if code not in _UNKNOWN_LANGUAGES]


def _results(facts: CardFacts) -> Iterator[dict[str, Any]]:
    """Yield the finite scores, grouped by split."""
    for split in dict.fromkeys(score["split"] for score in facts.scores):
        scores = [score for score in facts.scores if score["split"] == split and _is_finite(score["value"])]
        if scores:
            yield {
                "task": {"type": PIPELINES.get(facts.recipe.task, facts.recipe.task)},
                "dataset": {"name": data_name(facts, split), "type": data_name(facts, split), "split": split},
                "metrics": [
                    {"type": score["metric"], "value": score["value"]}
                    | ({"name": f"{score['metric']} ({score['signature']})"} if score["signature"] else {})
                    for score in scores
                ],
            }


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def data_name(facts: CardFacts, split: str) -> str:
    """Return the file names of a split, or those of the training data if the split was held out of it."""
    files = [file.name for file in facts.data if file.split == split]
    whole = files or [file.name for file in facts.data if file.split in ("", "train")]
    return ", ".join(whole) or f"data of the task {facts.recipe.task}"


def _yaml_lines(value: Any, indent: str = "") -> Iterator[str]:
    """Yield lines of YAML: dicts and lists as blocks, everything else as JSON, which is valid YAML."""
    for key, inner in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        mark = "-" if key is None else f"{key}:"
        if not isinstance(inner, dict | list):
            yield f"{indent}{mark} {json.dumps(inner, ensure_ascii=False)}"
            continue
        lines = list(_yaml_lines(inner, f"{indent}  "))
        if key is None:
            yield f"{indent}- {lines[0].lstrip()}"
            yield from lines[1:]
        else:
            yield f"{indent}{mark}"
            yield from lines
