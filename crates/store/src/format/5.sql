-- A cell that was repeated has the mean of its complete repetitions, not the luckiest of them, and
-- a transaction of PostMark is a pair of operations: `src/best.rs`.
UPDATE runs SET
    per_second_max = best.per_second,
    bytes_per_second_max = best.bytes_per_second,
    -- Where PostMark's own count is not known, what was counted are operations.
    rate_of = iif(rate_of = 'transactions' AND best.transactions_per_second IS NULL,
        'operations', rate_of),
    rate = CASE rate_of
        WHEN 'transactions' THEN coalesce(best.transactions_per_second, best.per_second)
        WHEN 'bytes' THEN best.bytes_per_second
        ELSE best.per_second END
FROM (
    SELECT run,
        max(per_second) AS per_second,
        max(bytes_per_second) AS bytes_per_second,
        max(transactions_per_second) AS transactions_per_second
    FROM (
        SELECT run,
            coalesce(avg(iif(is_complete, per_second, NULL)), avg(per_second))
                AS per_second,
            coalesce(avg(iif(is_complete, bytes_per_second, NULL)), avg(bytes_per_second))
                AS bytes_per_second,
            coalesce(avg(iif(is_complete, transactions_per_second, NULL)),
                avg(transactions_per_second)) AS transactions_per_second
        FROM (
            SELECT run, phase,
                coalesce(figures ->> '$.first_index', cell_index) AS first_index,
                figures -> '$.curve' AS curve,
                (figures ->> '$.status') = 'complete' AS is_complete,
                figures ->> '$.total.per_second' AS per_second,
                figures ->> '$.total.bytes_per_second' AS bytes_per_second,
                coalesce(
                    (figures ->> '$.phase_figures.pool.transactions_count') * 1e9
                        / nullif(figures ->> '$.phase_figures.pool.transactions_ns', 0),
                    (figures ->> '$.classic.transactions') * 1e9
                        / nullif(figures ->> '$.classic.transactions_ns', 0)
                ) AS transactions_per_second
            FROM cells WHERE figures IS NOT NULL)
        GROUP BY run, first_index, phase, curve)
    GROUP BY run) AS best
WHERE best.run = runs.key;
