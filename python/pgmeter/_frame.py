"""Rows as a table of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, Mapping

from ._errors import PgmeterError

if TYPE_CHECKING:
    import pandas


def frame(rows: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """Returns rows of one kind as a DataFrame of pandas.

    Columns of integers have the type `Int64`, which takes missing values. pandas would otherwise
    turn them into floating-point numbers, which cannot hold every count of nanoseconds.

    Raises `PgmeterError` if pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise PgmeterError(
            "pandas is not installed; run `pip install pandas`, or use the rows as they are"
        ) from error
    all_rows = list(rows)
    columns: Dict[str, Any] = {}
    for name in all_rows[0] if all_rows else ():
        values = [row[name] for row in all_rows]
        columns[name] = pandas.array(values, dtype="Int64") if _are_integers(values) else values
    return pandas.DataFrame(columns)


def _are_integers(values: Iterable[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int) for value in known)
