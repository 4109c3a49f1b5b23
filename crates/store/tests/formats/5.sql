-- A store of format 5 with a complete run and one that was killed, as `.dump` writes it.
PRAGMA foreign_keys = OFF;
PRAGMA application_id = 1346850130;
PRAGMA user_version = 5;
BEGIN TRANSACTION;
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
INSERT INTO "cells" VALUES(1,1,0,1,'{"access_spec":"4 KiB random read","cache":"direct","cpu":{"machine":{"busy":0.25,"interrupts_per_second":50000.0,"iowait":0.0,"irq":0.01,"softirq":0.02,"steal":0.0,"system":0.12,"user":0.1},"processors":[{"busy":0.0,"cpu":0,"interrupts_per_second":null,"iowait":0.0,"irq":0.0,"softirq":0.0,"steal":0.0,"system":0.0,"user":0.0}],"system_ns":6000000000,"user_ns":4000000000,"utilization":1.0},"device":{"read_bytes":20480000,"reads":5000,"source":"nvme0n1","utilization":0.987,"write_bytes":0,"writes":0},"engine":"io_uring","engine_notes":{"notes":[],"ring":{"flags":["SINGLE_ISSUER"],"missing":[],"registered_buffers":false,"registered_files":false,"registered_ring":false}},"errors":[],"first_done_ns":10000000000,"index":1,"intervals":[],"iodepth":1,"last_done_ns":10000000000,"operations":{"read":{"bytes":20480000,"bytes_per_second":2048000.0,"count":5000,"errors":0,"latency":{"count":5000,"histogram":0,"max_ns":12000000,"mean_ns":161831.419,"min_ns":100000,"percentiles_ns":{"50":150528,"90":189440,"95":195584,"99":199680,"99.9":199680,"99.99":12000000,"99.999":12000000},"stddev_ns":375435.1010606237,"sum_ns":809157095},"per_second":500.0,"short_count":0}},"own_cost_ns_per_operation":18.25,"phase":"measure","planned_run_time_ns":10000000000,"ramp_time_ns":2000000000,"ranks":1,"repetition":0,"run_time_ns":10000000000,"started_at":"2026-11-21T02:36:14.5Z","status":"complete","target":"/mnt/array","target_figures":[],"total":{"bytes":20480000,"bytes_per_second":2048000.0,"count":5000,"errors":0,"latency":{"count":5000,"histogram":0,"max_ns":12000000,"mean_ns":161831.419,"min_ns":100000,"percentiles_ns":{"50":150528,"90":189440,"95":195584,"99":199680,"99.9":199680,"99.99":12000000,"99.999":12000000},"stddev_ns":375435.1010606237,"sum_ns":809157095},"per_second":500.0,"short_count":0},"transactions":{"transfer":{"count":5000,"errors":0,"latency":{"count":5000,"histogram":0,"max_ns":12000000,"mean_ns":161831.419,"min_ns":100000,"percentiles_ns":{"50":150528,"90":189440,"95":195584,"99":199680,"99.9":199680,"99.99":12000000,"99.999":12000000},"stddev_ns":375435.1010606237,"sum_ns":809157095},"per_second":500.0}},"worker_figures":[],"workers":1,"workload":"file-server"}');
INSERT INTO "cells" VALUES(2,2,0,1,NULL);
CREATE TABLE estimates (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    figures TEXT NOT NULL,
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE headers (
    run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    record TEXT NOT NULL
) STRICT;
INSERT INTO "headers" VALUES(1,'{"format":"pgmeter-record/1","id":"20261121-020001-042-1f","started_at":"2026-11-21T02:00:01.042Z","finished_at":null,"pgmeter":{"version":"0.1.0"},"command":["pgmeter","run"],"status":"interrupted","plan":{"workloads":[{"name":"file-server","title":"File Server","source":"made up"}],"targets":[{"path":"/mnt/array","kind":"directory","size_bytes":8589934592,"block_bytes":512}],"cells":[{"index":0,"workload":"file-server","access_spec":"File Server","engine":"io_uring","cache":"direct","iodepth":8,"repetition":0,"run_time_ns":10000000000,"ramp_time_ns":2000000000,"operations":null,"workers":[{"worker_index":0,"name":"Worker 1","access_spec":"File Server","lines":[{"size_bytes":4096,"of_size_percent":100.0,"read_percent":80.0,"random_percent":100.0,"delay_ns":0,"burst":1,"align_bytes":4096,"reply_bytes":0,"distribution":{"kind":"uniform"},"sequence":{"kind":"forward"}}],"spans":[{"target_index":0,"iodepth":8,"start_bytes":0,"size_bytes":8589934592,"sector_bytes":512}],"seed":11,"position":"uniform","cursor":"worker","content":{"kind":"incompressible"},"verify":false,"transactions_per_connection":null,"cpu":null},{"worker_index":1,"name":"Worker 2","access_spec":"File Server","lines":[{"size_bytes":4096,"of_size_percent":100.0,"read_percent":80.0,"random_percent":100.0,"delay_ns":0,"burst":1,"align_bytes":4096,"reply_bytes":0,"distribution":{"kind":"uniform"},"sequence":{"kind":"forward"}}],"spans":[{"target_index":0,"iodepth":8,"start_bytes":0,"size_bytes":8589934592,"sector_bytes":512}],"seed":11,"position":"uniform","cursor":"worker","content":{"kind":"incompressible"},"verify":false,"transactions_per_connection":null,"cpu":null}],"ring":{"sqpoll":false,"iopoll":false,"batch":32},"warm":false},{"index":1,"workload":"file-server","access_spec":"4 KiB random read","engine":"io_uring","cache":"direct","iodepth":1,"repetition":0,"run_time_ns":10000000000,"ramp_time_ns":2000000000,"operations":null,"workers":[{"worker_index":0,"name":"Worker 1","access_spec":"4 KiB random read","lines":[{"size_bytes":4096,"of_size_percent":100.0,"read_percent":100.0,"random_percent":100.0,"delay_ns":0,"burst":1,"align_bytes":4096,"reply_bytes":0,"distribution":{"kind":"uniform"},"sequence":{"kind":"forward"}}],"spans":[{"target_index":0,"iodepth":1,"start_bytes":0,"size_bytes":8589934592,"sector_bytes":512}],"seed":11,"position":"uniform","cursor":"worker","content":{"kind":"incompressible"},"verify":false,"transactions_per_connection":null,"cpu":null}],"ring":{"sqpoll":false,"iopoll":false,"batch":32},"warm":false}],"seed":7,"settings":[{"workload":"file-server","key":"run-time","value":"10s","source":"option"}]},"environment":{"host":"bench","kernel":"6.12.9","kernel_build":"","architecture":"x86_64","distribution":"Debian 13","virtualization":null,"cpu":{"model":"EPYC 9354","logical_count":64,"usable_count":0,"core_count":0,"numa_count":0,"governor":null},"memory_bytes":68719476736,"memory_available_bytes":0,"page_bytes":0,"file_systems":[{"target_index":0,"kind":"ext4","block_bytes":0,"size_bytes":0,"free_bytes":0,"direct_bytes":null}],"devices":[{"target_index":0,"name":"nvme0n1","kind":"","model":"PM9A3","size_bytes":0,"logical_block_bytes":0,"physical_block_bytes":0,"rotational":null,"scheduler":"","queue_requests":null,"read_ahead_bytes":null,"write_cache":null}],"mounts":[],"scheduler":"","clock":{"source":"","resolution_ns":null,"read_cost_ns":null,"stable":null},"load_before":{"one_minute":0.0,"five_minutes":0.0,"fifteen_minutes":0.0},"settings":[],"memlock_limit_bytes":null},"warnings":[],"cells":[],"estimates":[]}');
INSERT INTO "headers" VALUES(2,'{"format":"pgmeter-record/1","id":"20261121-030000-000-2a","started_at":"2026-11-21T03:00:00Z","finished_at":null,"pgmeter":{"version":"0.1.0"},"command":["pgmeter","run"],"status":"interrupted","plan":{"workloads":[{"name":"file-server","title":"File Server","source":"made up"}],"targets":[{"path":"/mnt/array","kind":"directory","size_bytes":8589934592,"block_bytes":512}],"cells":[{"index":0,"workload":"file-server","access_spec":"File Server","engine":"io_uring","cache":"direct","iodepth":8,"repetition":0,"run_time_ns":10000000000,"ramp_time_ns":2000000000,"operations":null,"workers":[{"worker_index":0,"name":"Worker 1","access_spec":"File Server","lines":[{"size_bytes":4096,"of_size_percent":100.0,"read_percent":80.0,"random_percent":100.0,"delay_ns":0,"burst":1,"align_bytes":4096,"reply_bytes":0,"distribution":{"kind":"uniform"},"sequence":{"kind":"forward"}}],"spans":[{"target_index":0,"iodepth":8,"start_bytes":0,"size_bytes":8589934592,"sector_bytes":512}],"seed":11,"position":"uniform","cursor":"worker","content":{"kind":"incompressible"},"verify":false,"transactions_per_connection":null,"cpu":null},{"worker_index":1,"name":"Worker 2","access_spec":"File Server","lines":[{"size_bytes":4096,"of_size_percent":100.0,"read_percent":80.0,"random_percent":100.0,"delay_ns":0,"burst":1,"align_bytes":4096,"reply_bytes":0,"distribution":{"kind":"uniform"},"sequence":{"kind":"forward"}}],"spans":[{"target_index":0,"iodepth":8,"start_bytes":0,"size_bytes":8589934592,"sector_bytes":512}],"seed":11,"position":"uniform","cursor":"worker","content":{"kind":"incompressible"},"verify":false,"transactions_per_connection":null,"cpu":null}],"ring":{"sqpoll":false,"iopoll":false,"batch":32},"warm":false},{"index":1,"workload":"file-server","access_spec":"4 KiB random read","engine":"io_uring","cache":"direct","iodepth":1,"repetition":0,"run_time_ns":10000000000,"ramp_time_ns":2000000000,"operations":null,"workers":[{"worker_index":0,"name":"Worker 1","access_spec":"4 KiB random read","lines":[{"size_bytes":4096,"of_size_percent":100.0,"read_percent":100.0,"random_percent":100.0,"delay_ns":0,"burst":1,"align_bytes":4096,"reply_bytes":0,"distribution":{"kind":"uniform"},"sequence":{"kind":"forward"}}],"spans":[{"target_index":0,"iodepth":1,"start_bytes":0,"size_bytes":8589934592,"sector_bytes":512}],"seed":11,"position":"uniform","cursor":"worker","content":{"kind":"incompressible"},"verify":false,"transactions_per_connection":null,"cpu":null}],"ring":{"sqpoll":false,"iopoll":false,"batch":32},"warm":false}],"seed":7,"settings":[{"workload":"file-server","key":"run-time","value":"10s","source":"option"}]},"environment":{"host":"bench","kernel":"6.12.9","kernel_build":"","architecture":"x86_64","distribution":"Debian 13","virtualization":null,"cpu":{"model":"EPYC 9354","logical_count":64,"usable_count":0,"core_count":0,"numa_count":0,"governor":null},"memory_bytes":68719476736,"memory_available_bytes":0,"page_bytes":0,"file_systems":[{"target_index":0,"kind":"ext4","block_bytes":0,"size_bytes":0,"free_bytes":0,"direct_bytes":null}],"devices":[{"target_index":0,"name":"nvme0n1","kind":"","model":"PM9A3","size_bytes":0,"logical_block_bytes":0,"physical_block_bytes":0,"rotational":null,"scheduler":"","queue_requests":null,"read_ahead_bytes":null,"write_cache":null}],"mounts":[],"scheduler":"","clock":{"source":"","resolution_ns":null,"read_cost_ns":null,"stable":null},"load_before":{"one_minute":0.0,"five_minutes":0.0,"fifteen_minutes":0.0},"settings":[],"memlock_limit_bytes":null},"warnings":[],"cells":[],"estimates":[]}');
CREATE TABLE histograms (
    cell INTEGER NOT NULL REFERENCES cells ON DELETE CASCADE,
    number INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (cell, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "histograms" VALUES(1,0,X'01781C84931400000070789C658CBB0980400C8613EC6CAD44D3BA869B58881CE2040E701BB884BD8595BD1C72388A2378AF9CC8853CBEFCF9492D97020056F0918589AEEF15B48F17B6B929050D349230E5A7A53E6EB6BEFB14989D1A49215D2E6F06CDA01C6B16A37EFECDD1A0920F06241E5DFE0292F334A8808806FF071301FF073301FF073201FF073401FF073301FF073401FF073201FF073401FF073301FF073301FF073401FF073101FF073401FF073201FF073401FF073301FF073401FF073301FF073201FF073401FF073301FF073401FF073201FF073501FF073201FF073401FF073301FF073201FF073401FF073301FF073301FF0F6701FF0F6501FF0F6601FF0F6601FF0F6801FF0F6601FF0F6601FF0F6701FF0F6601FF0F6601FF0F6501FF0F6701FF0F6701FF0F6601FF0F6701FF0F6701FF0F6601FF0F6601FF0F6401FF0F6801FF0F6601FF0F6601FF0F6701FF0F6701FF0F6601FF0F6701FF0F6501FF0F6601FF0F6601FF0F6701FF0F6601FF0F6601FF0F6701FF0F4281E0CB05FFFF0705');
CREATE TABLE intervals (
    cell INTEGER NOT NULL REFERENCES cells ON DELETE CASCADE,
    position INTEGER NOT NULL,
    figures TEXT NOT NULL,
    PRIMARY KEY (cell, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "intervals" VALUES(1,0,'{"at_ns":0,"length_ns":1000000000,"operations":{"read":{"count":80,"bytes":327680,"errors":0,"p50_ns":148480,"p99_ns":198897,"max_ns":198897},"write":{"count":20,"bytes":81920,"errors":0,"p50_ns":146432,"p99_ns":190056,"max_ns":190056}}}');
INSERT INTO "intervals" VALUES(1,1,'{"at_ns":1000000000,"length_ns":1000000000,"operations":{"read":{"count":81,"bytes":331776,"errors":0,"p50_ns":150528,"p99_ns":198897,"max_ns":198897},"write":{"count":20,"bytes":81920,"errors":0,"p50_ns":146432,"p99_ns":190056,"max_ns":190056}}}');
INSERT INTO "intervals" VALUES(2,0,'{"at_ns":0,"length_ns":1000000000,"operations":{"read":{"count":80,"bytes":327680,"errors":0,"p50_ns":148480,"p99_ns":198897,"max_ns":198897},"write":{"count":20,"bytes":81920,"errors":0,"p50_ns":146432,"p99_ns":190056,"max_ns":190056}}}');
CREATE TABLE labs (
    id TEXT PRIMARY KEY,
    -- When it began, in microseconds since 1970, to sort by.
    started_us INTEGER NOT NULL,
    -- The record (JSON) without its runs.
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "labs" VALUES('20261121-020000-000-1f',1795226400000000,'{"format":"pgmeter-lab/1","id":"20261121-020000-000-1f","started_at":"2026-11-21T02:00:00Z","finished_at":"2026-11-21T02:40:00Z","pgmeter":{"version":"0.1.0"},"command":["pgmeter","lab","run"],"title":"file-server on new file systems, once each","columns":[{"name":"ext4","behind":"mounted as ext4"}],"sections":[{"heading":"file-server","runs":[["20261121-020001-042-1f"]]}]}');
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
    note TEXT NOT NULL DEFAULT ''
, host TEXT NOT NULL DEFAULT '', per_second_max REAL, bytes_per_second_max REAL, rate_of TEXT
    CHECK (rate_of IN ('requests', 'bytes', 'operations', 'transactions')), rate REAL, kernel TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "runs" VALUES(1,'20261121-020001-042-1f','2026-11-21T02:00:01.042Z',1795226401042000,'2026-11-21T02:36:40Z','complete',NULL,'["pgmeter","run"]','["file-server"]','["/mnt/array"]','["ext4"]',1,'the old drive','bench',500.0,2048000.0,'requests',500.0,'6.12.9');
INSERT INTO "runs" VALUES(2,'20261121-030000-000-2a','2026-11-21T03:00:00Z',1795230000000000,NULL,'running','{"pid":42,"started_ticks":1,"boot":"an-earlier-one","host":"@HOST@"}','["pgmeter","run"]','["file-server"]','["/mnt/array"]','["ext4"]',0,'','bench',NULL,NULL,NULL,NULL,'6.12.9');
CREATE TABLE tags (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;
INSERT INTO "tags" VALUES(1,'before-trim');
CREATE TABLE warnings (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    cell INTEGER,
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "warnings" VALUES(1,0,'few-samples-for-percentile','5000 operations are too few for p99.9; a percentile needs 10 beyond it',1);
CREATE INDEX runs_by_start ON runs (started_us, id);
COMMIT;
