"""Watching: nothing changes, each watcher sees its own gazes, and long texts can be watched in part."""

import threading
from collections.abc import Sequence

import pytest
import torch
from attention_cases import MASKS, SIDES, draw
from torch import Tensor, nn

from regard.attention import Attention, Causal, Hard, Mask, is_watched, note, watching, without_watching
from regard.attention import watch as watch_module
from regard.attention.scores import Additive
from regard.base.faults import Fault


class Looker(nn.Module):
    """Module with three attentions, two of them in blocks: fused, fused, plain."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        looks = [Attention(**SIDES), Attention(**SIDES), Attention(Additive(4, 4, 3).double(), **SIDES)]
        self.blocks = nn.ModuleList(nn.ModuleDict({"cross": nn.ModuleDict({"look": look})}) for look in looks[:2])
        self.last = looks[2]

    def forward(self, query: Tensor, key: Tensor, mask: Mask | None = None) -> Tensor:
        for block in self.blocks:
            query = block["cross"]["look"](query, key, key, mask)
        return self.last(query, key, key, mask)


NAMES = ["blocks.0.cross.look", "blocks.1.cross.look", "last"]


def arguments() -> tuple[Tensor, Tensor]:
    return draw(3, 2, 7, 4), draw(3, 2, 7, 4, seed=1)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (None, NAMES),
        ("last", ["last"]),
        ("blocks.*.cross.look", NAMES[:2]),
        ("blocks.1", NAMES[1:2]),  # and the modules inside it
        ("blocks.*.cross", NAMES[:2]),
        (["last", "blocks.0.cross.look"], ["blocks.0.cross.look", "last"]),
        ("*", NAMES),
    ],
)
def test_chosen_modules_give_what_they_give_among_all(where: str | list[str] | None, expected: list[str]) -> None:
    model = Looker()
    with watching(model) as everything:
        plain = model(*arguments())
    with watching(model, where=where) as gazes:
        assert torch.equal(model(*arguments()), plain)
    assert [gaze.where for gaze in gazes] == expected
    for gaze in gazes:
        assert torch.equal(gaze.weights, everything[NAMES.index(gaze.where)].weights)


def test_a_name_that_fits_nothing_is_refused_with_those_there_are() -> None:
    words = "No part of the model is called 'decoder.*'. Its attentions are 'blocks.0.cross.look', .* 'last'"
    with pytest.raises(Fault, match=words), watching(Looker(), where=["last", "decoder.*"]):
        pass
    with pytest.raises(Fault, match="Its attentions are none"), watching(nn.Linear(1, 1), where="look"):
        pass


@pytest.mark.parametrize(
    ("rows", "queries", "kept_rows", "kept_queries"),
    [
        ([1], None, [1], range(7)),
        (None, [5, 0], [0, 1], [5, 0]),
        (slice(1, None), slice(None, None, 3), [1], [0, 3, 6]),
        ([-1, 0], [-1], [1, 0], [6]),
        ([0, 9], [2, 7, -8], [0], [2]),  # parts that a look lacks are left out
    ],
)
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_chosen_rows_and_queries_are_those_of_the_whole(
    mask: Mask | None,
    rows: Sequence[int] | slice | None,
    queries: Sequence[int] | slice | None,
    kept_rows: Sequence[int],
    kept_queries: Sequence[int],
) -> None:
    if isinstance(mask, Tensor) and mask.shape[1] == 3:
        mask = mask[:, :2]
    query, key = draw(2, 2, 7, 4), draw(2, 2, 7, 4, seed=1)
    model = Looker()
    with watching(model) as whole:
        plain = model(query, key, mask)
    with watching(model, rows=rows, queries=queries) as part:
        assert torch.equal(model(query, key, mask), plain)
    for some, everything in zip(part, whole, strict=True):
        torch.testing.assert_close(some.weights, everything.weights[list(kept_rows)][:, :, list(kept_queries)])


def test_nothing_chosen_is_no_gaze() -> None:
    model = Looker()
    with watching(model, queries=[99]) as gazes:
        model(*arguments())
    assert gazes == []


def test_a_bias_is_chosen_along() -> None:
    look, bias, (query, key) = Attention(**SIDES), draw(3, 2, 7, 7), arguments()
    for piece in (bias, bias[:1], bias[:, :1], bias[:, :, :1]):
        with watching(look) as whole:
            look(query, key, key, Causal(), piece)
        with watching(look, rows=[2], queries=[4]) as part:
            look(query, key, key, Causal(), piece)
        torch.testing.assert_close(part[0].weights, whole[0].weights[2:, :, 4:5])


def test_watching_in_portions_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Looker()
    with watching(model) as whole:
        model(*arguments(), Causal())
    monkeypatch.setattr(watch_module, "PORTION", 100)  # 3 rows x 2 heads x 7 keys are 42: two queries at a time
    with watching(model) as portions:
        model(*arguments(), Causal())
    for one, other in zip(whole, portions, strict=True):
        torch.testing.assert_close(one.weights, other.weights)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("training", [True, False])
def test_watching_changes_not_a_bit_of_a_fused_look(dtype: torch.dtype, training: bool) -> None:
    look = Attention(**SIDES, dropout=0.3).train(training)
    query, key = (tensor.to(dtype) for tensor in arguments())
    torch.manual_seed(0)
    plain = look(query, key, key, Causal())
    torch.manual_seed(0)
    with watching(look) as gazes:
        assert torch.equal(look(query, key, key, Causal()), plain)
    assert gazes[0].weights.dtype == dtype
    assert not gazes[0].weights.requires_grad


def test_too_much_is_refused_before_it_is_kept_and_says_how_to_ask_for_less() -> None:
    """Two gazes of 3 rows x 2 heads x 7 queries x 7 keys x 8 bytes = 2352 bytes fit into 5000; a third does not."""
    model = Looker()
    with pytest.raises(Fault) as caught, watching(model, limit=5000):
        model(*arguments())
    assert caught.value.sentences == (
        "Watching 'last' would keep 2.3 KiB of weights (3 rows, 2 heads, 7 queries, 7 keys) on top of 4.6 KiB, but"
        " the limit is 4.9 KiB. Ask for less with where=, rows= or queries=, or raise limit=.",
    )
    assert not is_watched()
    for less in ({"where": "blocks"}, {"rows": [0]}, {"queries": slice(2)}, {"limit": 10_000}):
        with watching(model, **{"limit": 5000} | less) as gazes:
            model(*arguments())
        assert gazes


@pytest.mark.parametrize("score", [None, Additive(4, 4, 3)], ids=["fused", "plain"])
def test_the_limit_is_counted_before_anything_is_worked_out(score: Additive | None) -> None:
    """These weights would take 16 TiB, so computing them first would be noticed."""
    look = Attention(**SIDES) if score is None else Attention(score, **SIDES)
    states = torch.empty(1, 1, 2**21, 4)
    with pytest.raises(Fault, match=r"would keep 16,384\.0 GiB of weights"), watching(look):
        look(states, states, states)


def test_a_long_text_can_be_watched_in_part() -> None:
    look, states = Attention(**SIDES), draw(1, 2, 4000, 4).float()
    with watching(look, queries=[0, 1999, -1], limit=2**20) as gazes:
        context = look(states, states, states, Causal())
    weights = gazes[0].weights
    assert weights.shape == (1, 2, 3, 4000)
    torch.testing.assert_close(weights @ states, context[:, :, [0, 1999, 3999]])
    assert weights[0, 0, 0].tolist() == [1.0] + [0.0] * 3999
    assert (weights[0, 0, 1, 2000:] == 0).all()


def test_hard_looks_are_noted_as_they_were_made() -> None:
    look, (query, key) = Attention(choice=Hard(), **SIDES), arguments()
    with watching(look) as gazes:
        result = look.full(query, key, key)
    assert torch.equal(gazes[0].weights, result.weights)


def test_who_notes_by_themselves_is_asked_for_as_little() -> None:
    part, weights = nn.Identity(), draw(3, 2, 7, 5)
    with watching(part, rows=[1], queries=slice(3)) as gazes:
        note(part, "target", "source", weights)
        note(nn.Identity(), "target", "source", weights)  # from another model
    assert len(gazes) == 1
    assert torch.equal(gazes[0].weights, weights[1:2, :, :3])
    with (
        pytest.raises(Fault, match=r"Watching 'Identity' would keep 1\.6 KiB .* 0 bytes, .* is 100 bytes"),
        watching(part, limit=100),
    ):
        note(part, "target", "source", weights)


def test_who_is_watched() -> None:
    model = Looker()
    assert not is_watched(model.last)
    with watching(model, where="last"):
        assert is_watched()
        assert is_watched(model.last)
        assert not is_watched(model.blocks[0])
        with without_watching():
            assert not is_watched()
    assert not is_watched()


def test_two_threads_see_only_their_own() -> None:
    model = nn.ModuleDict({"a": Attention(**SIDES)})
    seen: dict[int, tuple[list[int], str]] = {}
    gate = threading.Barrier(2)

    def work(queries: int) -> None:
        with watching(model, queries=slice(queries)) as gazes:
            gate.wait()
            for _ in range(queries):
                model["a"](draw(1, 1, 4, 4), draw(1, 1, 3, 4), draw(1, 1, 3, 4))
            gate.wait()
        seen[queries] = [gaze.weights.shape[2] for gaze in gazes], gazes[0].where

    threads = [threading.Thread(target=work, args=(queries,)) for queries in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {1: ([1], "a"), 2: ([2, 2], "a")}
    assert not is_watched()


class Glimpser(nn.Module):
    """Module that looks twice through two squares at each of three pictures."""

    def forward(self) -> None:
        centre = torch.arange(12.0).view(3, 2, 2).requires_grad_()
        extent = torch.tensor([4, 8]).expand(3, 2, 2)
        watch_module.note_window(self, "glimpses", "picture", centre, extent)


def test_windows_are_noted_beside_the_gazes() -> None:
    model = Glimpser()
    model()  # without a watcher
    with watching(model, rows=[2], queries=[1]) as gazes:
        model()
    (windows,) = gazes.windows
    assert gazes == []
    assert (windows.where, windows.looks_from, windows.looks_at) == ("", "glimpses", "picture")
    assert windows.centre.tolist() == [[[10.0, 11.0]]]
    assert windows.extent.tolist() == [[[4, 8]]]
    assert not windows.centre.requires_grad


def test_windows_of_others_and_of_no_rows_are_not_noted() -> None:
    model = Glimpser()
    with watching(Glimpser()) as others, watching(model, rows=[5]) as gazes:
        model()
    assert not others.windows
    assert not gazes.windows


def test_attentions_are_called_by_what_they_look_between() -> None:
    assert watch_module.name_look("target", "source") == "cross"
    assert watch_module.name_look("nodes", "nodes") == "nodes to nodes"
