-- The program whose results were imported, with its version and time (JSON); nothing for a run of
-- pgmeter.
ALTER TABLE runs ADD COLUMN origin TEXT;
