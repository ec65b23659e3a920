"""Options of a server: limits on requests, batching, and who has access."""

from pydantic import ConfigDict, Field, SecretStr, field_validator

from regard.base.recipe import Options

SHORTEST_KEY = 8  # characters


class Limits(Options):
    """The most that one request may ask for, and that may wait at one time."""

    body: int = Field(default=2**21, ge=1024, description="Bytes of a request's body.")
    characters: int = Field(default=50_000, ge=1, description="Characters of all texts of a request together.")
    texts: int = Field(default=1000, ge=1, description="Texts of a request.")
    sentence: int = Field(default=256, ge=8, description="Tokens of a sentence; longer ones are cut, or refused.")
    picture: int = Field(default=2**20, ge=1, description="Bytes of the file of a picture.")
    sound: int = Field(default=1_500_000, ge=1, description="Bytes of the file of a sound.")
    pixels: int = Field(
        default=16_000_000, ge=64, description="Pixels of a picture, or of all frames of a video together."
    )
    sound_seconds: float = Field(default=60.0, gt=0, le=600, description="Seconds that a sound lasts.")
    speech_seconds: float = Field(
        default=3600.0, gt=0, description="Seconds that the sounds spoken for a request may last together, at most."
    )
    points: int = Field(default=20_000, ge=1, description="Points of all strokes that a request gives.")
    beam: int = Field(default=16, ge=1, le=64, description="Width of a beam.")
    n_best: int = Field(default=16, ge=1, le=64, description="Candidates of a sentence.")
    samples: int = Field(
        default=64,
        ge=2,
        le=1024,
        description="Samples that minimum Bayes risk chooses among, or for a prompt.",
    )
    tokens: int = Field(default=1000, ge=1, description="Tokens that are written after a prompt.")
    drawings: int = Field(default=64, ge=1, description="Drawings of a request.")
    mapped: int = Field(default=1000, ge=2, description="Words on a map.")
    weights: int = Field(default=2_000_000, ge=1, description="Weights of attention in one answer.")
    vectors: int = Field(default=2_000_000, ge=1, description="Numbers of vectors in one answer.")
    nodes: int = Field(default=5000, ge=1, description="Hypotheses of a beam in one answer.")
    seconds: float = Field(default=60.0, gt=0, le=3600, description="Time for a request, waiting included.")
    waiting: int = Field(default=4096, ge=1, description="Sentences that may wait for one model.")
    connections: int = Field(
        default=1000,
        ge=8,
        description="Connections at a time, and at most half of the files that the system lets a process open.",
    )
    requests: int = Field(default=0, ge=0, description="Requests a minute of one client; 0 is as many as it likes.")


class Batching(Options):
    """How sentences of several requests come to be translated together."""

    rows: int = Field(default=0, ge=0, description="Sentences in a batch at most; 0 is 32 for each core.")
    turn: float = Field(
        default=1.0,
        gt=0,
        le=60,
        description="Seconds that a batch may take, so far as it can be foreseen; beyond them short requests pass it.",
    )
    patience: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Seconds that a batch waits at most to become as large as the last one, or a tenth of its time.",
    )


class Access(Options):
    """Who may come, and from where."""

    model_config = ConfigDict(hide_input_in_errors=True)  # the key is a secret

    hosts: tuple[str, ...] = Field(
        default=("localhost", "127.0.0.1", "::1"), description="Names under which the server may be called."
    )
    any_address: bool = Field(default=False, description="Whether any bare address is such a name too.")
    origins: tuple[str, ...] = Field(default=(), description="Other sites whose pages may ask.")
    key: SecretStr | None = Field(default=None, description="What a request must know.")
    log_texts: bool = Field(default=False, description="Whether the log has the texts of requests.")

    @field_validator("key")
    @classmethod
    def _check_length(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and len(key) < SHORTEST_KEY:
            raise ValueError(f"a key has at least {SHORTEST_KEY} characters")
        return key


class ServingOptions(Options):
    """All that decides how a server behaves."""

    model_config = ConfigDict(hide_input_in_errors=True)  # pydantic asks the outermost model alone
    limits: Limits = Field(default_factory=Limits, description="The most that may be asked for.")
    batching: Batching = Field(default_factory=Batching, description="How requests share batches.")
    access: Access = Field(default_factory=Access, description="Who may come.")
