"""Translators that start from pretrained vectors: words that have one, its scale, and what stays unchanged."""

from pathlib import Path
from typing import Any

import pytest
import torch
from small import undrawn

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.families import check_recipe
from regard.runs.open import Run, open_run
from regard.runs.train import train


def opened(
    folder: Path, embedding: int = 2, name: str = "vectors.txt", model: dict[str, Any] | None = None, **tokeniser: Any
) -> Run:
    (folder / "pairs.tsv").write_text("a b\tb a\na c\tc A\n" * 4, encoding="utf-8")
    (folder / "vectors.txt").write_text("2 2\na 3 0\nb 0 4\n", encoding="utf-8")
    table = {
        "family": (model or {}).get("family", "seq2seq"),
        "data": {
            "train": str(folder / "pairs.tsv"),
            "valid": str(folder / "pairs.tsv"),
            "cleaning": {"leakage": False},
            "tokeniser": {"kind": "spaces", **tokeniser},
            "vectors": str(folder / name),
        },
        "model": {name: value for name, value in model.items() if name != "family"}
        if model
        else {"embedding": embedding, "width": 4},
        "training": {
            "steps": 2,
            "batch_tokens": 16,
            "device": "cpu",
            "validation_beam": 0,
            "freeze": ["embeddings"],
            "optimizer": {"warmup": 0},
        },
    }
    return open_run(check_recipe(table), folder / "run", True, silent, lambda remark: None)


def test_words_begin_with_their_vectors_and_keep_them_if_frozen(tmp_path: Path) -> None:
    """(3, 0) twice, because A reads the vector of a, and (0, 4): the mean square is 34/6 and becomes 1/2."""
    run = opened(tmp_path)
    tokens = [run.task.source.encode(word)[0] for word in ("a", "A", "b", "c")]
    first = run.task.model.source_embedding.weight.detach()[tokens].clone()
    expected = torch.tensor([[3.0, 0.0], [3.0, 0.0], [0.0, 4.0]]) * (1 / 2 / (34 / 6)) ** 0.5
    torch.testing.assert_close(first[:3], expected)
    assert f"3 of {run.task.source.size} embeddings start from the vectors of" in "\n".join(
        run.task.outline(run.recipe)
    )
    with undrawn():
        train(run, [])
    torch.testing.assert_close(run.task.model.source_embedding.weight.detach()[tokens], first)


@pytest.mark.parametrize(
    "model",
    [
        {"family": "online", "embedding": 2, "width": 4},
        {"family": "ctc-text", "width": 2, "encoder": "recurrent"},
        {"family": "transformer", "width": 2, "heads": 1},
    ],
    ids=lambda model: str(model["family"]),
)
def test_every_translator_begins_with_vectors(tmp_path: Path, model: dict[str, Any]) -> None:
    run = opened(tmp_path, model=model)
    first, second = (run.task.model.source_embedding.weight[run.task.source.encode(word)[0]] for word in ("a", "b"))
    torch.testing.assert_close(first / first.norm(), torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(second / second.norm(), torch.tensor([0.0, 1.0]))


def test_vectors_of_another_width_missing_ones_and_subwords_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"There are no vectors at .*absent\.txt"):
        opened(tmp_path, name="absent.txt")
    with pytest.raises(Fault, match="are 2 wide, but the embeddings of the model are 3"):
        opened(tmp_path, embedding=3)
    with pytest.raises(Fault, match="vectors are for words, but the tokens are characters"):
        opened(tmp_path, kind="characters")
