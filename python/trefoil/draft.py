"""A first [data] table of a job, from a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from trefoil.errors import ConfigError, DataError


@dataclass(frozen=True)
class Draft:
    """The keys of [data], and what is still to be done about them.

    A job is public: whatever stands in it no epsilon covers. So what was read from the frame is to be replaced by what
    is known from elsewhere (a code book, a law, a public survey), or kept knowingly.
    """

    data: dict[str, Any]
    from_data: tuple[str, ...]
    """What was read from the frame, a line each."""
    to_give: tuple[str, ...]
    """What has to come from elsewhere, a line each."""

    def __str__(self) -> str:
        lines = [f"read from the data, and public in a job: {line}" for line in self.from_data]
        return "\n".join(lines + [f"to be given: {line}" for line in self.to_give])


def schema_of(
    df: Any, label: str, rows: Sequence[int] = (0, 0, 0), name: str = "frame", most_values: int = 50
) -> Draft:
    """Drafts the table [data] of a job with `format = "csv"` from a frame of pandas.

    Numbers get mean 0 and scale 1, never the frame's. Texts of at most `most_values` different values, and True and
    False, become categories; others, and dates, are left out. `rows` are the declared capacities of the three parties.

    Raises DataError without the label's column, ConfigError for one class, or more than `most_values`.
    """
    if label not in df.columns:
        raise DataError(f"frame: found no column {label}, expected the label's")
    names = [str(column) for column in df.columns]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f'frame: found column "{name}" twice, expected each column once')
        seen.add(name)
    columns: list[dict[str, Any]] = []
    from_data, to_give = [], []
    for column in df.columns:
        if column == label:
            continue
        place = f"data.column {column}"
        if df[column].isna().any():
            to_give.append(f"{place}: how missing values are marked (data.missing), and what they count as")
        if df[column].dtype.kind == "M":
            columns.append({"name": str(column), "kind": "ignore"})
            to_give.append(f'{place}: left out; kind = "date" with format, origin, mean and scale, if it is to count')
            continue
        if df[column].dtype.kind in "iuf":
            columns.append({"name": str(column), "kind": "number", "mean": 0.0, "scale": 1.0})
            to_give.append(f"{place}: mean and scale by which its numbers become of size 1")
            continue
        values = sorted(map(str, df[column].dropna().unique()))
        if not 1 <= len(values) <= most_values:
            columns.append({"name": str(column), "kind": "ignore"})
            from_data.append(f"{place}: left out, for it has {len(values)} different values")
            continue
        columns.append({"name": str(column), "kind": "category", "values": values})
        from_data.append(f"{place}: values {', '.join(values)}")
    classes = sorted(map(str, df[label].dropna().unique()))
    if len(classes) < 2:
        raise ConfigError(f"data.label {label}: found {len(classes)} classes, expected two or more")
    if len(classes) > most_values:
        raise ConfigError(
            f"data.label {label}: found {len(classes)} classes, expected at most {most_values}: a number that is to be"
            " predicted is a [data.target]"
        )
    if df[label].isna().any():
        to_give.append(f"data.label {label}: rows without a label are to be left out of the frames")
    from_data.append(f"data.label {label}: values {', '.join(classes)}")
    if not any(rows):
        to_give.append("data.rows: how many records each party may have")
    data = {
        "name": name,
        "format": "csv",
        "rows": list(rows),
        "classes": len(classes),
        "column": columns,
        "label": {"column": str(label), "values": classes},
    }
    return Draft(data, tuple(from_data), tuple(to_give))
