"""The scores that a model folder keeps."""

from collections.abc import Sequence
from pathlib import Path

from regard.base.faults import Fault
from regard.base.model_folder import SCORES, read_folder, scores_to_bytes, update_folder
from regard.base.parsing import parse_json
from regard.base.progress import Remark, ignore_remark
from regard.base.scores import Score


def keep_scores(folder: Path, scores: Sequence[Score], remark: Remark = ignore_remark) -> None:
    """Keep the scores of a split in the model folder, in the place of older ones of the same kind, or say why not."""
    new = [each.as_dict() for each in scores]
    replaced = {(each["metric"], each["split"], each["signature"]) for each in new}
    old = [each for each in read_scores(folder) if (each["metric"], each["split"], each["signature"]) not in replaced]
    try:
        update_folder(folder, {SCORES: scores_to_bytes([*old, *new])})
    except Fault:
        remark(f"{folder} cannot be written to, so the scores are not kept there.")


def read_scores(folder: Path) -> list[dict]:
    """The scores kept in a model folder."""
    if not (folder / SCORES).exists():
        return []
    try:
        path = folder / SCORES
        scores = parse_json(read_folder(folder, [SCORES])[SCORES], str(path))["scores"]
        if all({"metric", "value", "signature", "split"} <= score.keys() for score in scores):
            return list(scores)
    except (KeyError, TypeError, AttributeError):
        pass
    raise Fault(f"{path} does not hold scores.")


def score_in_words(kept: dict) -> str:
    """A score that a model folder keeps, on one line."""
    value = float("nan") if kept["value"] is None else kept["value"]  # null is what was no finite number
    score = Score(kept["metric"], value, kept["signature"], 0, kept["split"], kept.get("deviation"))
    return f"{score.split} {score.metric} {score.shown}" + (f"  ({score.signature})" if score.signature else "")
