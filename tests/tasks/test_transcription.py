"""Transcription: strings of tones in place of words."""

from pathlib import Path

import pytest
import soundfile
import torch
from sound_files import tone, write_tones
from toys import open_toy

from regard.attention import watching
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.sounds.files import sound_file
from regard.families import check_recipe
from regard.model import Model
from regard.models.ctc.network import RecogniserOptions
from regard.runs.evaluate import evaluate_parts
from regard.runs.open import open_run
from regard.runs.train import train
from regard.tasks.transcription.batches import LabelledSound, batch_of
from regard.tasks.transcription.options import MaskOptions
from regard.tasks.transcription.task import hide
from regard.verbs.transcribe.run import LabelSearch, transcribe_each

RATE = 4000


def table(folder: Path, **model: object) -> dict:
    named = {"recordings": str(write_tones(folder / "tones"))}
    optimizer = {"learning_rate": 3e-2, "schedule": "cosine", "warmup": 5}
    return {
        "family": "ctc",
        "seed": 3,
        "data": {
            "train": named | {"numbers": [1, 2]},
            "valid": named | {"numbers": [0, 0]},
            "test": [named | {"numbers": [0, 0], "speakers": [speaker], "part": speaker} for speaker in ("ann", "bob")],
            "rate": RATE,
            "strings": {"longest": 2, "gap": [0.06, 0.1], "noise": [30.0, 40.0], "train": 800, "measured": 12},
            "features": {"bands": 12},
        },
        "model": {"width": 20, "layers": 1, "stack": 3, "dropout": 0.0, "cell": "gru"} | model,
        "training": {"steps": 70, "batch": 12, "validate_every": 35, "device": "cpu", "optimizer": optimizer},
    }


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Path]:
    folder = tmp_path_factory.mktemp("ctc")
    run = open_run(check_recipe(table(folder)), folder / "run", False, silent, lambda remark: None)
    train(run, [])
    return Model(run.task, run.recipe), folder / "run"


def spoken(model: Model) -> tuple[bytes, list[str]]:
    """Return a string of two tones outside the training data, and its words."""
    batch = next(iter(model.task.batches("test", 0, 0, 0)))
    row = next(
        row for row, (one, two) in enumerate(batch.labels.tolist()) if batch.label_counts[row] == 2 and one != two
    )
    symbols = model.task.alphabet.symbols
    words = [symbols[label] for label in batch.labels[row].tolist()]
    return sound_file(batch.samples[row, : batch.lengths[row]].numpy(), RATE), words


def test_it_learns_to_write_down_what_new_recordings_say(trained: tuple[Model, Path]) -> None:
    model, folder = trained
    parts = evaluate_parts(model, folder, "test", ["error"], silent, lambda remark: None)
    assert list(parts) == ["ann", "bob"]
    for scores in parts.values():
        assert scores[0].value <= 10.0


def test_a_transcript_has_a_text_a_score_and_the_time_of_each_symbol(
    trained: tuple[Model, Path], tmp_path: Path
) -> None:
    model, _ = trained
    content, symbols = spoken(model)
    (tmp_path / "said.wav").write_bytes(content)
    (transcript,) = model.transcribe([tmp_path / "said.wav"])
    assert transcript.text == "".join(symbols)
    assert [label.symbol for label in transcript.alignment] == symbols
    times = [time for label in transcript.alignment for time in (label.start, label.end)]
    assert times == sorted(times)
    assert transcript.score < 0
    assert transcript.as_dict()["alignment"][0][0] == symbols[0]
    (searched,) = model.transcribe([tmp_path / "said.wav"], beam=4)
    assert searched.score >= transcript.score  # the best labelling is at least as probable as that of the best path


def test_a_search_hears_each_sound_once(
    trained: tuple[Model, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _ = trained
    (tmp_path / "said.wav").write_bytes(spoken(model)[0])
    hear, heard = model.task.hear, list[int]()
    monkeypatch.setattr(model.task, "hear", lambda batch: heard.append(len(batch.lengths)) or hear(batch))
    for beam in (None, 4):
        model.transcribe([tmp_path / "said.wav"], beam=beam)
    assert heard == [1, 1]


def test_who_watches_sees_which_frames_belong_to_which_symbol(trained: tuple[Model, Path], tmp_path: Path) -> None:
    model, _ = trained
    content, symbols = spoken(model)
    (tmp_path / "said.wav").write_bytes(content)
    with watching(model) as gazes:
        (transcript,) = model.transcribe([tmp_path / "said.wav"])
    (gaze,) = gazes
    assert (gaze.looks_from, gaze.looks_at) == ("source", "labels")
    weights = gaze.weights[0, 0]
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(weights)))
    assert gaze.keys == [[*symbols, "–"]]
    seconds = model.task.frame_seconds
    for place, label in enumerate(transcript.alignment):
        column = weights[:, place]
        assert label.start <= int(column.argmax()) * seconds < label.end


