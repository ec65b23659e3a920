"""Word-level distillation of language models: networks that read the same text, and what they would write next."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.models.cross_entropy import TeacherOutput, taught_cross_entropy
from regard.models.language import LanguageNetwork, Memory, Reading
from regard.tasks.language.streams import StreamBatch

_NAME = "teacher{}."  # prefix of what a teacher remembers, in the carry of a student


@dataclass(frozen=True)
class LanguageTeachers:
    """Teachers with a student's tokens; they learn nothing, and belong to no task, so that they are not saved.

    Next to a student that carries its state from batch to batch, each teacher carries its memory too, so that it knows
    the text before a batch; a context that is full is halved, as in writing.
    """

    networks: Sequence[LanguageNetwork]
    weight: float
    temperature: float

    def loss(
        self, student: LanguageNetwork, reading: Reading, batch: StreamBatch, carry: Memory | None
    ) -> tuple[Float[Tensor, ""], Memory]:
        """Return Σ (1 − w) · cross-entropy + w · τ² · KL(teachers‖student), and what the teachers carry on."""
        readings = [self._read(number, batch, carry) for number in range(len(self.networks))]
        outputs = [
            TeacherOutput(read.states.flatten(0, 1), network.output_vectors, network.output_biases)
            for read, network in zip(readings, self.networks, strict=True)
        ]
        total = taught_cross_entropy(
            reading.states.flatten(0, 1),
            student.output_vectors,
            batch.wanted.flatten(),
            0.0,
            outputs,
            self.weight,
            self.temperature,
            student.output_biases,
        )
        carried = {
            _NAME.format(number) + name: tensor
            for number, read in enumerate(readings)
            for name, tensor in read.memory.items()
        }
        return total, carried if student.carries else {}

    @torch.no_grad()
    def _read(self, number: int, batch: StreamBatch, carry: Memory | None) -> Reading:
        prefix, network = _NAME.format(number), self.networks[number]
        before = {name: tensor for name, tensor in (carry or {}).items() if name.startswith(prefix)}
        memory = {name.removeprefix(prefix): tensor for name, tensor in before.items()}
        return network.read(batch.tokens, memory or network.begin(batch.rows))
