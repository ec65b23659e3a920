"""What the doors of sounds answer: sounds for texts, and texts for sounds."""

from regard.serving.doors.records import DoorAnswer


class SpokenAnswer(DoorAnswer):
    """A sound: what is said, by whom, how long, whether it ended or had to be cut, and a wav file in base64."""

    text: str
    speaker: str
    seconds: float
    ended: bool
    wav: str


class SpeakAnswer(DoorAnswer):
    model: str
    seconds: float
    sounds: list[SpokenAnswer]


class TranscriptAnswer(DoorAnswer):
    """What a sound says, as `regard transcribe --json` has it: each symbol with the seconds from and to which."""

    text: str
    score: float
    alignment: list[tuple[str, float, float]]


class TranscribeAnswer(DoorAnswer):
    model: str
    seconds: float
    transcripts: list[TranscriptAnswer]
