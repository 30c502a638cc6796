"""P9: the constrained problems were solved, as far as complementary slackness tells."""

from descent.analysis.case import Case
from descent.analysis.enforced import ENOUGH

MOST = 0.1  # `slackness` of a cell that counts as solved; no solution has any, and training does not end at one


def solved(case: Case) -> str:
    """P9: enough constrained cells end near complementary slackness; of a study that varies a value, enough of
    each value's. A lost cell solves nothing.

    Constraints can hold, be active (P3) and have come to rest (P4) while multipliers that an earlier, tighter
    problem drove up still weigh on the loss. Parts published before 2026-11-28 have no such number, and are not
    asked.
    """
    ours = case.of_arm("ours")
    if not case.claim.enforced or ours["slackness"].isna().all():
        return ""
    compared = bool((case.pairs["varied"] != "").any())
    near = (ours["slackness"] <= MOST) & ~ours["lost"]
    by = near.groupby(ours["varied"] if compared else ours["experiment"])
    if (by.mean() >= ENOUGH).all():
        return ""
    worst = by.mean().idxmin()
    return (
        f"{by.sum()[worst]} of {by.size()[worst]} constrained cells{f' at {worst}' if compared else ''} end near "
        f"complementary slackness (at most {MOST:g}), where {ENOUGH:.0%} must"
    )
