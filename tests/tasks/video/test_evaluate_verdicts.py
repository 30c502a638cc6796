"""Verdicts on the cells of a data set: by the problem of their study, and against every cell that diverged."""

import shutil

import pytest

from descent.analysis.select import select
from descent.cells import Cell
from descent.paths import study_runs_folder
from descent.runner import store
from descent.tasks.video.data import Prepared
from tests.fakes.core import DIAGNOSED, evaluate_cells, seal, small_params, train_cells
from tests.fakes.dust import evaluated, trained


def test_verdicts_are_read_by_the_problem_of_the_study(prepared: Prepared) -> None:
    params, out = small_params({"study.infeasible": {"layers": 1}}), study_runs_folder("infeasible")
    train_cells(params, "infeasible")
    cell = Cell("infeasible", "ucsd", "dust", "constrained", 1, 0.3, 0)
    (out / cell.name / "history.csv").write_text(
        "epoch,layer,loss_validation,loss_train,clipped\n"
        "1,0,9,9,0\n1,1,9,9,0\n2,0,0.02,9,0\n2,1,0.01,9,0\n3,0,9,9,0\n3,1,9,9,0\n"
    )
    seal(out / cell.name, epoch=2, diverged=True)
    table = evaluate_cells(params, "infeasible")
    assert set(table["experiment"]) == {"infeasible"} and set(table["varied"]) == {""}
    assert set(table["arm"]) == {"constrained", "unconstrained"}, "and no map that learns nothing"
    assert 0.3 in set(table.query("split == 'test'")["gamma"])
    rows = table.query("split == 'validation' and arm == 'constrained'")
    rows = rows[~rows["metric"].isin(DIAGNOSED)]
    values = rows.set_index(["metric", "layer"])["value"].to_dict()
    assert values == pytest.approx(
        {
            ("validation_loss", 0): 0.02,
            ("validation_loss", 1): 0.01,
            ("violation", 0): 0.02 / 0.01 - 1,  # its own R0 and alpha = 0.9
            ("violation", 1): 0.5 - 0.1,
            ("feasible", 1): 0.0,
            ("diverged", 1): 1.0,
            ("epoch", 1): 2.0,
            ("lr", 1): 0.01,
            ("dual_lr", 1): 0.05,
            ("alpha", 1): 0.9,
            ("rho", 1): 20.0,
        }
    )


def test_a_cell_that_diverged_is_not_feasible_whatever_it_held_to_before(prepared: Prepared) -> None:
    params, out = small_params({"study.infeasible": {"layers": 1}}), study_runs_folder("infeasible")
    train_cells(params, "infeasible")
    cell = Cell("infeasible", "ucsd", "dust", "constrained", 1, 0.3, 0)
    header = "epoch,layer,loss_validation,loss_train,clipped\n"
    history = f"{header}2,0,0.009,1,0\n2,1,0.0008,1,0\n"  # R0 = .01 and alpha = .9 are met
    for diverged, feasible in ((False, 1.0), (True, 0.0)):
        (out / cell.name / "history.csv").write_text(history)
        seal(out / cell.name, epoch=2, diverged=diverged)
        shutil.rmtree(store.root() / "scores", ignore_errors=True)
        rows = evaluate_cells(params, "infeasible").query("arm == 'constrained' and metric == 'feasible'")
        assert rows.query("split == 'validation'")["value"].tolist() == [feasible]
        assert diverged is False or rows["value"].eq(0).all()


def test_a_cell_that_diverged_before_its_first_validation_has_no_validation_losses(prepared: Prepared) -> None:
    limit = {"training.diverged_above": 1e-6}
    trained(**limit)
    table = evaluated(**limit)
    verdicts = {"feasible": [0.0], "diverged": [1.0], "epoch": [0.0], "lr": [0.01]}
    own = {"constrained": {"dual_lr": [0.05], "alpha": [0.2], "rho": [20.0]}, "unconstrained": {}}
    for arm, numbers in own.items():
        rows = select(table, arm=arm)
        rows = rows[~rows["metric"].isin(DIAGNOSED)]
        values = rows.groupby(["split", "metric"])["value"].unique().map(list).to_dict()
        expected = {("validation", name): found for name, found in (verdicts | numbers).items()}
        assert values == expected | {("test", "feasible"): [0.0]}
