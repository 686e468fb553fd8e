"""The export as one call: sessions of a log to a data set's folder; and the dry run, which writes nothing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from core.domain.errors import Conflict, InvalidInput
from core.domain.trajectory import Trajectory
from core.export.card import manifest, write_papers
from core.export.chains import copies, merged
from core.export.formats import DatasetFormat, format_named
from core.export.judged import named_sessions, refuse_unjudged, unjudged
from core.export.options import ExportOptions
from core.export.render import Renderer
from core.export.rows import SampleRow, SessionRows
from core.export.source import LogSource
from core.export.staging import Staging
from core.export.writer import RowWriter
from core.llm.extra import has_extra
from core.workers.export import ExportWarning, Report, SessionReport, VerdictSource, warning

OnProgress = Callable[[float], None]
"""Told the share that is done, 0–1."""


def dry_run(log: Path, sessions: Sequence[str], format: str, model_dir: str,
            options: ExportOptions = ExportOptions(), on_progress: OnProgress | None = None, *,
            stands_in: bool = False) -> Report:
    """What `export` would write, and what it would refuse and why; findings block nothing here.

    Steps that nobody judged train nothing here as long as nobody said what becomes of them. Raises ReportableError.
    """
    kind = format_named(format)
    options = _check(kind, options)
    report = Report()

    def count(row: SampleRow, held: bool) -> None:
        objects = kind.count(row)
        report.eval_rows += objects * (held and copies(row, _plain(options)) > 0)
        report.rows += 0 if held else objects * copies(row, options)

    blind = kind.needs_tokens and not model_dir and not has_extra("transformers")
    renderer = None if blind else open_renderer(kind, model_dir, options, stands_in)
    _read(log, sessions, kind, renderer, options, report, count, on_progress)
    if blind:
        report.warnings.append(warning("no_tokenizer_at_hand"))
    return report


def export(log: Path, sessions: Sequence[str], format: str, out: Path, model_dir: str,
           options: ExportOptions = ExportOptions(), on_progress: OnProgress | None = None, *,
           stands_in: bool = False) -> Report:
    """Write a data set: data file, manifest.json, README.md. `log` is a file of the store, read only.

    `model_dir` gives tokenizer and chat template; "" only for formats of messages. It `stands_in` where nobody named
    it: then rows of messages, on which another model may be trained, need not fit into its context. Raises
    ReportableError; then, and wherever the program is ended, the data set is the one that was there before, or the new
    one whole. Conflict (findings_unseen): something looks like a secret and nobody allowed it; (steps_unjudged): there
    are steps that nobody judged, and nobody said what becomes of them.
    """
    kind = format_named(format)
    options = _check(kind, options)
    with closing(LogSource(log)) as source:
        refuse_unjudged(source, list(dict.fromkeys(sessions)), options)
    renderer = open_renderer(kind, model_dir, options, stands_in)
    report = Report()
    with Staging(out) as staged:
        with RowWriter(staged.path, kind, options) as writer, RowWriter(staged.path, kind, _plain(options),
                                                                        "eval") as held:
            _read(log, sessions, kind, renderer, options, report,
                  lambda row, is_held: (held if is_held else writer).add(row), on_progress)
            if not writer.rows:
                raise InvalidInput("nothing_to_export", f"None of the {len(sessions)} sessions gives a sample.")
            _block(report, options)
            hashes = {"data": writer.finish()} | ({"eval": held.finish()} if held.rows else {})
        report.rows, report.eval_rows = writer.rows, held.rows
        paths = [*writer.paths, *(held.paths if held.rows else [])]
        paths += write_papers(staged.path, manifest(report, kind, options, renderer, hashes), report, kind, options,
                              paths)
        staged.put_in_place()
    report.files = [str(out / path.name) for path in paths]
    return report


def _plain(options: ExportOptions) -> ExportOptions:
    """For evaluation each sample counts once."""
    return msgspec.structs.replace(options, balance="none")


def _check(kind: DatasetFormat, options: ExportOptions) -> ExportOptions:
    """The options as the format allows them. Raises InvalidInput."""
    if kind.in_text and options.calls == "native":
        raise InvalidInput("bad_options", f"The format {kind.name} has no tool calls; write them as text.")
    if options.chains and not kind.needs_tokens:
        raise InvalidInput("bad_options", f"The format {kind.name} has no weights per token, so nothing can be merged.")
    _check_thoughts(kind, options)
    options = options.settled(weights=kind.needs_tokens)
    return msgspec.structs.replace(options, calls="text") if kind.in_text else options


def _check_thoughts(kind: DatasetFormat, options: ExportOptions) -> None:
    if options.thoughts != "drop" and kind.in_text:
        raise InvalidInput("bad_options", f"The format {kind.name} has no place for recorded thoughts.")
    if options.thoughts == "context" and not kind.needs_tokens:
        raise InvalidInput("bad_options", f"The format {kind.name} marks whole messages, so a thought trains with its "
                           "action or is left out.")


def _block(report: Report, options: ExportOptions) -> None:
    """Raises Conflict where secrets were found that nobody looked at."""
    unseen = [f for f in report.findings if f.kind != "named_value"]
    if unseen and not options.allow_findings:
        kinds = ", ".join(sorted({f.kind for f in unseen}))
        places = sum(f.count for f in unseen)
        why = (f"{places} places look like secrets ({kinds}). They would be replaced by [redacted]: look at them in a "
               "dry run, then export with findings allowed.")
        raise Conflict("findings_unseen", why, kinds=kinds, places=places)


def open_renderer(kind: DatasetFormat, model_dir: str, options: ExportOptions,
                  stands_in: bool = False) -> Renderer | None:
    """The renderer of a model's folder; None where the format does without. Raises ReportableError."""
    if model_dir:
        renderer = Renderer(model_dir, thoughts=options.thoughts if kind.needs_tokens else "drop")
        if renderer.refusal is not None:
            raise renderer.refusal
        if stands_in and not kind.needs_tokens:
            renderer.room, renderer.stands_in = None, True
        return renderer
    if kind.needs_tokens:
        raise InvalidInput("no_model", f"The format {kind.name} needs a model's folder for its tokenizer and template.")
    return None


