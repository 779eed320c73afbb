"""Arrays and frames as the files that the library reads: in memory, never on disk."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from types import TracebackType
from typing import Any, BinaryIO, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from trefoil._frames import from_tables, write_frame
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
        if style not in ("csv", "npy", "npz", "idx"):
            raise ConfigError(f'{owner}records: found arrays, expected files, as data.format is "{style}"')
        if style == "csv":
            return {"data.file": self._put_frame(keys, X, y, owner, labels)}
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

    def _put_frame(self, keys: dict[str, Any], X: Any, y: Any, owner: str, labels: bool) -> str:
        data = keys["data"]
        frame = from_tables(X)
        if not hasattr(frame, "to_csv") or not hasattr(frame, "columns"):
            raise DataError(f'{owner}X: found {type(X).__name__}, expected a frame, as data.format "csv" has columns')
        label = data.get("label", data.get("target"))
        if labels and y is not None and label is not None:
            frame = frame.assign(**{label["column"]: _labels(y, len(frame), owner)})
        with self._file(f"{owner}X") as (file, path):
            if data.get("header", True):
                self.with_header.add(file.fileno())
            write_frame(file, frame, keys, labels, f"{owner}X", f"{owner}X" if y is None else f"{owner}y")
        return path


def _labels(y: Any, rows: int, owner: str) -> Any:
    """Labels beside a frame, as a column of it."""
    require_unmasked(y, f"{owner}y")
    y = one_column(from_tables(y))
    if np.ndim(y) != 1:
        raise DataError(f"{owner}y: found {np.ndim(y)} dimensions, expected one, a label for each record")
    if len(y) != rows:
        raise DataError(f"{owner}y: found {len(y)} labels, expected {rows}, the rows of {owner}X")
    return y.array if hasattr(y, "iloc") else np.asarray(y)


def require_own_features(keys: Mapping[str, Any], way: str) -> None:
    """What takes nothing but arrays cannot be given a job's ONNX model, which is a file."""
    if keys.get("features", {}).get("method") == "onnx":
        raise ConfigError(f'features.method: found "onnx", whose model is a file of its own, expected {way}')


def one_column(y: Any) -> Any:
    """Labels or targets in an array or frame of one column without its second dimension."""
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
        return y.iloc[:, 0] if hasattr(y, "iloc") else y[:, 0]
    return y


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
