"""An imported Marian model is fine-tuned, then exported to Marian and to CTranslate2."""

from pathlib import Path

import pytest
import torch
from marian_models import ENGLISH, PORTUGUESE, make
from small import undrawn

from regard.cli import main
from regard.engines.marian.importing import import_marian
from regard.tasks.translation.objectives import CrossEntropy
from regard.training.checkpoint import WEIGHTS, bytes_to_weights
from regard.verbs.translate.model import load_translation_model

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `ours`, an imported model, and 200 pairs for fine-tuning."""
    place = tmp_path_factory.mktemp("imported")
    make(place / "marian", search={"max_length": 20})
    import_marian(place / "marian", place / "ours", code="por")
    for name, side in (("new.en", ENGLISH), ("new.pt", PORTUGUESE)):
        (place / name).write_text("".join(f"{line}\n" for line in side[:200]), encoding="utf-8")
    return place


@pytest.mark.usefixtures("unchecked_shapes")
def test_what_it_minimises_is_how_it_writes(imported: Path) -> None:
    """The bias of its output layer is part of the loss, and tokens it never writes are not."""
    task = load_translation_model(imported / "ours", device="cpu").task
    batch = task.pair_up(list(zip(ENGLISH[:5], PORTUGUESE[:5], strict=True)))
    loss = CrossEntropy()(task.model, batch, None)
    torch.testing.assert_close(loss.total.detach() / loss.count, torch.tensor(task.measure(batch)["loss"].value))
    smoothed = CrossEntropy(0.1)(task.model, batch, None)
    assert smoothed.total.detach() / smoothed.count < 50
    smoothed.total.backward()
    gradient = task.model.out.weight.grad
    assert gradient is not None
    assert not gradient[task.target.pad].any()


@pytest.mark.long
@pytest.mark.usefixtures("unchecked_shapes")
def test_it_learns_on_and_goes_out_again(
    imported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(imported)
    quickly = ["training.steps=6", "training.validate_every=6", "training.save_every=6", "training.freeze=['encoder']"]
    settings = [word for setting in quickly for word in ("--set", setting)]
    files, child = ["--source", "new.en", "--target", "new.pt"], str(tmp_path / "child")
    with undrawn():
        assert main(["train", *files, "--from", "ours", "--out", child, *settings]) == 0
    assert "of them frozen (encoder)" in capsys.readouterr().err
    before, after = (bytes_to_weights(Path(name, WEIGHTS).read_bytes(), name) for name in ("ours", child))
    unchanged = {name for name in before if torch.equal(before[name], after[name])}
    assert unchanged == {name for name in before if ".encoder." in name or name == "model.output_bias"}

    assert main(["export", child, "--to", "marian", "-o", str(tmp_path / "marian")]) == 0
    import_marian(tmp_path / "marian", tmp_path / "again", code="por")
    assert (tmp_path / "again" / WEIGHTS).read_bytes() == Path(child, WEIGHTS).read_bytes()
    assert main(["export", child, "--to", "ctranslate2", "--quantisation", "float32"]) == 0
    capsys.readouterr()
    written = []
    for engine in ("torch", "ctranslate2"):
        assert main(["translate", child, "new.en", "--engine", engine, "--beam", "1", "-o", f"{child}.{engine}"]) == 0
        written.append(Path(f"{child}.{engine}").read_text(encoding="utf-8"))
    assert written[0] == written[1]

    assert main(["train", *files, "--from", "ours", "--out", f"{child}-2", "--old-share", "0.5"]) == 2
    assert "its training text is not here" in capsys.readouterr().err
