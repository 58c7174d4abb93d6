"""Models whose weights are kept as bytes, multiplied as such: half the time of numbers with a point.

Such a model file turns its bytes into 32-bit numbers before it multiplies. Here the file is read as far as that needs
(ONNX is protocol buffers), and every product with weights of one scale a column becomes one of whole numbers:
`x @ (w * scale)` is `(round(x / s) @ w) * s * scale`, with the step `s` chosen for each `x` as it comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

_NODES, _INITIALIZERS, _INPUTS, _OUTPUTS = 1, 5, 11, 12
_GRAPH, _OPSET = 7, 8
_FLOAT, _UINT8, _INT8, _INT32 = 1, 2, 3, 6
_TENSOR_TYPE, _TENSOR_NAME, _TENSOR_BYTES = 2, 8, 9


class NotReadable(Exception):
    """The bytes are no ONNX file that this module can read."""


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a message: its number, its value (bytes, or a whole number), and all of it as it is written."""

    number: int
    value: memoryview | int
    written: memoryview


@dataclass(frozen=True, slots=True)
class _Node:
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    written: bytes


def in_whole_numbers(model: bytes) -> bytes:
    """The model with its products of byte weights in whole numbers; the very same bytes where it has none.

    NotReadable when they are no ONNX model.
    """
    fields = list(_fields(memoryview(model)))
    graph = next((field.value for field in fields if field.number == _GRAPH), None)
    if not isinstance(graph, memoryview):
        raise NotReadable("no graph in it")
    parts = list(_fields(graph))
    nodes = [_node(part.value) for part in parts if part.number == _NODES and isinstance(part.value, memoryview)]
    byte_weights = {
        name for part in parts if part.number == _INITIALIZERS and (name := _name_of_bytes(part.value)) is not None
    }
    changed = _rewritten(nodes, byte_weights)
    if changed is None:
        return model
    rest = [bytes(part.written) for part in parts if part.number != _NODES]
    inside = b"".join([*(_tagged(_NODES, node) for node in changed), *rest])
    return b"".join(_tagged(_GRAPH, inside) if field.number == _GRAPH else bytes(field.written) for field in fields)


def exactness_test() -> tuple[bytes, dict[str, np.ndarray[tuple[int, ...], np.dtype[np.uint8]]], int]:
    """A tiny model of one product, what to give it, and the number that all of its output must be.

    Old processors add neighbouring products in 16 bits, and cut off what does not fit.
    """
    size = 64
    weights = np.full((size, size), 127, np.int8)
    tensor = b"".join([
        _whole(1, size), _whole(1, size), _whole(_TENSOR_TYPE, _INT8),
        _tagged(_TENSOR_NAME, b"w"), _tagged(_TENSOR_BYTES, weights.tobytes()),
    ])  # fmt: skip
    graph = b"".join([
        _tagged(_NODES, _written("MatMulInteger", ("x", "w"), ("y",))), _tagged(2, b"g"),
        _tagged(_INITIALIZERS, tensor), _tagged(_INPUTS, _value("x", _UINT8)), _tagged(_OUTPUTS, _value("y", _INT32)),
    ])  # fmt: skip
    model = _whole(1, 8) + _tagged(_GRAPH, graph) + _tagged(_OPSET, _whole(2, 17))
    return model, {"x": np.full((size, size), 255, np.uint8)}, 255 * 127 * size


