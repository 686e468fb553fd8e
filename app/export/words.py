"""What an export refuses, remarks and offers, in the reader's language: the workers say it in English, by codes."""

from __future__ import annotations

from PySide6.QtCore import QLocale

from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from core.workers.export import ExportRefusal, ExportWarning, FormatLine

REASONS: dict[str, str] = {
    "calls_not_rendered": QT_TRANSLATE_NOOP("ExportReasons", "The chat template of this model has no tool calls."),
    "completion_rewritten": QT_TRANSLATE_NOOP(
        "ExportReasons", "The chat template does not render the action as the model wrote it."),
    "control_token_inside": QT_TRANSLATE_NOOP(
        "ExportReasons", "The action holds text that means a control token to this model."),
    "holds_a_secret": QT_TRANSLATE_NOOP("ExportReasons", "It holds a value that is to be kept secret."),
    "in_a_refused_sample": QT_TRANSLATE_NOOP("ExportReasons", "The sample that holds the action is refused."),
    "inside_a_token": QT_TRANSLATE_NOOP(
        "ExportReasons", "What is trained cannot be cut from the rest between two tokens."),
    "malformed_call": QT_TRANSLATE_NOOP("ExportReasons", "The arguments of a call are not a JSON object."),
    "masked_in_part": QT_TRANSLATE_NOOP(
        "ExportReasons", "It is masked in part, and its message cannot be marked in part: none of it is trained."),
    "no_chat_template": QT_TRANSLATE_NOOP("ExportReasons", "The tokenizer has no chat template."),
    "no_context": QT_TRANSLATE_NOOP(
        "ExportReasons", "The log does not say in which context the steps before it were summarised."),
    "no_place_for_thoughts": QT_TRANSLATE_NOOP(
        "ExportReasons", "The chat template has no place for recorded thoughts within an answer; leave them out."),
    "no_stop": QT_TRANSLATE_NOOP(
        "ExportReasons", "The chat template does not end an action with a stop token of this model."),
    "not_in_a_sample": QT_TRANSLATE_NOOP(
        "ExportReasons", "The action is kept, but no sample holds it as the model wrote it."),
    "nothing_trained": QT_TRANSLATE_NOOP("ExportReasons", "No action of this sample is kept."),
    "prompt_not_prefix": QT_TRANSLATE_NOOP(
        "ExportReasons", "The chat template rewrites what came before, or the answer, once something follows."),
    "prompt_opens_thinking": QT_TRANSLATE_NOOP(
        "ExportReasons", "The chat template makes the model think before it answers, and leaves thoughts out of "
                         "answers."),
    "template_error": QT_TRANSLATE_NOOP("ExportReasons", "The chat template refuses these messages."),
    "template_not_exact": QT_TRANSLATE_NOOP("ExportReasons", "The chat template leaves out what the model was told."),
    "template_too_slow": QT_TRANSLATE_NOOP("ExportReasons", "The chat template does not come to an end."),
    "too_long": QT_TRANSLATE_NOOP(
        "ExportReasons", "It has more tokens than the model takes at once, or than a row of this export may have "
                         "(tiphys export --max-tokens)."),
    "tools_not_rendered": QT_TRANSLATE_NOOP(
        "ExportReasons", "The chat template does not show the model all its tools."),
}
"""By the code of a refusal. English readers get the worker's own sentence, which also names the tool or message."""

