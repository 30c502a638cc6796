"""What a profile needs is looked for before anything is made."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from huggingface_hub import HfApi

from descent import inventory
from descent.errors import UserError
from tests.fakes.core import small_params

LOCAL = {
    "profile": "small",
    "video.datasets": ["avenue", "ucsd"],
    "video.models": ["vit"],
    "text.datasets": ["imdb"],
    "text.models": ["roberta"],
    "lm.datasets": [],
    "studies": [],
    "profiles.small.video.models": {"vit": {"weights": {"path": "weights/vit"}}},
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return tmp_path


def told(changes: dict[str, Any]) -> str:
    with pytest.raises(UserError) as error:
        inventory.check(small_params(LOCAL | {"local_data": "copies"} | changes), "imdb")
    return str(error.value)


def test_everything_that_is_missing_is_told_at_once_with_its_place(here: Path) -> None:
    said = told({})
    assert "5 of 5" in said
    for line in ("data set avenue: copies/avenue", "data set ucsd", "weights of vit: copies/weights/vit"):
        assert line in said
    assert "tokenizer roberta: copies/tokenizers/roberta" in said and "data set imdb" in said
    assert "tokenizer bert" not in said, "no model in use reads it"
    assert "official source: " in said


def test_what_is_there_or_not_in_use_is_not_asked_for(here: Path) -> None:
    for name in ("avenue", "weights/vit", "tokenizers/roberta"):
        (here / "copies" / name).mkdir(parents=True)
    assert "5 of 5" in told({}), "a folder with nothing in it is no copy"
    for name in ("avenue", "weights/vit", "tokenizers/roberta"):
        (here / "copies" / name / "file").touch()
    assert "2 of 5" in told({}) and "avenue" not in told({})
    assert "1 of 3" in told({"text.models": []}), "without a text model neither texts nor tokenizers"
    (here / "copies/ucsd").mkdir()
    (here / "copies/ucsd/file").touch()
    video = small_params(LOCAL | {"local_data": "copies", "text.models": []})
    assert inventory.check(video, "ucsd") == []
    assert inventory.told(video)[0] == "there: data set avenue: copies/avenue" and len(inventory.told(video)) == 3


def test_what_a_study_that_runs_alone_takes_from_outside_is_looked_for_too(here: Path) -> None:
    alone = {"text.models": ["distilbert"], "studies": ["controls_rates_ut_text"]}
    alone["profiles.small.text.models.ut_text.embeddings"] = {"path": "embeddings"}
    alone["profiles.small.studies.controls_rates_ut_text"] = {"values": [0.001], "seeds": [0]}
    assert "embeddings of ut_text: copies/embeddings" in told(alone)
    assert "ut_text" not in told(alone | {"studies": []})


def test_generated_data_need_nothing() -> None:
    assert inventory.needs(small_params()) == [] == inventory.check(small_params(), "ucsd")
    assert inventory.told(small_params()) == ["profile demo needs nothing from outside: its data are generated"]


def test_prompts_of_another_repository_are_fetched_too() -> None:
    hub = {"hub": {"id": "some/instructions"}, "prompts": {"id": "other/prompts", "revision": "abc"}}
    changes = {"profiles.demo.data": {"alpaca": hub}, "video.datasets": [], "text.datasets": []}
    first, second = inventory.needs(small_params(changes | {"lm.datasets": ["alpaca"], "studies": []}))
    assert (first.hub["id"], first.kind) == ("some/instructions", "dataset")
    assert second.hub == {"id": "other/prompts", "revision": "abc"} and second.kind == "dataset"


def answered(length: int | None, status: int = 200) -> requests.Response:
    """What a server says of a file."""
    answer = requests.Response()
    answer.status_code = status
    answer.headers.update({} if length is None else {"Content-Length": f"{length}"})
    return answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (answered(1234567), "1,234,567 bytes"),
        (answered(None), "unknown length"),
        (None, "does not answer"),
        (answered(1245, status=404), "does not answer"),  # of the page that says that there is nothing
    ],
)
def test_what_is_fetched_is_told_with_its_size(
    monkeypatch: pytest.MonkeyPatch, answer: requests.Response | None, words: str
) -> None:
    def head(url: str, **others: Any) -> requests.Response:
        if answer is None:
            raise requests.ConnectionError
        return answer

    monkeypatch.setattr(requests, "head", head)
    source = {"url": "http://example.org/a.zip", "sha256": "0" * 64}
    params = {"profiles.demo.data": {"ucsd": source}, "lm.datasets": [], "studies": [], "text.datasets": []}
    (line,) = inventory.check(small_params(params), "ucsd")
    assert line.startswith("data set ucsd: http://example.org/a.zip") and words in line


def test_a_stage_asks_for_the_size_of_its_own_data_set_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def head(url: str, **others: Any) -> requests.Response:
        asked.append(url)
        return answered(9)

    monkeypatch.setattr(requests, "head", head)
    sources = {name: {"url": f"http://example.org/{name}.zip", "sha256": "0" * 64} for name in ("ucsd", "avenue")}
    params = {"profiles.demo.data": sources, "lm.datasets": [], "studies": [], "text.datasets": []}
    lines = inventory.check(small_params(params | {"video.datasets": ["ucsd", "avenue"]}), "avenue")
    assert asked == ["http://example.org/avenue.zip"]
    assert lines == [
        "data set ucsd: http://example.org/ucsd.zip",
        "data set avenue: http://example.org/avenue.zip (9 bytes)",
    ]


@pytest.mark.parametrize(
    ("sizes", "words"), [([700, None, 534], "at most 1,234 bytes"), (None, "does not answer")]
)
def test_before_anything_starts_all_sizes_are_told_those_of_the_hub_too(
    monkeypatch: pytest.MonkeyPatch, sizes: list | None, words: str
) -> None:
    asked = []

    def repo_info(self: HfApi, name: str, repo_type: str, revision: str | None, **others: Any) -> SimpleNamespace:
        asked.append((name, repo_type, revision))
        if sizes is None:
            raise OSError("no route")
        return SimpleNamespace(siblings=[SimpleNamespace(size=size) for size in sizes])

    monkeypatch.setattr(HfApi, "repo_info", repo_info)
    monkeypatch.setattr(requests, "head", lambda url, **others: answered(9))
    changes = {
        "profiles.demo.data": {
            "ucsd": {"url": "http://example.org/a.zip", "sha256": "0" * 64},
            "imdb": {"hub": {"id": "some/texts", "revision": "abc"}},
        },
        "text.datasets": ["imdb"],
        "lm.datasets": [],
        "studies": [],
    }
    lines = inventory.told(small_params(changes))
    assert lines[0] == "to be fetched: data set ucsd: http://example.org/a.zip (9 bytes)"
    assert lines[1].startswith("to be fetched: data set imdb: some/texts, from the Hugging Face hub")
    assert words in lines[1] and asked == [("some/texts", "dataset", "abc")]
