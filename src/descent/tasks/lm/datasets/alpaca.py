"""Alpaca: instructions with responses; AlpacaEval's prompts beside it."""

from descent.tasks.lm.synthetic import instructions

LABEL = "Alpaca"
TREE = "alpaca_data.json (a list of objects with instruction, input and output; .jsonl and .parquet are read too)"
ADDRESS = "https://github.com/tatsu-lab/stanford_alpaca"
SIZE = {"train": 52002, "tokens": 130}  # instructions, and about how long they are, for estimates
INSTRUCTIONS = ("alpaca_data", "train", "instructions")
PROMPTS = ("alpaca_eval", "eval", "prompts")
generate = instructions.generate
