"""Rows of the form `tokens` (`tiphys export … --to tokens`) as a data set of verl's SFT trainer, weights and all.

    torchrun … -m verl.trainer.sft_trainer data.custom_cls.path=verl_tokens.py data.custom_cls.name=TokenRows \
      data.train_files=[DATA/data-00000-of-00002.parquet,DATA/data-00001-of-00002.parquet] …

It needs nothing of Tiphys: copy it where you train. verl's loss is Σ mask·l / Σ mask over an update on all devices, so
a mask of weights in place of 0 and 1 gives Σ w·l / Σ w.
"""

from typing import Any

import numpy as np
import pyarrow.parquet
import torch
from torch.utils.data import Dataset


class TokenRows(Dataset):
    """A row as verl's trainer takes it without padding; rows with `repeats` are so many places."""

    def __init__(self, parquet_files: str | list[str], tokenizer: Any = None, config: Any = None, processor: Any = None,
                 max_samples: int = -1) -> None:
        files = [parquet_files] if isinstance(parquet_files, str) else list(parquet_files)
        columns = ["input_ids", "labels", "weights", "repeats"]
        tables = [pyarrow.parquet.read_table(file, columns=columns) for file in files]
        self._rows = pyarrow.concat_tables(tables)
        self._places = np.repeat(np.arange(len(self._rows)), self._rows["repeats"].to_numpy())
        if max_samples > 0:
            self._places = self._places[:max_samples]
        self._most = config.max_length if config is not None else None

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, place: int) -> dict[str, torch.Tensor]:
        row = int(self._places[place])
        ids, labels, weights = (torch.tensor(self._rows[name][row].as_py())
                                for name in ("input_ids", "labels", "weights"))
        if self._most is not None and len(ids) > self._most:
            raise ValueError(f"Row {row} has {len(ids)} tokens, more than data.max_length={self._most}; none is cut.")
        mask = torch.where(labels == -100, 0.0, weights.float())
        mask[0] = 0.0  # nothing predicts the first token; verl would roll its mask to the end of the row before
        return {"input_ids": ids, "position_ids": torch.arange(len(ids)), "loss_mask": mask}
