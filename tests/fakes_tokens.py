"""Demo texts, and a tokenizer of either kind trained on them."""

from descent.datasets import synthetic_text, tokenizers
from descent.schema_text import GenerateTexts, TokenizerSource, TrainTokenizer

DEMO = {
    name: synthetic_text.generate(name, GenerateTexts(seed=3, train_texts=300, test_texts=40))
    for name in ("imdb", "mnli")
}
SOURCES = {kind: TokenizerSource(train=TrainTokenizer(kind=kind, vocabulary=400)) for kind in ("wordpiece", "bpe")}
TRAINED = {kind: tokenizers.build(source, DEMO["imdb"]["train"]["text"], "") for kind, source in SOURCES.items()}
