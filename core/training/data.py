"""A data set's files, looked at once before anything of them is trained, by all processes of a run together.

Files are cut into blocks (some megabytes of JSON lines, a row group of Parquet). Each process reads its blocks with
Arrow, checks them with numpy and writes them as Arrow files, which all of them then map into memory: however large the
data, a row costs no memory until an update takes it. The Arrow files stay, by a hash of what they were made of, until
the run is over, so a run that goes on begins at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from core.domain.errors import InvalidInput, NotFound, ReportableError, make_error
from core.training.blocks import Block, blocks_of, data_files
from core.training.row_checks import BlockFacts, RowRules, checked


class DataFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a data set holds. `trained` tokens carry loss; the first token of a row never can. `rows`, `tokens` and
    `trained` count repeats. `sha256` is over the hashes of the blocks; the checked rows lie in `folder`."""

    folder: str
    sha256: str
    rows: int
    tokens: int
    trained: int
    longest: int
    weighted: bool
    token_weights: bool = False
    thoughts: int = 0
    trained_thoughts: int = 0


class Crew(NamedTuple):
    """Which of several processes this one is, and how it waits for the others."""

    rank: int = 0
    ranks: int = 1
    wait: Callable[[], None] = lambda: None


def train_files(data: str) -> list[Path]:
    """The rows' files of an export's folder, or the file itself. Raises NotFound."""
    files = data_files(Path(data), "data")
    if not files:
        raise NotFound("no_data", f"{data} holds no data set in the format trl or tokens.", path=data)
    return files


def eval_files(data: str) -> list[Path]:
    """The files that an export's folder holds out for evaluation."""
    return data_files(Path(data), "eval") if Path(data).is_dir() else []


def check_rows(files: Sequence[Path], vocabulary: int, max_length: int, folder: Path,
               crew: Crew = Crew(), thoughts: str = "data") -> DataFacts:
    """Look at every row once, and leave them as Arrow files under `folder`. Raises InvalidInput where one could not be
    trained exactly as it stands, in every process alike, for the first such row."""
    rules = RowRules(vocabulary, max_length, thoughts)
    blocks = blocks_of(files)
    place = folder / _key(files, rules)
    place.mkdir(parents=True, exist_ok=True)
    for number in range(crew.rank, len(blocks), crew.ranks):
        _check_block(blocks[number], place / f"{number:05d}", rules)
    crew.wait()
    parts = [place / f"{number:05d}" for number in range(len(blocks))]
    found = [msgspec.json.decode(part.with_suffix(".json").read_bytes(), type=BlockFacts) for part in parts]
    _raise_first(found)
    return _summed(found, place, ", ".join(f.name for f in files[:3]))


def load_rows(facts: DataFacts) -> Any:
    """The checked rows as a `datasets.Dataset` of numpy arrays, mapped from disk. Repeated rows are repeated places."""
    from datasets import Dataset, concatenate_datasets, disable_progress_bars

    disable_progress_bars()
    parts = [Dataset.from_file(str(p)) for p in sorted(Path(facts.folder).glob("*.arrow"))]
    dataset = concatenate_datasets([p for p in parts if len(p)])
    if facts.rows != len(dataset):
        repeats = np.concatenate([c.to_numpy() for c in dataset.data.column("repeats").chunks])
        dataset = dataset.select(np.repeat(np.arange(len(repeats)), repeats))
    wanted = ["input_ids", "labels", *(["weight"] if facts.weighted else []),
              *(["weights"] if facts.token_weights else [])]
    return dataset.select_columns(wanted).with_format("numpy")


def _key(files: Sequence[Path], rules: RowRules) -> str:
    states = [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    return hashlib.sha256(repr((states, rules)).encode()).hexdigest()[:16]


def _check_block(block: Block, part: Path, rules: RowRules) -> None:
    """Write the block's rows, and last its facts, under their names only once they are whole."""
    facts_file = part.with_suffix(".json")
    if facts_file.is_file():
        return
    half = part.with_suffix(f".{os.getpid()}")
    try:
        table, digest = block.read()
        facts = checked(table, digest, rules, half)
    except ReportableError as error:
        facts = BlockFacts(code=error.code, sentence=error.sentence, row=int(str(error.params.get("row", 0))))
    if half.exists():  # rows that another process maps are replaced, never written over: that would end it (SIGBUS)
        half.replace(part.with_suffix(".arrow"))
    half.write_bytes(msgspec.json.encode(facts))
    half.replace(facts_file)


def _raise_first(found: Sequence[BlockFacts]) -> None:
    before = 0
    for facts in found:
        if facts.code:
            row = before + facts.row
            raise make_error("InvalidInput", facts.code, facts.sentence.replace("{row}", str(row)), {"row": row})
        before += facts.lines


def _summed(found: Sequence[BlockFacts], place: Path, name: str) -> DataFacts:
    rows = sum(f.rows for f in found)
    if not rows:
        raise InvalidInput("no_rows", f"{name} holds no rows.")
    if not sum(f.weight for f in found):
        raise InvalidInput("nothing_trained", f"All rows of {name} have the weight 0; nothing would be trained.")
    digest = hashlib.sha256("".join(f.sha256 for f in found).encode()).hexdigest()
    return DataFacts(folder=str(place), sha256=digest, rows=rows, tokens=sum(f.tokens for f in found),
                     trained=sum(f.trained for f in found), longest=max(f.longest for f in found),
                     weighted=any(f.weighted for f in found), token_weights=any(f.token_weights for f in found),
                     thoughts=sum(f.thoughts for f in found), trained_thoughts=sum(f.trained_thoughts for f in found))


def check_thoughts(facts: DataFacts, thoughts: str) -> None:
    """Raises InvalidInput (thoughts_differ) where the data does not hold recorded reasoning as a run wants it."""
    why = ""
    if thoughts in ("keep", "context") and not facts.thoughts:
        why = "it holds none"
    elif thoughts == "keep" and not facts.trained_thoughts:
        why = "in it they carry no loss"
    elif thoughts == "drop" and facts.thoughts:
        why = "it holds some"
    if why:
        raise InvalidInput("thoughts_differ", f"The run wants thoughts: {thoughts}; the data was exported otherwise "
                           f"({why}). Export it with --thoughts {thoughts}.")
