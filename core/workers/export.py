"""What the export worker is asked and answers: reports, previews, and the formats that there are."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from core.workers.messages import WorkerRequest

State = Literal["context", "kept", "masked", "carried", "changed", "summary", "undecided", "refused"]
"""kept, summary: trained. masked: an action that a verdict masks. undecided: one that nobody judged, not trained.
carried: trained in an earlier sample already. changed: the context does not hold the action as the model wrote it.
refused: its tokens cannot be split exactly. context: everything else."""


class FormatLine(msgspec.Struct, frozen=True):
    """A format of data sets, or a preset, as a person chooses it."""

    title: str
    about: str


DATASET_FORMATS = {
    "trl": FormatLine("TRL", "Token ids and labels, made by the program's own renderer: the exact mask. "
                             "What “Train” reads."),
    "trl-parquet": FormatLine("TRL (Parquet)", "The same rows in a Parquet file."),
    "tokens": FormatLine("Tokens (Parquet shards)", "Ids, labels, positions and a weight per token in shards, for "
                                                    "large engines and for “Train”."),
    "chat": FormatLine("Chat messages", "Messages of the OpenAI chat API; train is true on the assistant messages "
                                        "that carry loss."),
    "slime": FormatLine("slime", "Messages with step_loss_mask, tools in metadata."),
    "axolotl": FormatLine("axolotl", "Messages with train per message, for type: chat_template."),
    "llama-factory": FormatLine("LLaMA-Factory (v1)", "Messages with loss_weight per message."),
    "llama-factory-sharegpt": FormatLine("LLaMA-Factory (ShareGPT)", "Turns of a person and the model, one row for "
                                                                     "each action that trains."),
}
"""By name; `core.export.formats` holds how each is written."""

PRESETS = {
    "once": FormatLine("each action once", "An action that was carried past a summary trains in the first sample "
                                           "only."),
    "paper": FormatLine("as in the paper (APOLLO)", "Each context before a summary, and the last one, trains all its "
                                                    "actions; steps 7×, summaries 10×."),
}
"""By name; `core.export.presets` holds what each chooses."""


class ExportRefusal(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an export leaves out, and why; `step` and `sample` where it is about one, `message` by index."""

    code: str
    sentence: str
    step: int | None = None
    sample: str | None = None
    message: int | None = None


UNJUDGED = ("Nobody judged {steps} steps in {sessions} of {of} sessions ({named}). Let them be judged, or say what "
            "becomes of such steps: unjudged = keep trains them, mask leaves them out.")

WARNINGS = {
    "no_tokenizer_at_hand": "No tokenizer was at hand: tokens are not counted, and what a model's template or length "
                            "would refuse is not known.",
    "unjudged_refused": f"Writing is refused. {UNJUDGED}",
    "unjudged_train": "{steps} steps in {sessions} of {of} sessions were judged by nobody: {trained} train as if they "
                      "were kept, {refused} stand in refused samples, {others} are in no row for other reasons.",
    "unjudged_left_out": "{steps} steps in {sessions} of {of} sessions were judged by nobody; they do not train.",
    "rebuilt": "{sessions} sessions do not say exactly what the model was given; their contexts are put together from "
               "what they do say.",
    "homeless_thoughts": "The template has no place for the thoughts of {answers} trained answers: these train "
                         "without.",
    "no_thoughts": "No trained answer of these sessions has a recorded thought.",
    "in_text": "The tool calls of {sessions} sessions are written in the plain-text action format.",
    "duplicates": "{samples} samples equal an earlier one and are left out.",
    "findings": "{places} places that held or looked like secrets were replaced by [redacted].",
    "renamed": "People's names were taken out of {paths} paths.",
    "cut": "{rows} rows go on with a sample: the template tells its past otherwise later on, so that one row cannot "
           "hold it exactly.",
    "seams": "At {places} places the model's own token boundary is used, which tokenizing the whole text would not "
             "give.",
}
"""What an export did that its reader should know, by code, with the names of the figures that it is about."""


class ExportWarning(msgspec.Struct, frozen=True, kw_only=True):
    """One of `WARNINGS`, in English, and its figures (`named`: sessions, as text)."""

    code: str
    sentence: str
    figures: dict[str, int | str] = {}


def warning(code: str, **figures: int | str) -> ExportWarning:
    """The warning of a code."""
    return ExportWarning(code=code, sentence=WARNINGS[code].format(**figures), figures=figures)


