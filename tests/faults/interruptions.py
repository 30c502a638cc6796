"""Interruptions."""

from pathlib import Path


def campaign(folder: Path) -> dict[str, str]:
    return {}
