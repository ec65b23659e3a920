"""Options of a server: batching, and who has access, beside the limits on requests."""

from pydantic import ConfigDict, Field, SecretStr, field_validator

from regard.base.doors import Limits
from regard.base.recipe import Options

SHORTEST_KEY = 8  # characters


class Batching(Options):
    """Options for translating sentences of several requests together."""

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
    """Access rules: who may connect, and from where."""

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
