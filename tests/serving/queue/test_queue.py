"""Orders of several requests in one thread: none lost, swapped, starved or done in vain."""

import asyncio
import contextvars
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regard.base.doors import Price, Question
from regard.base.faults import Fault
from regard.base.pauses import between_steps
from regard.serving.catalogue import Catalogue, open_models
from regard.serving.flow import results_of
from regard.serving.http.refusals import Refusal
from regard.serving.metrics import Metrics
from regard.serving.options import Batching, ServingOptions
from regard.serving.queue.worker import Abandoned, Done, Worker
from regard.verbs.translate.door import TranslateBody, TranslateJob

WAIT = 20.0
PRICE = Price("items", 1000, ordinary=250)


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker("test", Batching(rows=4, patience=0.05), waiting=50)
    yield worker
    worker.close(WAIT)


async def all_of(worker: Worker, key: Any, work: Any, items: list[Any]) -> list[Any]:
    """Return the answers in the order of the items."""
    answers = dict([answer async for answer in worker.each(PRICE, key, work, items, [1.0] * len(items))])
    return [answers[place] for place in range(len(items))]


class Gate:
    """Work that waits for permission to continue and remembers its batches."""

    def __init__(self) -> None:
        self.open, self.begun = threading.Event(), threading.Event()
        self.batches: list[list[Any]] = []

    def __call__(self, items: list[Any]) -> list[Any]:
        self.batches.append(list(items))
        self.begun.set()
        assert self.open.wait(WAIT)
        return [item * 10 for item in items]

    async def entered(self) -> None:
        assert await asyncio.to_thread(self.begun.wait, WAIT)


async def settled(worker: Worker, waiting: int) -> None:
    """Wait until this many items are queued."""
    while worker.waiting != waiting:
        await asyncio.sleep(0.001)


def test_every_item_is_answered_in_its_place(worker: Worker) -> None:
    answers = asyncio.run(all_of(worker, "a", lambda items: [item * 10 for item in items], list(range(11))))
    assert answers == [number * 10 for number in range(11)]


def test_orders_of_one_key_share_a_batch_and_others_do_not(worker: Worker) -> None:
    gate = Gate()

    async def main() -> None:
        first = asyncio.create_task(all_of(worker, None, gate, [0]))
        await gate.entered()
        others = [asyncio.create_task(all_of(worker, key, gate, [number])) for number, key in enumerate("aba", 1)]
        await settled(worker, 3)
        gate.open.set()
        assert [await task for task in (first, *others)] == [[0], [10], [20], [30]]

    asyncio.run(main())
    assert gate.batches == [[0], [1, 3], [2]]


def test_a_long_order_does_not_keep_a_short_one_waiting(worker: Worker) -> None:
    gate = Gate()

    async def main() -> None:
        first = asyncio.create_task(all_of(worker, None, gate, [0]))
        await gate.entered()
        book = asyncio.create_task(all_of(worker, "a", gate, list(range(10, 30))))
        await settled(worker, 20)
        word = asyncio.create_task(all_of(worker, "a", gate, [99]))
        other = asyncio.create_task(all_of(worker, "b", gate, [77]))
        await settled(worker, 22)
        gate.open.set()
        await asyncio.gather(first, book, word, other)

    asyncio.run(main())
    assert 99 in gate.batches[1]  # an item of each, in turn
    assert gate.batches[2] == [77]  # then those waiting behind
    assert sorted(item for batch in gate.batches for item in batch) == sorted([0, 99, 77, *range(10, 30)])


def test_one_who_fails_does_not_spoil_the_others(worker: Worker) -> None:
    gate = Gate()

    def work(items: list[int]) -> list[int]:
        if 13 in items:
            raise Fault("Not this one.")
        return [item * 10 for item in items]

    async def main() -> list[Any]:
        first = asyncio.create_task(all_of(worker, None, gate, [0]))
        await gate.entered()
        orders = [asyncio.create_task(all_of(worker, "a", work, [number])) for number in (12, 13, 14)]
        await settled(worker, 3)
        gate.open.set()
        await first
        return await asyncio.gather(*orders, return_exceptions=True)

    good, bad, also_good = asyncio.run(main())
    assert (good, also_good) == ([120], [140])
    assert isinstance(bad, Fault)


def test_answers_that_are_too_few_are_a_fault_of_ours(worker: Worker) -> None:
    with pytest.raises(AssertionError, match="3 items were given, but 1 came back"):
        asyncio.run(all_of(worker, "a", lambda items: items[:1], [1, 2, 3]))


def test_a_cancelled_order_is_not_worked_on(worker: Worker) -> None:
    gate = Gate()

    async def main() -> None:
        first = asyncio.create_task(all_of(worker, None, gate, [0]))
        await gate.entered()
        unwanted = asyncio.create_task(all_of(worker, "a", gate, [1, 2, 3]))
        await settled(worker, 3)
        unwanted.cancel()
        await settled(worker, 0)
        gate.open.set()
        await first

    asyncio.run(main())
    worker.close(WAIT)
    assert gate.batches == [[0]]


def test_what_nobody_waits_for_is_given_up_at_the_next_step(worker: Worker) -> None:
    seen: list[str] = []
    start, gone = threading.Event(), threading.Event()

    def work(items: list[int]) -> list[int]:
        between_steps()
        seen.append("a step")
        start.set()
        assert gone.wait(WAIT)
        try:
            between_steps()
        except Abandoned:
            seen.append("given up")
            raise
        return items

    async def main() -> None:
        task = asyncio.create_task(all_of(worker, "a", work, [1]))
        assert await asyncio.to_thread(start.wait, WAIT)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        between_steps()  # a thread that borrows the model does not give up its own work
        gone.set()

    asyncio.run(main())
    worker.close(WAIT)
    assert seen == ["a step", "given up"]


def test_a_full_queue_refuses_and_says_when_to_come_again() -> None:
    worker, gate = Worker("test", Batching(rows=4), waiting=5), Gate()

    async def main() -> None:
        first = asyncio.create_task(all_of(worker, None, gate, [0]))
        await gate.entered()
        second = asyncio.create_task(all_of(worker, "a", gate, [1, 2, 3, 4]))
        await settled(worker, 4)
        with pytest.raises(Refusal, match="too much to do") as refusal:
            await all_of(worker, "a", gate, [5, 6])
        assert (refusal.value.status, int(refusal.value.headers["Retry-After"]) >= 1) == (503, True)
        gate.open.set()
        await asyncio.gather(first, second)

    asyncio.run(main())
    worker.close(WAIT)


def test_an_order_longer_than_the_queue_is_taken_when_nobody_waits() -> None:
    worker = Worker("test", Batching(rows=4), waiting=5)
    assert asyncio.run(all_of(worker, "a", lambda items: items, list(range(9)))) == list(range(9))
    worker.close(WAIT)


def test_closing_finishes_what_was_accepted_and_accepts_no_more() -> None:
    worker, gate = Worker("test", Batching(rows=4), waiting=50), Gate()

    async def main() -> list[int]:
        accepted = asyncio.create_task(all_of(worker, "a", gate, list(range(10))))
        await gate.entered()
        closing = asyncio.create_task(asyncio.to_thread(worker.close, WAIT))
        while not worker._closing:
            await asyncio.sleep(0.001)
        with pytest.raises(Refusal, match="shutting down"):
            await all_of(worker, "a", gate, [1])
        gate.open.set()
        await closing
        return await accepted

    assert asyncio.run(main()) == [number * 10 for number in range(10)]


@pytest.mark.parametrize(("patience", "last"), [(1.0, 2), (0.0, 1)])
def test_who_was_just_answered_is_waited_for(patience: float, last: int) -> None:
    """Two share a long batch. Then both ask again, one after the other."""
    batches: list[int] = []
    worker, gate, start = Worker("test", Batching(rows=8, patience=patience), waiting=50), Gate(), threading.Event()

    def work(items: list[int]) -> list[int]:
        batches.append(len(items))
        start.set()
        if len(batches) == 1:
            time.sleep(0.5)  # a tenth of which is the patience
        return items

    async def main() -> None:
        first = asyncio.create_task(all_of(worker, None, gate, [0]))
        await gate.entered()
        both = asyncio.create_task(all_of(worker, "a", work, [1, 2]))
        await settled(worker, 2)
        gate.open.set()
        await asyncio.gather(first, both)
        start.clear()
        one = asyncio.create_task(all_of(worker, "a", work, [1]))
        if patience:
            await settled(worker, 1)
        else:
            assert await asyncio.to_thread(start.wait, WAIT)
        await asyncio.gather(one, all_of(worker, "a", work, [2]))

    asyncio.run(main())
    worker.close(WAIT)
    assert batches[:2] == [2, last]


def test_work_sees_the_context_of_who_asked(worker: Worker) -> None:
    who = contextvars.ContextVar("who", default="nobody")

    async def main() -> str:
        who.set("Ana")
        (name,) = await all_of(worker, None, lambda _: [who.get()], [None])
        return str(name)

    assert asyncio.run(main()) == "Ana"
    assert who.get() == "nobody"


def test_batches_are_told_of(worker: Worker) -> None:
    reports: list[Done] = []
    worker.tell = reports.append
    asyncio.run(all_of(worker, "a", lambda items: items, [1, 2, 3, 4, 5]))
    worker.close(WAIT)
    assert [done.rows for done in reports] == [4, 1]
    assert all(done.seconds >= 0 and done.waited >= 0 for done in reports)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_or_swapped_whatever_comes_together(seed: int) -> None:
    worker, draw = Worker("test", Batching(rows=5, patience=0.002), waiting=10_000), random.Random(seed)

    async def client(number: int) -> None:
        for turn in range(20):
            items = [(number, turn, place) for place in range(draw.randint(1, 7))]
            task = asyncio.create_task(
                all_of(worker, draw.choice("ab"), lambda batch: [("done", *i) for i in batch], items)
            )
            if draw.random() < 0.1:
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            else:
                assert await task == [("done", *item) for item in items]

    async def main() -> None:
        await asyncio.gather(*(client(number) for number in range(16)))

    asyncio.run(main())
    worker.close(WAIT)


@pytest.mark.parametrize("fatal", [SystemExit, KeyboardInterrupt])
def test_what_would_end_the_thread_is_told_and_the_thread_goes_on(worker: Worker, fatal: type[BaseException]) -> None:
    def work(items: list[int]) -> list[int]:
        raise fatal

    with pytest.raises(Refusal, match=f"broke off \\({fatal.__name__}\\); ask again") as refusal:
        asyncio.run(all_of(worker, "a", work, [1]))
    assert refusal.value.status == 503
    assert asyncio.run(all_of(worker, "a", lambda items: items, [1])) == [1]
    assert worker.is_alive


def test_a_fault_of_the_queue_is_told_to_all_who_wait_and_the_thread_goes_on(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(worker._turns, "take", broken)
        with pytest.raises(ZeroDivisionError):
            asyncio.run(all_of(worker, "a", lambda items: items, [1]))
    assert asyncio.run(all_of(worker, "a", lambda items: items, [1])) == [1]


def test_a_thread_that_dies_tells_all_who_wait_at_once_and_another_takes_its_place(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests whose items it worked on used to hang, and all later ones were refused forever."""
    gate, first = Gate(), worker._thread

    def die(*given: Any) -> None:
        raise SystemExit

    async def main() -> list[Any]:
        in_flight = asyncio.create_task(all_of(worker, "a", gate, [1]))
        await gate.entered()
        waiting = asyncio.create_task(all_of(worker, "b", gate, [2, 3]))
        await settled(worker, 2)
        monkeypatch.setattr(worker._turns, "learn", die)  # as the turn in flight ends
        gate.open.set()
        return await asyncio.wait_for(asyncio.gather(in_flight, waiting, return_exceptions=True), WAIT)

    answered, refusal = asyncio.run(main())
    assert answered == [10]
    assert isinstance(refusal, Refusal)
    assert (refusal.status, refusal.headers["Retry-After"]) == (503, "1")
    monkeypatch.undo()
    assert asyncio.run(all_of(worker, "a", lambda items: items, [1])) == [1]
    assert worker.is_alive
    assert worker._thread is not first


def test_who_is_worked_on_when_a_thread_dies_is_told_at_once(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*given: Any) -> bool:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(worker, "_work", die)
        with pytest.raises(Refusal, match="stopped working and was started again") as refusal:
            asyncio.run(asyncio.wait_for(all_of(worker, "a", lambda items: items, [1]), WAIT))
    assert refusal.value.status == 503
    assert asyncio.run(all_of(worker, "a", lambda items: items, [1])) == [1]


def test_who_orders_nothing_gets_nothing_and_the_thread_goes_on(worker: Worker) -> None:
    assert asyncio.run(all_of(worker, "a", lambda items: items, [])) == []
    assert asyncio.run(all_of(worker, "a", lambda items: items, [1])) == [1]


def test_short_requests_pass_while_torch_is_loaded(forth: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look into a model served by its export used to block everyone for three seconds."""
    from regard.verbs.translate import model as loading

    gate, start, load = threading.Event(), threading.Event(), loading.load_translation_model

    def load_late(*given: Any, **more: Any) -> Any:
        start.set()
        assert gate.wait(WAIT)
        return load(*given, **more)

    monkeypatch.setattr(loading, "load_translation_model", load_late)
    catalogue = Catalogue(open_models([forth]), ServingOptions(batching=Batching(turn=0.01)), Metrics())
    (served,) = catalogue.translators.values()

    async def main() -> None:
        async def translated() -> str:
            question = Question(served, TranslateBody(text="Ana reads."), catalogue.options.limits)
            ((translated, _),) = await results_of(catalogue, TranslateJob(question))
            return str(translated.text)

        before = await translated()
        looking = asyncio.create_task(all_of(catalogue.workers["forth"], None, lambda _: [served.model], [None]))
        assert await asyncio.to_thread(start.wait, WAIT)
        assert await translated() == before
        assert not looking.done()
        gate.set()
        assert await looking == [served.model]

    asyncio.run(asyncio.wait_for(main(), 3 * WAIT))
    catalogue.close()


def test_threads_that_do_not_end_keep_a_server_for_two_seconds_in_all(
    forth: Path, back: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each used to be waited for as long as a request may take, one after the other."""
    monkeypatch.setattr("regard.serving.catalogue._CLOSING", 0.2)
    catalogue = Catalogue(open_models([forth, back]), ServingOptions(), Metrics())
    gates = [Gate() for _ in catalogue.workers]

    async def main() -> float:
        tasks = [
            asyncio.create_task(all_of(worker, None, gate, [1]))
            for worker, gate in zip(catalogue.workers.values(), gates, strict=True)
        ]
        for gate in gates:
            await gate.entered()
        began = time.monotonic()
        await asyncio.to_thread(catalogue.close)
        took = time.monotonic() - began
        for gate in gates:
            gate.open.set()
        await asyncio.gather(*tasks)
        return took

    assert 0.2 <= asyncio.run(main()) < 10.0
