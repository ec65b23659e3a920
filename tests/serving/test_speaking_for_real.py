"""Speaking, from a trained toy to sounds: what is read, what is refused, the command, Python and the server."""

from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import numpy as np
import pytest
import torch
from loopback import on_loopback
from toys import TOYS, open_toy, open_trained_toy

import regard
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.cli import main
from regard.data.sounds.files import read_sound
from regard.data.sounds.voices import END, SPACE, Voices
from regard.families import check_recipe
from regard.model import Model
from regard.models.griffin_lim import spectrum
from regard.models.tacotron import Speech
from regard.runs.open import open_run
from regard.serving.app import make_app
from regard.tasks.speaking.batches import speech_batches
from regard.tasks.speaking.hearing import Hearing
from regard.tasks.speaking.task import distances, stop_surprise, straying
from regard.training.passes import Passes

VOICES = Voices(
    symbols=["", "end", " ", "e", "h", "n", "o", "r", "t"], spelling={"3": "three"}, speakers=["a"], rate=8000
)


def test_words_are_spelled_out_and_each_letter_knows_its_word() -> None:
    spelled = VOICES.spell(" 3  one ")
    assert VOICES.symbol_names(spelled.symbols) == [*"three", " ", *"one", "end"]
    assert (spelled.symbols[5], spelled.symbols[-1]) == (SPACE, END)
    assert spelled.words == ["3", "one", "end"]
    assert spelled.places == [0, 0, 0, 0, 0, 1, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("  ", "There is nothing to speak: the text is empty."),
        ("3 x", "'x' cannot be spoken: it is not among the words 3, and 'x' is not among the letters e h n o r t."),
        ("3 " * 200, "The text has 1,199 symbols to speak, but the limit is 500."),
    ],
)
def test_what_cannot_be_spoken_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(Fault) as refused:
        VOICES.spell(text)
    assert str(refused.value) == sentence


def test_the_loss_on_paper() -> None:
    """Two frames a step and two steps, only one for the second row; bands of one number."""
    frames = torch.tensor([[[1.0], [2.0], [3.0], [0.0]], [[1.0], [1.0], [0.0], [0.0]]])
    looks = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])
    speech = Speech(torch.zeros(2, 4, 1), torch.ones(2, 4, 1), torch.zeros(2, 2), looks)
    before, after = distances(speech, frames, torch.tensor([3, 2]))
    assert (before.tolist(), after.tolist()) == ([6.0, 2.0], [3.0, 0.0])
    surprise = stop_surprise(speech.stops, torch.tensor([2, 1]))
    torch.testing.assert_close(surprise, torch.log(torch.tensor([4.0, 2.0])))  # each step is as likely the last as not
    assert straying(looks, torch.tensor([2, 1]), torch.tensor([2, 2])).tolist() == [0.0, 0.0]  # along the diagonal
    assert float(straying(looks.flip(2), torch.tensor([2, 1]), torch.tensor([2, 2]))[0]) > 1.5


