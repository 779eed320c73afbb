"""A frame as the CSV file that the library reads: each value's text depends on that value and the job alone."""

from __future__ import annotations

import csv
import io
import math
import re
from decimal import Decimal
from typing import Any, BinaryIO, NoReturn

import numpy as np

from trefoil.errors import DataError

_ROWS = 10_000  # of a block: texts take many times what numbers do
# Up to where a type holds each whole number; others do to 2^53.
_EXACT: dict[type, int] = {np.float16: 2**11, np.float32: 2**24}


def from_tables(values: Any) -> Any:
    """The pandas frame or series of a table of Arrow, a frame of Polars or what else has `to_pandas`."""
    if hasattr(values, "iloc") or not hasattr(values, "to_pandas"):
        return values
    try:
        return values.to_pandas(integer_object_nulls=True)  # else integers beside a null become floats
    except TypeError:  # a table of another kind
        return values.to_pandas()


def write_frame(
    file: BinaryIO, frame: Any, keys: dict[str, Any], labels: bool, name: str, label_name: str
) -> None:
    """Writes the frame as the job with these keys has its files. `labels`: labels and weights are read. Errors call
    the frame `name`, and the label's column is in `label_name`.

    Raises DataError where a record has no key, weight or label, a column is there twice or, without a header, is not
    there, and where the text of a number cannot be told from the number itself.
    """
    data = keys["data"]
    found = [str(column) for column in frame.columns]
    place_of: dict[str, int] = {}
    for place, column in enumerate(found):
        if place_of.setdefault(column, place) != place:
            raise DataError(f'{name}: found column "{column}" twice, expected each column once')
    header = data.get("header", True)
    label = data.get("label", data.get("target", {})).get("column")
    names = found if header else _names(keys, found, labels, name)
    declared = {column["name"]: column for column in data.get("column", [])}
    columns = [
        _Column(keys, one, _declared(keys, declared, one, labels), labels, label_name if one == label else name)
        for one in names
    ]
    places = [place_of.get(one) for one in names]
    # Whatever the job says of the files of others, a byte order mark counts more.
    text = io.TextIOWrapper(file, encoding="utf-8-sig" if "encoding" in data else "utf-8", newline="")
    separator = data.get("separator", ",")
    writer = csv.writer(text, delimiter="\t" if separator == "tab" else separator, lineterminator="\n")
    if header:
        writer.writerow(names)
    for start in range(0, len(frame), _ROWS):
        block = frame.iloc[start : start + _ROWS]
        texts = [
            [""] * len(block) if place is None else column.texts(block.iloc[:, place], start)
            for column, place in zip(columns, places)
        ]
        writer.writerows(zip(*texts))
    text.detach()


def _names(keys: dict[str, Any], found: list[str], labels: bool, name: str) -> list[str]:
    """The columns of a file without a header, in its order."""
    data = keys["data"]
    declared = data.get("column", [])
    names = list(data.get("columns") or [column["name"] for column in declared])
    unread = {column["name"] for column in declared if column.get("kind") == "weight"}
    label = data.get("label", data.get("target"))
    if label is not None:
        unread.add(label["column"])
        if label["column"] not in names:
            names.append(label["column"])
    for column in names:
        if column not in found and (labels or column not in unread):
            raise DataError(f"{name}: found no column {column}, expected {', '.join(names)}")
    return names


