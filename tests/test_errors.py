"""What a user is told of an error: the right cause, and nothing where the program is at fault."""

import errno
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

import pytest
import torch

from descent.errors import UserError, run, sentence
from descent.interruption import TOLD

MACHINES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk is full",
    errno.EACCES: "Permission denied; give yourself the right",
    errno.EROFS: "Read-only file system; work in a folder that can be written",
    errno.EMFILE: "Too many open files; raise the limit",
    errno.ENAMETOOLONG: "File name too long; give it a shorter name",
    errno.ENOENT: "No such file or directory; put it there",
    errno.ENOTDIR: "Not a directory; remove what stands there",
    errno.EIO: "Input/output error; check the disk",
    errno.ETIMEDOUT: "Connection timed out; check the disk, or the network drive",
    errno.ENOMEM: "there is not enough memory",
}


def test_a_full_gpu_is_told_wherever_it_is_met() -> None:
    told = sentence(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB."))
    for words in (
        "CUDA error: out of memory\nCUDA kernel errors might be asynchronous",
        "CUDA driver error: out of memory",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
        "cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnCreate(handle)`",
        "Triton Error [CUDA]: out of memory",
    ):
        assert sentence(RuntimeError(words)) == told
    assert told.startswith("the GPU's memory is full: ") and "training.stack_elements.cuda" in told


def test_a_gpu_that_is_not_free_is_told_apart_from_one_that_is_full() -> None:
    for words in ("CUDA-capable device(s) is/are busy", "all CUDA-capable devices are busy"):
        told = sentence(RuntimeError(f"CUDA error: {words} or unavailable\nmore"))
        assert "look at `nvidia-smi`" in told and "full" not in told
    assert "device: cpu" in sentence(RuntimeError("CUDA error: no kernel image is available for execution on it"))
    assert not sentence(RuntimeError("CUDA error: an illegal memory access was encountered")), "a fault of ours"


def test_memory_that_torch_cannot_have_is_told_as_any_other() -> None:
    with pytest.raises(RuntimeError) as found:
        torch.empty(2**58)
    assert sentence(found.value) == sentence(MemoryError()) != ""


@pytest.mark.parametrize("number", MACHINES, ids=errno.errorcode.get)
def test_each_state_of_a_machine_has_its_own_sentence(number: int) -> None:
    told = sentence(OSError(number, os.strerror(number), "data/it.csv"))
    assert MACHINES[number] in told and "\n" not in told
    assert "data/it.csv" in told or number == errno.ENOMEM
    assert "disk is full" not in told or number in (errno.ENOSPC, errno.EDQUOT)


@pytest.mark.parametrize(
    "error",
    [
        OSError("a fault of ours"),
        OSError(errno.EBADF, "Bad file descriptor"),
        OSError(errno.EINVAL, "Invalid argument", "data/it.csv"),
        BrokenPipeError(errno.EPIPE, "Broken pipe"),
        RuntimeError("PytorchStreamReader failed reading zip archive"),
        ValueError("3 columns requested and two are there"),
    ],
    ids=repr,
)
def test_a_fault_of_the_program_is_no_full_disk_and_keeps_its_trace(error: Exception) -> None:
    assert sentence(error) == ""


@pytest.mark.parametrize(
    "words",
    [
        "I/O error: No space left on device (os error 28)",
        "131072 requested and 0 written",
        "[enforce fail] . PytorchStreamWriter failed writing file data/0: file write failed",
        "[enforce fail] . unexpected pos 64 vs 0",
    ],
)
def test_what_libraries_say_of_a_full_disk_is_told_as_such_also_behind_another_error(words: str) -> None:
    behind = RuntimeError("cannot close")
    behind.__context__ = RuntimeError(words)
    assert "the disk is full" in sentence(RuntimeError(words)) and "the disk is full" in sentence(behind)
    assert sentence(UserError("as it is: No space left")) == "as it is: No space left"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_an_interruption_after_the_last_line_still_ends_as_one(number: signal.Signals) -> None:
    """DVC takes a stage's word for it: one that ends well is followed by the next."""
    late = (
        f"import os; from descent.errors import run; run(lambda: print('made')); os.kill(os.getpid(), {number:d})"
    )
    ended = subprocess.run(
        [sys.executable, "-c", f"{late}; print('on')"],
        env=os.environ | {"PYTHONPATH": "src"},
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "made\n", f"{TOLD}\n")


@pytest.mark.parametrize("lines", ["print('made', flush=True)", "print('made')"], ids=["at once", "at the end"])
def test_output_that_nobody_reads_ends_a_command_without_a_trace(lines: str) -> None:
    """As `make estimate | head -1` does."""
    code = f"import sys; from descent.errors import run; sys.stdin.read(); run(lambda: {lines})"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": "src"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as ended:
        ended.stdout.close()
        ended.stdin.close()  # it begins once nobody reads
        assert (ended.wait(timeout=20), ended.stderr.read()) == (128 + signal.SIGPIPE, b"")


def test_a_pipe_that_breaks_elsewhere_is_a_fault_of_the_program() -> None:
    """As one to a worker is."""

    def entry() -> None:
        raise BrokenPipeError(errno.EPIPE, "of a worker")

    with pytest.raises(BrokenPipeError):
        run(entry)


@pytest.mark.parametrize(("stage", "told"), [("train_video@ucsd", True), (None, False)])
def test_a_stage_whose_parameters_are_changed_meanwhile_does_not_end_well(
    stage: str | None, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DVC would note the new values beside what the old ones made, and take it for theirs ever after."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_STAGE", raising=False)
    if stage:
        monkeypatch.setenv("DVC_STAGE", stage)
    file = tmp_path / "params.yaml"
    file.write_text("eps: 0.13\n")
    for function in ("raised", "ends_at_once", "ignored"):
        monkeypatch.setattr(f"descent.interruption.{function}", lambda: None)
    run(lambda: None)
    with pytest.raises(SystemExit, match=r"params\.yaml was changed") if told else nullcontext():
        run(lambda: file.write_text("eps: 0.11\n"))
    file.unlink()
    run(lambda: None)


@pytest.mark.parametrize(("loaded", "told"), [(True, True), (False, False)])
def test_a_stage_whose_code_is_changed_meanwhile_does_not_end_well(
    loaded: bool, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for code that it has not loaded, which made nothing of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_STAGE", "train_video@ucsd")
    for function in ("raised", "ends_at_once", "ignored"):
        monkeypatch.setattr(f"descent.interruption.{function}", lambda: None)
    file = tmp_path / "stages/changed_meanwhile.py"
    file.parent.mkdir()
    file.write_text("ONE = 1\n")
    if loaded:
        monkeypatch.setitem(sys.modules, "changed_meanwhile", module := ModuleType("changed_meanwhile"))
        module.__file__ = str(file)
    run(lambda: None)
    with pytest.raises(SystemExit, match=r"stages/changed_meanwhile\.py was changed") if told else nullcontext():
        run(lambda: file.write_text("ONE = 2\n"))


SWALLOWED = """
import os, time
from descent.errors import run

def entry():
    try:
        os.kill(os.getpid(), {number:d})
        time.sleep(1)
    except:
        {swallow}
    {rest}

run(entry)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize(
    ("swallow", "rest"),
    [("pass", "time.sleep(60)"), ("pass", "print('made')"), ("raise ImportError", "pass")],
    ids=["goes on", "is at its end", "calls it something else"],
)
def test_an_interruption_that_a_library_swallows_is_heard_all_the_same(
    number: signal.Signals, swallow: str, rest: str
) -> None:
    """Compiled modules do while they load: numpy's random numbers for one."""
    ended = subprocess.run(
        [sys.executable, "-c", SWALLOWED.format(number=number, swallow=swallow, rest=rest)],
        env=os.environ | {"PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert (ended.returncode, ended.stderr) == (130, f"{TOLD}\n")


@pytest.mark.parametrize("where", ["exec('raise KeyboardInterrupt')", "raise KeyboardInterrupt"])
def test_an_interruption_ends_with_130_wherever_it_was_met(where: str, tmp_path: Path) -> None:
    """Dataclasses and named tuples are made by `exec` of source, of which Python keeps that it was interrupted."""
    (tmp_path / "own.py").write_text(
        f"from descent.errors import run\n\ndef entry():\n    {where}\n\nrun(entry)\n"
    )
    path = os.pathsep.join((str(Path("src").resolve()), str(tmp_path)))
    ended = subprocess.run(
        [sys.executable, "-m", "own"], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (130, f"{TOLD}\n")


def test_threads_that_fail_over_an_interruption_say_nothing() -> None:
    """The thread of a process pool does, now and then, while its workers end."""
    thread = (
        "import os, threading\nfrom descent.errors import run\n"
        "def fails():\n    heard.wait()\n    raise RuntimeError('dictionary changed size')\n"
        "def entry():\n    try:\n        os.kill(os.getpid(), 2)\n        heard.wait(9)\n"
        "    finally:\n        heard.set()\n        own.join()\n"
        "heard, own = threading.Event(), threading.Thread(target=fails)\nown.start()\nrun(entry)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", thread],
        env=os.environ | {"PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert (ended.returncode, ended.stderr) == (130, f"{TOLD}\n")