def test_stereo_at_another_rate_says_the_same(trained: tuple[Model, Path], tmp_path: Path) -> None:
    model, _ = trained
    content, symbols = spoken(model)
    (tmp_path / "said.wav").write_bytes(content)
    samples, rate = soundfile.read(tmp_path / "said.wav")
    from regard.data.sounds.files import resample

    loud = resample(samples, rate, 44_100)
    soundfile.write(tmp_path / "stereo.flac", [[one, one] for one in loud.tolist()], 44_100)
    assert next(transcribe_each(model.task, [tmp_path / "stereo.flac"], LabelSearch(8))).text == "".join(symbols)


def test_a_sound_that_says_nothing_has_an_empty_transcript(trained: tuple[Model, Path], tmp_path: Path) -> None:
    model, _ = trained
    (tmp_path / "silence.wav").write_bytes(sound_file(tone(0, 0.3, RATE), RATE))
    (transcript,) = model.transcribe([tmp_path / "silence.wav"])
    assert (transcript.text, transcript.alignment) == ("", [])


# --- misfits


def listed(folder: Path, texts: dict[str, str]) -> dict:
    """Return a recipe over sounds of a tenth of a second, ten frames, labelled with these texts."""
    recipe = table(folder, stack=1)
    for split, text in texts.items():
        lines = "".join(f"tones/{label}_ann_0.wav\t{word}\n" for label, word in zip("abc", text.split(), strict=False))
        (folder / f"{split}.tsv").write_text(lines)
        recipe["data"][split] = str(folder / f"{split}.tsv")
    return recipe | {"data": {**recipe["data"], "test": [], "strings": None}}


def opened(folder: Path, texts: dict[str, str]) -> list[str]:
    remarks: list[str] = []
    table = listed(folder, texts)
    table["data"].pop("strings")
    open_run(check_recipe(table), folder / "run", False, silent, remarks.append)
    return remarks


def test_a_target_that_is_longer_than_its_sound_is_dropped_with_a_count(tmp_path: Path) -> None:
    remarks = opened(tmp_path, {"train": f"{'ab' * 8} ab ba", "valid": "ab"})
    assert "1 sound is dropped: it has fewer frames than symbols." in remarks


def test_to_be_measured_on_such_a_target_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"\.wav, of the valid data, has too few frames for its text, 'aaaaaaaa'; remove"):
        opened(tmp_path, {"train": "ab ba", "valid": "a" * 8})  # eight symbols and seven blanks between them


def test_a_loss_is_finite_even_where_nothing_fits(tmp_path: Path) -> None:
    task = open_toy("ctc", tmp_path).task
    batch = batch_of([LabelledSound(tone(400, 0.01, RATE), [0] * 9), LabelledSound(tone(400, 0.2, RATE), [0])])
    loss = task.loss(batch).total
    loss.backward()
    assert loss.isfinite()
    assert all(parameter.grad.isfinite().all() for parameter in task.parameters() if parameter.grad is not None)


# --- options


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"heads": 2}, "heads would do nothing with encoder = 'recurrent'"),
        ({"encoder": "transformer", "cell": "gru"}, "cell would do nothing with encoder = 'transformer'"),
        ({"width": 7}, "two directions need an even width"),
    ],
)
def test_options_that_would_do_nothing_are_refused(given: dict, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        check(RecogniserOptions, given)


def test_masks_hide_bands_and_frames_within_a_sound() -> None:
    frames = torch.ones(1, 20, 10)
    draws = torch.tensor([[[0.0, 0.999, 0.999, 0.999]]])
    masked = hide(frames, torch.tensor([20]), draws, MaskOptions(count=1, bands=3, frames=4))[0]
    assert (masked[:, :3] == 0).all()
    assert (masked[16:] == 0).all()
    assert (masked[:16, 3:] == 1).all()
