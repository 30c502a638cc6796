"""What the name of a study promises is kept, or refused when the file is read."""

import pytest

from descent.study import Study, broken

PAIR = ("constrained", "unconstrained")
AS_IT_IS = {
    "task": "video",
    "dataset": "ucsd",
    "model": "ut",
    "layers": 3,
    "eps": 0.13,
    "arm": "constrained",
    "beside": ["unconstrained"],
    "vary": None,
    "overrides": {},
    "values": [],
    "seeds": [0],
}
RATES = {"vary": "lr", "values": [0.001]}


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        ("plateau_ut", {"times": 2}, ""),
        ("plateau_ut", {"times": 3}, "set times: 2"),
        ("plateau_ut", {"times": 2, "overrides": {"alpha": 0.3}}, "let it vary and override nothing"),
        ("plateau_ut", {"times": 2} | RATES, "let it vary and override nothing"),
        ("rates_ut", RATES, ""),
        ("rates_ut", RATES | {"beside": []}, ""),
        ("rates_ut", {"vary": "dual_lr", "values": [0.1]}, "set vary: lr"),
        ("controls_rates_ut", RATES, ""),
        ("controls_rates_ut", {"named": {"slow": {"lr": 0.001}}}, "set vary: lr"),
        ("controls_rates_ut", RATES | {"beside": ["replay"]}, "compares constrained and unconstrained"),
        ("controls_readings_ut", {"named": {"usual": {}}}, ""),
        ("controls_readings_ut", {"named": {"usual": {}}, "beside": []}, "have both in arm and beside"),
        ("controls_video", {"beside": ["replay"]}, ""),
        ("alpha", {"vary": "alpha", "values": [0.1]}, ""),
    ],
)
def test_a_name_promises_what_p4_p6_and_the_pages_read(name: str, changes: dict, told: str) -> None:
    found = broken(name, Study.model_validate(AS_IT_IS | changes), PAIR)
    assert (found == "") == (told == "") and told in found
