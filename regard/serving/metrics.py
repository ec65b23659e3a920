"""Prometheus metrics of the server; no label ever holds what a user wrote."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from regard.base.version import __version__
from regard.serving.queue.process_memory import resident_bytes
from regard.serving.queue.worker import Done

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self.requests = Counter(
            "regard_requests", "Answered requests.", ["path", "method", "status"], registry=registry
        )
        self.seconds = Histogram(
            "regard_request_seconds", "Time from a request to the end of its answer.", ["path"],
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self.open = Gauge("regard_requests_open", "Requests in progress.", registry=registry)
        self.characters = Counter("regard_characters", "Characters to translate.", ["model"], registry=registry)
        self.sentences = Counter("regard_sentences", "Translated sentences.", ["model"], registry=registry)
        self.cancelled = Counter("regard_cancelled", "Requests whose client disconnected.", registry=registry)
        self._batches = Histogram(
            "regard_batch_rows", "Sentences in a batch.", ["model"], buckets=_ROWS, registry=registry
        )
        self._busy = Counter("regard_busy_seconds", "Time a model worked.", ["model"], registry=registry)
        self._waited = Histogram(
            "regard_waited_seconds", "Time from an order to its batch.", ["model"], buckets=_SECONDS, registry=registry
        )
        self._waiting = Gauge("regard_waiting", "Waiting sentences.", ["model"], registry=registry)
        memory = Gauge("regard_resident_bytes", "Memory of the process.", registry=registry)
        memory.set_function(resident_bytes)
        Gauge("regard_version", "The running version.", ["version"], registry=registry).labels(__version__).set(1)

    def watch(self, model: str, waiting: Callable[[], int]) -> Callable[[Done], None]:
        """Count the sentences that wait for a model; return the function to call with each finished batch."""
        self._waiting.labels(model).set_function(waiting)
        sentences, rows = self.sentences.labels(model), self._batches.labels(model)
        busy, waited = self._busy.labels(model), self._waited.labels(model)

        def tell(done: Done) -> None:
            sentences.inc(done.rows)
            rows.observe(done.rows)
            busy.inc(done.seconds)
            waited.observe(max(done.waited, 0.0))

        return tell

    def text(self) -> bytes:
        return generate_latest(self._registry)
