"""Arrays and frames as the files that the library reads: in memory, never on disk."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from types import TracebackType
from typing import Any, BinaryIO, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from trefoil.errors import ConfigError, DataError, Error


class Inputs:
    """Files of one call, which are gone when it ends."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.with_header: set[int] = set()

    def __enter__(self) -> Inputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for descriptor in self.names:
            os.close(descriptor)

    @contextmanager
    def _file(self, name: str) -> Iterator[tuple[BinaryIO, str]]:
        descriptor = os.memfd_create("trefoil")
        self.names[descriptor] = name
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            yield file, f"/proc/self/fd/{descriptor}"

    def put_text(self, text: str, name: str) -> str:
        """A file with this text, which errors call `name`. Returns its path."""
        with self._file(name) as (file, path):
            file.write(text.encode())
        return path

    def put_counts(self, values: Any, name: str) -> str:
        """A CSV file of a matrix of numbers, without a header, which errors call `name`. Returns its path."""
        with self._file(name) as (file, path):
            np.savetxt(file, np.atleast_2d(_numbers(values, name)), fmt="%.17g", delimiter=",")
        return path

    def explain(self, text: str) -> str:
        """An error's text, with the arrays' names for their files'."""
        row = re.search(r"/proc/self/fd/(\d+): row \d+", text)
        if row and int(row[1]) in self.with_header:
            text += " (the header is row 1)"
        return re.sub(r"/proc/self/fd/(\d+)", lambda found: self.names.get(int(found[1]), found[0]), text)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Errors that pass call files by their arrays' names."""
        try:
            yield
        except Error as error:
            error.args = (self.explain(str(error)),)
            raise

    def put_records(
        self, keys: dict[str, Any], X: Any, y: Any, owner: str = "", labels: bool = True
    ) -> dict[str, str]:
        """The files of records for the job that has these keys, by a party file's keys."""
        data = keys.get("data", {})
        if "format" not in data:
            raise ConfigError(f"{owner}records: found arrays, expected files: the job has no data.format")
        style = data["format"]
        if style == "csv":
            return {"data.file": self._put_frame(data, X, y, owner, labels)}
        x = _numbers(X, f"{owner}X")
        if x.ndim < 2:
            raise DataError(f"{owner}X: found one dimension, expected two: a row for each record")
        named: dict[str, Any] = {"x": x}
        if labels:
            named["y"] = _numbers(y, f"{owner}y")
        if style == "npz":
            with self._file(f"{owner}X and y") as (file, path):
                np.savez(file, **named)
            return {"data.file": path}
        return {f"data.{key}": self._put_array(style, value, owner, key) for key, value in named.items()}

    def _put_array(self, style: str, array: NDArray[Any], owner: str, key: str) -> str:
        name = f"{owner}{'X' if key == 'x' else key}"
        with self._file(name) as (file, path):
            if style == "npy":
                np.save(file, array, allow_pickle=False)
                return path
            if array.size and (array.min() < 0 or array.max() > 255 or np.any(array != np.floor(array))):
                raise DataError(f'{name}: found numbers that are no bytes, expected 0 to 255 for data.format "idx"')
            file.write(bytes([0, 0, 8, array.ndim]))
            file.write(np.array(array.shape, dtype=">u4").tobytes())
            file.write(array.astype(np.uint8).tobytes())
        return path

    def _put_frame(self, data: dict[str, Any], X: Any, y: Any, owner: str, labels: bool) -> str:
        header = data.get("header", True)
        if not hasattr(X, "to_csv") and hasattr(X, "to_pandas"):  # a table of Arrow, a frame of Polars
            X = X.to_pandas()
        if not hasattr(X, "to_csv"):
            raise DataError(f'{owner}X: found {type(X).__name__}, expected a frame, as data.format "csv" has columns')
        frame = X
        label = data.get("label", data.get("target"))
        if labels and y is not None and label is not None:
            if len(y) != len(X):
                raise DataError(f"{owner}y: found {len(y)} labels, expected {len(X)}, the rows of {owner}X")
            require_unmasked(y, f"{owner}y")
            frame = X.assign(**{label["column"]: np.asarray(y)})
        if labels and label is not None:
            _require_labels(frame, label, _mark(data.get("missing", "?")), f"{owner}X" if y is None else f"{owner}y")
        if not header:
            frame = self._ordered(frame, data, owner)
        separator = data.get("separator", ",")
        with self._file(f"{owner}X") as (file, path):
            if header:
                self.with_header.add(file.fileno())
            self._written(frame, data).to_csv(
                file,
                index=False,
                header=header,
                na_rep=_mark(data.get("missing", "?")),
                sep="\t" if separator == "tab" else separator,
                decimal=data.get("decimal", "."),
                # Whatever the job says of the files of others, a byte order mark counts more.
                encoding="utf-8-sig" if "encoding" in data else "utf-8",
            )
        return path

    @staticmethod
    def _written(frame: Any, data: dict[str, Any]) -> Any:
        """The frame with dates and missing values as the job's columns have them."""
        for column in data.get("column", []):
            name = column["name"]
            if name not in frame.columns:
                continue
            values = frame[name]
            if column.get("kind") == "date":
                style = column["format"]
                # Texts and numbers stay as they are, for the reader to check.
                values = values.astype(object).map(
                    lambda date: date.strftime(style) if hasattr(date, "strftime") else date, na_action="ignore"
                )
            if "missing" in column and values.isna().any():
                if values.dtype.kind == "f":  # among texts to_csv leaves numbers as they are
                    decimal = data.get("decimal", ".")
                    values = values.map(lambda number: str(number).replace(".", decimal), na_action="ignore")
                values = values.astype(object).where(values.notna(), _mark(column["missing"]))
            if values is not frame[name]:
                frame = frame.assign(**{name: values})
        return frame

    @staticmethod
    def _ordered(frame: Any, data: dict[str, Any], owner: str) -> Any:
        """A file without a header has the columns in the order of the job's."""
        names = data.get("columns") or [column["name"] for column in data["column"]]
        absent = [name for name in names if name not in frame.columns]
        if absent:
            raise DataError(f"{owner}X: found no column {absent[0]}, expected {', '.join(names)}")
        return frame[names]


