-- Imported runs were made elsewhere, which a list should say without opening every record.
ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT '';
UPDATE runs SET host = coalesce(
    (SELECT record ->> '$.environment.host' FROM headers WHERE headers.run = runs.key), '');

-- The best rates as numbers, which can be sorted and are not rounded, in place of a text.
ALTER TABLE runs DROP COLUMN headline;
ALTER TABLE runs ADD COLUMN per_second_max REAL;
ALTER TABLE runs ADD COLUMN bytes_per_second_max REAL;
UPDATE runs SET
    per_second_max =
        (SELECT max(figures ->> '$.total.per_second') FROM cells WHERE cells.run = runs.key),
    bytes_per_second_max =
        (SELECT max(figures ->> '$.total.bytes_per_second') FROM cells WHERE cells.run = runs.key);
