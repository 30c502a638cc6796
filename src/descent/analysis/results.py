"""The results table: one number a row, nothing aggregated; a missing number is a missing row."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from descent.components import TRAINED
from descent.errors import UserError
from descent.io.failures import UNREAD
from descent.io.folders import atomic_file, lasting

COLUMNS = {
    "profile": str,
    "experiment": str,  # the task (video | text | lm) or the name of the study
    "dataset": str,
    "model": str,  # a file of models/
    "arm": str,  # a file of arms/, or a map that learns nothing (cells.REFERENCES; layers 0), in the model's units
    "layers": int,
    "eps": float,  # training noise level
    "seed": int,  # of text cells also the number of the trial
    "varied": str,  # the value that a study gives to what it varies, else empty
    "split": str,  # validation | test
    "shift": str,  # a file of shifts/, or TRANSFER; TRAINED, training's own, of all that is no test under a shift
    "tested": str,  # of TRANSFER the data set or the kind of the test inputs, else empty: the cell's own
    "gamma": float,  # the level of the shift, or that of Gaussian noise of the same energy
    "layer": int,
    "bin": float,  # lower edge of a histogram's bin, number of a resample (0: the test set itself), else 0
    "metric": str,  # METRICS
    "value": float,
}
ABSENT = {"varied": "", "shift": TRAINED, "tested": "", "bin": 0.0}  # what rows that say nothing of it hold
Row = dict[str, object]  # by column; those of ABSENT may be left out
FURTHER = "rmse_further"
METRICS = {
    "loss": "f_l on test data: of video the squared error per patch (units of video.patch_loss), of text the "
    "cross-entropy in nats, of lm that of the response tokens",
    "rmse": "video: root mean squared error of the last layer's output, 0-255 gray levels",
    "rmse_clipped": "the same with the output clipped to [0, 255]",
    "psnr": "video: peak signal-to-noise ratio of the clipped output of the last layer, dB",
    "ssim": "video: structural similarity of the same output to the clean input, at most 1",
    "rmse_layer": "video: RMSE of layer l's output at gamma = eps, on one batch spread over the test set",
    FURTHER: "the same of layers L to 2 L of DUST and UT with one dictionary, applied as often again",
    "rmse_bias": "video: root of that part of the last layer's squared error that another draw of the noise "
    "leaves, on the same batch, at every gamma",
    "rmse_variance": "root of the part that another draw moves; the squares of both add up to that of the error",
    "psnr_layer": "the PSNR there, of the clipped output",
    "ssim_layer": "the SSIM there",
    "step_length": "video, of DUST and of UT as codes: |D_l|^2 / c of layer l's step, which is one of descent on "
    "the error of reconstruction while this is below 2",
    "accuracy": "text: share of test texts whose label layer l's output predicts; lm: share of the "
    "response tokens "
    "of test texts that it predicts, the text before them being given",
    "most_frequent": "text: share of the test texts whose label is the most frequent one",
    "ratio_mean": "text: mean over test texts and layers of f(X_l) / f(X_{l-1}) of one text, at gamma = eps",
    "ratio_median": "the median of the same ratios",
    "ratio_below_one": "the share of them below 1",
    "ratio_below_target": "the share of them at or below 1 - alpha",
    "ratio_share": "the share of them from `bin` to the next bin; the last one takes all that is larger",
    "test_items": "what a resample of the test set draws: clips or, of few, blocks of frames; texts, prompts",
    "log_rmse_in_distribution_replicate": "on one resample: mean logarithm of the RMSE over the swept levels "
    "up to the training level",
    "log_rmse_out_of_distribution_replicate": "the same over the levels above it",
    "log_rmse_replicate": "of another shift than training's: mean logarithm of the RMSE over its levels, on one "
    "resample",
    "accuracy_replicate": "of another shift than training's: mean accuracy of the last layer over its levels, on "
    "one resample",
    "strength": "of the identity map: the shift's own level (an amount, a deviation) where gamma is an energy",
    "accuracy_in_distribution_replicate": "on one resample: mean accuracy of the last layer over the same levels",
    "accuracy_out_of_distribution_replicate": "the same over the levels above the training level",
    "area_replicate": "on one resample: area under accuracy against gamma over the swept levels",
    "descending_replicate": "1 where f_l falls strictly from the first constrained layer to the last at gamma = "
    "eps on a resample, else 0",
    "ratio_mean_replicate": "ratio_mean on one resample",
    "ratio_median_replicate": "ratio_median on one resample, between the edges of the histogram's bins",
    "ratio_below_one_replicate": "ratio_below_one on one resample",
    "validation_loss": "f_l on validation data at the training noise level, at the reported epoch",
    "violation": "relative violation of constraint l at the training noise level, <= 0 satisfied; on validation "
    "data at the reported epoch, and on test data",
    "feasible": "1 where the worst relative violation of the split is within the tolerance, else 0",
    "diverged": "1 where training met NaN or a loss above training.diverged_above, else 0",
    "epoch": "the epoch whose weights are reported",
    "lr": "the primal learning rate of the cell",
    "dual_lr": "the dual learning rate of a cell whose arm has constraints (`penalty` has them and no duals)",
    "active": "1 where over the last quarter of the epochs some mean multiplier is above zero (of an arm that "
    "enforces)",
    "descent_active": "the same of the constraints on descent, so not of the cap",
    "active_epochs": "the share of all epochs in which one of these is (published before 2026-12: any)",
    "active_reported": "1 where one of them is in the epoch whose weights are reported, else 0",
    "multiplier": "mean lambda_l over the last quarter of the epochs",
    "weight": "mean effective weight w_l = dL / df_l over them",
    "oscillation": "standard deviation over mean of the training loss f_0 over them",
    "multiplier_oscillation": "the largest over the layers of the same of lambda_l",
    "feasible_epochs": "share of the epochs after the warm-up that are feasible on validation data",
    "slackness": "in the last epoch: sum of lambda_l |v_l - u_l| over f_L, zero in every solution",
    "clipped": "share of the steps in which the gradient was clipped",
    "seconds": "seconds of training: its stack's over the cells in it",
    "parameters": "numbers that training moved",
    "loss_epoch": "of the first seed of a grid or a study alone: f_l on validation data after the epoch of `bin`",
    "violation_epoch": "the relative violation there",
    "multiplier_epoch": "mean lambda_l over that epoch's steps",
    "weight_epoch": "mean effective weight w_l over them",
    "alpha": "the required descent of such a cell",
    "rho": "the resilience coefficient of such a cell",
}


def write(rows: pd.DataFrame, path: Path) -> None:
    """Check the columns, sort, and write a parquet file whole or not at all."""
    rows = rows if len(rows) else pd.DataFrame(columns=list(COLUMNS))  # a study that is not in use
    absent = {name: value for name, value in ABSENT.items() if name not in rows}
    table = rows.assign(**absent).fillna(ABSENT).loc[:, list(COLUMNS)].astype(COLUMNS)
    unknown = set(table["metric"]) - set(METRICS)
    if unknown:
        raise ValueError(f"unknown metrics {sorted(unknown)}")
    table = table.sort_values(list(COLUMNS), ignore_index=True)
    with atomic_file(path) as partial:  # experiments share the store of scores
        table.to_parquet(partial, index=False, write_page_checksum=True)
        lasting(partial)


def collect(paths: Iterable[Path], profile: str) -> pd.DataFrame:
    """Join score files, of which some may hold no row.

    Raises:
        UserError: one missing, one of another profile, or no row in any.
    """
    tables = []
    for path in paths:
        if not path.exists():
            raise UserError(f"{path} is missing: run `dvc repro` to evaluate it")
        table = _table(path)
        if others := set(table["profile"]) - {profile}:
            found = ", ".join(sorted(others | set(table["profile"])))
            raise UserError(f"{path} is of {found}, not of {profile}: run `dvc repro`")
        tables += [table] if len(table) else []
    if not tables:
        raise UserError("no scores to collect: params.yaml leaves every data set or every model out")
    return pd.concat(tables, ignore_index=True)


def _table(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_parquet(path, page_checksum_verification=True)
    except UNREAD as error:
        raise UserError(
            f"{path} cannot be read ({type(error).__name__}): run `dvc repro`, which makes it"
        ) from None
    if lacking := set(COLUMNS) - {*table.columns}:
        raise UserError(f"{path} has no column {', '.join(sorted(lacking))}: run `dvc repro`, which makes it")
    return table


def read(path: Path, profile: str) -> pd.DataFrame:
    """The joined table, of the profile that the parameters beside it name.

    Raises:
        UserError: no table, or one that holds rows of another profile.
    """
    if not path.exists():
        raise UserError(f"{path} is missing: run `dvc repro`")
    table = _table(path)
    if set(table["profile"]) != {profile}:
        found = ", ".join(sorted(set(table["profile"]))) or "no profile"
        raise UserError(f"{path} is of {found}, its parameters of {profile}: run `dvc repro`")
    return table
