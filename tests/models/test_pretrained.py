"""One way for all of the library's modules: how they are read, what is told, and whose tensors are whose."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import (
    DistilBertConfig,
    DistilBertModel,
    LlamaForCausalLM,
    PreTrainedModel,
    RobertaConfig,
    RobertaModel,
    ViTModel,
)

from descent.errors import UserError
from descent.models import causal_lm, distilbert, roberta, vit
from descent.models.parts.inputs import Pretrained
from descent.models.parts.pretrained import PretrainedBackbone, checked, configuration, load
from tests.fakes.lm import llama
from tests.fakes.vit import library as tiny_vit

SMALL = {"vocab_size": 14, "num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 8}
LOADED: dict[str, tuple[type[PreTrainedModel], Callable[[], PreTrainedModel], dict[str, bool]]] = {
    "vit": (ViTModel, tiny_vit, {"add_pooling_layer": False}),
    "distilbert": (DistilBertModel, lambda: DistilBertModel(DistilBertConfig(**SMALL, hidden_dim=12)), {}),
    "roberta": (
        RobertaModel,
        lambda: RobertaModel(RobertaConfig(**SMALL, intermediate_size=12), add_pooling_layer=False),
        {"add_pooling_layer": False},
    ),
    "llama": (LlamaForCausalLM, llama, {}),
}
BROKEN = {
    "no JSON": "{",
    "no section": "3",
    "of no kind": "{}",
    "of an unknown kind": '{"model_type": "no such thing"}',
    "of a wrong type": '{"model_type": "NAME", "num_hidden_layers": "two", "n_layers": "two"}',
    "of an unknown precision": '{"model_type": "NAME", "torch_dtype": "wide"}',
}


def source(name: str) -> Pretrained:
    return Pretrained(path=name)


def test_all_models_of_the_library_are_one_kind_of_cell() -> None:
    assert issubclass(vit.ViT, PretrainedBackbone) and issubclass(causal_lm.CausalLM, PretrainedBackbone)
    assert issubclass(distilbert.Encoder, PretrainedBackbone) and distilbert.Encoder is roberta.Encoder


@pytest.mark.parametrize("name", LOADED)
def test_a_folders_weights_are_read_and_none_may_be_missing(name: str, tmp_path: Path) -> None:
    kind, make, options = LOADED[name]
    body = make()
    body.save_pretrained(tmp_path / name)
    config = configuration(source(name), str(tmp_path))
    read = dict(load(kind, source(name), str(tmp_path), config, **options).named_parameters())
    right = dict(body.named_parameters())
    assert read.keys() == right.keys() and all(torch.equal(read[key], right[key]) for key in right)
    file = tmp_path / name / "model.safetensors"
    weights = load_file(file)
    lost = sorted(key for key in weights if "norm" in key.lower())[0]
    save_file({key: value for key, value in weights.items() if key != lost}, file, {"format": "pt"})
    with pytest.raises(UserError, match="has no weights for") as error:
        load(kind, source(name), str(tmp_path), config, **options)
    assert ".".join(lost.split(".")[-2:]) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", LOADED)
def test_a_broken_folder_ends_in_one_sentence(name: str, tmp_path: Path) -> None:
    kind, make, options = LOADED[name]
    make().save_pretrained(tmp_path / "right")
    config = configuration(source("right"), str(tmp_path))
    weights = tmp_path / "right" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:200])
    told = []
    with pytest.raises(UserError) as error:
        load(kind, source("right"), str(tmp_path), config, **options)
    told.append(str(error.value))
    for folder, text in BROKEN.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(text.replace("NAME", name))
        with pytest.raises(UserError) as error:
            configuration(source(folder), str(tmp_path))
        told.append(str(error.value))
    for folder, message in zip(["right", *BROKEN], told, strict=True):
        assert message.startswith(f"{tmp_path / folder} cannot be loaded: it should be a folder with config.json")
        assert "\n" not in message


@pytest.mark.parametrize("name", LOADED)
def test_another_architecture_or_depth_than_asked_is_told(name: str, tmp_path: Path) -> None:
    layers = LOADED[name][1]().config.num_hidden_layers
    LOADED[name][1]().config.save_pretrained(tmp_path / "right")
    config, where = checked(source("right"), str(tmp_path), name, layers, "ours")
    assert (config.num_hidden_layers, where) == (layers, tmp_path / "right")
    with pytest.raises(UserError, match=f"is a '{name}', not a 'other': .* models.ours.weights"):
        checked(source("right"), str(tmp_path), "other", layers, "ours")
    with pytest.raises(UserError, match=f"has {layers} layers, .* models.ours.layers says 9"):
        checked(source("right"), str(tmp_path), name, 9, "ours")


class Body(nn.Module):
    """Answers with its trained weight, its frozen one and its buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Module()
        self.inner.moves = nn.Parameter(torch.tensor([2.0, 3.0]))
        self.inner.rests = nn.Parameter(torch.tensor([5.0, 7.0]), requires_grad=False)
        self.register_buffer("place", torch.tensor([1.0, 0.0]))

    def forward(self, x: torch.Tensor, return_dict: bool) -> torch.Tensor:
        assert return_dict
        return x * self.inner.moves * self.inner.rests + self.place


