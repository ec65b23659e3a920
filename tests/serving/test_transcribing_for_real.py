"""Transcribing, from a trained toy: the command, its refusals, a language model beside it, and the server."""

import json
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace

import httpx2 as httpx
import pytest
import torch
from loopback import on_loopback
from sound_files import tone
from toys import open_toy

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.data.sounds.files import sound_file
from regard.data.sounds.prepare import Alphabet
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.data.tokenisers.subwords import SubwordTokeniser, train_subwords
from regard.protocols import State
from regard.runs.train import train
from regard.serving.app import make_app
from regard.verbs.generate.model import LanguageModel
from regard.verbs.transcribe.run import LabelSearch, SymbolLanguage, language_search, transcribe_each

SOUND = sound_file(tone(400, 0.4, 44_100), 44_100)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("transcribing")
    run = open_toy("ctc transformer", place)
    train(run, [])
    (place / "sound.wav").write_bytes(SOUND)
    return place


def test_the_command_writes_a_line_for_each_sound(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = str(folder / "sound.wav")
    assert main(["transcribe", str(folder / "run"), sound, sound, "--json"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["file"] == sound
    assert list(first) == ["file", "text", "score", "alignment"]
    assert second["text"] == first["text"]
    assert second["score"] == pytest.approx(first["score"], rel=1e-4)
    assert main(["transcribe", str(folder / "run"), sound, "--beam", "4"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_python_takes_files_and_their_content(folder: Path) -> None:
    model = regard.load(folder / "run", device="cpu")
    (one,), (other,) = model.transcribe([folder / "sound.wav"]), model.transcribe([SOUND], beam=None)
    assert (one.text, one.alignment) == (other.text, other.alignment)
    with pytest.raises(TypeError, match=r"transcribe takes a list of sounds; write transcribe\(\[sound\]\)"):
        model.transcribe("sound.wav")
    with pytest.raises(Fault, match="beam is 0, expected 1 or more"):
        model.transcribe([SOUND], beam=0)
    with pytest.raises(Fault, match="'fuse_weight' has no effect without 'fuse'"):
        model.transcribe([SOUND], fuse_weight=1.0)
    with pytest.raises(Fault, match=r"is needed, but .* is a ctc, which gives a text for each sound"):
        model.transcribe([SOUND], fuse=model)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty: it has no bytes"),
        (b"text\n" * 20, "cannot be read as a wav or flac file"),
        (sound_file(tone(400, 0, 8000), 8000), "is empty: it has no samples"),
    ],
)
def test_what_is_no_sound_is_refused_by_its_name(
    folder: Path, tmp_path: Path, content: bytes, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.wav").write_bytes(content)
    assert main(["transcribe", str(folder / "run"), str(tmp_path / "bad.wav")]) == 2
    message = capsys.readouterr().err
    assert f"{tmp_path / 'bad.wav'} {sentence}" in message
    assert "Traceback" not in message


def test_options_that_would_do_nothing_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = str(folder / "sound.wav")
    assert main(["transcribe", str(folder / "run"), sound, "--fuse-weight", "1"]) == 2
    assert "--fuse-weight has no effect without --fuse" in capsys.readouterr().err
    assert main(["transcribe", str(folder / "run"), sound, "--fuse", str(folder / "run")]) == 2
    assert f"is needed, but {folder / 'run'} is a ctc, which gives a text for each sound." in capsys.readouterr().err


def test_looking_has_every_form(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = str(folder / "sound.wav")
    for file in ("sound.svg", "sound.json", "sound.html"):
        assert main(["look", str(folder / "run"), sound, "-o", str(tmp_path / file)]) == 0
        assert (tmp_path / file).stat().st_size > 500
    assert json.loads((tmp_path / "sound.json").read_text())["rows"][-1] == "–"
    assert main(["look", str(folder / "run"), sound, "--side", "encoder"]) == 0
    assert "0.00" in capsys.readouterr().out


# --- a language model


class OnlyB:
    """Language model in which b follows everything; its state is the number of labels read."""

    begin, end = 0, 1

    def start(self, batch: object) -> State:
        return State({}, {"read": torch.zeros(1)})

    def step(self, tokens: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        scores = torch.tensor([[0.0, 0.1, 0.05, 0.8, 0.05]]).log()  # begin, end, a, b, c
        return scores, State({}, {"read": state.row["read"] + 1})


def test_a_language_model_that_weighs_enough_decides(folder: Path) -> None:
    model = regard.load(folder / "run", device="cpu")
    language = SymbolLanguage(OnlyB(), [2, 3, 4])
    assert language.after((1, 1))[1] == pytest.approx(torch.tensor(0.8).log().item())
    search = LabelSearch(8, language, 40.0)
    (transcript,) = transcribe_each(model.task, [folder / "sound.wav"], search)
    assert set(transcript.text) <= {"b"}


class Spelt:
    """Tokeniser of a language model that knows only some symbols."""

    def encode(self, text: str) -> list[int]:
        return {"a": [2], "c": [3, 4]}.get(text, [0])

    def decode(self, tokens: list[int]) -> str:
        return {2: "a"}.get(tokens[0], "?")


def test_only_a_language_model_of_the_same_symbols_can_be_fused(folder: Path) -> None:
    model = regard.load(folder / "run", device="cpu")
    other = LanguageModel.__new__(LanguageModel)
    other.task = SimpleNamespace(tokeniser=Spelt())
    with pytest.raises(Fault, match=r"The symbol 'b' is not a token of the other; .*kind = 'characters'"):
        language_search(model, other, None, None, "the other")


def test_letters_may_be_the_characters_of_a_language_model_and_not_its_bytes() -> None:
    letters = SimpleNamespace(task=SimpleNamespace(alphabet=Alphabet(symbols=[" ", "а", "д"], rate=8000)))
    other = LanguageModel.__new__(LanguageModel)
    other.task = SimpleNamespace(
        begin=0,
        end=1,
        tokeniser=SubwordTokeniser(train_subwords("characters", 300, True, ["да ад"]), "characters", 0.0),
    )
    search = language_search(letters, other, None, None, "the other")
    cut = other.task.tokeniser.encode("да ад")
    assert [*search.language_model.opening, *(search.language_model.tokens[k] for k in (2, 1, 0, 1, 2))] == [0, *cut]
    other.task.tokeniser = ByteTokeniser()
    letters.task.alphabet.symbols.remove(" ")  # both letters that are left begin with the same byte
    with pytest.raises(Fault, match="'а' is not a token of"):
        language_search(letters, other, None, None, "the other")


# --- the server


def test_the_server_writes_down_sounds_and_shows_their_frames(folder: Path) -> None:
    def post(client: httpx.Client, path: str, **body: object) -> httpx.Response:
        return client.post(path, json=body)

    sound = {"sound": b64encode(SOUND).decode()}
    with on_loopback(make_app([folder / "run"])) as address, httpx.Client(base_url=address) as client:
        answer = post(client, "/v1/transcribe", sounds=[sound, sound], beam=2)
        assert answer.status_code == 200
        assert [set(transcript) for transcript in answer.json()["transcripts"]] == [{"text", "score", "alignment"}] * 2
        looked = post(client, "/v1/look", input=sound).json()
        assert looked["view"] == "frames"
        assert looked["looks"]["rows"][-1] == "–"
        nothing = post(client, "/v1/transcribe", sounds=[{"sound": b64encode(b"nothing").decode()}])
        assert nothing.status_code == 400
        assert nothing.json()["error"].startswith("The sound cannot be read as a wav or flac file")
        large = post(client, "/v1/transcribe", sounds=[{"sound": b64encode(bytes(1_500_001)).decode()}])
        assert large.json()["error"] == "The sound has 1,500,001 bytes, but a sound here has at most 1,500,000."
        assert post(client, "/v1/look", input="text").status_code == 400
