"""Tests of the package against what pgmeter has written.

The current directory has `results.db`, a store whose newest run is a complete one, and
`record.json`, the record that the same run has saved. `tests/tests/python.rs` makes them.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import sqlite3
import sys
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pgmeter
import pytest
from pgmeter import _store
from pgmeter._record import time

STORE = Path("results.db")
RECORD = Path("record.json")


@pytest.fixture
def record() -> pgmeter.Record:
    return pgmeter.read_record(RECORD)


@pytest.fixture
def saved() -> Dict[str, Any]:
    document: Dict[str, Any] = json.loads(RECORD.read_text())
    return document


@pytest.fixture
def changed_store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A copy of the store, to be changed."""
    with closing(sqlite3.connect(STORE)) as source:
        with closing(sqlite3.connect(tmp_path / "changed.db", isolation_level=None)) as copy:
            source.backup(copy)
            yield copy


def test_a_stored_run_is_the_record_that_pgmeter_saved(saved: Dict[str, Any]) -> None:
    store = pgmeter.read_store(STORE)
    for warning in saved["warnings"]:
        del warning["level"]
    assert store.record(store.runs[0]).document == saved


def test_a_run_is_listed_with_its_description(record: pgmeter.Record) -> None:
    run = pgmeter.read_store(str(STORE)).runs[0]
    assert run.id == record.id
    assert run.status == "complete"
    assert run.tags == ["nightly"]
    assert run.command == record.command
    assert run.cell_count == len(record.cells)
    assert run.started_at == record.started_at
    assert run.finished_at == record.finished_at
    assert run.host == record.document["environment"]["host"]
    assert run.rate is not None and run.rate > 0


def test_runs_are_sorted_from_the_newest() -> None:
    starts = [run.started_at for run in pgmeter.read_store(STORE).runs]
    assert len(starts) == 2
    assert starts == sorted(starts, reverse=True)


def test_a_run_is_found_by_a_unique_prefix_only() -> None:
    store = pgmeter.read_store(STORE)
    newest, oldest = (run.id for run in store.runs)
    assert store.record(oldest).id == oldest
    length = next(at for at, pair in enumerate(zip(newest, oldest), 1) if pair[0] != pair[1])
    assert store.record(newest[:length]).id == newest
    for name in [newest[: length - 1], "none", "", "%"]:
        with pytest.raises(pgmeter.NoSuchRun):
            store.record(name)


def test_the_environment_names_the_default_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGMETER_DB", str(STORE))
    assert pgmeter.read_store().path == STORE
    monkeypatch.delenv("PGMETER_DB")
    monkeypatch.setenv("XDG_DATA_HOME", "/nowhere")
    with pytest.raises(FileNotFoundError, match="/nowhere/pgmeter/results.db"):
        pgmeter.read_store()


def test_reading_creates_and_changes_nothing(tmp_path: Path) -> None:
    before = STORE.read_bytes()
    pgmeter.read_store(STORE).record(pgmeter.read_store(STORE).runs[0])
    with pytest.raises(FileNotFoundError):
        pgmeter.read_store(tmp_path / "none.db")
    assert STORE.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no store " * 1000)
    with pytest.raises(pgmeter.FormatError, match="cannot be read"):
        pgmeter.read_store(text)
    with pytest.raises(pgmeter.FormatError, match="is not JSON"):
        pgmeter.read_record(text)
    text.write_text('{"format": "pgmeter-lab/2"}')
    with pytest.raises(pgmeter.FormatError, match="is not a record"):
        pgmeter.read_record(text)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.commit()
    with pytest.raises(pgmeter.FormatError, match="is not a results store"):
        pgmeter.read_store(other)


def test_other_formats_are_refused_with_what_to_do(
    saved: Dict[str, Any], tmp_path: Path, changed_store: sqlite3.Connection
) -> None:
    path = tmp_path / "r.json"
    for number, help in [(1, "pgmeter report"), (3, "newer version of this package")]:
        path.write_text(json.dumps({**saved, "format": f"pgmeter-record/{number}"}))
        with pytest.raises(pgmeter.FormatError, match=help):
            pgmeter.read_record(path)
    for number, help in [(4, "pgmeter runs"), (99, "newer version of this package")]:
        changed_store.execute(f"PRAGMA user_version = {number}")
        with pytest.raises(pgmeter.FormatError, match=help):
            pgmeter.read_store(tmp_path / "changed.db")


def test_damaged_files_are_refused(
    saved: Dict[str, Any], tmp_path: Path, changed_store: sqlite3.Connection
) -> None:
    path = tmp_path / "r.json"
    del saved["cells"][0]["total"]
    path.write_text(json.dumps(saved))
    with pytest.raises(pgmeter.FormatError, match="is damaged"):
        pgmeter.read_record(path)
    for content in [b"", b"\x07", b"\x01\xff", b"\x01\x00\x01\x01"]:
        changed_store.execute("UPDATE histograms SET bytes = ?", (content,))
        store = pgmeter.read_store(tmp_path / "changed.db")
        with pytest.raises(pgmeter.FormatError, match="is damaged"):
            store.record(store.runs[0])


def test_an_old_sqlite_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 37, 2))
    with pytest.raises(pgmeter.FormatError, match="3.38 or later"):
        pgmeter.read_store(STORE)


