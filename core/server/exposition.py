"""The text format in which Prometheus reads metrics, version 0.0.4
(https://prometheus.io/docs/instrumenting/exposition_formats/)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.server.counts import Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[Mapping[str, str], float]


class Exposition:
    """Collects families of metrics; `str()` is the page. Every name begins with `tiphys_`."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"

    def gauge(self, name: str, about: str, value: float | Iterable[Sample]) -> None:
        """A value that goes up and down, or several told apart by labels."""
        self._family(name, "gauge", about, [({}, float(value))] if isinstance(value, int | float) else value)

    def counter(self, name: str, about: str, value: float | Iterable[Sample]) -> None:
        """A value that only grows; the name ends with `_total`."""
        self._family(name, "counter", about, [({}, float(value))] if isinstance(value, int | float) else value)

    def histogram(self, name: str, about: str, held: Histogram) -> None:
        """How values are spread."""
        self._head(name, "histogram", about)
        for bound, count in zip(held.bounds, held.counts, strict=True):
            self._sample(f"{name}_bucket", {"le": _number(bound)}, count)
        self._sample(f"{name}_bucket", {"le": "+Inf"}, held.number)
        self._sample(f"{name}_sum", {}, held.sum)
        self._sample(f"{name}_count", {}, held.number)

    def _family(self, name: str, kind: str, about: str, samples: Iterable[Sample]) -> None:
        self._head(name, kind, about)
        for labels, value in samples:
            self._sample(name, labels, value)

    def _head(self, name: str, kind: str, about: str) -> None:
        escaped = about.replace("\\", "\\\\").replace("\n", "\\n")
        self._lines += [f"# HELP tiphys_{name} {escaped}", f"# TYPE tiphys_{name} {kind}"]

    def _sample(self, name: str, labels: Mapping[str, str], value: float) -> None:
        inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        self._lines.append(f"tiphys_{name}{f'{{{inner}}}' if inner else ''} {_number(value)}")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
