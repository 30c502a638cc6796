"""Keys that params.yaml had in former layouts: who still has one is told where its values stand now."""

from pathlib import Path
from typing import Any

from descent.errors import UserError

MOVED = {  # and where their values stand now
    "primal_dual": "objectives.constrained (its `models`)",
    "evaluation": "video.evaluation",
    "infeasible": "study.infeasible",
    "ablation": "study (alpha, dual_lr, resilience)",
    "text.tokenizers": "models (the `tokenizer` of each)",
    "lm.tokenizers": "models (the `tokenizer` of each)",
    "video.methods": "arms",
    "text.methods": "arms",
    "lm.methods": "arms",
    "text.per_dataset": "objectives.constrained.datasets",
    "video.report": "video.selection",
    "text.report": "text.selection",
    "lm.report": "lm.selection",
}


def refuse(values: dict[str, Any], path: Path) -> None:
    """Look for such keys in what a file holds.

    Raises:
        UserError: there is one.
    """
    for old, new in MOVED.items():
        section, _, key = old.rpartition(".")
        within = values.get(section) if section else values
        if isinstance(within, dict) and key in within:
            raise UserError(f"{path}: {old} is of a former layout; its values stand at {new} now")