def test_a_cell_that_is_being_measured_is_left_out(
    tmp_path: Path, changed_store: sqlite3.Connection
) -> None:
    run = pgmeter.read_store(STORE).runs[0]
    changed_store.execute("UPDATE runs SET status = 'running', finished_at = NULL")
    changed_store.execute("UPDATE cells SET figures = NULL WHERE position = 1")
    store = pgmeter.read_store(tmp_path / "changed.db")
    assert store.runs[0].status == "running"
    record = store.record(run)
    assert record.finished_at is None
    assert [cell.index for cell in record.cells] == [0]


def test_names_of_results_may_be_histogram(
    tmp_path: Path, changed_store: sqlite3.Connection
) -> None:
    figures = "json_set(figures, '$.phase_figures', json('{\"figures_before\":{\"histogram\":0}}'))"
    changed_store.execute(f"UPDATE cells SET figures = {figures}")
    store = pgmeter.read_store(tmp_path / "changed.db")
    cell = store.record(store.runs[0]).cells[0]
    assert cell.document["phase_figures"] == {"figures_before": {"histogram": 0}}
    assert cell.total.latency.buckets_ns


def test_histograms_hold_every_operation(record: pgmeter.Record) -> None:
    assert record.cells
    for cell in record.cells:
        latency = cell.operations["read"].latency
        assert sum(count for _, _, count in latency.buckets_ns) == latency.count
        assert latency.percentiles_ns["50"] is not None


def test_buckets_in_any_order_are_restored() -> None:
    # Kind, length, content; from 5 to 6 three times, from 1 to 1 once.
    back = (1 - 6) % (1 << 64)
    content = bytes([2, 1]) + b"x" + bytes([5, 1, 3]) + number(back) + bytes([0, 1])
    assert _store.decode(content) == {
        "hdr_v2_base64": "x",
        "buckets_ns": [[5, 6, 3], [1, 1, 1]],
    }


def number(value: int) -> bytes:
    """Seven bits per byte, the lowest first; the top bit marks all bytes but the last."""
    encoded: List[int] = []
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def test_times_keep_their_microseconds() -> None:
    expected = datetime(2026, 11, 30, 20, 55, 1, 123456, timezone.utc)
    assert time("2026-11-30T20:55:01.123456789Z") == expected
    assert time("2026-11-30T21:55:01.123456+01:00") == expected
    assert time("2026-11-30T20:55:01Z") == expected.replace(microsecond=0)
    for text in ["", "yesterday", "2026-11-30", "2026-13-30T20:55:01Z"]:
        with pytest.raises(ValueError):
            time(text)


def test_rows_repeat_the_numbers_of_the_record(record: pgmeter.Record) -> None:
    rows = record.results()
    cell = record.cells[0]
    total = next(row for row in rows if row["kind"] == "total")
    assert total["count"] == cell.total.count
    assert total["latency_p99_ns"] == cell.total.latency.percentiles_ns["99"]
    assert {row["cell"] for row in rows} == {cell.index for cell in record.cells}
    intervals = [row for row in record.intervals() if row["cell"] == cell.index]
    assert len(intervals) == sum(len(it.operations) for it in cell.intervals)
    row = intervals[0]
    rate = row["per_second"]
    assert rate is not None
    assert rate * row["length_ns"] / 1e9 == pytest.approx(row["count"])
    buckets = [it for it in record.histograms() if (it["cell"], it["kind"]) == (0, "total")]
    assert sum(it["count"] for it in buckets) == cell.total.latency.count


def test_results_are_plain_values(record: pgmeter.Record) -> None:
    for rows in [record.results(), record.intervals(), record.histograms()]:
        assert rows
        json.dumps(rows)
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.id = "other"  # type: ignore[misc]


def test_pandas_gets_integers_as_integers(record: pgmeter.Record) -> None:
    pytest.importorskip("pandas")
    results = pgmeter.frame(record.results())
    assert str(results["latency_max_ns"].dtype) == "Int64"
    assert str(results["per_second"].dtype) == "float64"
    assert list(results["count"]) == [row["count"] for row in record.results()]
    intervals = pgmeter.frame(record.intervals())
    assert intervals["count"].sum() == sum(row["count"] for row in record.intervals())
    assert len(pgmeter.frame(record.histograms())) == len(record.histograms())
    assert pgmeter.frame([]).empty
    large = pgmeter.frame([{"ns": 2**53 + 1}, {"ns": None}])["ns"]
    assert large[0] == 2**53 + 1 and large.isna()[1]


def test_warnings_name_their_cell(record: pgmeter.Record) -> None:
    assert record.warnings
    cells = [None, *(cell.index for cell in record.cells)]
    for warning in record.warnings:
        assert warning.level in ("warning", "note")
        assert warning.cell in cells


def test_without_pandas_the_error_says_what_to_do(
    record: pgmeter.Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(pgmeter.PgmeterError, match="pip install pandas"):
        pgmeter.frame(record.results())
    assert record.results()


def test_a_store_can_be_read_from_a_directory_with_special_characters(tmp_path: Path) -> None:
    directory = tmp_path / "a ?#%20é"
    directory.mkdir()
    shutil.copy(STORE, directory)
    assert pgmeter.read_store(directory / STORE).runs
