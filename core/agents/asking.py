"""Asking the model until it answers: retries with back-off and jitter; a failing endpoint never ends a run."""

import asyncio
import logging
import random
from collections.abc import Callable

from core.agents.signals import Signals
from core.llm.model import Completion, EndpointError, LanguageModel, OnText, Request

log = logging.getLogger("agent")

FIRST_S, LAST_S, LONGEST_RETRY_AFTER_S = 1.0, 60.0, 600.0
OUTAGE_AFTER = 3
"""Failures in a row from which on the session is said to be waiting."""
ATTEMPT_S = 1800.0


class Halted(Exception):
    """A person asked to stop, or took over, while the model was being asked."""


class Asker:
    """One model, asked patiently. `outage_s` is how long its failures kept the agent from working."""

    def __init__(self, model: LanguageModel, signals: Signals, *, on_outage: Callable[[str], None],
                 on_recovery: Callable[[], None], first_s: float = FIRST_S) -> None:
        self.model = model
        self.outage_s = 0.0
        self._signals = signals
        self._on_outage, self._on_recovery = on_outage, on_recovery
        self._first_s = first_s

    async def ask(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The answer. Raises Halted on stop and takeover, EndpointError only for context_too_long."""
        failures = 0
        while True:
            began = asyncio.get_running_loop().time()
            try:
                completion = await self._once(request, on_text)
            except EndpointError as error:
                if error.code == "context_too_long":
                    raise
                failures += 1
                await self._rest(error, failures)
                self.outage_s += asyncio.get_running_loop().time() - began
                continue
            if failures >= OUTAGE_AFTER:
                self._on_recovery()
            return completion

    async def try_some(self, request: Request, attempts: int) -> Completion | None:
        """The answer, or None after some failures: for what can be done without. Raises Halted."""
        for attempt in range(1, attempts + 1):
            try:
                return await self._once(request, None)
            except EndpointError as error:
                log.warning("attempt %d: %s", attempt, error.sentence)
                if error.code == "context_too_long" or attempt == attempts:
                    return None
                await self._wait(self._delay(error, attempt))
        return None

    async def _once(self, request: Request, on_text: OnText | None) -> Completion:
        began = asyncio.get_running_loop().time()
        try:
            async with self._signals.until_stop() as cutoff, asyncio.timeout(ATTEMPT_S):
                return await self.model.complete(request, on_text)
        except TimeoutError:
            if cutoff.expired():
                raise Halted from None
            waited = asyncio.get_running_loop().time() - began
            raise EndpointError("endpoint_timeout", f"The model did not answer in {waited:.0f} s.") from None

    async def _rest(self, error: EndpointError, failures: int) -> None:
        delay = self._delay(error, failures)
        log.warning("%s Attempt %d follows in %.1f s.", error.sentence, failures + 1, delay)
        if failures == OUTAGE_AFTER:
            self._on_outage(error.sentence)
        await self._wait(delay)

    async def _wait(self, delay: float) -> None:
        try:
            async with self._signals.until_stop():
                await asyncio.sleep(delay)
        except TimeoutError:
            raise Halted from None

    def _delay(self, error: EndpointError, failures: int) -> float:
        """Full jitter above half of a doubling roof; what the endpoint asks for counts, within reason."""
        if error.retry_after is not None:
            return min(error.retry_after, LONGEST_RETRY_AFTER_S) + random.uniform(0, self._first_s)
        roof = min(LAST_S, self._first_s * 2.0 ** min(failures - 1, 10))
        return random.uniform(roof / 2, roof)