def _mark(marks: str | list[str]) -> str:
    """What a missing value is written as, of a job's mark or marks; where there is none, nothing."""
    if isinstance(marks, str):
        return marks
    return marks[0] if marks else ""


def _require_labels(frame: Any, label: dict[str, Any], mark: str, name: str) -> None:
    """A label is never missing, unless the job has the mark among its values and aliases."""
    column = label["column"]
    if column not in frame.columns or mark in label.get("values", []) or mark in label.get("aliases", {}):
        return
    absent = np.flatnonzero(frame[column].isna())
    if absent.size:
        raise DataError(f'{name}: record {absent[0] + 1}, column "{column}": found a missing value, expected a label')


def paths_of(files: Mapping[str, Any], owner: str = "") -> dict[str, str]:
    """Other inputs by a party file's keys, as paths."""
    for key, file in files.items():
        if not isinstance(file, (str, os.PathLike)):
            raise ConfigError(f"{owner}{key}: found {type(file).__name__}, expected a file's path")
    return {key: os.fspath(file) for key, file in files.items()}


def require_unmasked(values: Any, name: str) -> None:
    """What lies under a mask would count as if it were there."""
    if np.any(getattr(values, "_mask", False)):  # np.ma.is_masked, which Debian's NumPy has without types
        raise DataError(f"{name}: found masked numbers, expected all: fill them as the job says")


def _numbers(values: Any, name: str) -> NDArray[Any]:
    """Anything that is an array of numbers: NumPy, pandas, sparse, or what has __array__."""
    if values is None:
        raise DataError(f"{name}: found None, expected an array of numbers")
    if hasattr(values, "toarray"):
        values = values.toarray()
    require_unmasked(values, name)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, RuntimeError) as error:  # rows of different lengths; what __array__ raises
        raise DataError(f"{name}: found no array ({error}), expected an array of numbers") from None
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name}: found an array of dtype {array.dtype}, expected numbers")
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, dtype=np.float64)
    return np.ascontiguousarray(array.astype(np.uint8) if array.dtype.kind == "b" else array)
