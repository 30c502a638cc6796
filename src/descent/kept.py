"""The parameters that the results were made with, which figures, tables and pages are drawn by."""

import json
from pathlib import Path
from typing import Any

from descent.declared import Declared
from descent.errors import UserError

OF_RESULTS = Path("data/params.json")


def read() -> Any:
    """What `of_results` wrote; JSON is read much faster than YAML.

    Raises:
        UserError: it is damaged.
    """
    try:
        return json.loads(OF_RESULTS.read_text())
    except ValueError as error:
        raise UserError(f"{OF_RESULTS} is damaged ({error}): run `dvc repro`, which makes it again") from None


def of_results(params: Declared) -> str:
    """What `config.load` reads back from OF_RESULTS: the profile in use, without what changes no result.

    Figures and tables depend on this file. The sections that it holds, written out for each of them, would make
    half of dvc.lock.
    """
    indifferent = {"method": params.arms[0], "device": "auto", "local_data": ""}
    values = params.model_dump(mode="json", exclude={"executor", "gpu_share", "ray"}) | indifferent
    values["profiles"] = {params.profile: values["profiles"][params.profile]}
    return json.dumps(values, indent=1) + "\n"
