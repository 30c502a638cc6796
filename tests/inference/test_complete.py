"""A prompt of one's own is completed as the library would, in the words around it of training."""

from pathlib import Path

import pytest
import torch

from descent.errors import UserError
from descent.inference.complete import completion
from descent.models.causal_lm import CausalLM
from tests.fakes.lm import LONGEST, cell, enter_lm_project, llama, lm_params

MOST = 5


@pytest.mark.parametrize("asked", ["add 1 2", "name a colour"])
def test_it_is_the_librarys_greedy_completion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    data = enter_lm_project(tmp_path / "project", monkeypatch)
    params = lm_params({"lm.completions.max_tokens": MOST})
    speaker = data.speaker()
    (ids,) = speaker.encode([f"Instruction: {asked}\nResponse:\n"])
    ids = [data.begin, *ids]
    right = llama().generate(
        torch.tensor([ids]), max_new_tokens=MOST, do_sample=False, eos_token_id=data.end, pad_token_id=data.end
    )[0, len(ids) :]
    found = completion(params, cell()[0], CausalLM(llama()).eval(), asked)
    assert len(ids) + MOST <= LONGEST and found == speaker.decode(right.tolist()).strip()


def test_a_prompt_that_cannot_be_completed_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_lm_project(tmp_path / "project", monkeypatch)
    net = CausalLM(llama()).eval()
    for asked, words in ((" ", "nothing to complete"), ("add " * LONGEST, "ask in fewer words")):
        with pytest.raises(UserError, match=words):
            completion(lm_params(), cell()[0], net, asked)
