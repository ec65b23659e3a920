"""The summed metrics of several server processes.

Every second, each process writes its metrics into a shared folder. The process that is asked adds those of the others
to its own, so they are at most a second old.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from regard.base.files import write_file
from regard.serving.metrics import Metrics

_EVERY = 1.0  # seconds between two writes
_GONE = ".gone"  # suffix of a file that a dead process has left
_CREATED = "_created"  # suffix of the time when a count began


class SharedMetrics(Metrics):
    """The metrics of one process, and of the others that share its folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._file = folder / str(os.getpid())
        self._is_over = threading.Event()
        self._writing = threading.Thread(target=self._write_now_and_then, daemon=True)

    def __enter__(self) -> Self:
        self._writing.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._writing.join()

    def text(self) -> bytes:
        others = [path for path in self._file.parent.iterdir() if path != self._file and not path.name.startswith(".")]
        return add_up([super().text().decode(), *_texts(others)])

    def _write_now_and_then(self) -> None:
        while True:
            write_file(self._file, super().text())
            if self._is_over.wait(_EVERY):
                return


def set_aside(folder: Path, process: int) -> None:
    """Keep the counters of a process that died; its gauges, such as memory, no longer count."""
    file = folder / str(process)
    if file.exists():
        file.rename(folder / f"{process}{_GONE}")


def _texts(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:  # it was just set aside
            continue
        yield add_up([text], with_gauges=False).decode() if path.suffix == _GONE else text


def add_up(texts: Iterable[str], with_gauges: bool = True) -> bytes:
    """Add up the metrics of several processes, in the format of Prometheus."""
    return generate_latest(_Registry(_sum(texts, with_gauges)))


def _sum(texts: Iterable[str], with_gauges: bool) -> list[Metric]:
    families: dict[str, Metric] = {}
    sums: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
    for text in texts:
        for family in text_string_to_metric_families(text):
            is_fixed = family.name.endswith(_CREATED) or family.name == "regard_version"
            if family.type == "gauge" and not (with_gauges or family.name.endswith(_CREATED)):
                continue
            families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            values = sums.setdefault(family.name, {})
            for sample in family.samples:
                key = sample.name, tuple(sorted(sample.labels.items()))
                values[key] = (
                    min(values.get(key, sample.value), sample.value) if is_fixed else values.get(key, 0) + sample.value
                )
    for name, family in families.items():
        for (sample_name, labels), value in sums[name].items():
            family.add_sample(sample_name, dict(labels), value)
    return list(families.values())


class _Registry(CollectorRegistry):
    """A registry of given metrics."""

    def __init__(self, metrics: list[Metric]) -> None:
        super().__init__()
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics
