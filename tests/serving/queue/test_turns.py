"""Laws of fairness: no turn that is predictably long is shared, and short requests pass long ones."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from regard.base.doors import Price
from regard.base.pauses import between_steps, load_beside_pauses
from regard.serving.http.refusals import Refusal
from regard.serving.options import Batching
from regard.serving.queue.turns import Order, Speed, Turns
from regard.serving.queue.worker import Abandoned, Done, Worker

WAIT = 20.0
A_SECOND = 1000.0  # the cost that a second can do, as first guessed
PRICE, SLOW = Price("items", A_SECOND, ordinary=250), Price("drawings", 2)
UNINTERRUPTED = Price("items of an engine that cannot be interrupted", A_SECOND, ordinary=250, longest=1.5)


def order(name: str, costs: Sequence[float], key: str | None = "a", price: Price = PRICE) -> Order:
    items = [f"{name}{place}" for place in range(len(costs))]
    return Order(price, key, lambda batch: batch, items, costs, lambda answer: None)


def turns_of(*orders: Order, rows: int = 8, seconds: float = 2.0) -> list[list[str]]:
    """Return the work turn by turn until the queue is empty."""
    waiting, turns = Turns(rows, seconds), []
    waiting.orders.extend(orders)
    while batch := waiting.take():
        turns.append([order_taken.items[place] for order_taken, place in batch])
    assert waiting.waiting == 0
    return turns


def test_items_are_taken_one_of_each_as_long_as_they_fit() -> None:
    book, word = order("b", [600.0] * 5), order("w", [20.0])
    assert turns_of(book, word) == [["b0", "w0", "b1", "b2"], ["b3", "b4"]]


def test_what_fits_into_no_turn_is_worked_on_alone_and_the_short_do_not_wait_for_its_like() -> None:
    """Both orders have long items, so a short one waits for at most one long turn."""
    first, second, word = order("x", [5000.0] * 2), order("y", [5000.0]), order("w", [10.0, 10.0])
    assert turns_of(first, second, word) == [["x0"], ["y0"], ["w0", "w1"], ["x1"]]
    assert turns_of(order("w", [10.0]), order("x", [5000.0])) == [["w0"], ["x0"]]


def test_what_does_not_fit_any_more_comes_first_the_next_time() -> None:
    assert turns_of(order("a", [1200.0, 1200.0]), order("b", [1200.0]), order("c", [600.0])) == [
        ["a0", "c0"],
        ["b0"],
        ["a1"],
    ]


def test_no_more_rows_than_allowed_and_other_keys_have_turns_of_their_own() -> None:
    assert turns_of(order("a", [1.0] * 3), order("b", [1.0], None), order("c", [1.0] * 2), rows=2) == [
        ["a0", "c0"],
        ["b0"],
        ["a1", "c1"],
        ["a2"],
    ]


def test_what_one_price_counts_in_thousands_and_another_in_ones_is_compared_in_seconds() -> None:
    """Ten drawings are expected to take five seconds, though they are only ten of their unit."""
    waiting = Turns(8, 1.0)
    waiting.orders += [order("d", [10.0], None, SLOW), order("w", [300.0])]
    assert [order_taken.items[place] for order_taken, place in waiting.take_short(0.0)] == ["w0"]
    assert waiting.take_short(5.0) == []
    assert waiting.seconds == 5.0
    for _ in range(50):
        waiting.learn(SLOW, 100.0, 1.0, now=0.0)  # they were quicker than that
    assert [order_taken.items[place] for order_taken, place in waiting.take_short(0.0)] == ["d0"]


def test_on_a_model_so_slow_that_nothing_fits_the_far_shorter_pass_all_the_same() -> None:
    waiting = Turns(8, 1.0)
    waiting.orders += [order("x", [5000.0]), order("w", [1200.0]), order("v", [1300.0])]
    assert [order_taken.items[place] for order_taken, place in waiting.take_short(5.0)] == ["w0"]
    assert waiting.take_short(5.0) == []  # neither similar ones nor ones only a little shorter


def test_nobody_passes_himself_and_no_more_pass_than_fit() -> None:
    """A thousand texts used to pass the turn of their first, a full batch at a time, while a short one waited."""
    waiting, book = Turns(8, 0.1), order("b", [250.0] * 100)
    waiting.orders += [book, order("w", [60.0]), order("v", [60.0])]
    assert [order_taken.items[place] for order_taken, place in waiting.take_short(100.0, [book])] == ["w0"]
    assert [order_taken.items[place] for order_taken, place in waiting.take_short(100.0, [book])] == ["v0"]
    assert waiting.take_short(100.0, [book]) == []


def test_however_slow_a_model_ordinary_sentences_share_a_turn_and_no_long_ones() -> None:
    """A hundredth of a second allows a cost of ten; alone, each would be measured as slow forever."""
    assert turns_of(order("a", [250.0] * 3), seconds=0.01) == [["a0", "a1"], ["a2"]]
    assert turns_of(order("x", [251.0] * 2), order("a", [250.0]), seconds=0.01) == [["x0"], ["a0"], ["x1"]]


def batches_of(seconds_for: Callable[[int], float], sentences: int, rows: int = 64) -> list[int]:
    """Return the rows per turn for a book of ordinary sentences at this speed."""
    waiting, sizes = Turns(rows, 1.0), list[int]()
    waiting.orders.append(order("b", [160.0] * sentences, price=UNINTERRUPTED))
    while batch := waiting.take():
        sizes.append(len(batch))
        waiting.learn(UNINTERRUPTED, 160.0 * len(batch), seconds_for(len(batch)), now=0.0, rows=len(batch))
    return sizes


def test_batches_of_ordinary_sentences_are_no_longer_than_a_turn_and_a_half() -> None:
    """A full batch of them used to take seven seconds, and newcomers waited as long."""
    slow = batches_of(lambda rows: 0.1 * rows, 200)
    assert slow[0] * 0.1 <= 1.5
    assert max(slow) * 0.1 <= 1.5
    assert slow[-2] * 0.1 >= 0.8


def test_batches_grow_as_long_as_they_end_in_time() -> None:
    """One alone takes nearly as long as all together, which only larger batches show."""
    assert batches_of(lambda rows: 1.0 + 0.001 * rows, 400)[-2] == 64
    assert batches_of(lambda rows: 0.01, 400)[-2] == 64
    assert max(batches_of(lambda rows: 1.0 + 0.1 * rows, 100)) <= 8


def test_batches_shrink_when_a_model_becomes_slow_and_grow_again_when_it_is_quick() -> None:
    sizes = batches_of(iter_seconds(quick=8, slow=6), 1200)
    assert sizes[7] == 64
    assert min(sizes[8:20]) <= 3
    assert sizes[-2] == 64


def iter_seconds(quick: int, slow: int) -> Callable[[int], float]:
    """Yield seconds per batch: fast for some turns, then slow, then fast again."""
    turns = iter([0.001] * quick + [0.5] * slow + [0.001] * 1000)
    return lambda rows: next(turns) * rows


def test_speed_is_what_was_measured_of_late() -> None:
    speed = Speed(PRICE)
    assert speed.a_second == A_SECOND
    for _ in range(20):
        speed.add(500.0, 1.0)
    assert speed.a_second == pytest.approx(500, rel=0.01)
    for _ in range(20):
        speed.add(2000.0, 1.0)
    assert speed.a_second == pytest.approx(2000, rel=0.1)


def test_only_full_turns_of_late_tell_what_cannot_be_done_in_time() -> None:
    """Short turns have overhead, so by them a book would seem to take forever."""
    waiting, book = Turns(8, 1.0), order("b", [1000.0] * 100)
    for _ in range(9):
        waiting.learn(PRICE, 1.0, 0.1, now=0.0)
        waiting.learn(PRICE, 60.0, 0.9, now=0.0)  # short ones on a busy machine
    assert waiting.least_seconds(book, now=0.0) == 0.0
    for moment in range(5):
        waiting.learn(PRICE, 4000.0, 1.0, now=float(moment))
    assert waiting.least_seconds(book, now=5.0) == pytest.approx(25.0)
    assert waiting.least_seconds(book, now=70.0) == 0.0  # it may be faster by now
    book.taken = 60
    assert waiting.least_seconds(book, now=5.0) == pytest.approx(10.0)


def test_a_few_long_turns_tell_as_much_as_many_short_ones() -> None:
    """Sentences of twelve seconds each used to be worked on for a minute, then abandoned with 504."""
    waiting, book = Turns(8, 1.0), order("b", [1000.0] * 8)
    waiting.learn(PRICE, 1000.0, 1.0, now=1.0)
    waiting.learn(PRICE, 1000.0, 12.0, now=13.0)
    assert waiting.least_seconds(book, now=13.0) == pytest.approx(8.0)  # the first of them was fast
    waiting.learn(PRICE, 1000.0, 12.0, now=25.0)
    assert waiting.least_seconds(book, now=62.0) == pytest.approx(96.0, rel=0.05)


def test_the_first_turn_tells_nothing_in_its_first_seconds() -> None:
    """Libraries load and kernels compile in it."""
    waiting, book = Turns(8, 1.0), order("b", [1000.0] * 8)
    waiting.learn(PRICE, 1000.0, 9.0, now=9.0)
    assert waiting.least_seconds(book, now=9.0) == 0.0


def test_what_was_given_up_is_not_tried_again_at_once() -> None:
    """Its estimate exceeded the time limit, so abandoning it taught nothing, again and again."""
    waiting, long_one, shorter = Turns(8, 1.0), order("x", [200_000.0]), order("y", [20_000.0])
    waiting.learn(PRICE, 200_000.0, 60.0, now=60.0, is_finished=False)
    assert waiting.foresee(PRICE, 1000.0) == 1.0
    assert waiting.least_seconds(long_one, now=61.0) == pytest.approx(60.0)
    assert waiting.least_seconds(shorter, now=61.0) == pytest.approx(6.0)
    assert waiting.least_seconds(long_one, now=121.0) == 0.0


def test_work_that_was_given_up_tells_of_its_speed_only_if_it_should_have_been_done_by_then() -> None:
    waiting = Turns(8, 1.0)
    waiting.learn(PRICE, 10_000.0, 1.0, now=0.0, is_finished=False)  # a client hung up
    assert waiting.foresee(PRICE, 1000.0) == 1.0
    for moment in range(5):
        waiting.learn(PRICE, 2000.0, 20.0, now=10.0 * moment, is_finished=False)
    assert waiting.least_seconds(order("x", [2000.0]), now=41.0) >= 19.0


def test_an_order_is_done_when_all_that_takes_turns_with_it_had_as_many() -> None:
    waiting = Turns(8, 1.0)
    for moment in range(5):
        waiting.learn(PRICE, 1000.0, 1.0, now=float(moment))
    long_order, book, word = order("o", [1000.0] * 10), order("b", [1000.0] * 100), order("w", [1000.0])
    waiting.orders += [book, word]
    assert waiting.shared_seconds(long_order, now=5.0) == pytest.approx(10 + 10 + 1, rel=0.01)


class Model:
    """Work in steps of a tenth of a second on its own clock, as many as an item says; it keeps a record."""

    def __init__(self) -> None:
        self.now, self.finished = 0.0, dict[str, float]()
        self.at: dict[float, Any] = {}  # actions at given times of the clock
        self.worker = Worker("test", Batching(rows=4, patience=0.0), waiting=1000, clock=lambda: self.now, seconds=60.0)

    def __call__(self, items: list[tuple[str, int]]) -> list[str]:
        for _ in range(max(steps for _, steps in items)):
            between_steps()
            self.now = round(self.now + 0.1, 6)
            for moment in [moment for moment in self.at if moment <= self.now]:
                self.at.pop(moment)()
        self.finished |= {name: self.now for name, _ in items}
        return [name for name, _ in items]

    async def ask(self, name: str, steps: Sequence[int]) -> list[str]:
        items = [(f"{name}{place}", count) for place, count in enumerate(steps)]
        answers = self.worker.each(PRICE, "a", self, items, [100.0 * count for count in steps])
        results = dict([answer async for answer in answers])
        return [results[place] for place in range(len(items))]


def run(model: Model, long_steps: Sequence[int], shorts: dict[str, float]) -> list[Any]:
    """Return the answers of a long order and of short ones placed at these moments of the model's clock."""

    async def main() -> list[Any]:
        loop, coming = asyncio.get_running_loop(), dict[str, asyncio.Task[list[str]]]()

        def put(name: str) -> None:
            """Order from the model's thread, which continues once the order is queued."""
            there = threading.Event()

            async def ordered() -> list[str]:
                answers = model.worker.each(PRICE, "a", model, [(name, 1)], [100.0])
                loop.call_soon(there.set)
                return [answer async for _, answer in answers]

            def start() -> None:
                coming[name] = loop.create_task(ordered())

            loop.call_soon_threadsafe(start)
            assert there.wait(WAIT)

        model.at = {moment: lambda name=name: put(name) for name, moment in shorts.items()}
        result = await model.ask("long", long_steps)
        return [result, *[await coming[name] for name in shorts]]

    try:
        return asyncio.run(asyncio.wait_for(main(), WAIT))
    finally:
        model.worker.close(WAIT)


def test_a_short_order_waits_for_no_more_than_one_turn() -> None:
    """Each newcomer passes a ten-second sentence as soon as its turn of one second is over."""
    model = Model()
    answers = run(model, [100], {"s": 0.2, "t": 5.0})
    assert answers == [["long0"], ["s"], ["t"]]
    assert model.finished["s"] == pytest.approx(1.1)
    assert model.finished["t"] == pytest.approx(5.1)
    assert model.finished["long0"] == pytest.approx(10.2)  # nothing was done twice


def test_a_book_of_long_sentences_keeps_nobody_waiting_for_more_than_one_of_their_turns() -> None:
    model = Model()
    run(model, [100] * 5, {"s": 0.2, "t": 12.0, "u": 30.0})
    starts = {"s": 0.2, "t": 12.0, "u": 30.0}
    assert all(model.finished[name] - moment <= 1.2 for name, moment in starts.items())


def test_those_who_pass_leave_the_long_one_half_of_the_time() -> None:
    model = Model()
    shorts = {f"s{number}": 0.1 + number / 100 for number in range(40)}
    run(model, [30], shorts)
    assert model.finished["long0"] <= 2 * 3.0 + 0.5
    assert len(model.finished) == 41


def test_a_turn_that_others_passed_is_told_without_their_time() -> None:
    model, reports = Model(), list[Done]()
    model.worker.tell = reports.append
    run(model, [20], {"s": 0.5})
    assert [(done.rows, pytest.approx(done.seconds)) for done in reports] == [(1, 0.1), (1, 2.0)]


def test_what_cannot_be_done_in_time_is_refused_when_it_comes_and_what_can_is_not() -> None:
    """It used to be worked on until its time was over, all in vain."""
    model = Model()

    async def main() -> None:
        await model.ask("known", [10] * 6)
        with pytest.raises(Refusal, match="would take about 100 seconds here, but a request may take 60") as refusal:
            await model.ask("long", [10] * 100)
        assert refusal.value.status == 413
        assert len(await model.ask("fits", [10] * 20)) == 20

    asyncio.run(main())
    model.worker.close(WAIT)


def test_what_is_seen_not_to_be_done_in_time_is_given_up_as_soon_as_that_is_seen() -> None:
    model = Model()

    async def main() -> None:
        with pytest.raises(Refusal, match="would take about 100 seconds here"):
            await model.ask("long", [10] * 100)

    asyncio.run(main())
    model.worker.close(WAIT)
    assert len(model.finished) == 5


def test_a_few_long_items_are_given_up_long_before_their_time_is_over() -> None:
    """It used to need five turns to decide, and at twelve seconds each these took all the time."""
    model = Model()

    async def main() -> None:
        with pytest.raises(Refusal, match="would take about 96 seconds here, but a request may take 60"):
            await model.ask("long", [120] * 8)

    asyncio.run(main())
    model.worker.close(WAIT)
    assert model.now == pytest.approx(24.0)


def test_what_took_all_the_time_there_is_is_refused_when_it_comes_again() -> None:
    model = Model()

    async def main() -> None:
        answers = asyncio.create_task(model.ask("long", [100_000]))
        while model.now < 60:
            await asyncio.sleep(0.001)
        answers.cancel()  # as the time for a request is over
        await asyncio.gather(answers, return_exceptions=True)
        while model.worker._working:
            await asyncio.sleep(0.001)
        with pytest.raises(Refusal, match="but a request may take 60; ask for less at a time") as refusal:
            await model.ask("again", [100_000])
        assert refusal.value.status == 413
        assert await model.ask("short", [1]) == ["short0"]

    asyncio.run(asyncio.wait_for(main(), WAIT))
    model.worker.close(WAIT)


def test_a_turn_in_which_something_was_loaded_tells_nothing() -> None:
    """Loading torch for one word took fifteen seconds, and every text was then refused for a minute."""
    model = Model()

    def load() -> None:
        model.now += 15.0

    def work(items: list[int]) -> list[int]:
        load_beside_pauses(load)
        return items

    async def main() -> None:
        assert [answer async for answer in model.worker.each(PRICE, "b", work, [1], [200.0])] == [(0, 1)]
        assert len(await model.ask("text", [10] * 20)) == 20

    asyncio.run(main())
    model.worker.close(WAIT)


def test_a_search_that_cannot_share_the_model_is_not_passed_but_given_up() -> None:
    worker, seen = Worker("test", Batching(patience=0.0, turn=0.001), waiting=10, clock=lambda: 0.0), list[str]()
    start, gone = threading.Event(), threading.Event()

    def captured(items: list[str]) -> list[str]:
        start.set()
        assert gone.wait(WAIT)
        try:
            between_steps(is_free=False)
        except Abandoned:
            seen.append("given up")
            raise
        return items

    async def main() -> None:
        task = asyncio.create_task(anext(worker.each(PRICE, "a", captured, ["x"], [1.0])))
        assert await asyncio.to_thread(start.wait, WAIT)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        gone.set()

    asyncio.run(main())
    worker.close(WAIT)
    assert seen == ["given up"]
