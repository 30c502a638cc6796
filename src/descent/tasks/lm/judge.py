"""Which arm writes better: alpaca_eval asks a language model, with a key of the user's."""

import importlib.util
import json
import os
from collections.abc import Sequence
from pathlib import Path

from descent.errors import UserError
from descent.io.failures import reason
from descent.paths import completions_name
from descent.tasks.lm.schema import Judge

PROMPTS = 805  # AlpacaEval's own: the length-controlled rate knows how hard these are, in their order


def win_rates(
    folder: Path, ours: str, baseline: str, gammas: Sequence[float], judge: Judge
) -> dict[str, dict[str, float]]:
    """One arm against another at each level, in percent of the prompts.

    The length-controlled rate is there only of all AlpacaEval's prompts.

    Raises:
        UserError: no key, no alpaca_eval, no completions, or a judge that does not answer. Nothing is made up
        then.
    """
    if not os.environ.get(judge.key):
        raise UserError(
            f"the judge needs a key: set the environment variable {judge.key} (its name: lm.judge.key "
            f"in params.yaml); "
            "every prompt is then sent to a paid service"
        )
    if importlib.util.find_spec("alpaca_eval") is None:
        raise UserError("the judge needs the package alpaca_eval: `.venv/bin/pip install alpaca-eval`")
    pair = (folder / ours, folder / baseline)
    return {f"{gamma:g}": _rates(*pair, float(gamma), judge) for gamma in sorted(set(gammas))}


def _rates(one: Path, other: Path, gamma: float, judge: Judge) -> dict[str, float]:
    from alpaca_eval import evaluate

    ours, theirs = (_outputs(folder / f"{completions_name(gamma)}.json") for folder in (one, other))
    try:
        board, _ = evaluate(
            model_outputs=ours,
            reference_outputs=theirs,
            annotators_config=judge.annotators,
            name=ours[0]["generator"],
            is_return_instead_of_print=True,
            is_overwrite_leaderboard=True,
            output_path=None,
        )
    except Exception as error:  # whatever the service's library raises
        raise UserError(
            f"the judge {judge.annotators} does not answer ({reason(error)}): check key and network"
        ) from None
    row = board.loc[ours[0]["generator"]]
    rates = {"win_rate": float(row["win_rate"])}
    if len(ours) == PROMPTS:
        rates["length_controlled_win_rate"] = float(row["length_controlled_winrate"])
    return rates


def _outputs(path: Path) -> list[dict[str, str]]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        raise UserError(f"{path} is missing or cut short: run `dvc repro --force evaluate_lm`") from None
    if not rows:
        raise UserError(
            f"{path} holds no completions: training of that arm diverged, or no prompt leaves room for a response "
            "(raise profiles.<profile>.lm.max_tokens)"
        )
    return rows
