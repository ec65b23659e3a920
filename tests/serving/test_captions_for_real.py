"""Pictures read by an encoder that learns with the decoder: captions, looks, a gallery and the server."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
import torch
from loopback import on_loopback
from PIL import Image
from toys import TRAINING

import regard
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.cli import main
from regard.data.captions.features import FORMAT_FILE, FeatureFormat
from regard.data.captions.pixels import PictureStore
from regard.data.generated.shapes import picture_of
from regard.families import check_recipe
from regard.models.captions.encoder import EncoderOptions, PictureEncoder
from regard.runs.open import open_run
from regard.runs.parents import resolve
from regard.runs.train import train
from regard.serving.app import make_app
from regard.serving.options import ServingOptions
from regard.tasks.captioning.task import Captioning


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("own")
    training = TRAINING | {"batch": 4, "validation_beam": 0, "best_by": "loss", "optimizer": {"warmup": 2}}
    shapes = {"train": 4, "valid": 2, "test": 2}
    table = {
        "family": "captioner",
        "data": {"features": "own", "side": 8, "at_least": 1, "shapes": shapes},
        "model": {"embedding": 4, "width": 6, "compared": 4, "encoder": {"channels": [4, 4], "kernel": 3}},
        "training": training | {"steps": 2, "validate_every": 2},
    }
    train(open_run(check_recipe(table), place / "run", True, silent, lambda remark: None), [])
    Image.fromarray(picture_of([9, 9], 40)[0]).save(place / "my.png")
    return place


def test_any_picture_is_captioned_whatever_its_size(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["caption", str(folder / "run"), str(folder / "my.png"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["file"] == str(folder / "my.png")
    assert np.array(report["attention"][0]["weights"]).shape == (2, 2)
    model = regard.load(folder / "run", device="cpu")
    (again,) = model.caption([(folder / "my.png").read_bytes()])
    assert again.text == report["text"]
    with pytest.raises(Fault, match="The array holds 49 × 384 numbers; this model reads pictures of 8 × 8 pixels"):
        model.caption([np.zeros((49, 384), np.float32)])


def test_a_moving_picture_is_read_by_its_first_frame_and_that_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (Image.fromarray(picture_of([9, number], 40)[0]) for number in (1, 2))
    first.save(tmp_path / "moving.gif", save_all=True, append_images=[second])
    assert main(["caption", str(folder / "run"), str(tmp_path / "moving.gif")]) == 0
    assert "moving.gif holds several frames; only the first is read." in capsys.readouterr().err


def test_what_is_no_picture_is_refused_in_one_sentence(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.jpg").write_text("a red circle above a blue square")
    assert main(["caption", str(folder / "run"), str(tmp_path / "text.jpg")]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "text.jpg is not in a picture format that can be read" in message


def test_what_each_word_looked_at_is_drawn_over_the_picture_itself(folder: Path, tmp_path: Path) -> None:
    for file in ("looks.html", "looks.json"):
        assert main(["look", str(folder / "run"), str(folder / "my.png"), "-o", str(tmp_path / file)]) == 0
    looks = json.loads((tmp_path / "looks.json").read_text())
    assert looks["grid"] == [2, 2]
    assert np.array(looks["picture"]) == pytest.approx(np.asarray(Image.open(folder / "my.png")) / 255)


def test_a_gallery_has_the_pictures_and_is_no_other_kind_of_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "gallery.html"
    assert main(["show", "gallery", str(folder / "run"), "-o", str(out), "--count", "1"]) == 0
    page = out.read_text(encoding="utf-8")
    assert "test-0" in page
    assert '"picture":{"height":8,"width":8' in page
    assert main(["show", "gallery", str(folder / "run"), "-o", str(out)]) == 2
    assert main(["show", "gallery", str(folder / "run"), "-o", str(tmp_path / "gallery.png")]) == 2
    assert "does not end in .html" in capsys.readouterr().err


def test_the_server_describes_pictures_and_shows_their_places(folder: Path) -> None:
    def sent(content: bytes) -> dict[str, str]:
        return {"picture": b64encode(content).decode()}

    picture = sent((folder / "my.png").read_bytes())
    with on_loopback(make_app([folder / "run"])) as address, httpx.Client(base_url=address) as client:
        answer = client.post("/v1/caption", json={"pictures": [picture, picture], "beam": 2}).json()
        assert [set(caption) for caption in answer["captions"]] == [{"text", "score", "attention"}] * 2
        looked = client.post("/v1/look", json={"input": picture}).json()
        assert (looked["view"], looked["looks"]["grid"]) == ("overlay", [2, 2])
        refused = client.post("/v1/caption", json={"pictures": [sent(b"a text")]})
        assert refused.status_code == 400
        assert refused.json()["error"].startswith("The picture is not in a picture format")
        assert client.post("/v1/caption", json={"pictures": ["text"]}).status_code == 400


def test_the_server_draws_captions_at_random_as_python_does(folder: Path) -> None:
    content, sample = (folder / "my.png").read_bytes(), {"seed": 5, "temperature": 3.0}
    captions = regard.load(folder / "run", device="cpu").caption([content] * 8, sample=sample, attention=False)
    request = {"pictures": [{"picture": b64encode(content).decode()}] * 8, "sample": sample, "attention": False}
    options = ServingOptions.model_validate({"batching": {"rows": 3}})
    with on_loopback(make_app([folder / "run"], options)) as address, httpx.Client(base_url=address) as client:
        answer = client.post("/v1/caption", json=request).json()
        clash = client.post("/v1/caption", json=request | {"beam": 2}).json()["error"]
    assert [caption["text"] for caption in answer["captions"]] == [caption.text for caption in captions]
    assert len({caption.text for caption in captions}) > 1
    assert "a sampled caption uses neither" in clash


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": {"shapes": None}}, "captions is missing; only generated shapes work without it"),
        ({"data": {"train": "names.txt"}}, "train: shapes are generated and need no files; omit it"),
        (
            {"data": {"features": {"file": "f.npy", "names": "n.txt"}}},
            "generated shapes have no precomputed features",
        ),
        (
            {"data": {"shapes": None, "captions": "c.txt", "train": "t.txt", "valid": "v.txt"}},
            "pictures is missing; features = 'own' learns from them",
        ),
        ({"model": {"encoder": {"kernel": 4}}}, "kernel is 4, expected an odd number"),
    ],
)
def test_recipes_that_contradict_themselves_are_refused(change: dict[str, Any], words: str) -> None:
    table = {"family": "captioner", "data": {"features": "own", "shapes": {}}, "model": {}}
    changed = {name: {**table[name], **change.get(name, {})} for name in ("data", "model")}
    with pytest.raises(Fault, match=words):
        check_recipe({"family": "captioner", **changed})


def test_a_folder_whose_features_are_not_those_of_its_recipe_is_refused(folder: Path) -> None:
    run = folder / "run"
    recipe = regard.load(run, device="cpu").recipe
    others = FeatureFormat(rows=7, columns=7, width=384, extractor="efficientnet-lite2")
    with pytest.raises(Fault, match=r"needs other features than features\.json describes"):
        Captioning.build(
            recipe,
            {FORMAT_FILE: others.model_dump_json().encode(), "tokeniser.json": (run / "tokeniser.json").read_bytes()},
        )


def test_a_run_starts_from_a_model_whose_encoder_is_its_own(folder: Path) -> None:
    def table(channels: list[int]) -> dict[str, Any]:
        data = {"features": "own", "side": 8, "shapes": {}}
        return {"start_from": str(folder / "run"), "data": data, "model": {"encoder": {"channels": channels}}}

    assert resolve(table([4, 4])).model.encoder.kernel == 3
    with pytest.raises(Fault, match=r"model\.encoder\.channels is \[8\], but the model has \[4, 4\]"):
        resolve(table([8]))


def test_an_encoder_halves_the_sides_and_knows_the_places() -> None:
    torch.manual_seed(1)
    encoder = PictureEncoder(EncoderOptions(channels=[3, 5], kernel=3), side=10)
    assert encoder.grid == (3, 3)  # 10, 5, 3
    black = encoder(torch.zeros(1, 100, 3))
    assert black.shape == (1, 9, 5)
    assert not torch.equal(black[0, 0], black[0, 8])  # the same file, elsewhere
    both = encoder(torch.cat([torch.zeros(1, 100, 3), torch.rand(1, 100, 3)]))
    torch.testing.assert_close(both[:1], black)  # whatever else is in the batch


def test_pictures_lie_in_a_folder_or_an_archive_and_nowhere_else(tmp_path: Path) -> None:
    import tarfile

    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.png").write_bytes(b"a picture")
    (tmp_path / "secret").write_bytes(b"another")
    with tarfile.open(tmp_path / "own.tar", "w") as archive:
        archive.add(tmp_path / "own" / "a.png", "inside/a.png")
    for store in (PictureStore(str(tmp_path / "own")), PictureStore(str(tmp_path / "own.tar"))):
        assert store.find("a.png") == b"a picture"
        assert store.find("b.png") is None
        assert store.find("../secret") is None
    with pytest.raises(Fault, match="secret is neither a folder nor a tar archive of pictures"):
        PictureStore(str(tmp_path / "secret")).find("a.png")