class Leak(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Something that was taken out of a sample's messages: `count` times, of a kind. `hint` shows its beginning."""

    session: str
    sample: str
    kind: str
    hint: str
    count: int = 1


class VerdictSource(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A source of verdicts: how many steps it masks and keeps. Persons are named as the log names them."""

    author: str
    version: str = ""
    masks: int = 0
    keeps: int = 0


class SessionReport(msgspec.Struct, kw_only=True):
    """One session's part. `head` is the seq up to which its log was read. Of its steps so many were decided to be kept,
    masked and `partly` masked (one of their actions is, another is not); on `undecided`, or an action of them, nobody
    decided: these four are all steps. `unjudged` are the undecided ones and those masked in part of which nobody judged
    another action; of them `unjudged_trained` are trained in a row as if they were kept, and of the others
    `unjudged_refused` stand in refused samples. Of the trained answers whose reasoning was recorded and asked for,
    `thoughts` have it in a row, and `homeless_thoughts` have not, as the template has no place for it."""

    session: str
    title: str = ""
    origin: str = ""
    head: int = 0
    steps: int = 0
    kept: int = 0
    masked: int = 0
    partly: int = 0
    undecided: int = 0
    unjudged: int = 0
    unjudged_trained: int = 0
    unjudged_refused: int = 0
    samples: int = 0
    rebuilt: bool = False
    in_text: bool = False
    thoughts: int = 0
    homeless_thoughts: int = 0
    refused: list[ExportRefusal] = []
    verdicts: list[VerdictSource] = []


class Report(msgspec.Struct, kw_only=True):
    """What an export did, or would do. `samples` are distinct ones, `rows` what balance makes of them, `eval_rows`
    those in the file for evaluation; tokens count distinct samples. `duplicates` were left out, `merged` rows are two
    samples in one, `cut` rows go on with a sample that one row cannot hold exactly, `renamed` counts people's folders
    in paths, `unjudged` and what follows it are the sums over all sessions, `findings` tell what looked like a secret
    and was replaced."""

    samples: int = 0
    react: int = 0
    summary: int = 0
    rows: int = 0
    tokens: int = 0
    trained: int = 0
    longest: int = 0
    seams: int = 0
    duplicates: int = 0
    renamed: int = 0
    merged: int = 0
    cut: int = 0
    eval_rows: int = 0
    unjudged: int = 0
    unjudged_trained: int = 0
    unjudged_refused: int = 0
    eval_sessions: list[str] = []
    findings: list[Leak] = []
    sessions: list[SessionReport] = []
    warnings: list[ExportWarning] = []
    files: list[str] = []


class SampleLine(msgspec.Struct, frozen=True):
    """One sample of a session; `step` is the last that it holds."""

    kind: str
    step: int = 0
    tokens: int = 0
    trained: int = 0
    rebuilt: bool = False


class TokenPart(msgspec.Struct, frozen=True):
    """A message of the agent as tokens start..end, with what training does with it."""

    start: int
    end: int
    role: str = ""
    step: int | None = None
    state: State = "context"


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """A slice of one sample, token by token: (text, 1 where training sees it)."""

    samples: tuple[SampleLine, ...] = ()
    sample: int = 0
    start: int = 0
    total: int = 0
    trained: int = 0
    tokens: tuple[tuple[str, int], ...] = ()
    parts: tuple[TokenPart, ...] = ()
    refused: tuple[ExportRefusal, ...] = ()
    template_refused: ExportRefusal | None = None


class DatasetChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What a data set is made of and how; `model` is a folder, "" the small model of the training extra."""

    sessions: list[str]
    format: str = "trl"
    model: str = ""
    options: dict[str, Any] = {}


class DryRun(WorkerRequest[Report], frozen=True, tag="dry_run"):
    """What writing this data set would give."""

    dataset: DatasetChoice


class WriteDataset(WorkerRequest[Report], frozen=True, tag="write"):
    """Write a data set into a folder."""

    dataset: DatasetChoice
    folder: str


class ShowSample(WorkerRequest[Preview], frozen=True, tag="preview"):
    """Tokens start..start+count of one of a session's samples."""

    session: str
    sample: int = 0
    start: int = 0
    count: int = 4000
    model: str = ""
    options: dict[str, Any] = {}


ExportRequest = DryRun | WriteDataset | ShowSample
