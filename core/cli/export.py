"""`tiphys export`: sessions as training data (samples with their masks), or as one archive each."""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path

import click
from click.core import ParameterSource

from core.cli.export_groups import GROUP_TARGETS, export_groups
from core.cli.log_access import reading, require_seeing, seen_here, trajectory
from core.cli.number import Number, Whole
from core.cli.options import NewPlace, sample_options
from core.cli.output import emit, json_option, note, say
from core.domain.plural import counted
from core.export import run
from core.export.formats import format_named
from core.export.options import ExportOptions, read_options
from core.export.presets import PRESETS
from core.export.staging import usable
from core.formats import archive
from core.formats.page.document import page, write
from core.formats.page.step import MOST_OF_A_TEXT
from core.llm.extra import has_extra
from core.llm.smollm2 import smollm2_apart
from core.store import blobs, log
from core.store.home import Home
from core.workers.export import DATASET_FORMATS, Report

MOST_STEPS = 10_000
"""Steps of one page."""


def _or_none(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """A file that was not named is "" among the options."""
    return value or ""


def _steps(context: click.Context, parameter: click.Parameter, value: str | None) -> list[int] | None:
    """The numbers of "3,8-12"; raises BadParameter for anything else."""
    if value is None:
        return None
    ranges = [re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", one.strip()) for one in value.split(",")]
    if not all(ranges):
        raise click.BadParameter(f"{value!r} is no list of steps, as 3,8-12.")
    pairs = [(int(m[1]), int(m[2] or m[1])) for m in ranges if m]
    if sum(max(0, last - first) for first, last in pairs) > MOST_STEPS:
        raise click.BadParameter(f"{value!r} are more than {counted(MOST_STEPS, 'step')}.")
    return [number for first, last in pairs for number in range(first, last + 1)]


@click.command()
@click.argument("sessions", nargs=-1, required=True)
@click.option("--to", "target", required=True,
              help=f"{', '.join(('archive', 'html', *DATASET_FORMATS))}; of sessions in groups, for reinforcement: "
                   f"{', '.join(GROUP_TARGETS[:-1])} or {GROUP_TARGETS[-1]}.")
@click.option("--out", required=True, type=NewPlace(),
              help="The folder; for archive, html and groups a file or folder.")
@click.option("--steps", callback=_steps,
              help="Of html: the steps to show, as 3,8-12; else those that people spoke of.")
@click.option("--whole-texts", is_flag=True, help="Of html: nothing is cut.")
@sample_options
@click.option("--dry-run", is_flag=True, help="Say what would be written and what refused, and write nothing.")
@click.option("--balance", type=click.Choice(["auto", "repeat", "weight", "none"]), default="auto", show_default=True,
              help="ReAct samples 7 times and summaries 10 times: as repeated rows, as weights, or not at all.")
@click.option("--overlap", type=click.Choice(["once", "each"]), default="once", show_default=True,
              help="Whether actions carried past a summary are trained once or in each sample.")
@click.option("--chains/--no-chains", default=None,
              help="Merge a ReAct sample and its summary sample into one row (with weights: by default).")
@click.option("--max-tokens", type=Whole(1, 2**31 - 1), default=ExportOptions().max_tokens, show_default=True,
              help="Samples with more tokens are refused, and so are those that the model cannot take at once.")
@click.option("--eval-share", default=0.0, type=Number(0, 1, max_open=True),
              help="Share of the tasks that are held out in a file for evaluation.")
@click.option("--eval-task", "eval_tasks", multiple=True, metavar="ID", help="A task that is held out.")
@click.option("--ignore", "ignored", multiple=True, metavar="AUTHOR",
              help="An author whose verdicts shall not count (rule:blind_edit), or all of a kind (rule, judge).")
@click.option("--secrets", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="File of exact values, one a line; samples that hold one are left out.")
@click.option("--secret-rules", type=click.Path(dir_okay=False, exists=True), callback=_or_none,
              help="File of more forms of secrets, as gitleaks has them (gitleaks.toml).")
@click.option("--redact", is_flag=True, help="Replace these values, instead of leaving their samples out.")
@click.option("--allow-findings", is_flag=True, help="You looked at what a dry run found; replace it and write.")
@json_option
def export(sessions: tuple[str, ...], target: str, out: Path, model: str, dry_run: bool, as_json: bool, ablation: bool,
           secrets: Path | None, redact: bool, steps: list[int] | None, whole_texts: bool, **chosen: object) -> None:
    """Write SESSIONS as training data in a trainer's own format, as archives (--to archive) or as pages for people
    without this program (--to html). Of groups, `all` is every
    session, and RUN/groups/N.json those of an update of `tiphys rl`."""
    home = Home.default()
    suffix = {"archive": ".tiphys", "html": ".html"}.get(target, ".jsonl" if target in GROUP_TARGETS else "")
    if (not suffix or out.suffix != suffix) and os.path.lexists(out) and not out.is_dir():
        raise click.BadParameter(f"{out} is no folder" + (f", nor a name that ends in {suffix}." if suffix else "."),
                                 param_hint="--out")
    if target in ("archive", "html"):
        for session in sessions:
            path = out if out.suffix == suffix else out / f"{session}{suffix}"
            (write_archive(home, session, path) if target == "archive"
             else write_page(home, session, path, steps, whole_texts))
            emit({"session": session, "file": str(path)}) if as_json else say(str(path))
        return
    if target in GROUP_TARGETS:
        export_groups(home, sessions, target, out, model, as_json=as_json)
        return
    if dry_run:
        with reading(home) as conn:
            for session in sessions:
                require_seeing(conn, home, session)
    with usable(out), suppress(FileNotFoundError):
        out.stat()  # a model is made ready below, which takes a while the first time
    blind = not (model or has_extra("transformers", "jinja2")) and (dry_run or not format_named(target).needs_tokens)
    folder = "" if blind else model or default_model(home)
    if blind and not as_json:
        note("No tokens are counted: the training extra is not here (tiphys train-setup).")
    options = _options(secrets, verdicts="none" if ablation else "final", on_secret="redact" if redact else "refuse",
                       **_given(chosen))
    stands_in = not model
    report = (run.dry_run(home.server_db, sessions, target, folder, options, stands_in=stands_in) if dry_run
              else run.export(home.server_db, sessions, target, out, folder, options, stands_in=stands_in))
    if as_json:
        emit(report)
        return
    say(f"{counted(report.samples, 'sample')} ({report.react:,} of steps, {report.summary:,} of summaries) in "
        f"{counted(report.rows, 'row')}; {report.trained:,} of {counted(report.tokens, 'token')} are trained.")
    if repeated := options.settled(weights=format_named(target).needs_tokens).repetition:
        say(repeated)
    for finding in report.findings:
        say(f"{finding.sample}: {finding.count} × {finding.kind} {finding.hint}")
    for line in [*(w.sentence for w in report.warnings), *_left_out(report), *report.files]:
        say(str(line))


def _left_out(report: Report) -> list[str]:
    """What no row holds: how often for which reason, each with an example; the card has all of it."""
    refused = [(s.session, r) for s in report.sessions for r in s.refused]
    if not refused:
        return []
    empty = sum(not s.samples for s in report.sessions)
    codes = Counter(r.code for _, r in refused)
    first = {r.code: (session, r) for session, r in reversed(refused)}
    return [f"Left out: {', '.join(f'{count:,} × {code}' for code, count in codes.items())}"
            + (f"; {empty:,} of {counted(len(report.sessions), 'session')} without a row." if empty else "."),
            *(f"  {code}, as in {first[code][0]}: {first[code][1].sentence}" for code in codes)]


def _given(chosen: dict[str, object]) -> dict[str, object]:
    """Without what was left to its default where the preset chooses it."""
    context = click.get_current_context()
    left = {n for n in PRESETS[str(chosen["preset"])] if context.get_parameter_source(n) == ParameterSource.DEFAULT}
    return {name: value for name, value in chosen.items() if name not in left}


def write_archive(home: Home, session: str, path: Path) -> Path:
    """Write one session's archive and give its place. Raises NotFound, Unavailable."""
    with usable(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    with reading(home) as conn:
        title = trajectory(conn, session).row.title
        bodies = [placed.body for placed in log.read_all(conn, session)]
        archive.write(path, session, title, bodies, lambda name: blobs.get(conn, name))
    return path


def write_page(home: Home, session: str, path: Path, steps: list[int] | None, whole: bool) -> None:
    """Write one session as an HTML page. Raises NotFound, Unavailable."""
    with usable(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    with reading(home) as conn:
        text = page(seen_here(conn, home, session), lambda name: blobs.get(conn, name), cited=steps,
                    most=None if whole else MOST_OF_A_TEXT)
    write(path, text)


def _options(secrets: Path | None, **chosen: object) -> ExportOptions:
    lines = secrets.read_text(encoding="utf-8").splitlines() if secrets is not None else []
    made = {name: value for name, value in chosen.items() if value is not None}
    return read_options({**made, "secrets": [line.strip() for line in lines if line.strip()]})


def default_model(home: Home) -> str:
    """The folder of the small model that the training extra brings. Raises Unavailable without the extra."""
    return str(smollm2_apart(home.path / "cache"))
