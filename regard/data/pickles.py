"""Read arrays from untrusted pickles: no numpy function is called, and nothing in them can run.

A pickle is a program for a small machine that builds objects. This machine knows the instructions that arrays, lists
and tables of numbers need. It admits only the given names, each with a stand-in that merely stores what is described.
Python's own reader allocates whatever a number in the file demands, and copies as often as it is told to. So the cost
of each instruction is counted first.
"""

import pickle
import pickletools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

Admitted = Mapping[tuple[str, str], Callable[..., Any]]

_NUMBERS = {"i1": np.int8, "i2": np.int16, "i4": np.int32, "i8": np.int64, "f4": np.float32, "f8": np.float64}
_FREE_INSTRUCTIONS = 1_500_000  # for any pickle; longer ones get one more for every few bytes
_BYTES_AN_INSTRUCTION = 10
_MOST_INSTRUCTIONS = 4_000_000  # for the longest pickles, which take some seconds
_FREE_COPIES = 1000  # texts and numbers any pickle may pass on; longer ones get one more per byte
_LARGEST_KEY = 2**31  # of a table: larger integers can be chosen so that lookups take n² time


class PickledKind:
    """Stand-in for numpy.dtype: the type of an array's numbers and their byte order."""

    def __init__(self, letters: Any, *flags: Any) -> None:
        self.letters, self.byte_order = str(letters), ""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.byte_order = state[1]

    @property
    def as_numpy(self) -> np.dtype:
        if self.letters not in _NUMBERS:
            raise pickle.UnpicklingError("an array of something other than plain numbers")
        return np.dtype(_NUMBERS[self.letters]).newbyteorder(">" if self.byte_order == ">" else "<")


class PickledArray:
    """Stand-in for numpy.ndarray: numbers of some shape, or a list of objects."""

    content: np.ndarray | list[Any] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, by_columns, content = state
        if not isinstance(kind, PickledKind):
            raise pickle.UnpicklingError("an array without a type")
        if kind.letters == "O8":
            self.content = list(content)
        else:
            raw = content.encode("latin1") if isinstance(content, str) else content
            self.content = np.frombuffer(raw, kind.as_numpy).reshape(shape, order="F" if by_columns else "C")


def _begin_array(kind: Any, shape: Any, letter: Any) -> PickledArray:
    """Stand-in for numpy's function that makes an empty array, which the rest of the pickle fills."""
    return PickledArray()


ARRAYS: Admitted = MappingProxyType(
    {
        ("numpy.core.multiarray", "_reconstruct"): _begin_array,
        ("numpy._core.multiarray", "_reconstruct"): _begin_array,
        ("numpy", "ndarray"): PickledArray,
        ("numpy", "dtype"): PickledKind,
    }
)


