"""The kinds of models, and the choice of one by a task's settings."""

from core.domain.errors import InvalidInput, Unavailable
from core.domain.task import ModelSettings
from core.llm.model import LanguageModel


def open_model(settings: ModelSettings, *, script_text: str | None = None) -> LanguageModel:
    """The model of the settings. `script_text` stands for the file of a scripted one.

    Raises InvalidInput where the settings name no model, Unavailable where its library is not installed.
    """
    match settings.kind:
        case "openai":
            from core.llm.openai import OpenAIModel

            return OpenAIModel(settings)
        case "scripted":
            from core.llm.scripted import ScriptedModel

            return ScriptedModel.open(settings, script_text)
        case "replay":
            from core.llm.replay import ReplayModel

            return ReplayModel.open(settings)
        case "local":
            return _open_local(settings)
        case _:
            raise InvalidInput("no_model", f"No model of the kind {settings.kind} can answer.", kind=settings.kind)


def _open_local(settings: ModelSettings) -> LanguageModel:
    try:
        from core.llm.local import LocalModel
    except ImportError as error:
        raise Unavailable("no_train_extra", f"A local model needs the training extra: {error}") from error
    model: LanguageModel = LocalModel(settings)
    return model
