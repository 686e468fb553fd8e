"""What is said to the session at its gateway."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import time
from urllib.parse import urlsplit

from .values import Json, object_of

AGAIN_S = 0.5


class SessionWords:
    """What is said to the session at its gateway. A word that was cut off is said again, and counts once."""

    def __init__(self, url: str, token: str, patience_s: float) -> None:
        """`patience_s`: so long the session may be away; then it is taken to be over."""
        self._place, self._token, self._patience_s = urlsplit(url).netloc, token, patience_s
        self._ids = itertools.count(1)
        self._name = f"{os.getpid():x}-{time.time_ns():x}"

    def tell(self, what: str, body: object) -> Json:
        """A word to the session; its answer, nothing where it is over."""
        fields = {"Authorization": "Bearer " + self._token, "X-Tiphys-Word": f"{self._name}-{next(self._ids)}"}
        until = time.monotonic() + self._patience_s
        while True:
            connection = http.client.HTTPConnection(self._place)
            try:
                connection.request("POST", "/tiphys/" + what, json.dumps(body).encode(), fields)
                answer = connection.getresponse()
                raw = answer.read()
                return object_of(json.loads(raw)) if answer.status == 200 else {}
            except (OSError, http.client.HTTPException, ValueError):
                if time.monotonic() > until:
                    return {}
                time.sleep(AGAIN_S)
            finally:
                connection.close()