def unpickle(content: bytes, admitted: Admitted) -> Any:
    """Return the content of a Python 2 or 3 pickle; a damaged or hostile one may raise anything, but runs nothing."""
    machine = _Machine(len(content), admitted)
    most = min(_FREE_INSTRUCTIONS + len(content) // _BYTES_AN_INSTRUCTION, _MOST_INSTRUCTIONS)
    for number, (instruction, argument, _) in enumerate(pickletools.genops(content)):
        if number >= most:
            raise pickle.UnpicklingError("it has more instructions than its arrays need")
        machine.follow(instruction.name, argument)
    return machine.result()


class _Machine:
    """Stack and memory of a pickle, and how much of its content may still be copied."""

    def __init__(self, size: int, admitted: Admitted) -> None:
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memory: dict[int, Any] = {}
        self._may_copy, self._admitted = size + _FREE_COPIES, admitted

    def follow(self, instruction: str, argument: Any) -> None:
        if instruction in _VALUES:
            self._stack.append(argument)
        elif instruction in _STORING:
            self._memory[len(self._memory) if argument is None else int(argument)] = self._top()
        elif instruction in _RECALLING:
            if int(argument) not in self._memory:
                raise pickle.UnpicklingError("it recalls an object that it has not stored")
            self._stack.append(self._memory[int(argument)])
        elif instruction in _STEPS:
            _STEPS[instruction](self, argument)
        elif instruction not in ("PROTO", "FRAME", "STOP"):
            raise pickle.UnpicklingError(f"it has the instruction {instruction}, which no array needs")

    def result(self) -> Any:
        return self._pop()

    def _top(self) -> Any:
        if not self._stack:
            raise pickle.UnpicklingError("its instructions need more objects than there are")
        return self._stack[-1]

    def _pop(self) -> Any:
        self._top()
        return self._stack.pop()

    def _pop_many(self, count: int | None = None) -> list[Any]:
        """Take `count` objects off the stack, or all above the last mark."""
        if count is None and not self._marks:
            raise pickle.UnpicklingError("its instructions need a mark that is missing")
        first = self._marks.pop() if count is None else len(self._stack) - count
        if not 0 <= first <= len(self._stack):
            raise pickle.UnpicklingError("its instructions need more objects than there are")
        objects, self._stack[first:] = self._stack[first:], []
        return objects

    def _pay(self, parts: Any) -> None:
        """Charge for the texts and lists that a stand-in may copy; honest pickles pass on each of them once."""
        for part in parts.values() if isinstance(parts, dict) else parts:
            self._may_copy -= 1 + (len(part) if isinstance(part, str | bytes | list | tuple | dict) else 0)
        if self._may_copy < 0:
            raise pickle.UnpicklingError("its objects share more than an honest file's do")

    def mark(self, _: Any) -> None:
        self._marks.append(len(self._stack))

    def push_empty(self, kind: type) -> None:
        self._stack.append(kind())

    def push_tuple(self, count: int | None) -> None:
        self._stack.append(tuple(self._pop_many(count)))

    def push_list(self, _: Any) -> None:
        self._stack.append(self._pop_many())

    def append(self, count: int | None) -> None:
        items, owner = self._pop_many(count), self._top()
        if type(owner) is not list:
            raise pickle.UnpicklingError("it appends to something that is not a list")
        owner += items

    def set_items(self, count: int | None) -> None:
        items, owner = self._pop_many(count), self._top()
        if not isinstance(owner, dict) or len(items) % 2:
            raise pickle.UnpicklingError("it sets entries of something that is not a table")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if type(key) is not str and not (type(key) is int and abs(key) < _LARGEST_KEY):
                raise pickle.UnpicklingError("a table in it has a key that is neither a text nor a small number")
            owner[key] = value

    def push_table(self, _: Any) -> None:
        items = self._pop_many()
        self._stack.append({})
        self._marks.append(len(self._stack))
        self._stack += items
        self.set_items(None)

    def find(self, name: str | None) -> None:
        """Push the stand-in for a name in a module; without an argument, both names are on the stack."""
        module, name = self._pop_many(2) if name is None else name.split(" ", 1)
        if (module, name) not in self._admitted:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not admitted")
        self._stack.append(self._admitted[module, name])

    def call(self, _: Any) -> None:
        function, arguments = self._called()
        self._stack.append(function(*arguments))

    def make(self, _: Any) -> None:
        kind, arguments = self._called()
        if not isinstance(kind, type):
            raise pickle.UnpicklingError("it makes an object of something that is not a class")
        self._stack.append(kind.__new__(kind, *arguments))

    def _called(self) -> tuple[Any, tuple[Any, ...]]:
        function, arguments = self._pop_many(2)
        if type(arguments) is not tuple or not any(function is admitted for admitted in self._admitted.values()):
            raise pickle.UnpicklingError(
                "it calls something that is not an admitted function, or without a tuple of arguments"
            )
        self._pay(arguments)
        return function, arguments

    def fill(self, _: Any) -> None:
        """Pass a new object its state."""
        state, owner = self._pop(), self._top()
        if not hasattr(owner, "__setstate__") or not isinstance(state, tuple | dict):
            raise pickle.UnpicklingError("it fills an object that cannot be filled")
        self._pay(state)
        owner.__setstate__(state)


_VALUES = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
}
_STORING = {"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"}
_RECALLING = {"GET", "BINGET", "LONG_BINGET"}
_STEPS: Mapping[str, Callable[[_Machine, Any], None]] = {
    "NONE": lambda machine, _: machine._stack.append(None),
    "NEWTRUE": lambda machine, _: machine._stack.append(True),
    "NEWFALSE": lambda machine, _: machine._stack.append(False),
    "MARK": _Machine.mark,
    "EMPTY_LIST": lambda machine, _: machine.push_empty(list),
    "EMPTY_DICT": lambda machine, _: machine.push_empty(dict),
    "EMPTY_TUPLE": lambda machine, _: machine.push_empty(tuple),
    "TUPLE": _Machine.push_tuple,
    "TUPLE1": lambda machine, _: machine.push_tuple(1),
    "TUPLE2": lambda machine, _: machine.push_tuple(2),
    "TUPLE3": lambda machine, _: machine.push_tuple(3),
    "LIST": _Machine.push_list,
    "DICT": _Machine.push_table,
    "APPEND": lambda machine, _: machine.append(1),
    "APPENDS": _Machine.append,
    "SETITEM": lambda machine, _: machine.set_items(2),
    "SETITEMS": _Machine.set_items,
    "GLOBAL": _Machine.find,
    "STACK_GLOBAL": _Machine.find,
    "REDUCE": _Machine.call,
    "NEWOBJ": _Machine.make,
    "BUILD": _Machine.fill,
}
