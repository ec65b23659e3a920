"""The price table: a row for every verb, and costs that follow the work, not the bytes."""

import sys
from base64 import b64encode
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image

from regard.base.doors import Limits, Price, Question, VerbDoor
from regard.base.faults import Fault
from regard.decoding.options import DecodingOptions
from regard.serving.app import every_door
from regard.serving.flow import OwnDoor
from regard.verbs.answer.door import AnswerBody
from regard.verbs.answer.request import PictureInput
from regard.verbs.caption.door import CaptionBody
from regard.verbs.draw.door import DrawBody, check_drawings
from regard.verbs.embed.door import EmbedAnswer, EmbedBody
from regard.verbs.generate.door import GenerateBody
from regard.verbs.inputs import check_inputs
from regard.verbs.look.door import ForwardBody
from regard.verbs.look.reasons_door import ExamplesBody, WhyBody
from regard.verbs.speak.door import SpeakBody, check_speech
from regard.verbs.table import verb_doors
from regard.verbs.transcribe.door import TranscribeBody
from regard.verbs.transcribe.request import SoundInput
from regard.verbs.translate.door import TranslateBody, TranslateJob
from regard.verbs.translate.plan import Engine, Plan
from regard.verbs.words.door import MapBody, NeighboursBody

NO_MODEL = {"/detect", "/translate_file", "/suggest"}  # doors that take a body but use no model
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PRICED = {door.path: door for door in verb_doors()} | {
    door.path: next(verb for verb in verb_doors() if verb.path == door.works_as)
    for door in every_door()
    if isinstance(door, OwnDoor) and door.works_as
}


def silence(seconds: float, rate: int = 8000) -> SoundInput:
    file = BytesIO()
    soundfile.write(file, np.zeros(round(seconds * rate), np.int16), rate, format="FLAC")
    return SoundInput(sound=b64encode(file.getvalue()).decode())


def black(side: int, frames: int = 1) -> PictureInput:
    file = BytesIO()
    pictures = [Image.new("P", (side, side), number) for number in range(frames)]
    if frames == 1:
        pictures[0].save(file, "PNG")
    else:
        pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:])
    return PictureInput(picture=b64encode(file.getvalue()).decode())


def model(reads: str = "text") -> Any:
    return SimpleNamespace(name="toy", reads=reads, can=["translate"], decoding=SimpleNamespace(beam=4))


def test_every_verb_has_a_price() -> None:
    verbs = {door.path for door in every_door() if door.method == "POST"} - NO_MODEL
    lacking = sorted(verbs - PRICED.keys())
    assert not lacking, (
        f"{', '.join(lacking)} has no price. Declare it as a VerbDoor in the room of its verb, with a price that "
        "counts what its work takes time for, and call between_steps between the steps of that work; or, if no model "
        "works behind it, add it to NO_MODEL here."
    )
    assert PRICED.keys() <= verbs, "a door of a verb takes no body"


def test_no_door_of_a_verb_is_made_without_a_price_and_costs() -> None:
    table: dict[str, Any] = {"path": "/v1/new", "can": "new", "body": EmbedBody, "answer": EmbedAnswer}
    with pytest.raises(TypeError, match="price"):
        VerbDoor(**table)
    with pytest.raises(TypeError, match="the door /v1/new does not say what its work costs"):
        VerbDoor(**table, price=Price("letters", 1000))


def test_every_verb_is_in_the_benchmark_of_slow_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import slow_verbs

    lacking = sorted(PRICED.keys() - {case.path for case in slow_verbs.CASES})
    assert not lacking, f"add a request at the limits of {', '.join(lacking)} to CASES in benchmarks/slow_verbs.py"


def test_every_request_of_that_benchmark_is_one_that_its_door_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import slow_verbs

    bodies = {door.path: door.body for door in every_door() if door.body is not None}
    for case in slow_verbs.CASES:
        large = case.large()
        bodies[case.path].model_validate(large)
        bodies[case.path].model_validate(case.first or large)
        bodies[case.subject.path].model_validate(case.subject.short)


def costs(path: str, body: Any, reads: str = "text") -> Sequence[float]:
    count = PRICED[path].costs
    assert count is not None
    return count(Question(model(reads), body, Limits()))


