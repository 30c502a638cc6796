"""The language model is the library's own, read out at every layer; what does not train stays as it was."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.utils._python_dispatch import TorchDispatchMode

from descent.errors import UserError
from descent.models.causal_lm import CausalLM, LoRA, adapted
from descent.tasks.lm.data import Instructions
from tests.fakes.lm import LAYERS, LORA, SIZE, VOCABULARY, built, enter_lm_project, llama, save_llama

FOLDER = Path("data/local/tiny")  # local_data of the parameters, and in it
SOURCE = {"weights": {"random": None, "path": "tiny"}}
IDS = torch.randint(VOCABULARY, (3, 9), generator=torch.Generator().manual_seed(1))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Instructions:
    return enter_lm_project(tmp_path, monkeypatch)


@pytest.mark.parametrize("tied", [False, True])
def test_states_and_logits_are_the_librarys(tied: bool) -> None:
    whole = llama(tied)
    with torch.no_grad():
        right = whole(input_ids=IDS, output_hidden_states=True)
        model = CausalLM(llama(tied)).eval()
        states = model.states(model.embed(IDS))
        assert len(states) == LAYERS + 1 == len(right.hidden_states)
        for ours, theirs in zip(states[:-1], right.hidden_states[:-1], strict=True):
            torch.testing.assert_close(ours[0], theirs)
        # The library's last hidden state has been through the norm, ours has not: the readout has the norm.
        torch.testing.assert_close(model.normalised(states[-1])[0], right.hidden_states[-1])
        torch.testing.assert_close(model.readout(states[-1])[0], right.logits)
        torch.testing.assert_close(
            model.readout(states[1])[0], whole.lm_head(whole.model.norm(right.hidden_states[1]))
        )


class Questions(TorchDispatchMode):
    """Counts what makes the host wait for the device: numbers and truths that are read from a tensor."""

    count = 0

    def __torch_dispatch__(
        self, func: object, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


def test_a_forward_does_not_ask_the_device() -> None:
    """The library's own asks whether texts are packed; what it then computes is the same to the bit."""
    model, whole = CausalLM(llama()).eval(), llama().eval()
    vectors = model.embed(IDS)
    with torch.no_grad(), Questions() as ours:
        states = model.states(vectors)
    with torch.no_grad(), Questions() as theirs:
        right = whole(inputs_embeds=vectors[0], use_cache=False, output_hidden_states=True).hidden_states
    assert (ours.count, theirs.count) == (0, 1)
    assert all(torch.equal(one[0], other) for one, other in zip(states[:-1], right[:-1], strict=True))


def test_every_parameter_has_a_cells_axis_and_a_tied_head_is_one_parameter() -> None:
    assert all(parameter.shape[0] == 1 for parameter in CausalLM(llama()).parameters())
    free, tied = (sum(p.numel() for p in CausalLM(llama(t)).parameters()) for t in (False, True))
    assert free - tied == VOCABULARY * SIZE["width"]
    assert tied == sum(p.numel() for p in llama(True).parameters())


def test_padding_behind_a_text_changes_nothing_in_it() -> None:
    model = CausalLM(llama()).eval()
    longer = torch.cat([IDS, torch.full((3, 4), 2)], dim=1)
    with torch.no_grad():
        for short, long in zip(model.states(model.embed(IDS)), model.states(model.embed(longer)), strict=True):
            torch.testing.assert_close(short, long[:, :, :9])


def test_of_a_model_with_adapters_they_alone_train_and_are_kept() -> None:
    plain = CausalLM(llama())
    model = CausalLM(adapted(llama(), LoRA(**LORA)))
    names = [name for name, _ in model.named_parameters()]
    assert names and all("lora" in name for name in names) and list(model.state_dict()) == names
    assert {name.split("/")[3] for name in names} == {
        "q_proj",
        "k_proj",
        "v_proj",
        "o_proj",
        "gate_proj",
        "up_proj",
        "down_proj",
    }
    assert not model.table.requires_grad and not model.head.requires_grad
    # The second matrix of a new adapter is zero: it begins as the model that it adapts.
    model.eval(), plain.eval()
    torch.testing.assert_close(model.states(model.embed(IDS))[-1], plain.states(plain.embed(IDS))[-1])
    before = {name: value.clone() for name, value in model.named_buffers()}
    step = torch.optim.AdamW(model.parameters(), lr=0.1)
    model.readout(model.states(model.embed(IDS))[-1]).square().mean().backward()
    step.step()
    assert all(torch.equal(value, before[name]) for name, value in model.named_buffers())
    assert not torch.equal(model.states(model.embed(IDS))[-1], plain.states(plain.embed(IDS))[-1])


