"""The sections of params.yaml about where stacks are trained; none of them changes a number."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from descent.schema import Schema

Portion = Annotated[float, Field(gt=0, le=1)]


def _for_all(shares: dict[str, Any]) -> dict[str, Any]:
    if "default" not in shares:
        raise ValueError("`default`, the share of every other model, is missing")
    return shares


Shares = Annotated[dict[str, Portion], AfterValidator(_for_all)]
ALONE = {"default": 1.0}


class Ray(Schema):
    """A Ray cluster: where its head answers, and how often a stack goes on whose worker was lost."""

    address: str = "auto"
    retries: Annotated[int, Field(ge=0)] = 3
