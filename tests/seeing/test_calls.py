"""Recorded calls: a tree of modules, and none of the calls that other work makes in a pause."""

from contextvars import Context

import torch
from torch import nn

from regard.base.pauses import between_steps, pausing
from regard.seeing.calls import Call, recorded_calls


def names(calls: list[Call]) -> list[str]:
    return [call.name for outermost in calls for call in outermost]


def test_calls_form_a_tree() -> None:
    network = nn.Sequential(nn.Sequential(nn.Identity(), nn.ReLU()), nn.Identity())
    with recorded_calls(network) as calls:
        network(torch.tensor([-1.0]))
    assert names(calls) == ["", "0", "0.0", "0.1", "1"]
    (whole,) = calls
    assert [call.name for call in whole.inside] == ["0", "1"]
    assert (whole.inputs, whole.output) == (torch.tensor([-1.0]), torch.tensor([0.0]))


def test_other_work_in_a_pause_is_not_recorded() -> None:
    """A server lets short requests overtake between two parts of a network, each in its own context."""
    network = nn.Sequential(nn.Identity(), nn.ReLU())
    for part in network.modules():
        part.register_forward_pre_hook(lambda *arguments: between_steps())
    others: list[list[str]] = []

    def other_work() -> None:
        with recorded_calls(network) as calls:
            network(torch.tensor([7.0]))
        others.append(names(calls))

    with pausing(lambda is_free: Context().run(other_work)), recorded_calls(network) as calls:
        network(torch.tensor([-1.0]))
    assert names(calls) == ["", "0", "1"]
    assert [call.inputs for outermost in calls for call in outermost] == [torch.tensor([-1.0])] * 3
    assert others == [["", "0", "1"]] * 3