def test_a_tone_is_heard_and_given_back_at_its_frequency() -> None:
    hearing = Hearing(rate=8000, window=256, hop=64, bands=64)
    tone = 0.5 * torch.sin(2 * torch.pi * 1000 * torch.arange(8000) / 8000)
    frames = hearing(tone[None])[0]
    assert len(frames) == int(hearing.frame_counts(torch.tensor([8000]))) == 126
    back = hearing.sound(frames, rounds=20)
    assert abs(int(torch.fft.rfft(back).abs().argmax()) - 1000) <= 8  # a bin is 31 hertz wide, a band wider
    heard = spectrum(back, hearing.log_mel.window, 64).abs()
    assert float(heard[32].mean()) == pytest.approx(
        float(spectrum(tone, hearing.log_mel.window, 64).abs()[32].mean()), rel=0.1
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_trained_toy("tacotron", tmp_path_factory.mktemp("tacotron")).folder.folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return regard.load(folder)


def test_it_speaks_the_same_alone_and_among_others_and_is_cut_where_it_does_not_end(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = model.speak(["a", "b c a"], "bob", rounds=2)
    assert [(speech.text, speech.speaker, speech.rate) for speech in together] == [
        ("a", "bob", 4000),
        ("b c a", "bob", 4000),
    ]
    (alone,) = model.speak(["a"], "bob", rounds=2)
    np.testing.assert_allclose(alone.samples, together[0].samples, atol=1e-5)
    monkeypatch.setattr(model.task.model.stop.bias, "data", torch.tensor([-100.0]))
    (cut,) = model.speak(["b c a"], seconds=0.1, rounds=2)
    assert not cut.ended
    assert cut.seconds == pytest.approx(0.1, abs=0.04)  # in whole steps of 32 ms
    assert 'src="data:audio/wav;base64,' in cut._repr_html_()
    with pytest.raises(Fault, match="No speaker is named 'eve'; this model can speak as ann, bob"):
        model.speak(["a"], "eve")
    with pytest.raises(Fault, match="Text 2: 'd' cannot be spoken: 'd' is not among the letters a b c"):
        model.speak(["a", "d"])
    with pytest.raises(TypeError, match="a list of texts"):
        model.speak("a")


def test_a_captured_pass_gives_the_loss_and_the_tallies_of_each_batch(model: Model, folder: Path) -> None:
    """Batches of one shape have different numbers of frames, which a captured pass must not remember."""
    task = open_toy("tacotron", folder.parent).task.eval()
    batches = list(task.batches("train", 3, 0, 0))
    assert len({tuple(tensor.shape for tensor in batch.tensors) for batch in batches}) == 1
    passes = Passes(task, task, "float32")
    for batch in batches:
        loss, expected = passes.replay(batch), task.loss(batch)
        assert loss.count == expected.count == int(batch.frame_counts.sum())
        assert loss.total.item() == pytest.approx(expected.total.item(), rel=1e-5)
        assert loss.tallies["straying"].value == pytest.approx(expected.tallies["straying"].value, rel=1e-5)


def test_strings_are_played_faster_to_learn_from_alone(folder: Path) -> None:
    run = open_toy("tacotron", folder.parent)
    strings = run.recipe.data.strings.model_copy(update={"speed": [2.0, 2.0]})
    fast = replace(run.prepared.sounds, options=run.recipe.data.model_copy(update={"strings": strings}))
    lengths = {}
    for split in ("train", "valid"):
        of_both = (
            list(speech_batches(sounds, run.task.voices, split, 16, run.task.hearing, 3, 0, 0))
            for sounds in (run.prepared.sounds, fast)
        )
        lengths[split] = [[int(batch.frame_counts.sum()) for batch in batches] for batches in of_both]
    assert lengths["valid"][0] == lengths["valid"][1]
    assert sum(lengths["train"][1]) < 0.7 * sum(lengths["train"][0])


def test_the_command_writes_a_sound_and_refuses_what_it_cannot(
    folder: Path, model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "said.wav"
    command = ["speak", str(folder), "--text", "a b", "--seconds", "0.2", "--rounds", "2", "-o"]
    assert main([*command, str(out)]) == 0
    message = capsys.readouterr().err
    assert "ann speaks for 0." in message
    assert f"Wrote {out}." in message
    (expected,) = model.speak(["a b"], seconds=0.2, rounds=2)
    np.testing.assert_allclose(read_sound(out, 4000), expected.samples, atol=1e-4)
    refusals = {
        (*command, str(out)): "exists already; give --overwrite to replace it.",
        (*command, str(tmp_path / "said.mp3")): "does not end in .wav, the format of sounds",
        tuple(command[:-1]): "name one, as in -o sound.wav",
        ("speak", str(folder), "--text", " ", "-o", str(tmp_path / "b.wav")): "the text is empty",
        ("speak", str(folder), "--text", "z", "-o", str(tmp_path / "b.wav")): "regard: 'z' cannot be spoken",
        ("speak", str(folder), "-o", str(tmp_path / "b.wav")): "There is nothing to speak; give a text",
        (*command[:4], "--seconds", "-1", "-o", str(tmp_path / "b.wav")): "--seconds is -1.0, expected more than 0",
        ("generate", str(folder)): "A tacotron gives a sound for each text; use `regard speak`. It can train, evaluate",
    }
    for words, sentence in refusals.items():
        assert main(list(words)) == 2
        assert sentence in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["said.wav"]


def test_it_shows_where_it_looked_over_the_bands_of_what_it_said(
    folder: Path, model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    view = model.look("a b")
    record = view.drawing.numbers()
    assert record["rows"] == ["a", "b", "end"]
    (spoken,) = model.speak(["a b"])
    assert len(record["samples"]) == len(spoken.samples)
    assert np.array(record["bands"]).shape == (len(spoken.samples) // 32 + 1, 6)
    weights = np.array(record["blocks"][0]["weights"])
    np.testing.assert_allclose(weights.sum(-1), np.ones((1, len(record["bands"]) // 4)), rtol=1e-5)
    said_by = {name: model.look("a b", speaker=name).heading for name in ("ann", "bob")}
    assert view.heading == said_by["ann"] != said_by["bob"]
    assert "said by bob" in said_by["bob"]
    letters = model.look("a b", tokens=True).drawing.numbers()["rows"]
    assert letters == ["a", " ", "b", "end"]
    assert main(["look", str(folder), "--text", "a b", "-o", str(tmp_path / "look.png")]) == 0
    assert (tmp_path / "look.png").stat().st_size > 5000
    assert "a b → 0." in capsys.readouterr().err
    assert main(["look", str(folder), "--text", "z"]) == 2
    assert "regard: 'z' cannot be spoken" in capsys.readouterr().err


def test_the_server_speaks(folder: Path, model: Model) -> None:
    request = {"text": ["a", "b"], "speaker": "bob", "seconds": 0.2, "rounds": 2}
    with on_loopback(make_app([folder])) as address, httpx.Client(base_url=address, timeout=60) as client:
        sounds = client.post("/v1/speak", json=request).json()["sounds"]
        (about,) = client.get("/v1/models").json()["models"]
        refused = client.post("/v1/speak", json={"text": ["a", "?"]})
        looks = [
            client.post("/v1/look", json={"input": "a b"} | by).json()
            for by in ({}, {"speaker": "ann"}, {"speaker": "bob"}, {"speaker": "eve"})
        ]
    assert [(sound["text"], sound["speaker"]) for sound in sounds] == [("a", "bob"), ("b", "bob")]
    expected = model.speak(["a", "b"], "bob", seconds=0.2, rounds=2)
    heard = read_sound(b64decode(sounds[0]["wav"]), 4000, "the sound")
    np.testing.assert_allclose(heard, expected[0].samples, atol=1e-4)
    assert about["speakers"] == ["ann", "bob"]
    assert {"speak", "look"} <= {*about["can"]}
    assert looks[0]["looks"] == looks[1]["looks"] != looks[2]["looks"]
    assert looks[3]["error"] == "No speaker is named 'eve'; this model can speak as ann, bob."
    assert refused.status_code == 400
    assert "Text 2: '?' cannot be spoken" in refused.json()["error"]


def test_voices_that_are_not_learnt_are_refused(tmp_path: Path) -> None:
    table = TOYS["tacotron"].table(tmp_path) | {"family": "tacotron"}
    (tones,) = table["data"]["train"]
    table["data"] = table["data"] | {"train": [tones | {"speakers": ["ann"]}]}
    with pytest.raises(Fault, match="'bob' speaks only in the valid data"):
        open_run(check_recipe(table), tmp_path / "run", False, silent, lambda remark: None)
