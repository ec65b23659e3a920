"""Models and servers that the tests of serving share."""

from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from loopback import on_loopback
from toy import make_model

from regard.serving.app import make_app
from regard.serving.options import ServingOptions


@pytest.fixture(scope="session")
def forth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a translator from en to pt with an export."""
    return make_model(tmp_path_factory.mktemp("serving") / "forth")


@pytest.fixture(scope="session")
def back(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one from pt to en that runs on torch alone."""
    return make_model(tmp_path_factory.mktemp("serving") / "back", "pt", "en", export=False, seed=2)


@pytest.fixture(scope="session")
def serving_options() -> ServingOptions:
    return ServingOptions.model_validate(
        {
            "limits": {"characters": 2000, "texts": 20, "body": 100_000, "beam": 8, "n_best": 4, "seconds": 20.0},
        }
    )


@pytest.fixture(scope="session")
def running(forth: Path, back: Path, serving_options: ServingOptions) -> Iterator[str]:
    """Return the address of a loopback server of both models, in a thread."""
    with on_loopback(make_app([forth, back], serving_options)) as address:
        yield address


@pytest.fixture(scope="session")
def client(running: str) -> Iterator[httpx.Client]:
    """Return a client of that server."""
    with httpx.Client(base_url=running, timeout=60) as http_client:
        yield http_client
