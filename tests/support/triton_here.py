"""Liger's Triton kernels on a processor: Triton's interpreter, which runs a kernel's operations one by one in numpy.

Imported before Liger. The interpreter lacks two things that a GPU has: a kernel's float arguments are scalars of
32 bits there, and libdevice has the functions that Liger takes from it.
"""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import triton.language as tl
import triton.language.extra.libdevice as libdevice
from triton.runtime import interpreter

_convert = interpreter._implicit_cvt


def _with_floats(argument):
    if type(argument) is float:
        return tl.tensor(interpreter.TensorHandle(np.array([argument], dtype=np.float32), tl.float32), tl.float32)
    return _convert(argument)


interpreter._implicit_cvt = _with_floats
libdevice.rsqrt = lambda x: tl.rsqrt(x)  # looked up when it is called: within a kernel it is the interpreter's
libdevice.tanh = lambda x: 2 * tl.sigmoid(2 * x) - 1
