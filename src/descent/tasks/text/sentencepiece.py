"""A vocabulary of SentencePiece's byte-pair merges as a tokenizer.

`tokenizer.vocab` is the text that SentencePiece's trainer writes beside a model: a piece a line, a tab, its score.
"""

import re
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

from descent.errors import UserError
from descent.io.failures import told

FILE = "tokenizer.vocab"
SPACE = "▁"  # stands for a space, and begins every text
CONTROL = ("<unk>", "<s>", "</s>", "<pad>")
NAMES = {"bos_token": "<s>", "eos_token": "</s>"}  # the trainer's own, where no file beside it says otherwise
BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def read(path: Path) -> Tokenizer:
    """The tokenizer of a vocabulary file; a character that it has not is its bytes, where it has those.

    Two neighbouring pieces become one where the vocabulary has it, those first whose union has the highest score.
    Where a piece can be had from several pairs, these rank one after another, which SentencePiece does not do: a
    text in which two of them overlap may be cut otherwise.

    Raises:
        UserError: it cannot be read, or holds something else (a unigram model's scores are no ranks).
    """
    scores = _scores(path)
    numbers = {piece: number for number, piece in enumerate(scores)}
    whole = [piece for piece in scores if piece not in CONTROL and not BYTE.fullmatch(piece)]
    merges = []
    for piece in sorted(whole, key=lambda piece: -scores[piece]):
        pairs = [(piece[:at], piece[at:]) for at in range(1, len(piece))]
        merges += sorted((p for p in pairs if p[0] in scores and p[1] in scores), key=lambda p: numbers[p[0]])
    tokenizer = Tokenizer(models.BPE(numbers, merges, unk_token=CONTROL[0], fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    control = [AddedToken(name, special=True, normalized=False) for name in CONTROL if name in scores]
    tokenizer.add_special_tokens(control)
    return tokenizer


def _scores(path: Path) -> dict[str, float]:
    """The score of every piece, in the order of their numbers."""
    wrong = (
        f"{path} is no vocabulary of SentencePiece's byte-pair merges: every line should hold a piece, a tab and "
        f"its rank, and {CONTROL[0]} be among them. Put the model's tokenizer.json there instead"
    )
    text = told(path.read_bytes, f"cannot read {path}", "Get it again.")
    try:
        lines = text.decode("utf-8").removesuffix("\n").split("\n")  # pieces may be other line ends
        pairs = [line.rsplit("\t", 1) for line in lines]
        scores = {piece: float(score) for piece, score in pairs}
    except ValueError:
        raise UserError(wrong) from None
    ranks = all(score.is_integer() for score in scores.values())
    if not ranks or CONTROL[0] not in scores or len(scores) != len(lines):
        raise UserError(wrong)
    return scores
