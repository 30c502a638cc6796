"""What a verdict rests on beside its pairs."""

from descent.analysis import grounds
from descent.analysis.select import select
from tests.fakes.evidence import Made, real_params
from tests.fakes.results import change


def test_a_claim_counts_the_items_of_the_data_set_that_has_the_fewest() -> None:
    rows = Made(6).video(gain=0.01, models=("ut",)).table()
    change(rows, 12.0, dataset="ucsd", metric="test_items")
    _, facts = grounds.of_results(rows, real_params())
    told = select(facts, claim="video_ood").set_index("dataset")["resampled"]
    assert told["ucsd"] == told[grounds.WHOLE] == 12 and told.drop(["ucsd", grounds.WHOLE]).tolist() == [40]
