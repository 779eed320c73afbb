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

    Numbers get mean 0 and scale 1, never the frame's. Texts of at most `most_values` different values become
    categories; others are left out. `rows` are the declared capacities of the three parties.
    """
    if label not in df.columns:
        raise DataError(f"frame: found no column {label}, expected the label's")
    columns, from_data, to_give, features = [], [], [], 0
    for column in df.columns:
        if column == label:
            continue
        place = f"data.column {column}"
        if df[column].dtype.kind in "biuf":
            columns.append({"name": str(column), "kind": "number", "mean": 0.0, "scale": 1.0})
            to_give.append(f"{place}: mean and scale by which its numbers become of size 1")
            features += 1
            continue
        values = sorted(map(str, df[column].dropna().unique()))
        if not 1 <= len(values) <= most_values:
            columns.append({"name": str(column), "kind": "ignore"})
            from_data.append(f"{place}: left out, for it has {len(values)} different values")
            continue
        columns.append({"name": str(column), "kind": "category", "values": values})
        from_data.append(f"{place}: values {', '.join(values)}")
        features += len(values)
    classes = sorted(map(str, df[label].dropna().unique()))
    if len(classes) < 2:
        raise ConfigError(f"data.label {label}: found {len(classes)} classes, expected two or more")
    from_data.append(f"data.label {label}: values {', '.join(classes)}")
    if not any(rows):
        to_give.append("data.rows: how many records each party may have")
    data = {
        "name": name,
        "format": "csv",
        "rows": list(rows),
        "features": features,
        "classes": len(classes),
        "column": columns,
        "label": {"column": label, "values": classes},
    }
    return Draft(data, tuple(from_data), tuple(to_give))
