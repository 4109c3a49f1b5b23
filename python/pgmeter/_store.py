"""The results store: an SQLite file with all runs."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

from ._errors import FormatError, NoSuchRun
from ._record import Document, Record, of_document, time

# Marks an SQLite file as a store: "PGMR".
APPLICATION_ID = 0x50474D52
# The only format that this version reads. `crates/store/src/format.rs` has its history.
FORMAT_NUMBER = 6
# The first version of SQLite with the operator `->>`, which the store uses in its columns.
SQLITE_MIN = (3, 38, 0)
# Kinds of the interchange form in a stored histogram.
HDR_BYTES = 1
HDR_TEXT = 2
# Results that may have any names, so a name `histogram` does not mark a histogram in them.
FREE_FORM_PATHS = (("classic",), ("phase_figures", "figures_before"))


@dataclass(frozen=True)
class StoredRun:
    """A run in the list of a store.

    A killed run has the status "running" here, because only pgmeter can see that its process is
    gone.
    """

    id: str
    started_at: datetime
    finished_at: Optional[datetime]
    status: str
    command: List[str]
    workloads: List[str]
    targets: List[str]
    file_systems: List[str]
    host: str
    kernel: str
    cell_count: int
    # The rate that `pgmeter runs` shows, and what it counts: "requests", "bytes", "operations" or
    # "transactions".
    rate: Optional[float]
    rate_of: Optional[str]
    note: str
    tags: List[str]


@dataclass(frozen=True)
class Store:
    """A results store. `runs` are the runs when it was read, the newest first."""

    path: Path
    runs: List[StoredRun] = field(repr=False)

    def record(self, run: Union[StoredRun, str]) -> Record:
        """Reads the results of a run, given as an item of `runs`, an id or a unique prefix of one.

        The cell that is being measured is left out, and so are the estimates of a running run.

        Raises `NoSuchRun` if the store has no such run, or several.
        """
        name = run.id if isinstance(run, StoredRun) else run
        with closing(_open(self.path)) as store:
            try:
                # One transaction, so that all queries see the same state.
                store.execute("BEGIN")
                document = _document(store, name)
            except (sqlite3.DatabaseError, IndexError, KeyError, ValueError) as error:
                raise FormatError(f"{str(self.path)!r} is damaged at run {name!r}") from error
        return of_document(document, f"run {name!r}")


def read_store(path: Union[str, "os.PathLike[str]", None] = None) -> Store:
    """Reads the list of runs of a store, by default that of the user.

    Nothing is changed, and the file does not stay open.

    Raises `FormatError` if the file is not a store that this version can read, and
    `FileNotFoundError` if there is none.
    """
    place = Path(default_path() if path is None else path)
    with closing(_open(place)) as store:
        tags: Dict[int, List[str]] = {}
        for run, tag in store.execute("SELECT run, tag FROM tags ORDER BY run, tag"):
            tags.setdefault(run, []).append(tag)
        rows = store.execute(
            "SELECT key, id, started_at, finished_at, status, command, workloads, targets, "
            "file_systems, host, kernel, cell_count, rate, rate_of, note FROM runs "
            "ORDER BY started_us DESC, id DESC"
        )
        runs = [
            StoredRun(
                id=row[1],
                started_at=time(row[2]),
                finished_at=None if row[3] is None else time(row[3]),
                status=row[4],
                command=json.loads(row[5]),
                workloads=json.loads(row[6]),
                targets=json.loads(row[7]),
                file_systems=json.loads(row[8]),
                host=row[9],
                kernel=row[10],
                cell_count=row[11],
                rate=row[12],
                rate_of=row[13],
                note=row[14],
                tags=tags.get(row[0], []),
            )
            for row in rows
        ]
    return Store(place, runs)


def default_path() -> Path:
    """The store that pgmeter uses without `--db`."""
    named = os.environ.get("PGMETER_DB")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    directory = Path(data) if data else Path.home() / ".local" / "share"
    return directory / "pgmeter" / "results.db"


def _open(path: Path) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < SQLITE_MIN:
        raise FormatError(
            f"this Python has SQLite {sqlite3.sqlite_version}, and the store needs 3.38 or later; "
            "use `pgmeter runs export` and `read_record`"
        )
    if not path.is_file():
        raise FileNotFoundError(f"there is no results store at {str(path)!r}")
    # Read-only, so that a mistyped name creates no file.
    store = sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True, isolation_level=None)
    try:
        _check(store, path)
    except sqlite3.DatabaseError as error:
        store.close()
        raise FormatError(f"{str(path)!r} cannot be read: {error}") from error
    except FormatError:
        store.close()
        raise
    return store


def _check(store: sqlite3.Connection, path: Path) -> None:
    (application,) = store.execute("PRAGMA application_id").fetchone()
    (number,) = store.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise FormatError(f"{str(path)!r} is not a results store of pgmeter")
    if number < FORMAT_NUMBER:
        raise FormatError(
            f"{str(path)!r} has the old format {number}, not {FORMAT_NUMBER}; "
            "`pgmeter runs` updates it"
        )
    if number > FORMAT_NUMBER:
        raise FormatError(
            f"{str(path)!r} has the format {number}, not {FORMAT_NUMBER}; "
            "install a newer version of this package"
        )


def _find(store: sqlite3.Connection, name: str) -> Tuple[int, str]:
    rows = store.execute("SELECT key, id FROM runs WHERE substr(id, 1, ?) = ?", (len(name), name))
    found: List[Tuple[int, str]] = rows.fetchall() if name else []
    exact = [row for row in found if row[1] == name]
    matches = exact or found
    if not matches:
        raise NoSuchRun(f"no run has the id {name!r}")
    if len(matches) > 1:
        raise NoSuchRun(f"{len(matches)} runs have ids that begin with {name!r}; use a whole id")
    return matches[0]


def _document(store: sqlite3.Connection, name: str) -> Document:
    """The document that `pgmeter runs export` writes."""
    key, _ = _find(store, name)
    header, finished_at, status = store.execute(
        "SELECT record, finished_at, status FROM runs JOIN headers ON headers.run = runs.key "
        "WHERE key = ?",
        (key,),
    ).fetchone()
    document: Document = json.loads(header)
    document["finished_at"] = finished_at
    document["status"] = status
    warnings = store.execute(
        "SELECT code, message, cell FROM warnings WHERE run = ? ORDER BY position", (key,)
    )
    document["warnings"] = [
        {"code": code, "message": message, "cell": cell} for code, message, cell in warnings
    ]
    document["cells"] = _cells(store, key)
    estimates = store.execute(
        "SELECT figures FROM estimates WHERE run = ? ORDER BY position", (key,)
    )
    document["estimates"] = [json.loads(figures) for (figures,) in estimates]
    return document


def _cells(store: sqlite3.Connection, run: int) -> List[Document]:
    cells = []
    rows = store.execute(
        "SELECT key, figures FROM cells WHERE run = ? AND figures IS NOT NULL ORDER BY position",
        (run,),
    )
    for key, figures in rows.fetchall():
        cell: Document = json.loads(figures)
        blobs = store.execute("SELECT number, bytes FROM histograms WHERE cell = ?", (key,))
        histograms = {number: decode(content) for number, content in blobs}
        _restore(cell, histograms)
        intervals = store.execute(
            "SELECT figures FROM intervals WHERE cell = ? ORDER BY position", (key,)
        )
        cell["intervals"] = [json.loads(interval) for (interval,) in intervals]
        cells.append(cell)
    return cells


def _restore(cell: Document, histograms: Dict[int, Document]) -> None:
    """Replaces the numbers of histograms with the histograms."""
    free_form = [_at(cell, path) for path in FREE_FORM_PATHS]

    def walk(value: Any) -> None:
        if any(value is it for it in free_form):
            return
        if isinstance(value, list):
            for item in value:
                walk(item)
        if isinstance(value, dict):
            for name, item in value.items():
                if name == "histogram" and isinstance(item, int):
                    # Shared, as most histograms of a cell are the same.
                    value[name] = histograms[item]
                else:
                    walk(item)

    walk(cell)


def _at(value: Any, path: Tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    # Compared by identity, which None would spoil.
    return path if value is None else value


def decode(content: bytes) -> Document:
    """Decodes a stored histogram, whose form `crates/store/src/histogram.rs` describes.

    Raises `IndexError` or `ValueError` if it is damaged.
    """
    kind, place = content[0], 1

    def number() -> int:
        nonlocal place
        value, shift = 0, 0
        while True:
            byte = content[place]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    length = number()
    hdr = content[place : place + length]
    place += length
    if kind not in (HDR_BYTES, HDR_TEXT) or len(hdr) < length:
        raise ValueError("this is not a histogram")
    text = base64.b64encode(hdr) if kind == HDR_BYTES else hdr
    buckets, before = [], 0
    while place < len(content):
        # Distances wrap around at 64 bits, so that buckets may have any order.
        low = (before + number()) & 0xFFFF_FFFF_FFFF_FFFF
        high = (low + number()) & 0xFFFF_FFFF_FFFF_FFFF
        buckets.append([low, high, number()])
        before = high
    return {"hdr_v2_base64": text.decode(), "buckets_ns": buckets}
