"""Our own task folders: a `task.toml` (docs/tasks.md)."""

from __future__ import annotations

from core.tasks.reader import TaskReader
from core.tasks.task_file import TASK_FILE, read_task

READER = TaskReader(name="tiphys", title="Tiphys", rank=90, recognises=lambda folder: (folder / TASK_FILE).exists(),
                    read=lambda folder: [read_task(folder)])
