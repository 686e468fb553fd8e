"""What a data set holds, or would hold: totals, warnings, what looks like secrets, and each session."""

from __future__ import annotations

from app.export.words import reason, remark, waiting_words
from app.kit.i18n import plural
from app.kit.long_text import LongText, Part
from app.kit.quantities import number
from app.kit.safe_text import one_line
from core.workers.export import Report, SessionReport

MOST_FINDINGS = 100


class ReportView(LongText):
    """The worker's report, or why there is none."""

    def show_waiting(self, share: float) -> None:
        """What a person waits for; the result takes its place. `share` is 0 until the first sample is made."""
        words = waiting_words() if not share else self.tr("The samples are being made: {share} %").format(
            share=number(int(100 * share)))
        self.show_parts([Part(text=words, style="meta")])

    def show_failure(self, sentence: str) -> None:
        """Why there is no result."""
        self.show_parts([Part(text="✗ " + self.tr("Not possible") + "\n", style="heading", meaning="error"),
                         Part(text=sentence)])

    def show_report(self, report: Report, folder: str = "") -> None:
        """What was written to `folder`, or what would be."""
        parts = [self._heading(report, folder), *self._totals(report)]
        parts += [Part(text=f"⚠ {remark(w)}\n", meaning="attention") for w in report.warnings]
        parts += self._findings(report)
        for session in report.sessions:
            parts += self._session(session)
        parts += [Part(text=f"\n{one}", style="mono") for one in report.files]
        self.show_parts(parts)

    def _findings(self, report: Report) -> list[Part]:
        """What looks like secrets."""
        if not report.findings:
            return []
        count = sum(f.count for f in report.findings)
        text = self.tr("%Ln place(s) look like secrets; [redacted] is written there:", None, plural(count))
        return [Part(text=f"⚠ {text}\n", meaning="attention"),
                *(Part(text=f"   {one_line(f.kind, 40)} ×{number(f.count)}  {one_line(f.hint, 60)}"
                       f"  {one_line(f.sample, 60)}\n", style="mono") for f in report.findings[:MOST_FINDINGS])]

    def _session(self, session: SessionReport) -> list[Part]:
        line = self.tr("{steps} steps: {kept} kept, {masked} masked, {partly} masked in part, "
                       "{undecided} undecided → {samples}")
        parts = [Part(text="\n", style="meta"),
                 Part(text=f"{one_line(session.title or session.session, 80)}\n", style="heading"),
                 Part(text=line.format(
                     steps=number(session.steps), kept=number(session.kept), masked=number(session.masked),
                     partly=number(session.partly), undecided=number(session.undecided),
                     samples=self._samples(session.samples)) + "\n")]
        for refusal in session.refused[:200]:
            where = self.tr("step {step}: ").format(step=refusal.step) if refusal.step else ""
            parts.append(Part(text=f"✗ {where}{reason(refusal)}\n", meaning="mask"))
        return parts

    def _heading(self, report: Report, folder: str) -> Part:
        refused = sum(len(s.refused) for s in report.sessions)
        if folder:
            return Part(text="✓ " + self.tr("Written to {folder}").format(folder=folder) + "\n", style="heading",
                        meaning="keep")
        if any(w.code == "unjudged_refused" for w in report.warnings):
            text = self.tr("✗ Nothing is written: nobody judged %Ln step(s)", "", plural(report.unjudged))
            return Part(text=text + "\n", style="heading", meaning="attention")
        text = self.tr("✗ %Ln refusal(s)", "", plural(refused)) if refused else self.tr("✓ Nothing would be refused")
        return Part(text=text + "\n", style="heading", meaning="mask" if refused else "keep")

    def _samples(self, count: int) -> str:
        return self.tr("%Ln sample(s)", None, plural(count))

    def _totals(self, report: Report) -> list[Part]:
        share = 100 * report.trained / report.tokens if report.tokens else 0.0
        rows = self.tr("%Ln row(s)", None, plural(report.rows))
        parts = [Part(text=self.tr("{samples} (of steps: {react}, summaries: {summary}), {rows}").format(
            samples=self._samples(report.samples), react=number(report.react), summary=number(report.summary),
            rows=rows) + "\n")]
        if report.tokens:
            parts.append(Part(text=self.tr("{tokens} tokens, {trained} trained ({share} %), longest {longest}").format(
                tokens=number(report.tokens), trained=number(report.trained), share=f"{share:.1f}",
                longest=number(report.longest)) + "\n"))
        return parts
