"""Made-up scores on resamples, as evaluation writes them: near the cell's own, and paired between the arms."""

import zlib

from descent.schema import Evaluation

SPREAD = 0.01


def replicate_rows(settings: Evaluation, identity: dict, scores: dict[str, float], items: int) -> list[dict]:
    """Rows `<name>_replicate`: number 0 holds the score itself, the others a factor common to all cells."""
    place = {"split": "test", "gamma": identity["eps"], "layer": identity["layers"], "bin": 0.0}
    rows = [identity | place | {"metric": "test_items", "value": float(items)}]
    for name, value in scores.items():
        for number in range(settings.bootstrap + 1):
            shift = zlib.crc32(f"{identity['dataset']} {number}".encode()) / 2**31 - 1 if number else 0.0
            shift = 0.0 if name == "descending" else SPREAD * shift
            row = {"metric": f"{name}_replicate", "bin": float(number), "value": float(value) * (1 + shift)}
            rows.append(identity | place | row)
    return rows
