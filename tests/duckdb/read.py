"""Reads an archive by DuckDB through the shipped views, and holds it against the run files and exports.

    read.py VIEWS.sql CELLS.csv RUNS.om      in the folder that holds `baselines`

Prints how many values it compared; ends with an assertion where one differs.
"""

import csv
import glob
import json
import math
import sys

import duckdb
from prometheus_client.openmetrics.parser import text_string_to_metric_families

views, cells_csv, openmetrics = sys.argv[1:]
files = {}
for path in glob.glob("baselines/**/runs/*.json", recursive=True):
    with open(path, encoding="utf-8") as file:
        run = json.load(file)
    files[run["id"]] = run
assert files, "no run files"

database = duckdb.connect()
# What the documentation shows: the files as they lie, without a view.
plain = database.sql(
    "SELECT id, session, started FROM read_json_auto('baselines/**/runs/*.json', union_by_name = true)"
).fetchall()
assert {row[0] for row in plain} == set(files)

with open(views, encoding="utf-8") as file:
    database.execute(file.read())

runs = database.sql("SELECT run, session, spec, engine_version, environment FROM infergate_runs").fetchall()
assert len(runs) == len(files)
for run, session, spec, version, environment in runs:
    own = files[run]
    assert (session, spec) == (own["session"], own["spec"]["name"])
    observed = own["pins"]["engine.version"]["observed"]
    assert version == observed["seen"]["value"], (version, observed)
    assert environment and "/" not in environment

# A cell a row, value for value what the run file says.
compared = 0
cells = {}
query = "SELECT run, cell, value, value_succeeded, n, unit, definition FROM infergate_cells"
for run, cell, value, succeeded, n, unit, definition in database.sql(query).fetchall():
    assert (run, cell) not in cells, f"{cell} of {run} comes twice"
    cells[run, cell] = (value, n, unit)
    assert definition == files[run]["definition"]
for run, own in files.items():
    for stage in own["stages"]:
        summaries = [(stage["name"], stage["pooled"])]
        summaries += [(f"{stage['name']}/{name}", of) for name, of in stage.get("classes", {}).items()]
        for place, summary in summaries:
            for metric, distribution in summary["distributions"].items():
                for statistic, quantile in distribution["quantiles"].items():
                    failures = distribution["failed"] > 0
                    expected = quantile.get("adjusted_s", math.inf) if failures else quantile["value_s"]
                    value, n, unit = cells[run, f"{place}/{metric}.{statistic}"]
                    assert value == expected and unit == "seconds", (place, metric, statistic)
                    assert n == distribution["n"] + distribution["failed"]
                    compared += 1
            assert cells[run, f"{place}/goodput"][0] == summary["rates"]["goodput_rps"]
assert compared, "no quantile was compared"

# And value for value what `export --format csv` says, wherever both hold a cell.
exported = {}
with open(cells_csv, encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file):
        assert (row["run"], row["cell"]) not in exported
        exported[row["run"], row["cell"]] = row
shared = 0
for key, row in exported.items():
    if key not in cells:
        assert row["unit"] != "seconds", key
        continue
    value, n, unit = cells[key]
    # A percentile of failures is infinite, and has no number in the table.
    told = float(row["value"]) if row["state"] == "measured" else math.inf
    assert math.isclose(told, value, rel_tol=1e-12, abs_tol=1e-15), (key, row, value)
    assert (int(row["n"]), row["unit"]) == (n, unit), (key, row, n, unit)
    shared += 1
quantiles = sum(1 for _, cell in exported if ".p" in cell)
# What repeats another metric (TTFA without reasoning) is in the files and not in the export.
assert compared >= shared > quantiles > 0, (shared, quantiles, compared)

# Prometheus's own parser takes what `export --format openmetrics` says.
samples = 0
with open(openmetrics, encoding="utf-8") as file:
    for family in text_string_to_metric_families(file.read()):
        for sample in family.samples:
            if family.unit != "seconds" or not sample.labels.get("statistic"):
                continue
            metric = family.name.removeprefix("infergate_").removesuffix("_seconds")
            labels = sample.labels
            place = "/".join(filter(None, [labels.get("stage"), labels.get("class")]))
            value = cells[labels["run"], f"{place}/{metric}.{labels['statistic']}"][0]
            assert sample.value == value, (sample, value)
            samples += 1
assert samples, "no sample was compared"
print(f"{len(runs)} runs, {compared} quantiles, {shared} exported cells, {samples} samples")
