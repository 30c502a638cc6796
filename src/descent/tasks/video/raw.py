"""Where a raw data set comes from: generated, a local copy, or a verified download."""

from pathlib import Path

from descent import components
from descent.errors import UserError
from descent.io import archives, downloads, sources
from descent.io.folders import atomic_folder
from descent.tasks.video import manifest
from descent.tasks.video.schema import Source
from descent.tasks.video.synthetic import footage

ANY_TREE = ", or train*/ and test*/ with videos or folders of frames"


def fetch(dataset: str, source: Source, local_data: str, out: Path) -> None:
    """Make the folder `out` of a raw data set, whole or not at all, with source.json listing its media files.

    A local folder is not copied: `out` then holds source.json alone.

    Args:
        dataset: a file of datasets/.
        local_data: what a relative `path` of the source is relative to.

    Raises:
        UserError: a missing or empty source, a failed download, a damaged or unsafe archive.
    """
    known = components.load("tasks.video.datasets", dataset)
    local = None
    if source.path is not None:
        local = sources.local(known, source.path, local_data, otherwise=ANY_TREE)
    if source.url is not None:
        archives.check_suffix(downloads.file_name(source.url))
    with atomic_folder(out) as folder:
        if source.generate is not None:
            footage.generate(*sources.generator(known, "SCENE", "write"), source.generate, folder)
        elif source.url is not None:
            archives.unpack(downloads.download(source.url, source.sha256), folder)
        elif local.is_file():
            archives.unpack(local, folder)
        outside = local is not None and local.is_dir()
        if not manifest.write(folder, local if outside else folder):
            raise UserError(
                f"{dataset}: there are no frames or videos in {source.path or source.url}; "
                f"it should hold {known.TREE}{ANY_TREE}"
            )
