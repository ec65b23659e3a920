"""Threads: few with a GPU unless the user chose otherwise, and on a CPU those that a run had before."""

import pytest
import torch

from regard.hardware import threads
from regard.hardware.devices import pick_device
from regard.hardware.threads import same_threads, share_of_threads, threads_beside_gpu

CPU, GPU = torch.device("cpu"), torch.device("cuda")


@pytest.fixture
def set_to(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Simulate 16 cores, one GPU, and a torch with 16 threads. Return what it is set to."""
    counts: list[int] = []
    for name in threads.CHOSEN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "cores", lambda: 16)
    monkeypatch.setattr(torch, "get_num_threads", lambda: counts[-1] if counts else 16)
    monkeypatch.setattr(torch, "set_num_threads", counts.append)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.backends.cuda, "enable_cudnn_sdp", lambda enabled: None)
    return counts


@pytest.mark.parametrize("name", ["auto", "cuda", "cuda:0"])
def test_whoever_picks_a_gpu_gets_two(set_to: list[int], name: str) -> None:
    """Training, translating, evaluating and serving all choose their device in one place."""
    pick_device(name)
    pick_device(name)
    assert set_to == [2, 2]


def test_a_cpu_keeps_what_it_has(set_to: list[int]) -> None:
    pick_device("cpu")
    assert set_to == []


@pytest.mark.parametrize("name", threads.CHOSEN)
def test_what_the_environment_says_holds(set_to: list[int], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "16")
    assert threads_beside_gpu() == 16


@pytest.mark.parametrize(("present", "given"), [(16, 2), (8, 2), (7, 7), (1, 1)])
def test_fewer_than_torch_takes_by_itself_are_a_choice(
    set_to: list[int], present: int, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: present)
    assert threads_beside_gpu() == given


def test_runs_side_by_side_share_the_cores_but_need_few_beside_a_gpu(set_to: list[int]) -> None:
    assert [share_of_threads(jobs, CPU) for jobs in (1, 3, 9, 99)] == [16, 5, 1, 1]
    assert [share_of_threads(jobs, GPU) for jobs in (1, 3, 9, 99)] == [2, 2, 1, 1]


def test_a_run_on_a_cpu_keeps_the_threads_it_had(set_to: list[int]) -> None:
    for before, device in ((None, CPU), (16, CPU), (4, GPU)):
        with same_threads(before, device, pytest.fail):
            assert set_to == []
    with same_threads(4, CPU, pytest.fail):
        assert set_to == [4]
    assert set_to == [4, 16]


@pytest.mark.parametrize(("before", "chosen"), [(4, "16"), (32, "")])
def test_threads_that_cannot_be_kept_are_told(
    set_to: list[int], before: int, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user chose another number, or there are not enough cores."""
    monkeypatch.setenv("OMP_NUM_THREADS", chosen)
    remarks: list[str] = []
    with same_threads(before, CPU, remarks.append):
        assert set_to == []
    assert remarks == [
        f"this run had {before} threads so far and now has 16: "
        "it will not end with the same bits as one that was never stopped"
    ]
