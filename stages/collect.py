"""python -m stages.collect: data/results.parquet, params.json, texts.json, looks, summary.csv and arms.json."""

import json
from pathlib import Path

from descent import config, errors, kept, paths
from descent.analysis import asked, csv_files, looks, results, summary
from descent.analysis.metrics import metrics
from descent.io.folders import write_text


def main() -> None:
    """Join the score files that params.yaml asks for, and keep the parameters that made them beside them."""
    params = config.load()
    table = results.collect(asked.asked(params), params.profile)
    asked.check_asked(table, params)
    results.write(table, paths.RESULTS)
    write_text(kept.OF_RESULTS, kept.of_results(params))
    cells = summary.cells_table(table, params)
    csv_files.write(Path("data/summary.csv"), cells, digits=5)
    write_text(Path("data/arms.json"), json.dumps(metrics(cells, params), indent=1, sort_keys=True) + "\n")
    texts = {
        f"{dataset} {file.parent.name} {file.stem}": json.loads(file.read_text(encoding="utf-8"))
        for dataset in params.lm.datasets
        for file in sorted(paths.completions_folder(dataset).glob("*/*.json"))
    }
    write_text(paths.TEXTS, json.dumps(texts, indent=1, ensure_ascii=False) + "\n")
    looks.collect(params)


if __name__ == "__main__":
    errors.run(main)
