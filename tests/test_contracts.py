"""Every component that the open places hold keeps its place's contract, whatever its name."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from descent import components
from descent.cells import grid
from descent.components import PLACES
from descent.models.parts.inputs import LMInputs, TextInputs, VideoInputs
from descent.models.parts.text import Embedded
from descent.schema import validated
from descent.tasks.common.items import budget_of, setting, settings_by_arm
from descent.training.arm import Base
from tests.fakes import known

PARAMS = known.params()
EVERY = [(place, name) for place in PLACES for name in components.names(place)]
MODELS, ARMS = (components.names(place) for place in ("models", "arms"))
BATCH, TOKENS, WORDS = 3, 5, 320
SEEDS = (7, 11)


@pytest.mark.parametrize(("place", "name"), EVERY)
def test_a_component_has_what_every_file_of_its_folder_has_and_a_label_that_is_read_without_importing_it(
    place: str, name: str
) -> None:
    module = components.load(place, name)
    assert module.LABEL == components.declared(place, name)["LABEL"] != ""


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_maps_layer_losses_to_one_number_a_cell_and_resumes_what_it_remembers(name: str) -> None:
    module, layers, device = components.load("arms", name), 4, torch.device("cpu")
    values = [_arm_settings(name)] * 3
    f = torch.rand(3, layers + 1).requires_grad_()

    def arm() -> Base:
        return module.Arm(values, layers, device)

    first, alive = arm(), torch.ones(3, dtype=torch.bool)
    epoch = 5  # behind any warm-up
    objective = first.objective(f, epoch)
    assert objective.shape == (3,)
    objective.sum().backward()
    below = f.grad[:, :-1].abs().sum()
    first.update(lambda: f.detach(), alive, epoch)
    first.objective(f, epoch)
    assert module.ALL_LAYERS or below == 0
    assert first.worst(f.detach()).shape == (3,)
    assert all(value.shape == f.shape for value in first.end_epoch(f.detach(), f.detach()).values())
    second = arm()
    second.load_state_dict(first.state_dict())
    assert torch.equal(first.objective(f, epoch), second.objective(f, epoch))


@pytest.mark.parametrize("name", ARMS)
def test_the_settings_of_an_arm_and_of_a_model_refuse_an_unknown_key(name: str) -> None:
    schema = components.load("arms", name).Settings
    values = _arm_settings(name).model_dump() | {"colour": "blue"}
    with pytest.raises(Exception, match="colour: unknown key"):
        validated(schema, values, name)


@pytest.mark.parametrize("name", ARMS)
def test_a_stack_of_an_arm_is_its_cells_side_by_side(name: str) -> None:
    module, f = components.load("arms", name), torch.rand(2, 4)
    values = [_arm_settings(name), _arm_settings(name)]
    whole = module.Arm(values, 3, torch.device("cpu")).objective(f, 5)
    single = [module.Arm([own], 3, torch.device("cpu")).objective(f[[cell]], 5) for cell, own in enumerate(values)]
    assert torch.allclose(whole, torch.cat(single))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_all_its_states_by_design_and_one_readout_reads_them_all(name: str) -> None:
    task = PARAMS.task_of(name)
    for seeds in _stacks(name):
        net, layers = _model(name, seeds)
        states = net.states(_batch(net, task, name, len(seeds)))
        assert len(states) == layers + 1
        answers = [_read(net, state) for state in states]
        assert {answer.shape for answer in answers} == {answers[0].shape} and len(answers[0]) == len(seeds)
        assert all(answer.isfinite().all() for answer in answers)
        assert all(len(parameter) == len(seeds) for parameter in net.parameters())


@pytest.mark.parametrize("name", MODELS)
def test_the_cells_of_a_model_s_stack_are_single_models(name: str) -> None:
    task = PARAMS.task_of(name)
    if SEEDS not in _stacks(name):
        with pytest.raises(ValueError, match="too many values"):  # it is one cell, and takes no two seeds for one
            _model(name, SEEDS)
        return
    whole, _ = _model(name, SEEDS)
    for cell, seed in enumerate(SEEDS):
        alone, _ = _model(name, (seed,))
        for parameter, own in zip(whole.parameters(), alone.parameters(), strict=True):
            assert torch.equal(parameter[cell], own[0])
        inputs = _batch(alone, task, name, 1)
        both = _batch(whole, task, name, 2)
        for state, of_one in zip(whole.states(both), alone.states(inputs), strict=True):
            assert torch.allclose(_read(whole, state)[cell], _read(alone, of_one)[0], atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_from_its_state(name: str) -> None:
    seeds, task = _stacks(name)[-1], PARAMS.task_of(name)
    net, _ = _model(name, seeds)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.01 * torch.ones_like(parameter))
    other, _ = _model(name, seeds)
    other.load_state_dict(net.state_dict())
    one, two = (_read(n, n.states(_batch(n, task, name, len(seeds)))[-1]) for n in (net, other))
    assert torch.equal(one, two)


@pytest.mark.parametrize("name", MODELS)
def test_the_sections_of_a_model_are_strict(name: str) -> None:
    module = components.load("models", name)
    own = {module.Settings: PARAMS.model_settings(name, PARAMS.arms[0]), module.Budget: PARAMS.model_budget(name)}
    for schema, values in own.items():
        validated(schema, values, name)
        with pytest.raises(Exception, match="colour: unknown key"):
            validated(schema, values | {"colour": "blue"}, name)


def test_a_component_that_is_not_there_or_broken_ends_in_one_sentence_with_the_known_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Exception, match="unknown name 'pepper'; known: blur, brightness"):
        components.load("shifts", "pepper")
    folder = tmp_path / "shifts"
    folder.mkdir()
    (folder / "mute.py").write_text("TASKS = ('video',)\n")
    (folder / "torn.py").write_text("LABEL = (\n")
    monkeypatch.setattr(components, "HERE", tmp_path)
    with pytest.raises(Exception, match=r"mute\.py has no LABEL"):
        components.declared("shifts", "mute")
    (folder / "mute.py").write_text("LABEL = 'quiet'\nTASKS = ('video',)\n")
    with pytest.raises(Exception, match=r"mute\.py has no ENERGY: every file of that folder has"):
        components.declared("shifts", "mute")
    (folder / "lost.py").write_text("LABEL, TASKS, ENERGY = 'lost', ('video',), True\n")
    with pytest.raises(Exception, match=r"lost\.py has no LABEL"):
        components.declared("shifts", "lost")
    (folder / "lost.py").write_text("LABEL = 'lost'\nTASKS = ('video',)\nENERGY = True\nLIKE = 'mut'\n")
    with pytest.raises(Exception, match=r"LIKE in .*lost\.py: unknown name 'mut'; known: lost, mute"):
        components.declared("shifts", "lost")
    with pytest.raises(Exception, match=r"torn\.py is not Python"):
        components.declared("shifts", "torn")


def test_no_module_names_a_component_that_has_a_file_of_its_own() -> None:
    """Names of components stand in their own files and in params.yaml; a figure may name what the paper shows."""
    words = {name for place in PLACES for name in components.names(place)}
    found = []
    source = Path(components.__file__).parent
    for file in source.rglob("*.py"):
        place = ".".join(file.relative_to(source).parent.parts)
        if place in PLACES or place.startswith("figures") or place == "models.parts":
            continue  # figures have a test of their own; parts know the library's architectures
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and node.value in words:
                found.append(f"{file.relative_to(source)}:{node.lineno} {node.value}")
    # TRAINED, what rows that say nothing of a shift hold, the words around an instruction named as their set, and
    # the columns of the paper's own tables.
    allowed = {"components.py", "analysis/results.py", "tasks/lm/prompts.py", "tasks/lm/schema.py"}
    allowed |= {"costs/devices.py"}  # the step by which devices are compared
    allowed |= {"analysis/paper_tables.py", "published/paper_section.py"}
    assert [line for line in found if line.split(":")[0] not in allowed] == []


def _arm_settings(name: str) -> Any:
    model = PARAMS.video.models[0]
    values = PARAMS.objective(name, PARAMS.video.datasets[0], model)
    values.pop("lr", None)
    return validated(components.load("arms", name).Settings, values, name)


def _stacks(name: str) -> list[tuple[int, ...]]:
    """Of a model that stacks, one cell and two; of a library's, one."""
    return [SEEDS[:1], SEEDS] if hasattr(components.load("models", name), "width") else [SEEDS[:1]]