def _read(log: Path, sessions: Sequence[str], kind: DatasetFormat, renderer: Renderer | None, options: ExportOptions,
          report: Report, take: Callable[[SampleRow, bool], None], on_progress: OnProgress | None) -> None:
    """Give every row to `take`, with whether it is held out for evaluation."""
    with closing(LogSource(log)) as source:
        names = list(dict.fromkeys(sessions))
        held = held_out({s: source.task(s) for s in names}, options)
        report.eval_sessions = sorted(held)
        seen: set[str] = set()
        for done, session in enumerate(names, 1):
            rows = SessionRows(source, session, renderer, options, whole=not kind.needs_tokens)
            before = report.samples
            distinct = _distinct(rows, seen, options, report)
            trained: set[int | None] = set()
            for row in merged(distinct) if options.chains else distinct:
                count_row(report, row)
                take(row, session in held)
                trained |= _trained(row, _plain(options) if session in held else options)
            report.sessions.append(session_report(rows, report.samples - before, trained))
            report.findings += rows.cleaner.leaks
            report.renamed += rows.cleaner.renamed
            if on_progress is not None:
                on_progress(done / len(names))
    _warn(report, options)


def _distinct(rows: Iterable[SampleRow], seen: set[str], options: ExportOptions, report: Report) -> Iterator[SampleRow]:
    """Without rows that equal an earlier one."""
    for row in rows:
        mark = row.fingerprint if options.dedupe else ""
        if mark and mark in seen:
            report.duplicates += 1
            continue
        seen.add(mark)
        yield row


def _trained(row: SampleRow, options: ExportOptions) -> set[int | None]:
    """The steps that a row trains, as far as the row is written at all."""
    parts = zip(row.sample.parts, row.trained, strict=True) if copies(row, options) else ()
    return {part.step for part, trains in parts if trains}


def _warn(report: Report, options: ExportOptions) -> None:
    for name in ("unjudged", "unjudged_trained", "unjudged_refused"):
        setattr(report, name, sum(getattr(s, name) for s in report.sessions))
    if report.unjudged:
        report.warnings.append(_on_unjudged(report, options))
    _warn_if(report, "rebuilt", sessions=sum(s.rebuilt for s in report.sessions))
    if options.thoughts != "drop":
        _warn_of_thoughts(report)
    _warn_if(report, "in_text", sessions=sum(s.in_text for s in report.sessions))
    _warn_if(report, "duplicates", samples=report.duplicates)
    _warn_if(report, "findings", places=sum(f.count for f in report.findings))
    _warn_if(report, "renamed", paths=report.renamed)
    _warn_if(report, "cut", rows=report.cut)
    _warn_if(report, "seams", places=report.seams)