class Own(PretrainedBackbone):
    """Has a parameter beside the library's."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__(body)
        self.keep("norm", nn.Parameter(torch.ones(2)))


def test_what_trains_is_a_parameter_with_a_cells_axis_and_the_rest_is_not_kept() -> None:
    model = Own(Body())
    assert {name: tuple(value.shape) for name, value in model.state_dict().items()} == {
        "inner/moves": (1, 2),
        "norm": (1, 2),
    }
    assert {name for name, _ in model.named_buffers()} == {"inner/rests", "place"}
    found = model.call(x=torch.ones(2))
    torch.testing.assert_close(found, torch.tensor([11.0, 21.0]))
    found.sum().backward()
    torch.testing.assert_close(model.get_parameter("inner/moves").grad, torch.tensor([[5.0, 7.0]]))
    assert model.norm.grad is None, "what a subclass keeps is not lent to the library's module"


def test_the_librarys_module_is_a_shape_alone() -> None:
    model = Own(Body())
    assert all(value.is_meta for value in model._body[0].state_dict().values())
    model.load_state_dict({name: 2 * value for name, value in model.state_dict().items()})
    torch.testing.assert_close(model.call(x=torch.ones(2)), torch.tensor([21.0, 42.0]))
    model.eval()
    assert not model._body[0].training and model.train()._body[0].training


def saved(folder: Path, name: str = "llama") -> Path:
    """A folder with a tiny model of this kind."""
    LOADED[name][1]().save_pretrained(folder)
    return folder


def test_code_beside_a_model_is_never_run(tmp_path: Path) -> None:
    folder, ran = saved(tmp_path / "odd"), tmp_path / "ran"
    words = json.loads((folder / "config.json").read_text())
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\nclass Own: pass\n")
    for kind in ("llama", "of my own"):
        changed = words | {"model_type": kind, "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Own"}}
        (folder / "config.json").write_text(json.dumps(changed))
        with suppress(UserError):  # of a kind that the library knows its own class is taken
            configuration(Pretrained(path=str(folder)), "")
        assert not ran.exists()


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "pickled")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    own = Pretrained(path=str(folder))
    with pytest.raises(UserError, match=r"cannot be loaded.*model\.safetensors"):
        load(LlamaForCausalLM, own, "", configuration(own, ""))


def test_a_folder_that_is_not_there_is_not_asked_of_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("socket.socket.connect", lambda *words: pytest.fail("the network was asked"))
    with pytest.raises(UserError, match="there is no folder local/w"):
        configuration(Pretrained(path="w"), "local")


def test_weights_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    folder = saved(tmp_path / "torn")
    tensors = load_file(folder / "model.safetensors")
    tensors["model.norm.weight"][0] = torch.nan
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    own = Pretrained(path=str(folder))
    with pytest.raises(UserError, match=r"model\.norm\.weight holds NaN"):
        load(LlamaForCausalLM, own, "", configuration(own, ""))