def _inputs(name: str) -> Any:
    return {
        "video": VideoInputs(PARAMS.video.frame.patch, ""),
        "text": TextInputs("texts", "words", WORDS, 0, 3, TOKENS, ""),
        "lm": LMInputs(WORDS, 1, 2, TOKENS, ""),
    }[PARAMS.task_of(name)]


def _budget(name: str) -> Any:
    return budget_of(PARAMS, name)


def _model(name: str, seeds: tuple[int, ...]) -> tuple[nn.Module, int]:
    budget = _budget(name)
    layers = min(budget.layers)
    own = settings_by_arm(PARAMS, name)[PARAMS.arms[0]]
    return components.load("models", name).build(own, budget, _inputs(name), layers, seeds).eval(), layers


def _batch(net: nn.Module, task: str, name: str, cells: int) -> Any:
    numbers = torch.Generator().manual_seed(3)
    if task == "video":
        frames = components.declared("models", name)["INPUTS"] == "frames"
        shape = (PARAMS.video.frame.size,) * 2 if frames else (TOKENS, PARAMS.video.frame.patch**2)
        return torch.rand(1, BATCH, *shape, generator=numbers).expand(cells, -1, -1, -1)
    ids = torch.randint(3, WORDS, (BATCH, TOKENS), generator=numbers)
    embedded = net.embed(ids)
    embedded = embedded.expand(cells, *embedded.shape[1:])
    return Embedded(embedded, torch.ones(BATCH, TOKENS, dtype=torch.bool)) if task == "text" else embedded


def _read(net: nn.Module, state: Any) -> Tensor:
    return net.readout(state).detach()


def test_every_arm_of_params_sets_every_model_of_params() -> None:
    for task in components.TASKS:
        section = getattr(PARAMS, task)
        for dataset in section.datasets:
            for model in section.models:
                for cell in grid(PARAMS, task, dataset, model):
                    assert json.dumps(setting(PARAMS, cell).definition())


def test_no_two_components_share_a_name() -> None:
    """A label is found by the name alone."""
    every = [name for said in components.describe().values() for name in said]
    assert len(every) == len(set(every)) and PARAMS.label("ucsd") == "UCSD" and PARAMS.label("gone") == "gone"


def test_sentences_name_models_and_data_sets_by_their_labels() -> None:
    """Whole words alone: dust is in dust_overcomplete, and ut in much."""
    told = PARAMS.in_words("constrained dust_overcomplete on ucsd, but not ut or much of dust")
    assert told == "constrained DUST, overcomplete on UCSD, but not UT or much of DUST"
