"""What must be read with numbers: whole frames, arms that differ in capacity, a study's setting, the profile."""

from typing import Any

from descent.cells import study_depth
from descent.config import Params
from descent.figures.parts import style
from descent.figures.parts.tables import source
from descent.study import Study


def frames(params: Params) -> list[str]:
    """In what the numbers of models that see whole frames differ from those of the others, a sentence each."""
    shown = [model for model in params.video.models if params.components["models"][model]["INPUTS"] == "frames"]
    return [_of_frames(style.name(model), params.model_budget(model).get("weights") or {}) for model in shown]


def capacity(params: Params, models: list[str]) -> list[str]:
    """The settings in which a model's arms differ beside their objectives, a sentence for each."""
    lines = []
    for model in models:
        settings = {style.name(arm): params.model_settings(model, arm) for arm in params.arms}
        for key in dict.fromkeys(key for values in settings.values() for key in values):
            words = {arm: str(values.get(key)) for arm, values in settings.items()}
            if len(set(words.values())) > 1:
                listed = ", ".join(f"{arm}: {word}" for arm, word in words.items())
                told = f"Beside their objectives the arms of {style.name(model)} differ in {key} ({listed})"
                lines.append(f"{told}: what sets them apart may be capacity.")
    return lines


def of_video(params: Params) -> list[str]:
    """What must be read with numbers of video: both of the above."""
    return frames(params) + capacity(params, params.video.models)


def setting(params: Params, study: Study) -> str:
    """What all cells of a study share."""
    place = f"{style.name(study.model)}, {style.name(study.dataset)}"
    return f"{place}, eps = {study.eps:g}, L = {study_depth(params, study)}."


def budget(params: Params) -> list[str]:
    """Of what profile hyperparameters are that stand beside the paper's; nothing where it is the paper's."""
    if params.profile == "paper":
        return []
    return [f"Budget and sources are those of profile {params.profile}; profile paper has the paper's."]


def _of_frames(name: str, weights: dict[str, Any]) -> str:
    size = weights.get("random")
    images = "its own images"
    unlike = ""
    if size is not None:
        images = f"{size['image']} x {size['image']}"
        direct = 3 * size["patch"] ** 2
        unlike = f"its width being {size['width']} and not {direct}" if size["width"] != direct else ""
    elif weights:
        shown = weights.get("image")
        images = f"{shown} x {shown}" if shown else f"the images of {source(weights)}"
        unlike = "where its width is not three times a patch's pixels"
    words = [f"{name}'s errors are of frames resized to {images}, with the noise added before: compare arms,"]
    words.append("not models. Energies of noise are equal before resizing, which noise that neighbouring pixels")
    words.append("share survives better than white noise.")
    if unlike:
        words.append(f"Its tokens stand for patches through a fixed orthonormal unfolding, {unlike}.")
    return " ".join(words)
