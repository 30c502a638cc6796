"""Why a precondition keeps a model out, in the few words that fit a figure."""

from descent.analysis.preconditions import UNKNOWN_SIZE

# by a part of the sentences of preconditions, enforced, solved, learned and tuning; the first that fits
BRIEF = {
    "are feasible on validation data": "constraints do not hold",
    "must have both": "constraints do not hold",
    "cells are lost": "diverged without constraints",
    "whether the constraints were active": "constraints not recorded",
    "complementary slackness": "constraints not solved",
    "no study of twice": "not trained for longer",
    "are missing": "not trained for longer",
    "diverged in twice": "diverged when trained for longer",
    "diverged in the epochs": "diverged",
    "that the grid lacks": "trained for longer in other cells",
    "twice the epochs lower": "training had not ended",
    "trained without noise": "trained without noise",
    "better than doing nothing": "hardly better than doing nothing",
    "better than the most frequent": "hardly better than guessing",
    "noise costs less": "noise costs it little",
    "are not measured": "nothing to compare with",
    "no shift both": "no shift tells",
    "are trials of a search": "seeds are trials",
    "unequal trials": "unequal trials",
    "tried unlike": "unequal trials",
    "seeds that pairs have": "rates tried on the seeds compared",
    "tried with": "unequal trials",
    "capacity": "unequal capacity",
    UNKNOWN_SIZE: "size unknown",
}


def in_brief(why: str) -> str:
    """What failed in a few words, of the sentences of P3 to P6 and P8 to P10; any other stays as it is."""
    told = [next((words for part, words in BRIEF.items() if part in said), said) for said in why.split("; ")]
    return ", ".join(dict.fromkeys(told))
