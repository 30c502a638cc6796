"""Modules of the transformers library as our models: where their weights come from, and one as a single cell."""

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from safetensors import SafetensorError
from torch import nn
from torch.func import functional_call
from transformers import AutoConfig, PretrainedConfig, PreTrainedModel
from transformers.utils import logging

from descent.errors import UserError
from descent.io.downloads import local
from descent.tasks.text.schema import Hub

BODY = 4  # of the streams of initial weights

logging.set_verbosity_error()  # it warns of the pretraining heads that are left behind
logging.disable_progress_bar()


@runtime_checkable
class Source(Protocol):
    """Of weights: a local folder, or a repository of the hub; neither for random ones."""

    path: str | None
    hub: Hub | None


class Borrowed(nn.Module):
    """One cell: a library's module under our contract, every parameter with a cells axis of length one.

    The library's module keeps its structure alone; weights and buffers live here and are lent to it at each call.
    """

    def __init__(self, body: PreTrainedModel) -> None:
        super().__init__()
        for name, value in body.named_parameters():
            self.register_parameter(name.replace(".", "/"), nn.Parameter(value.detach()[None].clone()))
        for name, value in body.named_buffers():
            self.register_buffer(name.replace(".", "/"), value, persistent=False)
        self._body = (body.to("meta"),)  # in a tuple, so that its empty parameters are not counted as ours

    def train(self, mode: bool = True) -> "Borrowed":
        """Dropout on or off, in the library's module too."""
        self._body[0].train(mode)
        return super().train(mode)

    def hidden_states(self, **inputs: Any) -> tuple[Any, ...]:
        """X_0 ... X_L as the library gives them, without a cells axis: what enters the first layer comes first."""
        lent = {name.replace("/", "."): value.squeeze(0) for name, value in self.named_parameters(recurse=False)}
        lent |= {name.replace("/", "."): value for name, value in self.named_buffers(recurse=False)}
        asked = inputs | {"output_hidden_states": True, "return_dict": True}
        return functional_call(self._body[0], lent, kwargs=asked).hidden_states


def place(source: Source, local_data: str) -> tuple[Path | str, str | None]:
    """What the library loads from, a folder or a hub id, and the revision."""
    if source.hub is not None:
        return source.hub.id, source.hub.revision
    return local(local_data, source.path), None


def configuration(source: Source, local_data: str) -> PretrainedConfig:
    """The configuration of a pretrained model.

    Raises:
        UserError: it cannot be read.
    """
    where, revision = place(source, local_data)
    try:
        return AutoConfig.from_pretrained(where, revision=revision)
    except (OSError, ValueError) as error:
        raise UserError(_unreadable(where, error)) from None


def check(config: PretrainedConfig, where: Path | str, model: str, layers: int, section: str) -> None:
    """Raises UserError for another architecture or depth than those of `section` in params.yaml."""
    if config.model_type != model:
        raise UserError(
            f"{where} is a {config.model_type!r}, not a {model!r}: name another source under "
            f"{section}.weights in params.yaml"
        )
    if config.num_hidden_layers != layers:
        raise UserError(
            f"{where} has {config.num_hidden_layers} layers, {section}.layers says {layers}: make them agree in "
            "params.yaml"
        )


def load(
    kind: type[PreTrainedModel], source: Source, local_data: str, config: PretrainedConfig, **options: Any
) -> PreTrainedModel:
    """A pretrained model of this configuration, all of its weights found.

    Raises:
        UserError: the weights cannot be read, or some are missing.
    """
    where, revision = place(source, local_data)
    try:
        body, told = kind.from_pretrained(
            where, revision=revision, config=config, output_loading_info=True, **options
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise UserError(_unreadable(where, error)) from None
    if told["missing_keys"]:
        raise UserError(f"{where} has no weights for {sorted(told['missing_keys'])[0]}: it is of another model")
    return body


def _unreadable(where: Path | str, error: Exception) -> str:
    reason = str(error).strip().splitlines()[0]
    if isinstance(where, Path):
        wanted = "config.json and model.safetensors, as the Hugging Face hub has them"
        return f"{where} cannot be loaded: it should be a folder with {wanted} ({reason})"
    return (
        f"the model {where!r} cannot be loaded from the Hugging Face hub ({reason}). Without a network put its "
        "files (config.json, model.safetensors) into a folder under local_data and name it with `path` in place "
        "of `hub` in params.yaml"
    )
