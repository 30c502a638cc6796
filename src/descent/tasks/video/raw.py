"""Where a raw data set comes from: generated, a local copy, or a verified download."""

from dataclasses import dataclass
from pathlib import Path

from descent.errors import UserError
from descent.io import archives, downloads
from descent.io.folders import written_whole
from descent.tasks.video import manifest
from descent.tasks.video.schema import Source
from descent.tasks.video.synthetic import footage as synthetic


@dataclass(frozen=True)
class Official:
    """What the message about a missing data set says of it."""

    tree: str
    address: str


PLAIN = "train*/ and test*/ with videos or folders of frames"
OFFICIAL = {
    "ucsd": Official(
        "UCSDped2/Train/Train001/*.tif and UCSDped2/Test/Test001/*.tif",
        "http://www.svcl.ucsd.edu/projects/anomaly/UCSD_Anomaly_Dataset.tar.gz",
    ),
    "avenue": Official(
        "Avenue Dataset/training_videos/*.avi and Avenue Dataset/testing_videos/*.avi",
        "http://www.cse.cuhk.edu.hk/leojia/projects/detectabnormal/Avenue_Dataset.zip",
    ),
    "shanghaitech": Official(
        "training/videos/*.avi and testing/frames/01_0014/*.jpg",
        "https://svip-lab.github.io/dataset/campus_dataset.html (by hand)",
    ),
}


def fetch(name: str, source: Source, local_data: str, out: Path) -> None:
    """Make the folder `out` of a raw data set, whole or not at all, with source.json listing its media files.

    A local folder is not copied: `out` then holds source.json alone.

    Args:
        local_data: what a relative `path` of the source is relative to.

    Raises:
        UserError: a missing or empty source, a failed download, a damaged or unsafe archive.
    """
    local = _local(name, source.path, local_data) if source.path is not None else None
    if source.url is not None:
        archives.check_suffix(downloads.file_name(source.url))
    with written_whole(out) as folder:
        if source.generate is not None:
            synthetic.generate(name, source.generate, folder)
        elif source.url is not None:
            archives.unpack(downloads.download(source.url, source.sha256), folder)
        elif local.is_file():
            archives.unpack(local, folder)
        outside = local is not None and local.is_dir()
        if not manifest.write(folder, local if outside else folder):
            raise UserError(
                f"{name}: there are no frames or videos in {source.path or source.url}; "
                f"it should hold {_official(name).tree}"
            )


def _local(name: str, path: str, local_data: str) -> Path:
    """The folder or archive that a `path` source names."""
    found = downloads.local(local_data, path)
    if found.is_file():
        archives.check_suffix(found.name)
    elif not found.is_dir():
        official = _official(name)
        raise UserError(
            f"{name}: there is no folder or archive {found}.\n"
            f"Put a copy of the data set there, holding {official.tree}\n"
            f"(or {PLAIN}; or a .zip, .tar.gz of it),\n"
            f"or say where your copies are: `dvc exp run -S local_data=<folder>`.\n"
            f"Official source: {official.address}"
        )
    return found


def _official(name: str) -> Official:
    return OFFICIAL.get(name, Official(PLAIN, "the data set's authors"))
