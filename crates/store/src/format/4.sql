-- The rate that a list shows, in the unit that means something for what was run: `src/best.rs`.
ALTER TABLE runs ADD COLUMN rate_of TEXT
    CHECK (rate_of IN ('requests', 'bytes', 'operations', 'transactions'));
ALTER TABLE runs ADD COLUMN rate REAL;
UPDATE runs SET rate_of = (
    SELECT CASE
        WHEN total(phase IN ('transactions', 'classic:transactions')) > 0 THEN 'transactions'
        WHEN total(phase NOT IN ('prepare', 'ramp', 'measure', 'drain', 'cleanup')) > 0
            THEN 'operations'
        WHEN 2 * total((figures ->> '$.total.bytes_per_second')
            >= 65536 * (figures ->> '$.total.per_second')) > count(*) THEN 'bytes'
        ELSE 'requests' END
    FROM cells WHERE cells.run = runs.key AND (figures ->> '$.total.per_second') > 0
    HAVING count(*) > 0);
UPDATE runs SET rate = (
    SELECT CASE runs.rate_of
        WHEN 'transactions' THEN max(iif(phase IN ('transactions', 'classic:transactions'),
            figures ->> '$.total.per_second', NULL))
        WHEN 'bytes' THEN runs.bytes_per_second_max
        ELSE runs.per_second_max END
    FROM cells WHERE cells.run = runs.key)
    WHERE rate_of IS NOT NULL;

-- A list should say which kernel was measured without opening every record.
ALTER TABLE runs ADD COLUMN kernel TEXT NOT NULL DEFAULT '';
UPDATE runs SET kernel = coalesce(
    (SELECT record ->> '$.environment.kernel' FROM headers WHERE headers.run = runs.key), '');