def _rewritten(nodes: Sequence[_Node], byte_weights: set[str]) -> list[bytes] | None:
    """The nodes as they are written, with products in whole numbers; None where there is none to change."""
    makers = {output: node for node in nodes for output in node.outputs}
    steps: dict[str, tuple[str, str, str]] = {}
    used = [name for node in nodes for name in node.inputs]
    spare: set[str] = set()
    found: list[bytes] = []
    for node in nodes:
        weights = _byte_weights(node, makers, byte_weights)
        if weights is None:
            found.append(node.written)
            continue
        stored, scale, passed = weights
        spare.update(name for name in passed if used.count(name) == 1)
        x, y = node.inputs[0], node.outputs[0]
        if x not in steps:
            steps[x] = (f"{x}.whole", f"{x}.step", f"{x}.zero")
            found.append(_written("DynamicQuantizeLinear", (x,), steps[x]))
        whole, step, zero = steps[x]
        found += [
            _written("MatMulInteger", (whole, stored, zero), (f"{y}.whole",)),
            _written("Cast", (f"{y}.whole",), (f"{y}.sum",), to=_FLOAT),
            _written("Mul", (step, scale), (f"{y}.scale",)),
            _written("Mul", (f"{y}.sum", f"{y}.scale"), (y,)),
        ]
    if not steps:
        return None
    dead = {node.written for node in nodes if set(node.outputs) <= spare}
    return [written for written in found if written not in dead]


def _byte_weights(
    node: _Node, makers: dict[str, _Node], byte_weights: set[str]
) -> tuple[str, str, tuple[str, str]] | None:
    """For a product with `Cast(stored) * scale`: the two names, and those that stand between."""
    scaled = makers.get(node.inputs[1]) if node.op == "MatMul" else None
    cast = makers.get(scaled.inputs[0]) if scaled is not None and scaled.op == "Mul" else None
    if scaled is None or cast is None or cast.op != "Cast" or cast.inputs[0] not in byte_weights:
        return None
    return cast.inputs[0], scaled.inputs[1], (node.inputs[1], scaled.inputs[0])


def _node(message: memoryview) -> _Node:
    named: dict[int, list[str]] = {1: [], 2: [], 4: []}
    for field in _fields(message):
        if field.number in named and isinstance(field.value, memoryview):
            named[field.number].append(bytes(field.value).decode())
    return _Node("".join(named[4]), tuple(named[1]), tuple(named[2]), bytes(message))


def _name_of_bytes(tensor: memoryview | int) -> str | None:
    """The name of a stored tensor of signed bytes."""
    if isinstance(tensor, int):
        return None
    said = {field.number: field.value for field in _fields(tensor) if field.number in (_TENSOR_TYPE, _TENSOR_NAME)}
    name = said.get(_TENSOR_NAME)
    return bytes(name).decode() if said.get(_TENSOR_TYPE) == _INT8 and isinstance(name, memoryview) else None


def _fields(message: memoryview) -> Iterator[_Field]:
    at, size = 0, len(message)
    while at < size:
        start = at
        key, at = _number(message, at)
        kind = key & 7
        value: memoryview | int
        if kind == 0:
            value, at = _number(message, at)
        elif kind == 2:
            length, at = _number(message, at)
            value, at = message[at : at + length], at + length
        elif kind in (1, 5):
            width = 8 if kind == 1 else 4
            value, at = message[at : at + width], at + width
        else:
            raise NotReadable(f"a field of kind {kind}")
        if at > size:
            raise NotReadable("a field that ends behind the file")
        yield _Field(key >> 3, value, message[start:at])


def _number(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 64:
        try:
            byte = message[at]
        except IndexError:
            raise NotReadable("a number that does not end") from None
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise NotReadable("a number that does not end")


def _written(op: str, inputs: Sequence[str], outputs: Sequence[str], to: int | None = None) -> bytes:
    parts = [_tagged(1, name.encode()) for name in inputs] + [_tagged(2, name.encode()) for name in outputs]
    parts += [_tagged(3, f"{outputs[0]}.made".encode()), _tagged(4, op.encode())]
    if to is not None:
        parts.append(_tagged(5, _tagged(1, b"to") + _whole(3, to) + _whole(20, 2)))
    return b"".join(parts)


def _value(name: str, kind: int) -> bytes:
    return _tagged(1, name.encode()) + _tagged(2, _tagged(1, _whole(1, kind)))


def _tagged(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _whole(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