def test_dropout_of_adapters_is_switched_with_the_model() -> None:
    model = CausalLM(adapted(llama(), LoRA(rank=2, scale=4.0, dropout=0.9)))
    for parameter in model.parameters():
        parameter.data.normal_()
    last = lambda: model.states(model.embed(IDS))[-1]  # noqa: E731
    model.train()
    assert not torch.equal(last(), last())
    model.eval()
    assert torch.equal(last(), last())


def test_random_weights_follow_the_seed_and_the_weights_of_a_folder_are_read(data: Instructions) -> None:
    one, two = (built(data) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    whole = save_llama(FOLDER)
    read = built(data, **SOURCE, lora=LORA)
    torch.testing.assert_close(read.table[0], whole.model.embed_tokens.weight.data)
    tied = save_llama(FOLDER, tied=True)
    torch.testing.assert_close(built(data, **SOURCE).head, tied.lm_head.weight)


def test_the_body_keeps_the_librarys_names_and_norm_and_head_are_the_models_own(data: Instructions) -> None:
    whole = save_llama(FOLDER)
    model = built(data, **SOURCE)
    theirs = {name.removeprefix("model.").removesuffix(".weight"): p for name, p in whole.named_parameters()}
    ours = {name.replace("/", ".").removesuffix(".weight"): p for name, p in model.named_parameters()}
    assert ours.keys() == theirs.keys() and {"norm", "lm_head"} < set(model.state_dict())
    assert all(torch.equal(ours[name][0], theirs[name]) for name in ours)


def spoil(change: str, folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    if change == "JSON":
        config = None
    elif change == "type":
        config |= {"hidden_size": "wide"}
    elif change == "weights":
        weights = load_file(folder / "model.safetensors")
        weights.pop("model.layers.1.self_attn.q_proj.weight")
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
    elif change == "file":
        (folder / "model.safetensors").unlink()
    else:
        config |= {"model_type": "gpt2"}
    (folder / "config.json").write_text(json.dumps(config) if config else "{")


@pytest.mark.parametrize(
    ("changes", "spoiled", "told"),
    [
        ({}, "architecture", "is a 'gpt2', not a 'llama'"),
        ({}, "weights", "has no weights for model.layers.1.self_attn.q_proj.weight"),
        ({}, "file", "cannot be loaded: it should be a folder with config.json and model.safetensors"),
        ({}, "JSON", "cannot be loaded: it should be a folder with config.json and model.safetensors"),
        ({}, "type", "cannot be loaded: it should be a folder with config.json and model.safetensors"),
        ({"num_hidden_layers": 2}, "", "has 2 layers, the profile's models.causal_lm.layers says 3"),
        ({"vocab_size": VOCABULARY - 1}, "", "name the model's own tokenizer"),
        ({"eos_token_id": 5}, "", r"ends with \[5\]"),
        ({"max_position_embeddings": 20}, "", "reads at most 20 tokens"),
    ],
)
def test_a_folder_with_another_model_is_told(changes: dict, spoiled: str, told: str, data: Instructions) -> None:
    save_llama(FOLDER, **changes)
    if spoiled:
        spoil(spoiled, FOLDER)
    with pytest.raises(UserError, match=told) as error:
        built(data, **SOURCE)
    assert "\n" not in str(error.value) and "data/local/tiny" in str(error.value)


def test_without_the_hub_the_local_way_is_told(data: Instructions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="name it with `path` in place of `hub`"):
        built(data, weights={"random": None, "hub": {"id": "nobody/nothing-at-all"}})
