"""Compiled loops match numpy bit for bit: counts, sums, models, scores, and the bytes of ARPA files.

Like all tests, these run the loops as plain Python; only the last one compiles them.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from counted import BEGIN, SPECIAL, counts_of, possible, tokens_of

from regard.base import compiled
from regard.models.ngram import NgramOptions, Ngrams
from regard.models.ngram.arpa_text import _numerals, _texts_of, arpa_blocks
from regard.models.ngram.counting import NgramCounts, count
from regard.models.ngram.smoothing import estimate
from regard.models.ngram.stored import counts_as_arrays, model_as_arrays

WORDS = [f"w{number}" for number in range(300)]


class Both(Protocol):
    """Runs an operation with numpy and with compiled loops."""

    def __call__(self, work: Callable[[], Any]) -> tuple[Any, Any]: ...


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Both:
    pytest.importorskip("numba")

    def run(work: Callable[[], Any]) -> tuple[Any, Any]:
        results = []
        for items in (10**9, 0):
            monkeypatch.setattr(compiled, "_WITH_IMPORT", items)
            monkeypatch.setattr(compiled, "_ONCE_IMPORTED", items)
            results.append(work())
        return results[0], results[1]

    return run


def random_text(seed: int, tokens: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Return sentences of random words with very uneven frequencies, and their start places."""
    draw = np.random.default_rng(seed)
    text = np.minimum(draw.zipf(1.3, tokens), len(WORDS)) + 3
    text[draw.random(tokens) < 0.1] = BEGIN
    text[0] = BEGIN
    return text.astype(np.int64), text == BEGIN


def assert_same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert array.dtype == second[name].dtype
        np.testing.assert_array_equal(array, second[name], err_msg=name)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [len(WORDS) + 4, 2**15, 2**24])
def test_counts_are_the_same(order: int, size: int, both: Both) -> None:
    tokens, starts = random_text(order)
    plain, fast = both(lambda: counts_as_arrays(count(tokens, starts, order, size)))
    assert_same(plain, fast)


def test_sums_are_the_same(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.models.ngram.counting._MERGED_AT_ONCE", 97)  # so that there are many parts
    first, second = (count(*random_text(seed), order=4, size=len(WORDS) + 4) for seed in (1, 2))
    whole = [np.concatenate(pair) for pair in zip(random_text(1), random_text(2), strict=True)]
    plain, fast = both(lambda: counts_as_arrays(first + second))
    assert_same(plain, fast)
    assert_same(plain, counts_as_arrays(count(*whole, order=4, size=len(WORDS) + 4)))


def model(order: int, **settings: Any) -> Ngrams:
    counts: NgramCounts = count(*random_text(7), order=order, size=len(WORDS) + 4)
    options = NgramOptions(order=order, discount_fallback=settings.get("smoothing") != "add-k", **settings)
    return estimate(options, counts, BEGIN, possible(counts.trie.size))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("settings", [{}, {"prune": [0, 0, 1]}, {"smoothing": "back-off"}, {"smoothing": "add-k"}])
def test_models_their_files_and_their_scores_are_the_same(settings: dict[str, Any], both: Both) -> None:
    plain, fast = both(lambda: model(4, **settings))
    assert_same(model_as_arrays(plain), model_as_arrays(fast))
    names = [None, *SPECIAL, *WORDS]
    files = both(lambda: b"".join(arpa_blocks(plain, names)))
    assert files[0] == files[1]
    new, starts = random_text(8)
    scores = both(lambda: plain.score(new, starts))
    np.testing.assert_array_equal(*scores)


def test_numbers_are_written_with_the_digits_of_python() -> None:
    pytest.importorskip("numba")
    draw = np.random.default_rng(3)
    some = np.concatenate(
        [
            draw.integers(0, 2**32, 20_000, dtype=np.uint32).view(np.float32),
            (-(10 ** draw.uniform(-5, 6, 20_000))).astype(np.float32),
            np.array([0.0, -0.0, -99, 1e-4, 9.9999e-5, 1e5, 0.5, 12.5, 0.1, 100, 99999.99], np.float32),
        ]
    )
    some = some[np.isfinite(some)]
    texts, lengths = _texts_of(some)
    written = [row[:length].tobytes().decode() for row, length in zip(texts, lengths.tolist(), strict=True)]
    assert written == _numerals(some) == [f"{value:.9g}" for value in some.tolist()]


@pytest.mark.parametrize("missing", [True, False])
def test_small_inputs_and_machines_without_numba_get_numpy(missing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(compiled, "find_spec", lambda name: None if missing else object())
    assert not compiled.pays_to_compile(1000)
    assert compiled.pays_to_compile(10**7) is not missing
    tokens = tokens_of(["w0 w1", "w1"], WORDS)
    assert counts_of(["w0 w1", "w1"], 2, WORDS).counts[0].sum() == len(tokens)


@pytest.mark.long
def test_what_numba_compiles_gives_the_same(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    spaces = Path(__file__).parents[2] / "data" / "tokenisers" / "test_spaces.py"
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", __file__, str(spaces)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