REMARKS: dict[str, str] = {
    "no_tokenizer_at_hand": QT_TRANSLATE_NOOP(
        "ExportRemarks", "No tokenizer was at hand: tokens are not counted, and what a model's template or length "
                         "would refuse is not known."),
    "unjudged_refused": QT_TRANSLATE_NOOP(
        "ExportRemarks", "Nobody judged {steps} steps in {sessions} of {of} sessions. Let them be judged, or choose "
                         "at “Not judged” what becomes of such steps."),
    "unjudged_train": QT_TRANSLATE_NOOP(
        "ExportRemarks", "{steps} steps in {sessions} of {of} sessions were judged by nobody: {trained} train as if "
                         "they were kept, {refused} stand in refused samples, {others} are in no row for other "
                         "reasons."),
    "unjudged_left_out": QT_TRANSLATE_NOOP(
        "ExportRemarks", "{steps} steps in {sessions} of {of} sessions were judged by nobody; they do not train."),
    "rebuilt": QT_TRANSLATE_NOOP(
        "ExportRemarks", "{sessions} sessions do not say exactly what the model was given; their contexts are put "
                         "together from what they do say."),
    "homeless_thoughts": QT_TRANSLATE_NOOP(
        "ExportRemarks", "The template has no place for the thoughts of {answers} trained answers: these train "
                         "without."),
    "no_thoughts": QT_TRANSLATE_NOOP("ExportRemarks", "No trained answer of these sessions has a recorded thought."),
    "in_text": QT_TRANSLATE_NOOP(
        "ExportRemarks", "The tool calls of {sessions} sessions are written in the plain-text action format."),
    "duplicates": QT_TRANSLATE_NOOP("ExportRemarks", "{samples} samples equal an earlier one and are left out."),
    "findings": QT_TRANSLATE_NOOP(
        "ExportRemarks", "{places} places that held or looked like secrets were replaced by [redacted]."),
    "renamed": QT_TRANSLATE_NOOP("ExportRemarks", "People's names were taken out of {paths} paths."),
    "cut": QT_TRANSLATE_NOOP(
        "ExportRemarks", "{rows} rows go on with a sample: the template tells its past otherwise later on, so that one "
                         "row cannot hold it exactly."),
    "seams": QT_TRANSLATE_NOOP(
        "ExportRemarks", "At {places} places the model's own token boundary is used, which tokenizing the whole text "
                         "would not give."),
}

ABOUT: dict[str, str] = {
    "trl": QT_TRANSLATE_NOOP(
        "ExportFormats", "Token ids and labels, made by the program's own renderer: the exact mask. What “Train” "
                         "reads."),
    "trl-parquet": QT_TRANSLATE_NOOP("ExportFormats", "The same rows in a Parquet file."),
    "tokens": QT_TRANSLATE_NOOP(
        "ExportFormats", "Ids, labels, positions and a weight per token in shards, for large engines and for “Train”."),
    "chat": QT_TRANSLATE_NOOP(
        "ExportFormats", "Messages of the OpenAI chat API; train is true on the assistant messages that carry loss."),
    "slime": QT_TRANSLATE_NOOP("ExportFormats", "Messages with step_loss_mask, tools in metadata."),
    "axolotl": QT_TRANSLATE_NOOP("ExportFormats", "Messages with train per message, for type: chat_template."),
    "llama-factory": QT_TRANSLATE_NOOP("ExportFormats", "Messages with loss_weight per message."),
    "llama-factory-sharegpt": QT_TRANSLATE_NOOP(
        "ExportFormats", "Turns of a person and the model, one row for each action that trains."),
}


def reason(refusal: ExportRefusal) -> str:
    """Why something is left out."""
    known = REASONS.get(refusal.code, "")
    translated = translate("ExportReasons", known) if known else ""
    return translated if translated != known else refusal.sentence


def remark(warning: ExportWarning) -> str:
    """What its reader should know."""
    figures = {name: QLocale().toString(value) if isinstance(value, int) else value
               for name, value in warning.figures.items()}
    known = REMARKS.get(warning.code)
    return translate("ExportRemarks", known).format(**figures) if known else warning.sentence


def about(name: str, line: FormatLine) -> str:
    """What a format of data sets holds."""
    return translate("ExportFormats", ABOUT[name]) if name in ABOUT else line.about


def waiting_words() -> str:
    """What the first answer of a worker waits for."""
    return translate(
        "ExportWords", "The exporter starts, and loads the tokenizer where one is needed. The first time this takes up "
        "to a minute, since the small model is unpacked.")
