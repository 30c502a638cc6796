"""python -m stages.check_store: look at every finished cell and score; what is damaged is set aside."""

from descent import errors
from descent.analysis import results
from descent.runner import integrity, store


def main() -> None:
    """Tell how many are whole. The next run makes again what was set aside and is asked for."""
    found = list(integrity.survey(store.root(), results.COLUMNS))
    damaged = [(place, why) for place, why in found if why]
    for place, why in damaged:
        integrity.set_aside(place, why)
    print(f"{store.root()}: {len(found) - len(damaged)} whole, {len(damaged)} damaged and set aside")


if __name__ == "__main__":
    errors.run(main)
