"""Prefetch rows before they are needed: training word vectors waits for memory more than it computes.

numba has no prefetch, but lets one be written in terms of LLVM, whose `llvm.prefetch` is only a hint: the results stay
the same. In plain Python it does nothing.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

_LINE = 64  # bytes that come from memory together
_FOR_WRITING, _TO_STAY, _OF_DATA = 1, 3, 1


def ask_for_row(table, row):
    """Prefetch a row of a table."""


@overload(ask_for_row, inline="always")
def _ask_for_row(table, row):
    def ask(table, row):
        first = table.ctypes.data + row * table.strides[0]
        for line in range(0, table.strides[0], _LINE):
            _ask_for_line(first + line)  # type: ignore[call-arg]  # numba adds the first argument

    return ask


@intrinsic
def _ask_for_line(typing_context, address):
    def generate(context, builder, signature, arguments):
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        place = builder.inttoptr(arguments[0], pointer)
        builder.call(hint, [place, number(_FOR_WRITING), number(_TO_STAY), number(_OF_DATA)])
        return context.get_dummy_value()

    return types.void(types.intp), generate
