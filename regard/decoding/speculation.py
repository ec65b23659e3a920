"""Exact speculation: a draft proposes tokens, the model reads all of them in one pass and keeps those it would write.

For one output at a time (Stern et al. 2018, blockwise parallel decoding; Leviathan et al. 2023; Chen et al. 2023). The
pass gives the model's own choice after every proposed token. As long as that choice is the proposed token, it is
written; the first other choice is written too, and the state is cut back to there. So a pass writes one token at least,
and the output does not depend on the draft.

It is also the output of the plain search, token for token. A pass over several tokens sums in another order than a step
and so rounds differently, which could turn a near tie. Where a difference of half of `picking.BOUND` could change a
choice, the plain step makes it, on a state that only plain steps have made. There both results are compared: if they
differ by more than that, the whole output is written again by plain steps.

Samples are exact in the same sense, which is more than the same distribution: a sample is a function of its seed and
its place (`sampling.py`), and speculation finds the same one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from regard.base.pauses import between_steps
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis, check_numbers
from regard.decoding.picking import Greedy, Pick, Picks, Sampled
from regard.decoding.rules import Rules, forced_ends
from regard.protocols import State, Stepwise

PROBABLE = 10.0  # nats: log-probabilities above minus this are compared
FIRST, MOST = 4, 16  # tokens asked of a draft at first, and at most
REST = 8  # most passes without a draft after proposals that were wrong from their first token

Heard = Callable[[int, float], None]  # receives each token and its log-probability once it is written


class Speculates(Stepwise, Protocol):
    """Reads several tokens of each row in one pass, and takes back the last of them if they turn out to be wrong.

    `steps` returns log-probabilities (row, time, token) after each token, and `room` how many tokens the next pass may
    read so that any of them can be taken back.
    """

    def steps(self, tokens: Tensor, state: State) -> tuple[Tensor, State]: ...
    def take_back(self, state: State, count: int) -> State: ...
    def room(self, state: State) -> int: ...


class Draft(Protocol):
    """Proposes how one output continues, in at most `most` tokens, without its end; it may propose nothing."""

    def propose(self, written: Sequence[int], most: int) -> Sequence[int]: ...


class NoDraft:
    """Proposes nothing, so that every pass is a plain step."""

    def propose(self, written: Sequence[int], most: int) -> Sequence[int]:
        return ()


@dataclass
class Counts:
    """Work of a speculation, for measurements."""

    passes: int = 0  # of the model over one or several tokens
    proposed: int = 0  # tokens of drafts
    accepted: int = 0  # those of them that were written
    written: int = 0  # tokens, ends included
    plain_steps: int = 0  # steps to decide near ties, besides the passes
    restarts: int = 0  # outputs that were written again by plain steps alone


class Pace:
    """Decides how many tokens to ask of a draft, from how many of its last ones were right."""

    def __init__(self) -> None:
        self.most, self._rest, self._wait = FIRST, 0, 0

    def ask(self) -> int:
        """Return the number of tokens to ask for now."""
        if self._wait:
            self._wait -= 1
            return 0
        return self.most

    def learn(self, proposed: int, accepted: int) -> None:
        """Ask for more after a proposal that was right, for less after others, and rest if nothing was right."""
        if not proposed:
            return
        self._rest = 0 if accepted else min(2 * self._rest + 1, REST)
        self._wait = self._rest // 2  # one wrong proposal alone does not rest the draft
        self.most = min(2 * self.most, MOST) if accepted == proposed else max(1, accepted + 1)


class Drifted(Exception):
    """A pass over several tokens differed from plain steps by more than rounding may."""


@torch.no_grad()
def speculate(
    writer: Speculates,
    batch: Any,
    limits: Tensor,
    options: DecodingOptions,
    draft: Callable[[], Draft],
    demands: Demands | None = None,
    must_end: bool = True,
    *,
    sample: tuple[int, int] | None = None,
    heard: Heard | None = None,
    counts: Counts | None = None,
) -> list[Hypothesis]:
    """Return the output of greedy search for the only input of a batch, found with the help of a draft.

    Options are checked by `options.refuse_speculation`. `limits` (1) and `must_end` are those of `beam_search`. With
    `sample`, the line and the number of a sample, the output is that of `sampling.sample` instead. `draft` opens a
    draft for this output.
    """
    rules = Rules(options, demands or Demands(), writer.end, forced_ends(limits, must_end))
    picks: Picks = Greedy(rules, options, must_end) if sample is None else Sampled(rules, options, must_end, sample)
    counts = counts or Counts()
    limit = int(limits)
    told = 0

    def tell(text: "_Text") -> None:
        nonlocal told
        for pick in text.picks[told:] if heard is not None else ():
            if pick.token != writer.end:
                assert heard is not None
                heard(pick.token, pick.score)
        told = max(told, len(text.picks))

    try:
        text = _write(_Text(writer, batch, picks, counts), draft(), limit, tell)
    except Drifted:
        counts.restarts += 1
        text = _write(_Text(writer, batch, picks, counts), NoDraft(), limit, tell)
    results = picks.outputs(text.picks)
    check_numbers([results])
    return results


def _write(text: "_Text", draft: Draft, limit: int, tell: Callable[["_Text"], None]) -> "_Text":
    """Write until the output ends or has reached its limit."""
    pace = Pace()
    while not text.is_over(limit):
        between_steps()
        most = min(pace.ask(), limit - len(text.tokens) - 1, text.room() - 1)
        proposal = list(draft.propose(text.tokens, most))[:most] if most > 0 else []
        pace.learn(len(proposal), text.advance(proposal))
        tell(text)
    return text


class _Text:
    """One output being written: its tokens, the model's state before the last of them, and the same by plain steps."""

    def __init__(self, writer: Speculates, batch: Any, picks: Picks, counts: Counts) -> None:
        self.writer, self.counts, self._chooser = writer, counts, picks
        self.tokens: list[int] = []
        self.picks: list[Pick] = []
        self._state = self._plain = writer.start(batch)
        self._read = 0  # tokens that the plain state has read, begin included
        self._device = picks.rules.limits.device

    @property
    def _is_plain(self) -> bool:
        """True if only plain steps have made the state."""
        return self._state is self._plain

    def is_over(self, limit: int) -> bool:
        """Return True if the output has ended, is at its limit, or nothing can follow."""
        last = self.picks[-1] if self.picks else None
        return last is not None and (last.kind != "token" or len(self.tokens) >= limit)

    def room(self) -> int:
        return self.writer.room(self._state)

    def advance(self, proposal: Sequence[int]) -> int:
        """Write the tokens that one pass over a proposal decides; return how many of the proposal were right."""
        if not proposal and self._is_plain:
            self._add(next(self._chooser.pick(self._plainly(), self.tokens, exact=True)))
            return 0
        block = [self.tokens[-1] if self.tokens else self.writer.begin, *proposal]
        self.counts.passes += 1
        self.counts.proposed += len(proposal)
        log_probabilities, self._state = self.writer.steps(torch.tensor([block], device=self._device), self._state)
        right = 0
        for place, pick in enumerate(self._chooser.pick(log_probabilities[0], self.tokens)):
            if not pick.is_sure:
                pick = self._pick_plainly(log_probabilities[0, place])
            self._add(pick)
            is_right = place < len(proposal) and pick.kind == "token" and pick.token == proposal[place]
            right += int(is_right)
            if not is_right or self._is_plain:
                break
        self.counts.accepted += right
        if not self._is_plain:
            self._state = self.writer.take_back(self._state, len(proposal) - right)
        return right

    def _pick_plainly(self, log_probabilities: Tensor) -> Pick:
        """Return the choice of a plain step where a pass found these log-probabilities; the state is then plain."""
        plain = self._plainly()
        differences = (plain[0] - log_probabilities).abs().where(plain[0] > -PROBABLE, 0.0)
        if not float(differences.max()) <= self._chooser.bound / 2:
            raise Drifted
        return next(self._chooser.pick(plain, self.tokens, exact=True))

    def _plainly(self) -> Tensor:
        """Return the log-probabilities (1, token) after all tokens, read one by one; the state is then plain."""
        before = [self.writer.begin, *self.tokens][self._read :]
        for token in before:
            log_probabilities, self._plain = self.writer.step(torch.tensor([token], device=self._device), self._plain)
        self._read += len(before)
        self.counts.passes += 1
        self.counts.plain_steps += len(before) - 1
        self._state = self._plain
        return log_probabilities

    def _add(self, pick: Pick) -> None:
        self.picks.append(pick)
        self.counts.written += 1
        if pick.kind == "token":
            self.tokens.append(pick.token)
