-- Views of DuckDB (1.3 or newer) over an infergate archive as it lies: a run a row, a cell a row.
--
--   infergate export --format duckdb > infergate.sql
--   duckdb -init infergate.sql -c "FROM infergate_cells WHERE cell = 'steady/ttft.p95' ORDER BY started"
--
-- Paths are relative to where DuckDB was started. A view is read anew by each query; to query often,
-- keep one as a table: CREATE TABLE cells AS FROM infergate_cells.

-- A run a row, as it lies, with the file and the environment that it is kept in.
CREATE OR REPLACE VIEW infergate_files AS
SELECT
  filename AS file,
  regexp_extract(filename, '([^/\\]+)[/\\]runs[/\\][^/\\]+$', 1) AS environment,
  json AS run
FROM read_json_objects('baselines/**/runs/*.json', filename = true, format = 'unstructured')
WHERE starts_with(json ->> '$.format', 'infergate.run/1');

-- The value of a pin of a run: seen, else declared.
CREATE OR REPLACE MACRO infergate_pin(run, pin) AS coalesce(
  run -> 'pins' -> pin -> 'observed' -> 'seen' ->> 'value',
  run -> 'pins' -> pin -> 'declared' ->> 'literal'
);

-- A run a row.
CREATE OR REPLACE VIEW infergate_runs AS
SELECT
  run ->> '$.spec.name' AS spec,
  environment,
  run ->> '$.session' AS session,
  run ->> '$.id' AS run,
  CAST(run ->> '$.started' AS TIMESTAMPTZ) AS started,
  CAST(run ->> '$.elapsed_s' AS DOUBLE) AS elapsed_s,
  run ->> '$.side' AS side,
  CAST(run ->> '$.pair' AS INTEGER) AS pair,
  coalesce(run ->> '$.source.head', run ->> '$.source.commit') AS "commit",
  run ->> '$.spec.digest' AS spec_digest,
  run ->> '$.spec.workload_digest' AS workload_digest,
  run ->> '$.definition' AS definition,
  run ->> '$.client.version' AS infergate,
  infergate_pin(run, 'model.name') AS model,
  infergate_pin(run, 'precision.weights') AS weights,
  infergate_pin(run, 'engine.name') AS engine,
  infergate_pin(run, 'engine.version') AS engine_version,
  infergate_pin(run, 'hardware.gpu') AS gpu,
  run -> '$.pins' AS pins,
  file
FROM infergate_files;

-- A stage and class a row; all classes pooled have none.
CREATE OR REPLACE VIEW infergate_classes AS
WITH stages AS (
  SELECT environment, run, unnest(CAST(run -> '$.stages' AS JSON[])) AS stage
  FROM infergate_files
),
classes AS (
  SELECT environment, run, stage, NULL AS class, stage -> 'pooled' AS summary FROM stages
  UNION ALL
  SELECT environment, run, stage, class, stage -> 'classes' -> class
  FROM (SELECT *, unnest(json_keys(stage -> 'classes')) AS class FROM stages)
)
SELECT
  run ->> '$.spec.name' AS spec,
  environment,
  run ->> '$.session' AS session,
  run ->> '$.id' AS run,
  CAST(run ->> '$.started' AS TIMESTAMPTZ) AS started,
  run ->> '$.definition' AS definition,
  stage ->> 'name' AS stage,
  class,
  CAST(summary ->> 'scheduled' AS BIGINT)
    - coalesce(CAST(summary -> 'outcomes' ->> 'cancelled' AS BIGINT), 0) AS counted,
  coalesce(CAST(summary -> 'outcomes' ->> 'completed' AS BIGINT), 0)
    + coalesce(CAST(summary -> 'outcomes' ->> 'invalid_output' AS BIGINT), 0) AS ended_well,
  summary
FROM classes;

-- A cell a row. `value` is the one that gates judge: in percentiles every failed request counts as
-- infinitely slow; `value_succeeded` is over those that succeeded. What a stage is invalid for stands
-- in the run file, and only there.
CREATE OR REPLACE VIEW infergate_cells AS
WITH distributions AS (
  SELECT * EXCLUDE (summary), metric, summary -> 'distributions' -> metric AS distribution
  FROM (SELECT *, unnest(json_keys(summary -> 'distributions')) AS metric FROM infergate_classes)
),
quantiles AS (
  SELECT *, distribution -> 'quantiles' -> statistic AS quantile
  FROM (SELECT *, unnest(json_keys(distribution -> 'quantiles')) AS statistic FROM distributions)
),
rates AS (
  SELECT
    * EXCLUDE (summary),
    unnest([
      {metric: 'goodput', unit: 'requests_per_second', per_second: summary -> 'rates' ->> 'goodput_rps'},
      {metric: 'request_throughput', unit: 'requests_per_second', per_second: summary -> 'rates' ->> 'completed_rps'},
      {metric: 'output_throughput', unit: 'tokens_per_second', per_second: summary -> 'rates' ->> 'output_tps'},
      {metric: 'input_throughput', unit: 'tokens_per_second', per_second: summary -> 'rates' ->> 'input_tps'}
    ]) AS rate
  FROM infergate_classes
),
shares AS (
  SELECT
    * EXCLUDE (summary),
    unnest([
      {metric: 'attainment', events: CAST(summary ->> 'good' AS BIGINT)},
      {metric: 'error_ratio', events: list_sum(list_transform(
        ['http_error', 'rejected', 'connect_error', 'timeout', 'stream_error', 'empty', 'unsent', 'unfinished'],
        lambda kind: coalesce(CAST(summary -> 'outcomes' ->> kind AS BIGINT), 0)))},
      {metric: 'truncated_ratio', events: coalesce(CAST(summary -> 'outcomes' ->> 'truncated' AS BIGINT), 0)}
    ]) AS share
  FROM infergate_classes
),
cells AS (
  SELECT
    spec, environment, session, run, started, stage, class, metric, statistic, 'seconds' AS unit,
    CASE WHEN CAST(distribution ->> 'failed' AS BIGINT) = 0 THEN CAST(quantile ->> 'value_s' AS DOUBLE)
      ELSE coalesce(CAST(quantile ->> 'adjusted_s' AS DOUBLE), 'infinity'::DOUBLE) END AS value,
    CAST(quantile ->> 'value_s' AS DOUBLE) AS value_succeeded,
    CAST(distribution ->> 'n' AS BIGINT) + CAST(distribution ->> 'failed' AS BIGINT) AS n,
    definition
  FROM quantiles
  UNION ALL
  SELECT
    spec, environment, session, run, started, stage, class, metric, 'mean', 'seconds',
    CAST(distribution ->> 'mean_s' AS DOUBLE), CAST(distribution ->> 'mean_s' AS DOUBLE),
    CAST(distribution ->> 'n' AS BIGINT) + CAST(distribution ->> 'failed' AS BIGINT),
    definition
  FROM distributions
  UNION ALL
  SELECT
    spec, environment, session, run, started, stage, class, rate.metric, NULL, rate.unit,
    CAST(rate.per_second AS DOUBLE), CAST(rate.per_second AS DOUBLE), ended_well, definition
  FROM rates
  UNION ALL
  SELECT
    spec, environment, session, run, started, stage, class, share.metric, NULL, 'ratio',
    share.events / nullif(counted, 0), share.events / nullif(counted, 0), counted, definition
  FROM shares
)
SELECT
  concat_ws('/', stage, class, concat_ws('.', metric, statistic)) AS cell,
  *
FROM cells;