def _warn_if(report: Report, code: str, **figures: int) -> None:
    """Where the figure is not 0."""
    if any(figures.values()):
        report.warnings.append(warning(code, **figures))


def _warn_of_thoughts(report: Report) -> None:
    shown, homeless = (sum(getattr(s, n) for s in report.sessions) for n in ("thoughts", "homeless_thoughts"))
    _warn_if(report, "homeless_thoughts", answers=homeless)
    if not shown and not homeless:
        report.warnings.append(warning("no_thoughts"))


def _on_unjudged(report: Report, options: ExportOptions) -> ExportWarning:
    code = {"refuse": "unjudged_refused", "keep": "unjudged_train"}.get(options.unjudged, "unjudged_left_out")
    counts = {s.session: (s.unjudged, s.steps) for s in report.sessions if s.unjudged}
    others = report.unjudged - report.unjudged_trained - report.unjudged_refused
    return warning(code, steps=report.unjudged, sessions=len(counts), of=len(report.sessions),
                   named=named_sessions(counts), trained=report.unjudged_trained, refused=report.unjudged_refused,
                   others=others)


def held_out(tasks: Mapping[str, str], options: ExportOptions) -> set[str]:
    """The sessions of evaluation, of a task by session. Which tasks they are depends on the tasks' names alone.

    A share above 0 holds out at least one task, and leaves at least one, where there are two.
    """
    names = sorted(set(tasks.values()), key=lambda t: hashlib.sha256(t.encode()).digest())
    count = round(options.eval_share * len(names))
    if options.eval_share > 0 and len(names) > 1:
        count = min(max(count, 1), len(names) - 1)
    chosen = {*names[:count], *options.eval_tasks}
    return {s for s, t in tasks.items() if t in chosen}


def count_row(report: Report, row: SampleRow) -> None:
    """Take one row into the totals."""
    report.react += (row.sample.kind == "react" or row.react_tokens > 0) and not row.part
    report.summary += row.sample.kind == "summary"
    report.samples = report.react + report.summary
    report.merged += row.react_tokens > 0
    report.cut += row.part > 0
    report.tokens += row.tokens
    report.trained += row.trained_tokens
    report.longest = max(report.longest, row.tokens)
    report.seams += row.rendered.seams if row.rendered else 0


def session_report(rows: SessionRows, samples: int, trained: set[int | None]) -> SessionReport:
    """The part of a session whose rows were all read; they train the steps `trained`."""
    trajectory, options = rows.trajectory, rows.options
    steps, outcomes, by_nobody = len(trajectory.steps), rows.outcomes, unjudged(trajectory, options)
    in_rows = by_nobody & trained if options.unjudged == "keep" else set()
    refused = {r.step for r in rows.refused if r.code == "in_a_refused_sample"} - trained
    return SessionReport(session=trajectory.session, title=trajectory.row.title, origin=trajectory.row.origin,
                         head=trajectory.seq, steps=steps, kept=outcomes["keep"], masked=outcomes["mask"],
                         partly=outcomes["partly"], undecided=outcomes["undecided"], unjudged=len(by_nobody),
                         unjudged_trained=len(in_rows), unjudged_refused=len(by_nobody & refused), samples=samples,
                         rebuilt=rows.rebuilt, in_text=rows.in_text, refused=rows.refused,
                         thoughts=rows.thoughts["shown"], homeless_thoughts=rows.thoughts["homeless"],
                         verdicts=verdict_sources(trajectory))


def verdict_sources(trajectory: Trajectory) -> list[VerdictSource]:
    """Who judged this session's steps, with versions."""
    masks: Counter[tuple[str, str]] = Counter()
    keeps: Counter[tuple[str, str]] = Counter()
    for entry in trajectory.steps:
        for verdict in entry.verdicts.values():
            source = (verdict.author.key, verdict.author.version)
            masks[source] += verdict.value == "mask"
            keeps[source] += verdict.value == "keep"
    sources = sorted(set(masks) | set(keeps))
    return [VerdictSource(author=a, version=v, masks=masks[a, v], keeps=keeps[a, v]) for a, v in sources]
