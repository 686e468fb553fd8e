"""The papers of a data set: manifest.json for programs, README.md for people. The same input gives the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.export.formats import DatasetFormat
from core.export.options import ExportOptions
from core.export.render import Renderer
from core.workers.export import Report, SessionReport

VERSION = 1
"""Of the manifest's form."""

_COUNTS = ("samples", "react", "summary", "rows", "tokens", "trained", "longest", "seams", "duplicates", "renamed",
           "merged", "cut", "eval_rows", "unjudged", "unjudged_trained", "unjudged_refused")

_THOUGHTS = {"drop": "", "keep": ", the reasoning recorded before them",
             "context": " (not on the reasoning recorded before them)"}


def manifest(report: Report, format: DatasetFormat, options: ExportOptions, renderer: Renderer | None,
             hashes: Mapping[str, str]) -> dict[str, Any]:
    """What the data set was made from and how. Secrets are counted, never named, the file of
    rules for them is told by its SHA-256; `hashes` are SHA-256 by file."""
    choices = msgspec.to_builtins(options)
    choices["secrets"] = len(options.secrets)
    rules = Path(options.secret_rules).read_bytes() if options.secret_rules else b""
    choices["secret_rules"] = hashlib.sha256(rules).hexdigest() if rules else ""
    model = {"template_sha256": renderer.template_hash, "tokenizer_sha256": renderer.tokenizer_hash,
             "template_mode": renderer.mode} if renderer else None
    totals = {k: getattr(report, k) for k in _COUNTS}
    return {"made_by": "tiphys", "version": VERSION, "format": format.name, "data_sha256": hashes["data"],
            "eval_sha256": hashes.get("eval", ""),
            "counts": totals, "options": choices, "model": model,
            "sessions": [msgspec.to_builtins(s) for s in report.sessions],
            "warnings": [w.sentence for w in report.warnings],
            "eval_sessions": report.eval_sessions, "findings": [msgspec.to_builtins(f) for f in report.findings]}


def write_papers(folder: Path, facts: dict[str, Any], report: Report, format: DatasetFormat,
                 options: ExportOptions, data: Sequence[Path]) -> list[Path]:
    """Write README.md, what the format has beside it, and the manifest, which names all `files` but itself."""
    card, beside = folder / "README.md", [folder / name for name in format.beside]
    card.write_text(_card(facts, report, format, options), encoding="utf-8")
    for path in beside:
        path.write_bytes(_pretty(format.beside[path.name]))
    facts["files"] = [path.name for path in (*data, card, *beside)]
    (folder / "manifest.json").write_bytes(_pretty(facts))
    return [folder / "manifest.json", card, *beside]


def _pretty(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2) + b"\n"


def _card(facts: dict[str, Any], report: Report, format: DatasetFormat, chosen: ExportOptions) -> str:
    options = facts["options"]
    repeated = chosen.repetition
    preset = f", preset {options['preset']}" if options["preset"] else ""
    once = "once" if options["overlap"] == "once" else "in each sample"
    final = "the final verdict of each step" if options["verdicts"] == "final" else "ignored, everything trains"
    lines = [
        "# Masked SFT data", "",
        f"{report.samples} samples ({report.react} ReAct, {report.summary} summary) from {len(report.sessions)} "
        f"sessions, as {report.rows} rows in the format *{format.title}*.", "",
        f"- Tokens: {report.tokens:,} distinct, {report.trained:,} with loss; the longest sample: {report.longest:,}.",
        f"- Balance: {options['balance']}, ReAct ×{options['react']}, summary ×{options['summary']}{preset}."
        + (f" {repeated}" if repeated else ""),
        f"- Actions carried past a summary are trained {once}.",
        f"- Verdicts: {final}.",
        f"- Steps that nobody judged, or of which nobody judged an action: {_unjudged(report, options)}.",
        f"- How to read it: {format.use}",
        f"- Content: SHA-256 `{facts['data_sha256']}`; everything else that was chosen or counted: `manifest.json`.",
        "",
        f"Loss falls on the kept actions{_THOUGHTS[options['thoughts']]} and their stop token only. Masked actions "
        "stay in the context.", "",
        "| session | read up to | steps | kept | in part | masked | undecided | samples | context |",
        "|---|---|---|---|---|---|---|---|---|",
        *[_line(s) for s in report.sessions], "",
        "## Verdicts", "", "| author | version | masks | keeps |", "|---|---|---|---|", *_sources(report), "",
        "## Left out", "",
    ]
    if report.eval_rows:
        held = ", ".join(report.eval_sessions)
        lines[-2:-2] = ["## Held out", "", f"{report.eval_rows} rows in eval.*, of the sessions {held}: no task is in "
                        "both files.", ""]
    if report.merged:
        lines[-2:-2] = ["## Chains", "", f"{report.merged} rows hold a ReAct sample and its summary sample; `weights` "
                        "says how often each token counts: loss = Σ w·l / Σ w over an update.", ""]
    out = [f"- {r.sample or s.session}{f', step {r.step}' if r.step else ''}: {r.sentence} ({r.code})"
           for s in report.sessions for r in s.refused]
    return "\n".join([*lines, *(out or ["Nothing."]), "", *(w.sentence for w in report.warnings), ""])


def _unjudged(report: Report, options: dict[str, Any]) -> str:
    if not report.unjudged:
        return "none"
    if options["unjudged"] != "keep":
        return f"{report.unjudged}, not trained"
    others = report.unjudged - report.unjudged_trained - report.unjudged_refused
    return (f"{report.unjudged}, of which {report.unjudged_trained} are trained as if they were kept, "
            f"{report.unjudged_refused} stand in refused samples and {others} are in no row for other reasons")


def _sources(report: Report) -> list[str]:
    """Each author and version once, counted over all sessions."""
    sources = [source for session in report.sessions for source in session.verdicts]
    return [f"| {a} | {v} | {sum(s.masks for s in found)} | {sum(s.keeps for s in found)} |"
            for a, v in sorted({(s.author, s.version) for s in sources})
            if (found := [s for s in sources if (s.author, s.version) == (a, v)])]


def _line(session: SessionReport) -> str:
    title = " ".join(session.title.split()).replace("|", "/")[:60]
    context = "put together" if session.rebuilt else "as recorded"
    counts = f"{session.head} | {session.steps} | {session.kept} | {session.partly} | {session.masked} | "
    counts += f"{session.undecided}"
    return f"| {session.session} {title} | {counts} | {session.samples} | {context} |"
