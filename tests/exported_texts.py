"""Run the exported graphs of language models, classifiers, taggers and BERTs with onnxruntime, as users would."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor

from regard.loading import Loaded
from regard.models.bert import Bert
from regard.models.bert.network import frame
from regard.models.text.texts import TextRows
from regard.protocols import State
from regard.tasks.language.batches import Prompts


class Session:
    """A graph, from arrays by name to arrays by name."""

    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.x64quantprecision", "1")  # int8 sums exact on every CPU
        self._session = onnxruntime.InferenceSession(path, options)
        self.inputs = {tensor.name: tensor.shape for tensor in self._session.get_inputs()}

    def __call__(self, **inputs: Tensor | np.ndarray) -> dict[str, np.ndarray]:
        named = {name: np.asarray(value) for name, value in inputs.items() if name in self.inputs}
        names = [output.name for output in self._session.get_outputs()]
        return dict(zip(names, self._session.run(names, named), strict=True))


class ExportedReader:
    """The graph of a model that reads whole texts; its tokeniser and its way to read texts are the task's."""

    def __init__(self, model: Loaded, folder: Path) -> None:
        self.task, self.graph = model.task, Session(folder / "reader.onnx")

    def __call__(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        batch = self.task.read(texts)
        kind = type(self.task).__name__
        return {"Classification": self._classify, "Tagging": self._tag, "MaskedTokens": self._fill}[kind](batch)

    def _classify(self, batch: Any) -> dict[str, np.ndarray]:
        return self.graph(**self._rows(self.task.model.reader, batch.texts))

    def _rows(self, reader: Any, texts: TextRows) -> dict[str, Any]:
        if not isinstance(reader, Bert):
            return {"tokens": texts.tokens, "lengths": texts.lengths}
        framed = frame(texts, reader.marks)
        segments = torch.zeros_like(framed.tokens) if framed.segments is None else framed.segments
        return {"tokens": framed.tokens, "lengths": framed.lengths, "segments": segments}

    def _tag(self, batch: Any) -> dict[str, np.ndarray]:
        inputs, reader = batch.inputs, self.task.model.reader
        is_bert = isinstance(reader, Bert)
        texts = TextRows(*((inputs.pieces, inputs.piece_lengths) if is_bert else (inputs.words, inputs.lengths)))
        beside = {"letters": inputs.letters, "forms": inputs.forms, "shapes": inputs.shapes}
        return self.graph(**self._rows(reader, texts), **beside, firsts=inputs.firsts + 1)

    def _fill(self, batch: Any) -> dict[str, np.ndarray]:
        tokens, places, _ = batch.tensors
        return self.graph(tokens=tokens, lengths=batch.lengths, segments=torch.zeros_like(tokens), places=places)


class ExportedWriter:
    """The graph of a language model as a task that searches can drive, one text at a time."""

    def __init__(self, model: Loaded, folder: Path) -> None:
        task = model.task
        self.task, self.graph, self.context = task, Session(folder / "writer.onnx"), task.model.context
        self.begin, self.end, self.tokeniser = task.begin, task.end, task.tokeniser

    def read(self, tokens: Sequence[int], past: dict[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the outputs for more tokens of one text, and its memory after them; an empty one begins a text."""
        names = [name for name in self.graph.inputs if name.startswith("past.")]
        if not past:
            past = {name: np.zeros([1, *self.graph.inputs[name][1:2], 0, self.graph.inputs[name][3]], np.float32)
                    for name in names}  # fmt: skip
        outputs = self.graph(tokens=np.array([tokens]), **past)
        return outputs, {name: outputs[name.replace("past", "present", 1)] for name in names}

    def start(self, batch: Prompts) -> State:
        (tokens,) = batch.tokens
        whole = [self.end, *tokens]
        past = self.read(whole[:-1], {})[1] if len(whole) > 1 else {}
        self._past, self._last = past, whole[-1]
        return State((), {})

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Continue the only row that there is."""
        token, self._last = (int(tokens[0]) if self._last is None else self._last), None
        outputs, self._past = self.read([token], self._past)
        return torch.from_numpy(outputs["log_probabilities"][:, -1]), state
