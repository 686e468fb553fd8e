"""Questions about pictures and sound to a session's multimodal endpoint: OpenAI's chat completions, transcriptions."""

import base64
from collections.abc import Sequence

import openai

from core.domain.task import ModelSettings
from core.llm.model import EndpointError
from core.llm.openai import LateClient

Picture = tuple[str, bytes]
"""A media type, as image/png, and the bytes."""


class MediaModel:
    """The endpoint."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._client = LateClient(settings)

    async def describe(self, pictures: Sequence[Picture], prompt: str) -> str:
        """What the endpoint says of pictures. Raises EndpointError."""
        parts = [{"type": "image_url", "image_url": {"url": f"data:{kind};base64,{base64.b64encode(data).decode()}"}}
                 for kind, data in pictures]
        content = [{"type": "text", "text": prompt}, *parts]
        try:
            answer = await self._client.api.chat.completions.create(
                model=self._settings.name, max_tokens=self._settings.max_output_tokens,
                messages=[{"role": "user", "content": content}])  # type: ignore[misc,list-item]
            return answer.choices[0].message.content or ""
        except (openai.OpenAIError, LookupError, AttributeError, TypeError) as error:
            raise _refused(error) from error

    async def transcribe(self, name: str, data: bytes, model: str) -> str:
        """The words of a sound file. Raises EndpointError."""
        try:
            answer = await self._client.api.audio.transcriptions.create(model=model, file=(name, data))
            return answer.text
        except (openai.OpenAIError, AttributeError, TypeError) as error:
            raise _refused(error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _refused(error: Exception) -> EndpointError:
    text = str(getattr(error, "message", "") or error)[:300]
    return EndpointError("media_refused", f"The multimodal endpoint gave no answer: {text}.")
