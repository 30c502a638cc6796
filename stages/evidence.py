"""python -m stages.evidence: a finished run on real data to data/evidence; no stage of the DAG."""

from descent import config, errors
from descent.published.publishing import publish


def main() -> None:
    """Publish the run that params.yaml asks for."""
    print(f"{publish(config.load())}: published; README.md begins with it")


if __name__ == "__main__":
    errors.run(main)
