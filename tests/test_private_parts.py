"""Private parts of libraries that we use, all for speed. A version that lacks one fails here."""

import re
from pathlib import Path

import torch
from sacrebleu.dataset import DATASETS
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

import regard

PACKAGE = Path(regard.__file__).parent
TORCH = {"_foreach_add_", "_foreach_copy_", "_foreach_lerp_", "_foreach_mul_", "_addmm_activation"}
OF_BLEU = {"_preprocess_segment", "_extract_corpus_statistics", "_compute_score_from_stats"}
OF_CHRF = {"_remove_punctuation", "_compute_f_score", "_compute_score_from_stats"}
OF_SETS = {"_get_txt_file_path", "_get_langpair_allowed_refs"}


def used(pattern: str, folder: Path) -> set[str]:
    """Return the names that match a pattern in a folder's code, skipping comments and docstrings line by line."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    return set(re.findall(pattern, text))


def test_torch_has_what_we_take_from_behind_its_door() -> None:
    assert used(r"torch\.(_(?!dynamo)\w+)\(", PACKAGE) == TORCH
    assert [name for name in TORCH if not hasattr(torch, name)] == []


def test_sacrebleu_has_what_we_take_from_behind_its_door() -> None:
    assert used(r"(?:metric|dataset)\.(_\w+)", PACKAGE / "metrics") == OF_BLEU | OF_CHRF | OF_SETS
    assert [name for name in OF_BLEU if not hasattr(BLEU, name)] == []
    assert [name for name in OF_CHRF if not hasattr(CHRF, name)] == []
    sets = [type(dataset) for dataset in DATASETS.values()]
    assert [name for name in OF_SETS if not any(hasattr(set_class, name) for set_class in sets)] == []


def test_their_versions_are_bounded_where_a_bound_is_kept() -> None:
    """Torch's own optimisers use the same parts of torch, so these last; sacreBLEU promises nothing."""
    text = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert '"sacrebleu>=2.4,<2.7"' in text
