"""A record: the results of one run."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, NoReturn, Optional, Tuple, Union

from . import _rows
from ._errors import FormatError

# The only format that this version reads. `crates/results/src/format/mod.rs` has its history.
FORMAT = "pgmeter-record/2"

Document = Dict[str, Any]
Path = Union[str, "os.PathLike[str]"]

_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True)
class Latency:
    """Latencies of the operations of one kind, in nanoseconds; None if there are no samples.

    A percentile is also present if it has too few samples to be trusted: reports leave out those
    with fewer than 10 samples beyond them.
    """

    count: int
    min_ns: Optional[int]
    max_ns: Optional[int]
    sum_ns: int
    mean_ns: Optional[float]
    stddev_ns: Optional[float]
    # By percentage: "50", "99", "99.9", ...
    percentiles_ns: Dict[str, Optional[int]]
    # Lowest and highest latency, and number of operations, of each bucket that is not empty.
    buckets_ns: List[Tuple[int, int, int]] = field(repr=False)


@dataclass(frozen=True)
class Operation:
    """Results of the operations of one kind, or of a kind of transactions, which have no bytes."""

    count: int
    errors: int
    short_count: Optional[int]
    bytes: Optional[int]
    per_second: Optional[float]
    bytes_per_second: Optional[float]
    latency: Latency


@dataclass(frozen=True)
class IntervalOperation:
    """Results of the operations of one kind in an interval."""

    count: int
    errors: int
    bytes: int
    p50_ns: Optional[int]
    p99_ns: Optional[int]
    max_ns: Optional[int]


@dataclass(frozen=True)
class Interval:
    """A part of the measured time; `at_ns` counts from the start of the measurement."""

    at_ns: int
    length_ns: int
    operations: Dict[str, IntervalOperation]


@dataclass(frozen=True)
class Cell:
    """One measurement. `document` has all its fields, as docs/results.md describes them."""

    index: int
    # Index of the cell that this one repeats; its own in the first repetition.
    first_index: Optional[int]
    workload: str
    access_spec: Optional[str]
    target: str
    engine: str
    cache: str
    iodepth: int
    workers: int
    repetition: int
    phase: str
    status: str
    started_at: Optional[datetime]
    run_time_ns: int
    operations: Dict[str, Operation]
    transactions: Dict[str, Operation]
    # Requests of an open loop, from due to reaped.
    response: Optional[Operation]
    total: Operation
    intervals: List[Interval] = field(repr=False)
    document: Document = field(repr=False, compare=False)


@dataclass(frozen=True)
class RecordWarning:
    """A reason to doubt a result; `cell` is the index of the cell, None for the whole run.

    `level` is "warning" or "note". A store has no levels, so it is None there.
    """

    code: str
    level: Optional[str]
    message: str
    cell: Optional[int]


@dataclass(frozen=True)
class Record:
    """The results of one run. `document` has all its fields, as docs/results.md describes them."""

    id: str
    started_at: datetime
    finished_at: Optional[datetime]
    version: str
    command: List[str]
    status: str
    warnings: List[RecordWarning]
    cells: List[Cell] = field(repr=False)
    document: Document = field(repr=False, compare=False)

    def results(self) -> List[_rows.ResultRow]:
        """One row per cell and operation, kind of transaction and total."""
        return _rows.results(self)

    def intervals(self) -> List[_rows.IntervalRow]:
        """One row per cell, interval and operation."""
        return _rows.intervals(self)

    def histograms(self) -> List[_rows.HistogramRow]:
        """One row per cell, operation and bucket of its latencies."""
        return _rows.histograms(self)


def read_record(path: Path) -> Record:
    """Reads a record in JSON, as `pgmeter run --json` and `pgmeter runs export` write it.

    Raises `FormatError` if the file is not such a record, and `OSError` if it cannot be read.
    """
    with open(path, "rb") as file:
        content = file.read()
    try:
        document = json.loads(content)
    except ValueError as error:
        raise FormatError(f"{os.fspath(path)!r} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise FormatError(f"{os.fspath(path)!r} is not a record of pgmeter")
    return of_document(document, repr(os.fspath(path)))


def of_document(document: Document, source: str) -> Record:
    """Converts a document, after a check of its format. `source` names it in errors."""
    found = document.get("format")
    if found != FORMAT:
        _refuse(found, source)
    try:
        return Record(
            id=document["id"],
            started_at=time(document["started_at"]),
            finished_at=_optional_time(document.get("finished_at")),
            version=document["pgmeter"]["version"],
            command=list(document["command"]),
            status=document["status"],
            warnings=[
                RecordWarning(it["code"], it.get("level"), it["message"], it.get("cell"))
                for it in document["warnings"]
            ],
            cells=[_cell(it) for it in document["cells"]],
            document=document,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FormatError(f"{source} is damaged: {type(error).__name__}: {error}") from error


def _refuse(found: object, source: str) -> NoReturn:
    if found == "pgmeter-record/1":
        help = "`pgmeter report FILE --format json` writes it in the current format"
    elif isinstance(found, str) and found.startswith("pgmeter-record/"):
        help = "install a newer version of this package"
    else:
        raise FormatError(f"{source} is not a record of pgmeter")
    raise FormatError(f"{source} has the format {found!r}, not {FORMAT!r}; {help}")


def _cell(document: Document) -> Cell:
    return Cell(
        index=document["index"],
        first_index=document.get("first_index"),
        workload=document["workload"],
        access_spec=document.get("access_spec"),
        target=document["target"],
        engine=document["engine"],
        cache=document["cache"],
        iodepth=document["iodepth"],
        workers=document["workers"],
        repetition=document["repetition"],
        phase=document["phase"],
        status=document["status"],
        started_at=_optional_time(document.get("started_at")),
        run_time_ns=document["run_time_ns"],
        operations=_operations(document["operations"]),
        transactions=_operations(document.get("transactions", {})),
        response=_response(document.get("open_loop")),
        total=_operation(document["total"]),
        intervals=[_interval(it) for it in document["intervals"]],
        document=document,
    )


def _operations(documents: Document) -> Dict[str, Operation]:
    return {name: _operation(it) for name, it in documents.items()}


def _operation(document: Document) -> Operation:
    latency = document["latency"]
    buckets = latency.get("histogram", {}).get("buckets_ns", [])
    return Operation(
        count=document["count"],
        errors=document["errors"],
        short_count=document.get("short_count"),
        bytes=document.get("bytes"),
        per_second=document["per_second"],
        bytes_per_second=document.get("bytes_per_second"),
        latency=Latency(
            count=latency["count"],
            min_ns=latency["min_ns"],
            max_ns=latency["max_ns"],
            sum_ns=latency["sum_ns"],
            mean_ns=latency["mean_ns"],
            stddev_ns=latency["stddev_ns"],
            percentiles_ns=dict(latency["percentiles_ns"]),
            buckets_ns=[(low, high, count) for low, high, count in buckets],
        ),
    )


def _response(document: Optional[Document]) -> Optional[Operation]:
    if document is None:
        return None
    response = document["response"]
    return _operation(
        {
            "count": response["count"],
            "errors": document.get("errors", 0),
            "per_second": document["achieved_per_second"],
            "latency": response,
        }
    )


def _interval(document: Document) -> Interval:
    return Interval(
        at_ns=document["at_ns"],
        length_ns=document["length_ns"],
        operations={
            name: IntervalOperation(
                count=it["count"],
                errors=it["errors"],
                bytes=it["bytes"],
                p50_ns=it["p50_ns"],
                p99_ns=it["p99_ns"],
                max_ns=it["max_ns"],
            )
            for name, it in document["operations"].items()
        },
    )


def _optional_time(text: Optional[str]) -> Optional[datetime]:
    return None if text is None else time(text)


def time(text: str) -> datetime:
    """Parses a time of RFC 3339, whose nanoseconds `datetime.fromisoformat` refuses."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a time")
    seconds, fraction, offset = found.groups()
    offset = "+00:00" if offset == "Z" else offset
    whole = datetime.fromisoformat(seconds + offset).astimezone(timezone.utc)
    return whole + timedelta(microseconds=int((fraction or "0").ljust(9, "0")) // 1000)
