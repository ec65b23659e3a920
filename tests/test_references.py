"""Our computations compared with libraries that the field trusts; libraries not installed are skipped."""

import math
import os
import random
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from regard.metrics.text import score
from regard.models.griffin_lim import griffin_lim, sound_of, spectrum
from regard.models.log_mel import SOFTEST, LogMel, mel_filters

RATE, LENGTH, HOP, BANDS = 8000, 256, 64, 40
WINDOW = torch.hann_window(LENGTH, dtype=torch.float64)
# Libraries warn about coming changes in their own dependencies.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


def sound() -> torch.Tensor:
    """Return a second of a rising tone with some noise."""
    time = torch.arange(RATE, dtype=torch.float64) / RATE
    noise = torch.randn(RATE, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    return 0.5 * torch.sin(2 * math.pi * (300 + 400 * time) * time) + 0.01 * noise


LIBROSA = """
import sys, numpy, librosa
sound, damaged = (numpy.load(f"{sys.argv[1]}/{name}.npy") for name in ("sound", "damaged"))
frames = {"n_fft": 256, "hop_length": 64, "window": "hann", "center": True, "pad_mode": "constant"}
mel = {"sr": 8000, "n_mels": 40, "htk": True, "norm": None}
spectra = librosa.stft(sound, dtype=numpy.complex128, **frames)
numpy.savez(
    f"{sys.argv[1]}/librosa.npz",
    filters=librosa.filters.mel(n_fft=256, dtype=numpy.float64, **mel),
    power=librosa.feature.melspectrogram(y=sound, power=2.0, **mel, **frames),
    spectra=spectra,
    back=librosa.istft(damaged, hop_length=64, window="hann", n_fft=256, dtype=numpy.float64),
    spoken=librosa.griffinlim(abs(spectra), n_iter=30, momentum=0, init=None, **frames),
)
"""


def damaged_spectra() -> torch.Tensor:
    """Return spectra that no sound has."""
    spectra = spectrum(sound(), WINDOW, HOP)
    return spectra * torch.linspace(0.5, 1.5, spectra.shape[1])


@pytest.fixture(scope="module")
def librosa(tmp_path_factory: pytest.TempPathFactory) -> dict[str, torch.Tensor]:
    """Return librosa's results from a separate process, where numba compiles; in tests it does not."""
    if find_spec("librosa") is None:
        pytest.skip("librosa is not installed; it is in the extra bench")
    folder = tmp_path_factory.mktemp("librosa")
    np.save(folder / "sound.npy", sound().numpy())
    np.save(folder / "damaged.npy", damaged_spectra().numpy())
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", LIBROSA, str(folder)], check=True, env=environment)
    with np.load(folder / "librosa.npz") as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays}


@pytest.mark.long  # numba compiles what librosa needs
def test_mel_filters_are_those_of_librosa(librosa: dict[str, torch.Tensor]) -> None:
    torch.testing.assert_close(mel_filters(RATE, LENGTH, BANDS).double(), librosa["filters"], rtol=0, atol=1e-6)


@pytest.mark.long  # numba compiles what librosa needs
def test_log_mel_is_that_of_librosa(librosa: dict[str, torch.Tensor]) -> None:
    ours = LogMel(RATE, LENGTH, HOP, BANDS).double()(sound()[None])[0].T
    torch.testing.assert_close(ours, (librosa["power"] + SOFTEST).log(), rtol=1e-4, atol=1e-4)


@pytest.mark.long  # numba compiles what librosa needs
def test_spectra_and_the_way_back_are_those_of_librosa(librosa: dict[str, torch.Tensor]) -> None:
    torch.testing.assert_close(spectrum(sound(), WINDOW, HOP), librosa["spectra"], rtol=0, atol=1e-9)
    torch.testing.assert_close(sound_of(damaged_spectra(), WINDOW, HOP), librosa["back"], rtol=0, atol=1e-9)


@pytest.mark.long  # numba compiles what librosa needs
def test_griffin_lim_comes_as_near_as_that_of_librosa(librosa: dict[str, torch.Tensor]) -> None:
    magnitudes = spectrum(sound(), WINDOW, HOP).abs()

    def distance(waves: torch.Tensor) -> float:
        return float((spectrum(waves, WINDOW, HOP).abs() - magnitudes).square().sum())

    ours, theirs = griffin_lim(magnitudes, WINDOW, HOP, 30), librosa["spoken"].double()
    assert distance(ours) <= distance(theirs)


def texts(seed: int) -> tuple[list[str], list[str]]:
    """Return sentences of few words, and others that share some words with them."""
    generator, words = (
        random.Random(seed),
        ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "one", "red", "house", "by", "running", "water"],
    )
    references = [" ".join(generator.choices(words, k=generator.randint(5, 14))) for _ in range(60)]
    hypotheses = [" ".join(word for word in line.split() if generator.random() < 0.8) or "cat" for line in references]
    return hypotheses, references


@pytest.mark.parametrize("name", ["rouge1", "rouge2", "rougeL"])
def test_rouge_is_that_of_rouge_score(name: str) -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer([name])
    hypotheses, references = texts(3)
    theirs = [
        scorer.score(reference, written)[name].fmeasure
        for written, reference in zip(hypotheses, references, strict=True)
    ]
    assert score(hypotheses, references, metric=name).value == pytest.approx(sum(theirs) / len(theirs))


def test_nist_is_that_of_nltk() -> None:
    nist = pytest.importorskip("nltk.translate.nist_score")
    hypotheses, references = texts(4)
    theirs = nist.corpus_nist([[line.split()] for line in references], [line.split() for line in hypotheses], n=5)
    assert score(hypotheses, references, metric="nist").value == pytest.approx(theirs)


def test_ribes_is_that_of_nltk() -> None:
    ribes = pytest.importorskip("nltk.translate.ribes_score")
    hypotheses, references = texts(5)
    theirs = ribes.corpus_ribes([[line.split()] for line in references], [line.split() for line in hypotheses])
    assert score(hypotheses, references, metric="ribes").value == pytest.approx(theirs)
