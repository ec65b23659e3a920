"""Options of a server: limits, batching and access."""

from pydantic import ConfigDict, Field, SecretStr, field_validator

from regard.base.doors import Limits
from regard.base.recipe import Options

SHORTEST_KEY = 8  # characters


class Batching(Options):
    """Options for sharing batches between the sentences of several requests."""

    rows: int = Field(default=0, ge=0, description="Maximum sentences per batch; 0 is 32 per core.")
    turn: float = Field(
        default=1.0,
        gt=0,
        le=60,
        description="Planned maximum seconds of a batch; short requests may overtake one that takes longer.",
    )
    patience: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Maximum seconds, or a tenth of the last batch's time, to wait for a batch as large as the last.",
    )


class Access(Options):
    """Access rules: allowed host names, sites and key."""

    model_config = ConfigDict(hide_input_in_errors=True)  # the key is a secret

    hosts: tuple[str, ...] = Field(
        default=("localhost", "127.0.0.1", "::1"), description="Host names that requests may use."
    )
    any_address: bool = Field(default=False, description="Also allow any IP address as host name.")
    origins: tuple[str, ...] = Field(default=(), description="Other sites whose pages may send requests.")
    key: SecretStr | None = Field(default=None, description="API key that requests must send.")
    log_texts: bool = Field(default=False, description="Include the texts of requests in the log.")

    @field_validator("key")
    @classmethod
    def _check_length(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and len(key) < SHORTEST_KEY:
            raise ValueError(f"a key has at least {SHORTEST_KEY} characters")
        return key


class ServingOptions(Options):
    """All options of a server."""

    model_config = ConfigDict(hide_input_in_errors=True)  # pydantic checks only the outermost model
    limits: Limits = Field(default_factory=Limits, description="Limits on requests.")
    batching: Batching = Field(default_factory=Batching, description="How requests share batches.")
    access: Access = Field(default_factory=Access, description="Who has access.")