class _Column:
    """How the values of one column are written."""

    def __init__(self, keys: dict[str, Any], name: str, declared: dict[str, Any], labels: bool, place: str) -> None:
        data = keys["data"]
        kind = declared.get("kind", "number")
        marks = declared.get("missing", data.get("missing", "?"))
        marks = [marks] if isinstance(marks, str) else marks
        self.name = name
        self.place = place
        self.mark = marks[0] if marks else ""
        self.date = declared.get("format") if kind == "date" else None
        self.decimal = data.get("decimal", ".")
        self.meanings: dict[str, str | None] = {value: value for value in declared.get("values", [])}
        self.meanings |= declared.get("aliases", {})
        self.required = f"a {kind}" if kind in ("key", "weight", "label") else ""
        if kind == "weight" and not labels or kind == "label" and self.mark in self.meanings:
            self.required = ""
        if kind in ("number", "bin", "date", "category", "text"):
            for mark in marks:
                self.meanings.setdefault(mark, None)
        # Whether a text is compared with others, and not read as a number.
        self.compared = kind in ("key", "text", "category", "label") and not declared.get("numeric", False)
        self.wholes = self._wholes()

    def _wholes(self) -> dict[str, str | None]:
        """How the job writes whole numbers that it does not write as integers: 1.0. None: either is something else."""
        wholes: dict[str, str | None] = {}
        for text, meaning in self.meanings.items():
            whole = text.removesuffix(f"{self.decimal}0")
            if whole == text or not re.fullmatch(r"0|-?[1-9]\d*", whole):
                continue
            if whole not in self.meanings:
                wholes[whole] = text
            elif self.compared and self.meanings[whole] != meaning:
                wholes[whole] = None
        return wholes

    def texts(self, values: Any, start: int) -> Any:
        """The texts of a block of the column's values, whose first one is record number `start`, from 0."""
        absent = np.asarray(values.isna(), dtype=bool)
        if values.dtype.kind == "f":  # a NaN in a nullable type, as 0 / 0, is a value to pandas
            absent = absent | np.isnan(values.to_numpy(dtype=float, na_value=np.nan))
        if self.required and absent.any():
            self._refuse(start + int(np.argmax(absent)), "a missing value", self.required)
        texts = np.full(len(values), self.mark, dtype=object)
        present = values[~absent]
        if present.dtype.kind == "f":  # a number of 32 bits stays one
            kind = getattr(present.dtype, "numpy_dtype", getattr(present.dtype, "subtype", present.dtype))
            there = present.to_numpy(dtype=kind)
        else:
            there = present.astype(object)
        records = np.flatnonzero(~absent)
        texts[records] = [self._text(value, start + int(k)) for k, value in zip(records, there)]
        return texts

    def _text(self, value: Any, record: int) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, (bool, np.bool_)):
            return str(value)
        if isinstance(value, (int, float, np.integer, np.floating)):
            return self._number(value, record)
        if hasattr(value, "strftime"):
            return str(value.strftime(self.date)) if self.date else str(value).removesuffix(" 00:00:00")
        return str(value).replace(".", self.decimal) if isinstance(value, Decimal) else str(value)

    def _number(self, value: Any, record: int) -> str:
        """1 and 1.0 are one value: integers beside a missing one are floats in pandas."""
        if isinstance(value, (float, np.floating)):
            large = not abs(float(value)) <= _EXACT.get(type(value), 2**53)
            if large or value != math.floor(value):
                text = str(value).replace(".", self.decimal)
                if large and self.compared and math.isfinite(value) and text not in self.meanings:
                    self._refuse(record, f"{text}, too large a float for all its digits", "integers or texts")
                return text
        whole = str(int(value))
        written = self.wholes.get(whole, whole)
        if written is None:
            other = f"{whole}{self.decimal}0"
            self._refuse(record, f"the number {whole}", f'a text, as the job tells "{whole}" from "{other}"')
        return written

    def _refuse(self, record: int, found: str, expected: str) -> NoReturn:
        raise DataError(f'{self.place}: record {record + 1}, column "{self.name}": found {found}, expected {expected}')


def _declared(keys: dict[str, Any], columns: dict[str, Any], name: str, labels: bool) -> dict[str, Any]:
    """What the job says of a column, with the kind "label" for that of labels which are read. `columns`: the job's, by
    name.
    """
    data = keys["data"]
    label = data.get("label", data.get("target", {}))
    if name == label.get("column"):
        return {"kind": "label", "numeric": "values" not in label, **label} if labels else {"kind": "ignore"}
    declared: dict[str, Any] = columns.get(name, {"kind": "ignore"})
    return declared
