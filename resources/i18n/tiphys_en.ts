<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>AttentionView</name>
    <message numerus="yes">
        <source>%n need(s) you</source>
        <translation>
            <numerusform>%n needs you</numerusform>
            <numerusform>%n need you</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BranchController</name>
    <message numerus="yes">
        <source>%n branch(es) begin; Compare offers them as a group.</source>
        <translation>
            <numerusform>%n branch begins; Compare offers it as a group.</numerusform>
            <numerusform>%n branches begin; Compare offers them as a group.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BranchDialog</name>
    <message numerus="yes">
        <source>%n session(s) begin.</source>
        <translation>
            <numerusform>%n session begins.</numerusform>
            <numerusform>%n sessions begin.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BriefController</name>
    <message numerus="yes">
        <source>%n submission(s)</source>
        <translation>
            <numerusform>%n submission</numerusform>
            <numerusform>%n submissions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s)</source>
        <translation>
            <numerusform>%n file</numerusform>
            <numerusform>%n files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChartsView</name>
    <message numerus="yes">
        <source>Curves of %n step(s)</source>
        <translation>
            <numerusform>Curves of %n step</numerusform>
            <numerusform>Curves of %n steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompareView</name>
    <message numerus="yes">
        <source>All begin with the same %n step(s).</source>
        <translation>
            <numerusform>All begin with the same step.</numerusform>
            <numerusform>All begin with the same %n steps.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Both take the same %n step(s).</source>
        <translation>
            <numerusform>Both take the same %n step.</numerusform>
            <numerusform>Both take the same %n steps.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The first %n step(s) are the same.</source>
        <translation>
            <numerusform>The first %n step is the same.</numerusform>
            <numerusform>The first %n steps are the same.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ContextModel</name>
    <message numerus="yes">
        <source>%n message(s) of earlier contexts are gone</source>
        <translation>
            <numerusform>%n message of earlier contexts is gone</numerusform>
            <numerusform>%n messages of earlier contexts are gone</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n message(s)</source>
        <translation>
            <numerusform>%n message</numerusform>
            <numerusform>%n messages</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DiffView</name>
    <message numerus="yes">
        <source>⋯ %n unchanged line(s)</source>
        <translation>
            <numerusform>⋯ %n unchanged line</numerusform>
            <numerusform>⋯ %n unchanged lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DigestController</name>
    <message numerus="yes">
        <source>%n new step(s)</source>
        <translation>
            <numerusform>%n new step</numerusform>
            <numerusform>%n new steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n error</numerusform>
            <numerusform>%n errors</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n guidance delivered</source>
        <translation>
            <numerusform>%n guidance delivered</numerusform>
            <numerusform>%n guidance delivered</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n summary(ies)</source>
        <translation>
            <numerusform>%n summary</numerusform>
            <numerusform>%n summaries</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DisagreementsController</name>
    <message numerus="yes">
        <source>{person}: active time {time} on %n step(s)</source>
        <translation>
            <numerusform>{person}: active time {time} on %n step</numerusform>
            <numerusform>{person}: active time {time} on %n steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DisagreementsView</name>
    <message numerus="yes">
        <source>%n step(s) on which opinions differ</source>
        <translation>
            <numerusform>%n step on which opinions differ</numerusform>
            <numerusform>%n steps on which opinions differ</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EffectModel</name>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n error</numerusform>
            <numerusform>%n errors</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n different action(s)</source>
        <translation>
            <numerusform>%n different action</numerusform>
            <numerusform>%n different actions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ErrorStrip</name>
    <message numerus="yes">
        <source>%n error(s) over the run</source>
        <translation>
            <numerusform>%n error over the run</numerusform>
            <numerusform>%n errors over the run</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExportController</name>
    <message numerus="yes">
        <source>%n chosen session(s) are not whole on this computer. Menu Session, “Store offline” fetches what is missing.</source>
        <translation>
            <numerusform>%n chosen session is not whole on this computer. Menu Session, “Store offline” fetches what is missing.</numerusform>
            <numerusform>%n chosen sessions are not whole on this computer. Menu Session, “Store offline” fetches what is missing.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) look like secrets. Write the data set?</source>
        <translation>
            <numerusform>%n place looks like a secret. Write the data set?</numerusform>
            <numerusform>%n places look like secrets. Write the data set?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n session(s)</source>
        <translation>
            <numerusform>%n session</numerusform>
            <numerusform>%n sessions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Nobody judged %n step(s) in {sessions}. Judge them, or choose under “Not judged” what becomes of such steps. “Check” counts them.</source>
        <translation>
            <numerusform>Nobody judged %n step in {sessions}. Judge it, or choose under “Not judged” what becomes of such steps. “Check” counts them.</numerusform>
            <numerusform>Nobody judged %n steps in {sessions}. Judge them, or choose under “Not judged” what becomes of such steps. “Check” counts them.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EyeController</name>
    <message numerus="yes">
        <source>%n secret(s) were taken out.</source>
        <translation>
            <numerusform>%n secret was taken out.</numerusform>
            <numerusform>%n secrets were taken out.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FileDelegate</name>
    <message numerus="yes">
        <source>%n file(s)</source>
        <translation>
            <numerusform>%n file</numerusform>
            <numerusform>%n files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FilesGist</name>
    <message numerus="yes">
        <source>%n changed so far</source>
        <translation>
            <numerusform>%n changed so far</numerusform>
            <numerusform>%n changed so far</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FindView</name>
    <message numerus="yes">
        <source>%n place(s)</source>
        <translation>
            <numerusform>%n place</numerusform>
            <numerusform>%n places</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Of %n session(s) on other servers only what is on this computer is searched.</source>
        <translation>
            <numerusform>Of %n session on other servers only what is on this computer is searched.</numerusform>
            <numerusform>Of %n sessions on other servers only what is on this computer is searched.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ImportBar</name>
    <message numerus="yes">
        <source>Opening %n file(s)…</source>
        <translation>
            <numerusform>Opening %n file…</numerusform>
            <numerusform>Opening %n files…</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ImportsController</name>
    <message numerus="yes">
        <source>Cancelled: %n session(s) were imported; each other one is here whole or not at all.</source>
        <translation>
            <numerusform>Cancelled: %n session was imported; each other one is here whole or not at all.</numerusform>
            <numerusform>Cancelled: %n sessions were imported; each other one is here whole or not at all.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n session(s) imported.</source>
        <translation>
            <numerusform>%n session imported.</numerusform>
            <numerusform>%n sessions imported.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n remark(s) on what was opened: see above the steps of each session.</source>
        <translation>
            <numerusform>%n remark on what was opened: see above the steps of its session.</numerusform>
            <numerusform>%n remarks on what was opened: see above the steps of each session.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LearningController</name>
    <message numerus="yes">
        <source>%n line(s) of metrics.jsonl cannot be read</source>
        <translation>
            <numerusform>%n line of metrics.jsonl cannot be read</numerusform>
            <numerusform>%n lines of metrics.jsonl cannot be read</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MakeQueueDialog</name>
    <message numerus="yes">
        <source>%n session(s), chosen by hand.</source>
        <translation>
            <numerusform>%n session, chosen by hand.</numerusform>
            <numerusform>%n sessions, chosen by hand.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n session(s), chosen by the filter {query}</source>
        <translation>
            <numerusform>%n session, chosen by the filter {query}</numerusform>
            <numerusform>%n sessions, chosen by the filter {query}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MemberHead</name>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MergingController</name>
    <message numerus="yes">
        <source>%n opinion(s) merged, {known} were here already.</source>
        <translation>
            <numerusform>%n opinion merged, {known} were here already.</numerusform>
            <numerusform>%n opinions merged, {known} were here already.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n opinion(s) on steps that differ here were left out.</source>
        <translation>
            <numerusform>%n opinion on a step that differs here was left out.</numerusform>
            <numerusform>%n opinions on steps that differ here were left out.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>NewSessionController</name>
    <message numerus="yes">
        <source>{server} has %n task(s) that it cannot read; its log says why.</source>
        <translation>
            <numerusform>{server} has %n task that it cannot read; its log says why.</numerusform>
            <numerusform>{server} has %n tasks that it cannot read; its log says why.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>OfflineController</name>
    <message numerus="yes">
        <source>%n part(s) are not on the server either.</source>
        <translation>
            <numerusform>%n part is not on the server either.</numerusform>
            <numerusform>%n parts are not on the server either.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PresenceBar</name>
    <message numerus="yes">
        <source>%n message(s) are fetched from the server first…</source>
        <translation>
            <numerusform>%n message is fetched from the server first…</numerusform>
            <numerusform>%n messages are fetched from the server first…</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QueueController</name>
    <message numerus="yes">
        <source>%n session(s)</source>
        <translation>
            <numerusform>%n session</numerusform>
            <numerusform>%n sessions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>asks for %n step(s) of each</source>
        <translation>
            <numerusform>asks for %n step of each</numerusform>
            <numerusform>asks for %n steps of each</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>agreement {name} {value} on %n step(s)</source>
        <translation>
            <numerusform>agreement {name} {value} on %n step</numerusform>
            <numerusform>agreement {name} {value} on %n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Nothing is left for you. %n session(s) wait for somebody: take one.</source>
        <translation>
            <numerusform>Nothing is left for you. %n session waits for somebody: take it.</numerusform>
            <numerusform>Nothing is left for you. %n sessions wait for somebody: take one.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QueueView</name>
    <message numerus="yes">
        <source>Under way: %n</source>
        <translation>
            <numerusform>Under way: %n</numerusform>
            <numerusform>Under way: %n</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n earlier</source>
        <translation>
            <numerusform>%n earlier</numerusform>
            <numerusform>%n earlier</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RemarksBar</name>
    <message numerus="yes">
        <source>%n remark(s)</source>
        <translation>
            <numerusform>%n remark</numerusform>
            <numerusform>%n remarks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RemarksView</name>
    <message numerus="yes">
        <source>%n remark(s)</source>
        <translation>
            <numerusform>%n remark</numerusform>
            <numerusform>%n remarks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ReportView</name>
    <message numerus="yes">
        <source>%n place(s) look like secrets; [redacted] is written there:</source>
        <translation>
            <numerusform>%n place looks like a secret; [redacted] is written there:</numerusform>
            <numerusform>%n places look like secrets; [redacted] is written there:</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>✗ Nothing is written: nobody judged %n step(s)</source>
        <translation>
            <numerusform>✗ Nothing is written: nobody judged %n step</numerusform>
            <numerusform>✗ Nothing is written: nobody judged %n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>✗ %n refusal(s)</source>
        <translation>
            <numerusform>✗ %n refusal</numerusform>
            <numerusform>✗ %n refusals</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s)</source>
        <translation>
            <numerusform>%n sample</numerusform>
            <numerusform>%n samples</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation>
            <numerusform>%n row</numerusform>
            <numerusform>%n rows</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SampleView</name>
    <message numerus="yes">
        <source>✗ %n masked action(s)</source>
        <translation>
            <numerusform>✗ %n masked action</numerusform>
            <numerusform>✗ %n masked actions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>? %n action(s) that nobody judged</source>
        <translation>
            <numerusform>? %n action that nobody judged</numerusform>
            <numerusform>? %n actions that nobody judged</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n reason(s) more</source>
        <translation>
            <numerusform>and %n reason more</numerusform>
            <numerusform>and %n reasons more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SessionChoices</name>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SessionHead</name>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SessionsModel</name>
    <message numerus="yes">
        <source>%n new</source>
        <translation>
            <numerusform>%n new</numerusform>
            <numerusform>%n new</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n guidance waiting</source>
        <translation>
            <numerusform>%n guidance waiting</numerusform>
            <numerusform>%n guidance waiting</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StartPage</name>
    <message numerus="yes">
        <source>%n {program} run(s)</source>
        <translation>
            <numerusform>%n {program} run</numerusform>
            <numerusform>%n {program} runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StatusController</name>
    <message numerus="yes">
        <source>%n waiting to be delivered</source>
        <translation>
            <numerusform>%n waiting to be delivered</numerusform>
            <numerusform>%n waiting to be delivered</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StepCells</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TaskSheet</name>
    <message numerus="yes">
        <source>%n Docker container(s): {names}</source>
        <translation>
            <numerusform>%n Docker container: {names}</numerusform>
            <numerusform>%n Docker containers: {names}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n evaluation(s)</source>
        <translation>
            <numerusform>%n evaluation</numerusform>
            <numerusform>%n evaluations</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TerminalsView</name>
    <message numerus="yes">
        <source>%n command(s) ran; each stands under Step with what it printed.</source>
        <translation>
            <numerusform>%n command ran; it stands under Step with what it printed.</numerusform>
            <numerusform>%n commands ran; each stands under Step with what it printed.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This log keeps no terminal · %n command(s) ran, each stands under Step</source>
        <translation>
            <numerusform>This log keeps no terminal · %n command ran, it stands under Step</numerusform>
            <numerusform>This log keeps no terminal · %n commands ran, each stands under Step</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TrajectoryView</name>
    <message numerus="yes">
        <source>%n new</source>
        <translation>
            <numerusform>%n new</numerusform>
            <numerusform>%n new</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>WebSearchDelegate</name>
    <message numerus="yes">
        <source>%n result(s)</source>
        <translation>
            <numerusform>%n result</numerusform>
            <numerusform>%n results</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>WebSearchesView</name>
    <message numerus="yes">
        <source>%n search(es)</source>
        <translation>
            <numerusform>%n search</numerusform>
            <numerusform>%n searches</numerusform>
        </translation>
    </message>
</context>
</TS>
