"""The folder of a run: what it is, how far it has come. Each thing gets its name only once it is whole."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import torch

from core.store.home import sync, write_whole
from core.training.checkpoints import seal, sync_all, whole_ones
from core.training.people_source import PeopleWords, load_words, save_words
from core.training.policy_rows import PolicyRow, load_rows, save_rows
from core.training.rl_play import Played
from core.training.rl_settings import RlSettings
from core.training.settings import check_same_run
from core.workers.reinforcement import GroupSheet, RlMetric

_FREE = ("out", "people_from", "updates", "device", "pack_tokens", "merge_prefixes", "save_every", "keep")
"""Settings that may change between a run and its resumption: none of them changes what an update learns."""

_DEFAULTS = {f.name: f.default for f in msgspec.structs.fields(RlSettings) if f.default is not msgspec.NODEFAULT}
"""What a run of an older version does not name was as it is by default."""


class RunFolder:
    """Files of a run; `metrics.jsonl` holds a line an update."""

    def __init__(self, settings: RlSettings) -> None:
        self._root, self._settings = Path(settings.out), settings
        self._root.mkdir(parents=True, exist_ok=True)

    def claim(self) -> None:
        """Write what this run is, or find that it is the same as before. Raises Conflict (other_run)."""
        facts = {k: v for k, v in msgspec.json.decode(msgspec.json.encode(self._settings)).items() if k not in _FREE}
        path = self._root / "run.json"
        if path.is_file():
            check_same_run(str(self._root), _DEFAULTS | msgspec.json.decode(path.read_bytes()), facts)
            return
        write_whole(path, msgspec.json.format(msgspec.json.encode(facts), indent=2))

    def last(self) -> int:
        """After how many updates the newest whole weights were saved; 0 for none. What was left half-written goes."""
        for part in self._root.glob("policy/*.part"):
            shutil.rmtree(part)
        return max((int(p.name) for p in whole_ones(self._root.glob("policy/[0-9]*"))), default=0)

    def weights(self, update: int) -> Path:
        """The weights after an update, as transformers loads them; those that the run began with for 0."""
        return self._root / "policy" / f"{update:05d}" if update else Path(self._settings.model)

    def save(self, update: int, model: Any, tokenizer: Any, rest: dict[str, Any]) -> None:
        """Keep what the run goes on from after this update."""
        target = self.weights(update)
        part = target.with_suffix(".part")
        part.mkdir(parents=True)
        model.save_pretrained(str(part))
        tokenizer.save_pretrained(str(part))
        torch.save(rest, part / "rest.pt")
        seal(part)
        part.replace(target)
        sync(part.parent)
        for old in sorted(p for p in target.parent.iterdir() if p.name.isdigit())[: -self._settings.keep]:
            shutil.rmtree(old)

    def rest(self, update: int) -> dict[str, Any]:
        """What was saved beside the weights."""
        return dict(torch.load(self.weights(update) / "rest.pt", weights_only=True))

    def played(self, update: int) -> tuple[list[PolicyRow], Played] | None:
        """An update's sessions, where they were all played."""
        rows, facts = self._rows(update), self._rows(update).with_suffix(".json")
        if not rows.is_file():
            return None
        return load_rows(rows), msgspec.json.decode(facts.read_bytes(), type=Played)

    def save_played(self, update: int, rows: list[PolicyRow], played: Played) -> None:
        """Keep an update's sessions, last their rows."""
        path = self._rows(update)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path.with_suffix(".json"), msgspec.json.encode(played))
        save_rows(path, rows)

    def people(self, update: int) -> PeopleWords | None:
        """What an update learns from people, where it was drawn before."""
        path = self._root / "people" / f"{update:05d}.npz"
        return load_words(path) if path.is_file() else None

    def save_people(self, update: int, words: PeopleWords) -> None:
        """Keep what an update learns from people: in their home more is said meanwhile."""
        save_words(self._root / "people" / f"{update:05d}.npz", words)

    def save_sheets(self, update: int, sheets: list[GroupSheet]) -> None:
        """What there is to see of an update's groups."""
        path = self._root / "groups" / f"{update:05d}.json"
        path.parent.mkdir(exist_ok=True)
        write_whole(path, msgspec.json.encode(sheets))

    def cut_metrics(self, update: int) -> None:
        """Forget the lines of updates that have to be made again; a killed run may have left a half one."""
        path = self._settings.metrics
        lines = []
        for text in path.read_bytes().splitlines() if path.is_file() and update else ():
            try:
                metric = msgspec.json.decode(text, type=RlMetric)
            except (ValueError, RecursionError):
                continue
            lines += [text] if metric.update <= update else []
        write_whole(path, b"".join(line + b"\n" for line in lines))

    def add_metric(self, metric: RlMetric) -> None:
        """One more line."""
        with self._settings.metrics.open("ab") as file:
            file.write(msgspec.json.encode(metric) + b"\n")

    def save_result(self, model: Any, tokenizer: Any, dtype: Any) -> None:
        """The trained model under its name, once it is whole."""
        part = self._root / ".model.part"
        shutil.rmtree(part, ignore_errors=True)
        model.config.use_cache = True
        model.to(dtype).save_pretrained(str(part))
        tokenizer.save_pretrained(str(part))
        sync_all(part)
        shutil.rmtree(self._settings.result, ignore_errors=True)  # that of a run which was to be shorter
        part.replace(self._settings.result)

    def _rows(self, update: int) -> Path:
        return self._root / "rollouts" / f"{update:05d}.npz"
