"""Speed of translators on this machine's CPU, all by the same engine."""

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.processes import cores
from regard.decoding.options import change_options
from regard.engines.exported import CTRANSLATE2, ONNX, origins
from regard.training.checkpoint import read_folder, read_manifest
from regard.verbs.translate.model import load_translation_model
from regard.verbs.translate.plan import whole_texts
from regard.verbs.translate.run import runner

ALONE, TOGETHER = 50, 256  # most sentences to translate one by one, and in batches
ROUNDS = 3  # of which the fastest counts, since others were disturbed
THREADS = (1, 2)

Engine = Literal["ctranslate2", "onnx", "torch"]
Translate = Callable[[Sequence[str]], object]
_PACKAGES: dict[Engine, str] = {"ctranslate2": "ctranslate2", "onnx": "onnxruntime"}
_LOADERS = {
    "ctranslate2": "regard.engines.ctranslate2.engine:load_engine",
    "onnx": "regard.engines.onnx.engine:load_engine",
}


class Contender(NamedTuple):
    """A model and the beam to search with."""

    folder: Path
    beam: int


class CpuSpeed(NamedTuple):
    """Speed of a contender: median milliseconds of a sentence alone on one core, and sentences a second in batches."""

    milliseconds: float
    sentences_per_second: dict[int, float]  # by the number of cores


class CpuSpeeds(NamedTuple):
    """Speeds of all contenders by one engine, and the bytes of each model's 8-bit export."""

    engine: Engine
    speeds: dict[Contender, CpuSpeed]
    small_bytes: dict[Path, int]


def cpu_speeds(contenders: Sequence[Contender], texts: Sequence[str]) -> CpuSpeeds:
    """Measure all contenders by the first engine that can run all of them: CTranslate2, onnxruntime, torch."""
    folders = list(dict.fromkeys(contender.folder for contender in contenders))
    for engine, package in _PACKAGES.items():
        if find_spec(package) is None:
            continue
        try:
            with _exported(folders, engine) as places:
                speeds = {one: _measure(one, places[one.folder], engine, texts) for one in contenders}
                return CpuSpeeds(engine, speeds, {folder: _size(places[folder] / engine) for folder in folders})
        except Fault:  # it cannot run one of these models, or not with this search
            continue
    return CpuSpeeds("torch", {one: _measure(one, one.folder, "torch", texts) for one in contenders}, {})


@contextmanager
def _exported(folders: Sequence[Path], engine: Engine) -> Iterator[Mapping[Path, Path]]:
    """Copy models to temporary folders, and export them there in 8 bits."""
    with tempfile.TemporaryDirectory(prefix="regard-") as place:
        places = {folder: Path(place) / str(number) for number, folder in enumerate(folders)}
        for folder, copy in places.items():
            copy.mkdir()
            for name in (*read_manifest(folder), "manifest.json"):
                shutil.copyfile(folder / name, copy / name)
            _export(copy, engine)
        yield places


def _export(folder: Path, engine: Engine) -> None:
    if engine == CTRANSLATE2:
        from regard.engines.ctranslate2.export import export_ctranslate2

        export_ctranslate2(folder, folder / CTRANSLATE2, "int8")
    else:
        from regard.engines.onnx.export import export_onnx

        model = load_translation_model(folder, device="cpu")
        export_onnx(model, folder / ONNX, "int8", origins(read_folder(folder)))


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file())


def _measure(contender: Contender, place: Path, engine: Engine, texts: Sequence[str]) -> CpuSpeed:
    together, threads = texts[:TOGETHER], [count for count in THREADS if count <= cores()]
    by_threads = {}
    for count in threads:
        with _translator(contender, place, engine, count) as translate:
            translate(together[:8])
            by_threads[count] = len(together) / min(_seconds(translate, together) for _ in range(ROUNDS))
    with _translator(contender, place, engine, 1) as translate:
        translate(texts[:1])
        alone = [min(_seconds(translate, [text]) for _ in range(ROUNDS)) for text in texts[:ALONE]]
    return CpuSpeed(1000 * statistics.median(alone), by_threads)


def _seconds(translate: Translate, texts: Sequence[str]) -> float:
    began = time.perf_counter()
    translate(texts)
    return time.perf_counter() - began


@contextmanager
def _translator(contender: Contender, place: Path, engine: Engine, threads: int) -> Iterator[Translate]:
    """Yield a function that translates texts on this many cores."""
    if engine == "torch":
        model = load_translation_model(place, device="cpu")
        run, before = runner(model, model.plan(beam=contender.beam, n_best=1)), torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            yield lambda texts: [translated.text for translated in run(whole_texts(texts))]
        finally:
            torch.set_num_threads(before)
        return
    loaded: Any = find_place(_LOADERS[engine])(place, workers=threads)
    options = change_options(loaded.decoding, {"beam": contender.beam, "n_best": 1}, None)
    yield lambda texts: [rows[0] for rows in loaded.translate(texts, options, scored=False)]
