-- One row a run, small enough that all can be listed at once.
CREATE TABLE runs (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    started_at TEXT NOT NULL,
    -- The same in microseconds since 1970, to sort by.
    started_us INTEGER NOT NULL,
    finished_at TEXT,
    status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'interrupted', 'failed')),
    -- The process that makes the run (JSON), as long as it is `running`.
    owner TEXT,
    -- JSON arrays of text.
    command TEXT NOT NULL,
    workloads TEXT NOT NULL,
    targets TEXT NOT NULL,
    file_systems TEXT NOT NULL,
    cell_count INTEGER NOT NULL DEFAULT 0,
    headline TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX runs_by_start ON runs (started_us, id);

-- The record (JSON) without its end, warnings, cells and estimates.
CREATE TABLE headers (
    run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    record TEXT NOT NULL
) STRICT;

CREATE TABLE tags (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE warnings (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    cell INTEGER,
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE estimates (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    figures TEXT NOT NULL,
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE cells (
    key INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    -- 0-based, in the order of running.
    position INTEGER NOT NULL,
    -- The number of the cell in the plan.
    cell_index INTEGER NOT NULL,
    -- The cell's record (JSON) without intervals, and with numbers in place of histograms; nothing
    -- until the cell is complete.
    figures TEXT,
    workload TEXT AS (figures ->> '$.workload'),
    access_spec TEXT AS (figures ->> '$.access_spec'),
    target TEXT AS (figures ->> '$.target'),
    engine TEXT AS (figures ->> '$.engine'),
    cache TEXT AS (figures ->> '$.cache'),
    iodepth INTEGER AS (figures ->> '$.iodepth'),
    workers INTEGER AS (figures ->> '$.workers'),
    repetition INTEGER AS (figures ->> '$.repetition'),
    phase TEXT AS (figures ->> '$.phase'),
    UNIQUE (run, position)
) STRICT;

-- The histograms of a cell by the numbers in its record, in the form of `src/histogram.rs`.
CREATE TABLE histograms (
    cell INTEGER NOT NULL REFERENCES cells ON DELETE CASCADE,
    number INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (cell, number)
) STRICT, WITHOUT ROWID;

-- One row an interval, in the order of time.
CREATE TABLE intervals (
    cell INTEGER NOT NULL REFERENCES cells ON DELETE CASCADE,
    position INTEGER NOT NULL,
    figures TEXT NOT NULL,
    PRIMARY KEY (cell, position)
) STRICT, WITHOUT ROWID;
