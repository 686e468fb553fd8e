"""The model of a task: whatever file its settings name lies in the task's folder."""

import msgspec

from core.domain.host_rights import is_absolute
from core.domain.task import ModelSettings, Task
from core.llm.kinds import open_model
from core.llm.model import LanguageModel
from core.tasks.catalogue import Catalogue
from core.tasks.folder import read_text


def open_task_model(catalogue: Catalogue, task: Task, settings: ModelSettings) -> LanguageModel:
    """The model that answers a task's agent. A script with a line break is the script itself.

    Raises NotFound, InvalidInput, Unavailable as `core.llm.kinds.open_model` and `Catalogue.file` do.
    """
    match settings.kind:
        case "scripted":
            script = settings.script
            text = script if "\n" in script else read_text(catalogue.file(task, script))
            return open_model(settings, script_text=text)
        case "replay":
            name, mark, session = settings.script.partition("#")
            record = f"{catalogue.file(task, name)}{mark}{session}"
            return open_model(msgspec.structs.replace(settings, script=record))
        case "local" if not is_absolute(settings.name):
            return open_model(msgspec.structs.replace(settings, name=str(catalogue.file(task, settings.name))))
        case _:
            return open_model(settings)
