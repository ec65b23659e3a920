"""A unidirectional transducer that transcribes strings of tones, also while it hears them."""

from pathlib import Path

import pytest
import torch
from sound_files import tone
from test_transcription import RATE, spoken, table
from toys import open_toy

from regard.attention import watching
from regard.base.progress import silent
from regard.families import check_recipe
from regard.model import Model
from regard.models.log_mel import standardise
from regard.models.transducer.streaming import FrameStream
from regard.runs.evaluate import evaluate_parts
from regard.runs.open import open_run
from regard.runs.train import train
from regard.tasks.transcription.batches import LabelledSound, batch_of
from regard.verbs.transcribe.run import LabelSearch, transcribe_each


class Uneven:
    """Language model with a favourite first label and otherwise no preference."""

    def __init__(self, favourite: int) -> None:
        self.favourite = favourite

    def after(self, prefix: tuple[int, ...]) -> list[float]:
        return [-1.0] * 4 if prefix else [0.0 if label == self.favourite else -50.0 for label in range(4)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Path]:
    folder = tmp_path_factory.mktemp("transducer")
    sizes = {"embedding": 6, "predictor_width": 12, "joint_width": 24, "bidirectional": False}
    recipe = table(folder, **sizes) | {"family": "transducer"}
    recipe["training"]["steps"] = recipe["training"]["validate_every"] = 200
    run = open_run(check_recipe(recipe), folder / "run", False, silent, lambda remark: None)
    train(run, [])
    return Model(run.task, run.recipe), folder / "run"


@pytest.mark.long
def test_it_learns_to_write_down_what_new_recordings_say(trained: tuple[Model, Path]) -> None:
    model, folder = trained
    parts = evaluate_parts(model, folder, "test", ["error"], silent, lambda remark: None)
    assert list(parts) == ["ann", "bob"]
    for scores in parts.values():
        assert scores[0].value <= 10.0


@pytest.mark.long
def test_a_transcript_has_the_time_of_each_symbol_and_a_beam_is_no_worse(
    trained: tuple[Model, Path], tmp_path: Path
) -> None:
    model, _ = trained
    content, labels = spoken(model)
    (tmp_path / "said.wav").write_bytes(content)
    with watching(model) as gazes:
        (transcript,) = model.transcribe([tmp_path / "said.wav"])
    assert transcript.text == "".join(labels)
    assert [label.symbol for label in transcript.alignment] == labels
    times = [time for label in transcript.alignment for time in (label.start, label.end)]
    assert times == sorted(times)
    (gaze,) = gazes
    assert (gaze.looks_from, gaze.looks_at) == ("source", "labels")
    assert gaze.keys == [[*labels, "–"]]
    seconds = model.task.frame_seconds
    weights = gaze.weights[0, 0]
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(weights)))
    for place, label in enumerate(transcript.alignment):
        column = weights[:, place]
        assert abs(int(column.argmax()) * seconds - label.start) <= seconds
    (searched,) = model.transcribe([tmp_path / "said.wav"], beam=4)
    assert searched.score >= transcript.score
    assert searched.text == transcript.text


def test_a_language_model_has_its_say(trained: tuple[Model, Path], tmp_path: Path) -> None:
    model, _ = trained
    content, labels = spoken(model)
    (tmp_path / "said.wav").write_bytes(content)
    symbols = model.task.alphabet.symbols
    other = next(number for number, symbol in enumerate(symbols) if symbol not in labels)
    search = LabelSearch(8, Uneven(other), weight=20.0)
    assert next(transcribe_each(model.task, [tmp_path / "said.wav"], search)).text.startswith(symbols[other])


def test_it_writes_while_it_hears_what_it_writes_at_once(trained: tuple[Model, Path]) -> None:
    task = trained[0].task
    batch = task.read([spoken(trained[0])[0]])
    with torch.no_grad():
        counts = task.features.frame_counts(batch.lengths)
        frames = standardise(task.features(batch.samples), counts)[0, : int(counts[0])]
        stream, written = FrameStream(task.model), list[list[int]]()
        for piece in frames.split(4):
            written.append(stream.hear(piece))
        written.append(stream.finish())
        assert [[label for part in written for label in part]] == task.model.best(task.hear(batch))
    assert any(written[: len(written) // 2])  # the first tone is written before the second is over


def test_more_labels_than_frames_can_be_learnt(tmp_path: Path) -> None:
    task = open_toy("transducer", tmp_path).task
    batch = batch_of([LabelledSound(tone(400, 0.01, RATE), [0] * 9), LabelledSound(tone(400, 0.2, RATE), [])])
    loss = task.loss(batch).total
    loss.backward()
    assert loss.isfinite()
    assert all(parameter.grad.isfinite().all() for parameter in task.parameters() if parameter.grad is not None)
    assert {name: measure.value for name, measure in task.measure(batch).items()}["loss"] < 1e3
