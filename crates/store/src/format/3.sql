-- What labs came to, beside the runs that they are made of.
CREATE TABLE labs (
    id TEXT PRIMARY KEY,
    -- When it began, in microseconds since 1970, to sort by.
    started_us INTEGER NOT NULL,
    -- The record (JSON) without its runs.
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
