"""Tables on disk."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table without its index and without pandas' own metadata.

    They name versions; without them the same rows make the same bytes.
    """
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None), path)
