"""The demo asks no network: its stages run where every connection is refused."""

import shutil
import socket
from pathlib import Path
from typing import NoReturn

import pytest

from stages import collect, download, evaluate, evaluate_transfer, figures, preprocess, train
from tests.fakes.core import ROOT, serially, write_params
from tests.faults.tiny import DATA, PARAMS

DRAWN = {"video": "fig02_video_robustness", "text": "fig04_text_robustness", "lm": "fig16_completions"}


def refused(*arguments: object) -> NoReturn:
    raise AssertionError(f"the network was asked: {arguments}")


@pytest.mark.slow
def test_no_stage_of_any_task_asks_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "data/paper", tmp_path / "data/paper")
    write_params(tmp_path, PARAMS | {"studies": []})
    serially(monkeypatch)
    for task, dataset in DATA.items():
        download.main(task, dataset)
        preprocess.main(task, dataset)
        train.main(task, dataset)
        assert list(Path("data/runs", task).glob("*/*/*/weights.safetensors")), task
        evaluate.main(task, dataset)
    evaluate_transfer.main()
    collect.main()
    for part, name in DRAWN.items():
        figures.main(part, name)
        assert Path("figures", part, f"{name}.pdf").exists()
