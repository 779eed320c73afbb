"""Readers of exported models that share no code with the program: standard library only, and slow."""

import json
import math
import struct


def read_safetensors(content):
    """The metadata and, by name, (shape, values) of a file's tensors."""
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    end = max(entry["data_offsets"][1] for entry in header.values())
    assert 8 + length + end == len(content), "bytes after the last tensor"
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F64", entry
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = (entry["shape"], list(struct.unpack(f"<{(end - begin) // 8}d", content[begin:end])))
    return metadata, tensors


def parse(message):
    """A protobuf message: field number -> its values in order, whole numbers, floats or bytes."""
    fields, place = {}, 0

    def varint():
        nonlocal place
        value, shift = 0, 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(message):
        tag = varint()
        if tag % 8 == 0:
            value = varint()
        elif tag % 8 == 5:
            (value,) = struct.unpack("<f", message[place : place + 4])
            place += 4
        else:
            assert tag % 8 == 2, f"wire type {tag % 8}"
            length = varint()
            value = message[place : place + length]
            assert len(value) == length, "a field beyond the end"
            place += length
        fields.setdefault(tag // 8, []).append(value)
    return fields


class Onnx:
    """A model of a chain of row-wise operators; field numbers are those of onnx.proto."""

    def __init__(self, content):
        model = parse(content)
        self.opset = parse(model[8][0])[2][0]
        self.metadata = {entry[1][0].decode(): entry[2][0].decode() for entry in map(parse, model[14])}
        graph = parse(model[7][0])
        self.nodes = [parse(node) for node in graph[1]]
        self.constants = {}
        for tensor in map(parse, graph[5]):
            raw = tensor[9][0]
            self.constants[tensor[8][0].decode()] = (tensor.get(1, []), struct.unpack(f"<{len(raw) // 4}f", raw))
        self.input, self.inputs = self.value(graph[11])
        self.output, self.outputs = self.value(graph[12])

    @staticmethod
    def value(infos):
        """Name and width of the only input or output, whose first dimension must be named, not fixed."""
        (info,) = map(parse, infos)
        tensor = parse(parse(info[2][0])[1][0])
        batch, width = (parse(dimension) for dimension in parse(tensor[2][0])[1])
        assert tensor[1] == [1] and 2 in batch and 1 not in batch, "float32, any number of rows"
        return info[1][0].decode(), width[1][0]

    def run(self, row):
        """The output for one row, in double precision."""
        assert len(row) == self.inputs
        values = {name: list(numbers) for name, (_, numbers) in self.constants.items()}
        values[self.input] = row
        for node in self.nodes:
            operands = [values[name.decode()] for name in node[1]]
            attributes = {attribute[1][0].decode(): attribute for attribute in map(parse, node.get(5, []))}
            values[node[2][0].decode()] = self.apply(node[4][0].decode(), operands, attributes)
        assert len(values[self.output]) == self.outputs
        return values[self.output]

    @staticmethod
    def apply(operator, operands, attributes):
        def pairs():
            a, b = operands
            width = max(len(a), len(b))
            assert {len(a), len(b)} <= {1, width}
            return zip(a * width if len(a) == 1 else a, b * width if len(b) == 1 else b)

        if operator == "Sub":
            return [a - b for a, b in pairs()]
        if operator == "Div":
            return [a / b for a, b in pairs()]
        if operator in ("Max", "Min"):
            return [max(a, b) if operator == "Max" else min(a, b) for a, b in pairs()]
        if operator == "Exp":
            return [math.exp(a) for a in operands[0]]
        if operator == "Abs":
            return [abs(a) for a in operands[0]]
        if operator.startswith("Reduce"):
            assert attributes["axes"][8] == [1] and attributes["keepdims"][3] == [1]
            return [max(operands[0]) if operator == "ReduceMax" else math.hypot(*operands[0])]
        if operator == "Clip":
            return [min(max(a, attributes["min"][2][0]), attributes["max"][2][0]) for a in operands[0]]
        assert operator == "Gemm" and list(attributes) == ["transB"] and attributes["transB"][3] == [1], operator
        x, weights, bias = operands
        rows = [weights[k * len(x) : (k + 1) * len(x)] for k in range(len(bias))]
        return [sum(a * b for a, b in zip(x, row)) + c for row, c in zip(rows, bias)]


def dense(row, weights, bias):
    """row times weights, stored row by row, plus bias."""
    sums = list(bias)
    for k, value in enumerate(row):
        if value:
            for j in range(len(sums)):
                sums[j] += value * weights[k * len(sums) + j]
    return sums