def test_a_small_file_that_holds_much_costs_more_than_a_large_one_that_holds_little() -> None:
    long_silence, noise = silence(30), np.random.default_rng(1).normal(0, 9000, 16_000).astype(np.int16)
    file = BytesIO()
    soundfile.write(file, noise, 8000, format="WAV")
    short_noise = SoundInput(sound=b64encode(file.getvalue()).decode())
    assert len(long_silence.sound) < len(short_noise.sound)
    dear, cheap = costs("/v1/transcribe", TranscribeBody(sounds=[long_silence, short_noise]), "sound")
    assert (dear, cheap) == (pytest.approx(3001), pytest.approx(201))
    (large, small) = costs("/v1/caption", CaptionBody(pictures=[black(2000), black(20)], beam=2), "picture")
    assert (large, small) == (pytest.approx(4041), pytest.approx(41.4))


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/v1/speak", SpeakBody(text=["abcd"], rounds=30), [600.0]),  # 3 seconds, twice
        ("/v1/speak", SpeakBody(text=["abcd"], seconds=1, rounds=0), [100.0]),
        ("/v1/draw", DrawBody(count=64), [64.0]),
        ("/v1/draw", DrawBody(count=2, complete=[[[0.0, 1.0]] * 100]), [4.0]),
        ("/v1/generate", GenerateBody(prompt=["ab", ""], tokens=10, samples=3), [33.0, 31.0]),
        ("/v1/embed", EmbedBody(text=["abc", "a"]), [4.0, 2.0]),
        ("/v1/answer", AnswerBody(inputs=["abc", 7], beam=2), [8.0, 2.0]),
        ("/v1/forward", ForwardBody(text="abc"), [40.0]),  # a search by a beam of 4, and the pass
        ("/v1/forward", ForwardBody(text="abc", tokens=["a"]), [24.0]),
        ("/v1/why", WhyBody(input="abc", method="gradient", output="a"), [12.0]),  # a gradient is three passes
        ("/v1/why", WhyBody(input="abc", method="gradient"), [28.0]),
        ("/v1/examples", ExamplesBody(text="abc", from_lines=10), [403.0]),
        ("/v1/neighbours", NeighboursBody(words=["a", "b"], count=1000), [5.0, 5.0]),
        ("/v1/map", MapBody(words=["a", "b"], around=4), [10.0]),
        ("/v1/map", MapBody(count=300, method="t-sne"), [3000.0]),
    ],
)
def test_costs_follow_the_work(path: str, body: Any, expected: list[float]) -> None:
    assert costs(path, body) == expected


@pytest.mark.parametrize(("engine", "longest"), [("torch", 5.0), ("onnx", 5.0), ("ctranslate2", 1.0)])
def test_batches_are_short_where_an_engine_cannot_be_interrupted(engine: Engine, longest: float) -> None:
    """Each engine has its own price, so a speed learnt for one does not apply to another."""
    translator: Any = SimpleNamespace(name="toy", cutting=lambda request, longest: lambda text: [])
    question = Question(translator, TranslateBody(text=["a"]), Limits())
    job = TranslateJob(question, Plan(engine=engine, options=DecodingOptions()))
    assert job.price.longest == longest
    assert (job.price == PRICED["/v1/translate"].price) == (engine != "ctranslate2")


def refusal(check: Callable[[], Any]) -> str:
    with pytest.raises(Fault) as fault:
        check()
    return str(fault.value)


def test_what_a_file_holds_is_bounded_by_its_head_before_it_is_decoded() -> None:
    limits = Limits()
    assert len(silence(600).content) < 20_000
    message = refusal(lambda: check_inputs(model("sound"), [silence(600)], limits))
    assert message == "The sound lasts 600 seconds, but a sound here lasts at most 60."
    message = refusal(lambda: check_inputs(model("picture"), [black(8), black(4001)], limits))
    assert message == "Input 2 has 16,008,001 pixels, but a picture here has at most 16,000,000. Make it smaller."
    check_inputs(model("picture"), [black(4000), black(2000, frames=5)], limits)  # only its first frame is read
    message = refusal(lambda: check_inputs(model("video"), [black(2000, frames=5)], limits))
    assert message.startswith("The picture has 20,000,000 pixels")
    check_inputs(model("sound"), [silence(60)], limits)
    check_inputs(model("sound"), [silence(100)], Limits(sound_seconds=100))


def test_sounds_and_strokes_that_would_be_too_many_are_refused_when_they_are_asked_for() -> None:
    limits = Limits(speech_seconds=10, points=5)
    check_speech(Question(model(), SpeakBody(text=["a" * 18]), limits))
    assert "may last 11 seconds, but the sounds of a request here last at most 10" in refusal(
        lambda: check_speech(Question(model(), SpeakBody(text=["a" * 18, ""]), limits))
    )
    assert "have 6 points, but a request here gives at most 5" in refusal(
        lambda: check_drawings(Question(model(), DrawBody(between=[[[[0.0, 0.0]] * 3], [[[1.0, 1.0]] * 3]]), limits))
    )
