"""Flat rows of a record: plain dicts with numbers in base units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List, Optional, Tuple, TypedDict

if TYPE_CHECKING:
    from ._record import Cell, Operation, Record


class CellColumns(TypedDict):
    """Columns that identify a cell."""

    run: str
    cell: int
    # Repetitions of a cell have the same.
    first_cell: Optional[int]
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


class ResultRow(CellColumns):
    """Results of an operation, of a kind of transaction, or of a whole cell."""

    # "operation", "transaction" or "total".
    kind: str
    operation: str
    run_time_ns: int
    count: int
    errors: int
    bytes: Optional[int]
    per_second: Optional[float]
    bytes_per_second: Optional[float]
    latency_mean_ns: Optional[float]
    latency_p50_ns: Optional[int]
    latency_p90_ns: Optional[int]
    latency_p95_ns: Optional[int]
    latency_p99_ns: Optional[int]
    latency_p99_9_ns: Optional[int]
    latency_p99_99_ns: Optional[int]
    latency_p99_999_ns: Optional[int]
    latency_max_ns: Optional[int]


class IntervalRow(CellColumns):
    """Results of an operation in an interval."""

    operation: str
    at_ns: int
    length_ns: int
    count: int
    errors: int
    bytes: int
    per_second: Optional[float]
    bytes_per_second: Optional[float]
    latency_p50_ns: Optional[int]
    latency_p99_ns: Optional[int]
    latency_max_ns: Optional[int]


class HistogramRow(CellColumns):
    """A bucket of the latencies of an operation."""

    kind: str
    operation: str
    lowest_ns: int
    highest_ns: int
    count: int


def _columns(record: Record, cell: Cell) -> CellColumns:
    return {
        "run": record.id,
        "cell": cell.index,
        "first_cell": cell.first_index,
        "workload": cell.workload,
        "access_spec": cell.access_spec,
        "target": cell.target,
        "engine": cell.engine,
        "cache": cell.cache,
        "iodepth": cell.iodepth,
        "workers": cell.workers,
        "repetition": cell.repetition,
        "phase": cell.phase,
        "status": cell.status,
    }


def _parts(cell: Cell) -> Iterator[Tuple[str, str, Operation]]:
    for name, operation in cell.operations.items():
        yield "operation", name, operation
    for name, operation in cell.transactions.items():
        yield "transaction", name, operation
    if cell.response is not None:
        yield "transaction", "response", cell.response
    yield "total", "total", cell.total


def results(record: Record) -> List[ResultRow]:
    """One row per cell and operation, kind of transaction and total."""
    rows: List[ResultRow] = []
    for cell in record.cells:
        for kind, name, it in _parts(cell):
            at = it.latency.percentiles_ns.get
            rows.append(
                {
                    **_columns(record, cell),
                    "kind": kind,
                    "operation": name,
                    "run_time_ns": cell.run_time_ns,
                    "count": it.count,
                    "errors": it.errors,
                    "bytes": it.bytes,
                    "per_second": it.per_second,
                    "bytes_per_second": it.bytes_per_second,
                    "latency_mean_ns": it.latency.mean_ns,
                    "latency_p50_ns": at("50"),
                    "latency_p90_ns": at("90"),
                    "latency_p95_ns": at("95"),
                    "latency_p99_ns": at("99"),
                    "latency_p99_9_ns": at("99.9"),
                    "latency_p99_99_ns": at("99.99"),
                    "latency_p99_999_ns": at("99.999"),
                    "latency_max_ns": it.latency.max_ns,
                }
            )
    return rows


def intervals(record: Record) -> List[IntervalRow]:
    """One row per cell, interval and operation."""
    rows: List[IntervalRow] = []
    for cell in record.cells:
        for interval in cell.intervals:
            for name, it in interval.operations.items():
                rows.append(
                    {
                        **_columns(record, cell),
                        "operation": name,
                        "at_ns": interval.at_ns,
                        "length_ns": interval.length_ns,
                        "count": it.count,
                        "errors": it.errors,
                        "bytes": it.bytes,
                        "per_second": _rate(it.count, interval.length_ns),
                        "bytes_per_second": _rate(it.bytes, interval.length_ns),
                        "latency_p50_ns": it.p50_ns,
                        "latency_p99_ns": it.p99_ns,
                        "latency_max_ns": it.max_ns,
                    }
                )
    return rows


def histograms(record: Record) -> List[HistogramRow]:
    """One row per cell, operation and bucket of its latencies."""
    rows: List[HistogramRow] = []
    for cell in record.cells:
        for kind, name, it in _parts(cell):
            for lowest, highest, count in it.latency.buckets_ns:
                rows.append(
                    {
                        **_columns(record, cell),
                        "kind": kind,
                        "operation": name,
                        "lowest_ns": lowest,
                        "highest_ns": highest,
                        "count": count,
                    }
                )
    return rows


def _rate(amount: int, time_ns: int) -> Optional[float]:
    # A record writes a rate over no time as null.
    return amount * 1e9 / time_ns if time_ns else None
