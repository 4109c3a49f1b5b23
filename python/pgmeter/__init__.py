"""Reads the results of pgmeter: records in JSON and the results store.

It needs only the standard library, and not the program. With pandas, `frame` turns rows into a
DataFrame.

    import pgmeter

    store = pgmeter.read_store()
    record = store.record(store.runs[0])
    for row in record.results():
        print(row["workload"], row["operation"], row["per_second"])
    pgmeter.frame(record.intervals()).plot(x="at_ns", y="per_second")
"""

from ._errors import FormatError, NoSuchRun, PgmeterError
from ._frame import frame
from ._record import (
    Cell,
    Interval,
    IntervalOperation,
    Latency,
    Operation,
    Record,
    RecordWarning,
    read_record,
)
from ._rows import HistogramRow, IntervalRow, ResultRow
from ._store import Store, StoredRun, read_store

__all__ = [
    "Cell",
    "FormatError",
    "HistogramRow",
    "Interval",
    "IntervalOperation",
    "IntervalRow",
    "Latency",
    "NoSuchRun",
    "Operation",
    "PgmeterError",
    "Record",
    "RecordWarning",
    "ResultRow",
    "Store",
    "StoredRun",
    "frame",
    "read_record",
    "read_store",
]
