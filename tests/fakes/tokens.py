"""Demo texts, and a tokenizer of either kind trained on them."""

from descent.tasks.text import tokenizers
from descent.tasks.text.schema import GenerateTexts, TokenizerSource, TrainTokenizer
from descent.tasks.text.synthetic import texts as synthetic_text

DEMO = {
    name: synthetic_text.generate(name, GenerateTexts(seed=3, train_texts=300, test_texts=40))
    for name in ("imdb", "mnli")
}
SOURCES = {kind: TokenizerSource(train=TrainTokenizer(kind=kind, vocabulary=400)) for kind in ("wordpiece", "bpe")}
TRAINED = {kind: tokenizers.build(source, DEMO["imdb"]["train"]["text"], "") for kind, source in SOURCES.items()}
