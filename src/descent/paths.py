"""Where the stages' folders and files are; their names are those of the stages' items."""

from pathlib import Path

from descent.config import Params

PREPARED = Path("data/prepared")
RUNS = Path("data/runs")  # a folder for each cell
RESULTS = Path("data/results.parquet")  # all rows of all score files


def prepared_folder(params: Params, task: str, dataset: str, model: str) -> Path:
    """What a model reads of a data set: frames; of text and instructions their tokens, by its tokenizer."""
    folder = PREPARED / dataset
    return folder if task == "video" else folder / params.tokenizer(model)


def runs_folder(task: str, dataset: str, model: str = "") -> Path:
    """Where training writes the cells of a model on a data set, a folder each; without a model, of all models."""
    return RUNS / task / dataset / model


def study_runs_folder(name: str = "") -> Path:
    """Where training writes the cells of a study; without a name, of all studies."""
    return RUNS / "study" / name


def scores_file(task: str, dataset: str) -> Path:
    """Where evaluation writes the rows of all models on a data set, and of the maps that learn nothing."""
    return Path("data/scores") / task / f"{dataset}.parquet"


def study_scores_folder() -> Path:
    """Where evaluation writes the rows of all studies."""
    return Path("data/scores/study")


def study_scores_file(name: str) -> Path:
    """Where evaluation writes the rows of a study."""
    return study_scores_folder() / f"{name}.parquet"


def completions_folder(dataset: str) -> Path:
    """Where evaluation of the language model writes what each arm completes, a folder an arm."""
    return Path("data/scores/lm") / f"{dataset}-completions"


def completions_name(gamma: float | int) -> str:
    """What the completions at one level are called, in that folder and in TEXTS."""
    return f"gamma{float(gamma)}"


def looks_folder(task: str, dataset: str) -> Path:
    """Where evaluation writes what pictures of single inputs are made of, a folder a model."""
    return Path("data/scores") / task / f"{dataset}-looks"


TRANSFER_SCORES = Path("data/scores/transfer.parquet")  # of video models on other data sets, of texts by kind
LOOKS = Path("data/looks")  # all of these, a folder a data set, as figures read them
TEXTS = Path("data/texts.json")  # all completions, as figures read them
