"""Demo texts, and a tokenizer of either kind trained on them."""

from descent import components
from descent.schema import TokenizerSource, TrainTokenizer
from descent.tasks.text import tokenizers
from descent.tasks.text.schema import GenerateTexts
from descent.tasks.text.synthetic import texts

KNOWN = {name: components.load("tasks.text.datasets", name) for name in components.names("tasks.text.datasets")}
DEMO = {
    name: texts.generate(
        name, len(known.CLASSES), known.write, GenerateTexts(seed=3, train_texts=300, test_texts=40)
    )
    for name, known in KNOWN.items()
    if hasattr(known, "write")
}
SOURCES = {kind: TokenizerSource(train=TrainTokenizer(kind=kind, vocabulary=400)) for kind in ("wordpiece", "bpe")}
TRAINED = {kind: tokenizers.build(source, DEMO["imdb"]["train"]["text"], "") for kind, source in SOURCES.items()}
