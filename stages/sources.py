"""python -m stages.sources: what the profile in use needs from outside, before anything is made."""

from descent import config, errors, inventory
from descent.published import set_aside


def main() -> None:
    """Print what is there and what will be fetched; end where something is missing, with where to put it. What a
    killed `make programme` has left of the user's params.yaml is put back before."""
    set_aside.restore()
    print("\n".join(inventory.told(config.load())))


if __name__ == "__main__":
    errors.run(main)
