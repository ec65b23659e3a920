"""The scores stored in a model folder."""

from collections.abc import Sequence
from pathlib import Path

from regard.base.faults import Fault
from regard.base.model_folder import SCORES, read_folder, scores_to_bytes, update_folder
from regard.base.parsing import parse_json
from regard.base.progress import Remark, ignore_remark
from regard.base.scores import Score


def keep_scores(folder: Path, scores: Sequence[Score], remark: Remark = ignore_remark) -> None:
    """Store the scores of a split in the model folder, replacing older ones of the same kind, or say why not."""
    new = [score.as_dict() for score in scores]
    replaced = {(score["metric"], score["split"], score["signature"]) for score in new}
    old = [
        score for score in read_scores(folder) if (score["metric"], score["split"], score["signature"]) not in replaced
    ]
    try:
        update_folder(folder, {SCORES: scores_to_bytes([*old, *new])})
    except Fault:
        remark(f"{folder} is not writable, so the scores are not stored there.")


def read_scores(folder: Path) -> list[dict]:
    """Read the scores stored in a model folder."""
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


def score_in_words(stored: dict) -> str:
    """Return a stored score as one line."""
    value = float("nan") if stored["value"] is None else stored["value"]  # null stands for NaN or infinity
    score = Score(stored["metric"], value, stored["signature"], 0, stored["split"], stored.get("deviation"))
    return f"{score.split} {score.metric} {score.shown}" + (f"  ({score.signature})" if score.signature else "")
