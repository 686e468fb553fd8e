<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>AttentionView</name>
    <message numerus="yes">
        <source>%Ln need(s) you</source>
        <translation>
            <numerusform>%Ln needs you</numerusform>
            <numerusform>%Ln need you</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BranchController</name>
    <message numerus="yes">
        <source>%Ln branch(es) begin; Compare offers them as a group.</source>
        <translation>
            <numerusform>%Ln branch begins; Compare offers it as a group.</numerusform>
            <numerusform>%Ln branches begin; Compare offers them as a group.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BranchDialog</name>
    <message numerus="yes">
        <source>%Ln session(s) begin.</source>
        <translation>
            <numerusform>%Ln session begins.</numerusform>
            <numerusform>%Ln sessions begin.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BriefController</name>
    <message numerus="yes">
        <source>%Ln submission(s)</source>
        <translation>
            <numerusform>%Ln submission</numerusform>
            <numerusform>%Ln submissions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln file(s)</source>
        <translation>
            <numerusform>%Ln file</numerusform>
            <numerusform>%Ln files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChartsView</name>
    <message numerus="yes">
        <source>Curves of %Ln step(s)</source>
        <translation>
            <numerusform>Curves of %Ln step</numerusform>
            <numerusform>Curves of %Ln steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompareView</name>
    <message numerus="yes">
        <source>All begin with the same %Ln step(s).</source>
        <translation>
            <numerusform>All begin with the same step.</numerusform>
            <numerusform>All begin with the same %Ln steps.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Both take the same %Ln step(s).</source>
        <translation>
            <numerusform>Both take the same %Ln step.</numerusform>
            <numerusform>Both take the same %Ln steps.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The first %Ln step(s) are the same.</source>
        <translation>
            <numerusform>The first %Ln step is the same.</numerusform>
            <numerusform>The first %Ln steps are the same.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ContextModel</name>
    <message numerus="yes">
        <source>%Ln message(s) of earlier contexts are gone</source>
        <translation>
            <numerusform>%Ln message of earlier contexts is gone</numerusform>
            <numerusform>%Ln messages of earlier contexts are gone</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>%Ln message</numerusform>
            <numerusform>%Ln messages</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DiffView</name>
    <message numerus="yes">
        <source>⋯ %Ln unchanged line(s)</source>
        <translation>
            <numerusform>⋯ %Ln unchanged line</numerusform>
            <numerusform>⋯ %Ln unchanged lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DigestController</name>
    <message numerus="yes">
        <source>%Ln new step(s)</source>
        <translation>
            <numerusform>%Ln new step</numerusform>
            <numerusform>%Ln new steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln error(s)</source>
        <translation>
            <numerusform>%Ln error</numerusform>
            <numerusform>%Ln errors</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln guidance delivered</source>
        <translation>
            <numerusform>%Ln guidance delivered</numerusform>
            <numerusform>%Ln guidance delivered</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln summary(ies)</source>
        <translation>
            <numerusform>%Ln summary</numerusform>
            <numerusform>%Ln summaries</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DisagreementsController</name>
    <message numerus="yes">
        <source>{person}: active time {time} on %Ln step(s)</source>
        <translation>
            <numerusform>{person}: active time {time} on %Ln step</numerusform>
            <numerusform>{person}: active time {time} on %Ln steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DisagreementsView</name>
    <message numerus="yes">
        <source>%Ln step(s) on which opinions differ</source>
        <translation>
            <numerusform>%Ln step on which opinions differ</numerusform>
            <numerusform>%Ln steps on which opinions differ</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EffectModel</name>
    <message numerus="yes">
        <source>%Ln error(s)</source>
        <translation>
            <numerusform>%Ln error</numerusform>
            <numerusform>%Ln errors</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln different action(s)</source>
        <translation>
            <numerusform>%Ln different action</numerusform>
            <numerusform>%Ln different actions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ErrorStrip</name>
    <message numerus="yes">
        <source>%Ln error(s) over the run</source>
        <translation>
            <numerusform>%Ln error over the run</numerusform>
            <numerusform>%Ln errors over the run</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExportController</name>
    <message numerus="yes">
        <source>%Ln chosen session(s) are not whole on this computer. Menu Session, “Store offline” fetches what is missing.</source>
        <translation>
            <numerusform>%Ln chosen session is not whole on this computer. Menu Session, “Store offline” fetches what is missing.</numerusform>
            <numerusform>%Ln chosen sessions are not whole on this computer. Menu Session, “Store offline” fetches what is missing.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln place(s) look like secrets. Write the data set?</source>
        <translation>
            <numerusform>%Ln place looks like a secret. Write the data set?</numerusform>
            <numerusform>%Ln places look like secrets. Write the data set?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln session(s)</source>
        <translation>
            <numerusform>%Ln session</numerusform>
            <numerusform>%Ln sessions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Nobody judged %Ln step(s) in {sessions}. Judge them, or choose under “Not judged” what becomes of such steps. “Check” counts them.</source>
        <translation>
            <numerusform>Nobody judged %Ln step in {sessions}. Judge it, or choose under “Not judged” what becomes of such steps. “Check” counts them.</numerusform>
            <numerusform>Nobody judged %Ln steps in {sessions}. Judge them, or choose under “Not judged” what becomes of such steps. “Check” counts them.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EyeController</name>
    <message numerus="yes">
        <source>%Ln secret(s) were taken out.</source>
        <translation>
            <numerusform>%Ln secret was taken out.</numerusform>
            <numerusform>%Ln secrets were taken out.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FileDelegate</name>
    <message numerus="yes">
        <source>%Ln file(s)</source>
        <translation>
            <numerusform>%Ln file</numerusform>
            <numerusform>%Ln files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FilesGist</name>
    <message numerus="yes">
        <source>%Ln changed so far</source>
        <translation>
            <numerusform>%Ln changed so far</numerusform>
            <numerusform>%Ln changed so far</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FindView</name>
    <message numerus="yes">
        <source>%Ln place(s)</source>
        <translation>
            <numerusform>%Ln place</numerusform>
            <numerusform>%Ln places</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Of %Ln session(s) on other servers only what is on this computer is searched.</source>
        <translation>
            <numerusform>Of %Ln session on other servers only what is on this computer is searched.</numerusform>
            <numerusform>Of %Ln sessions on other servers only what is on this computer is searched.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FoundList</name>
    <message numerus="yes">
        <source>%Ln {program} run(s)</source>
        <translation>
            <numerusform>%Ln {program} run</numerusform>
            <numerusform>%Ln {program} runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ImportBar</name>
    <message numerus="yes">
        <source>Opening %Ln file(s)…</source>
        <translation>
            <numerusform>Opening %Ln file…</numerusform>
            <numerusform>Opening %Ln files…</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ImportsController</name>
    <message numerus="yes">
        <source>Cancelled: %Ln session(s) were imported; each other one is here whole or not at all.</source>
        <translation>
            <numerusform>Cancelled: %Ln session was imported; each other one is here whole or not at all.</numerusform>
            <numerusform>Cancelled: %Ln sessions were imported; each other one is here whole or not at all.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln session(s) imported.</source>
        <translation>
            <numerusform>%Ln session imported.</numerusform>
            <numerusform>%Ln sessions imported.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln remark(s) on what was opened: see above the steps of each session.</source>
        <translation>
            <numerusform>%Ln remark on what was opened: see above the steps of its session.</numerusform>
            <numerusform>%Ln remarks on what was opened: see above the steps of each session.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LearningController</name>
    <message numerus="yes">
        <source>%Ln line(s) of metrics.jsonl cannot be read</source>
        <translation>
            <numerusform>%Ln line of metrics.jsonl cannot be read</numerusform>
            <numerusform>%Ln lines of metrics.jsonl cannot be read</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MakeQueueDialog</name>
    <message numerus="yes">
        <source>%Ln session(s), chosen by hand.</source>
        <translation>
            <numerusform>%Ln session, chosen by hand.</numerusform>
            <numerusform>%Ln sessions, chosen by hand.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln session(s), chosen by the filter {query}</source>
        <translation>
            <numerusform>%Ln session, chosen by the filter {query}</numerusform>
            <numerusform>%Ln sessions, chosen by the filter {query}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MemberHead</name>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln step</numerusform>
            <numerusform>%Ln steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MergingController</name>
    <message numerus="yes">
        <source>%Ln opinion(s) merged, {known} were here already.</source>
        <translation>
            <numerusform>%Ln opinion merged, {known} were here already.</numerusform>
            <numerusform>%Ln opinions merged, {known} were here already.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln opinion(s) on steps that differ here were left out.</source>
        <translation>
            <numerusform>%Ln opinion on a step that differs here was left out.</numerusform>
            <numerusform>%Ln opinions on steps that differ here were left out.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>NewSessionController</name>
    <message numerus="yes">
        <source>{server} has %Ln task(s) that it cannot read; its log says why.</source>
        <translation>
            <numerusform>{server} has %Ln task that it cannot read; its log says why.</numerusform>
            <numerusform>{server} has %Ln tasks that it cannot read; its log says why.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>OfflineController</name>
    <message numerus="yes">
        <source>%Ln part(s) are not on the server either.</source>
        <translation>
            <numerusform>%Ln part is not on the server either.</numerusform>
            <numerusform>%Ln parts are not on the server either.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PresenceBar</name>
    <message numerus="yes">
        <source>%Ln message(s) are fetched from the server first…</source>
        <translation>
            <numerusform>%Ln message is fetched from the server first…</numerusform>
            <numerusform>%Ln messages are fetched from the server first…</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QueueController</name>
    <message numerus="yes">
        <source>%Ln session(s)</source>
        <translation>
            <numerusform>%Ln session</numerusform>
            <numerusform>%Ln sessions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>asks for %Ln step(s) of each</source>
        <translation>
            <numerusform>asks for %Ln step of each</numerusform>
            <numerusform>asks for %Ln steps of each</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>agreement {name} {value} on %Ln step(s)</source>
        <translation>
            <numerusform>agreement {name} {value} on %Ln step</numerusform>
            <numerusform>agreement {name} {value} on %Ln steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Nothing is left for you. %Ln session(s) wait for somebody: take one.</source>
        <translation>
            <numerusform>Nothing is left for you. %Ln session waits for somebody: take it.</numerusform>
            <numerusform>Nothing is left for you. %Ln sessions wait for somebody: take one.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QueueView</name>
    <message numerus="yes">
        <source>Under way: %Ln</source>
        <translation>
            <numerusform>Under way: %Ln</numerusform>
            <numerusform>Under way: %Ln</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>not taken: %Ln</source>
        <translation>
            <numerusform>not taken: %Ln</numerusform>
            <numerusform>not taken: %Ln</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln earlier</source>
        <translation>
            <numerusform>%Ln earlier</numerusform>
            <numerusform>%Ln earlier</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RemarksBar</name>
    <message numerus="yes">
        <source>%Ln remark(s)</source>
        <translation>
            <numerusform>%Ln remark</numerusform>
            <numerusform>%Ln remarks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RemarksView</name>
    <message numerus="yes">
        <source>%Ln remark(s)</source>
        <translation>
            <numerusform>%Ln remark</numerusform>
            <numerusform>%Ln remarks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ReportView</name>
    <message numerus="yes">
        <source>%Ln place(s) look like secrets; [redacted] is written there:</source>
        <translation>
            <numerusform>%Ln place looks like a secret; [redacted] is written there:</numerusform>
            <numerusform>%Ln places look like secrets; [redacted] is written there:</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>✗ Nothing is written: nobody judged %Ln step(s)</source>
        <translation>
            <numerusform>✗ Nothing is written: nobody judged %Ln step</numerusform>
            <numerusform>✗ Nothing is written: nobody judged %Ln steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>✗ %Ln refusal(s)</source>
        <translation>
            <numerusform>✗ %Ln refusal</numerusform>
            <numerusform>✗ %Ln refusals</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln sample(s)</source>
        <translation>
            <numerusform>%Ln sample</numerusform>
            <numerusform>%Ln samples</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln row(s)</source>
        <translation>
            <numerusform>%Ln row</numerusform>
            <numerusform>%Ln rows</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SampleView</name>
    <message numerus="yes">
        <source>✗ %Ln masked action(s)</source>
        <translation>
            <numerusform>✗ %Ln masked action</numerusform>
            <numerusform>✗ %Ln masked actions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>? %Ln action(s) that nobody judged</source>
        <translation>
            <numerusform>? %Ln action that nobody judged</numerusform>
            <numerusform>? %Ln actions that nobody judged</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %Ln reason(s) more</source>
        <translation>
            <numerusform>and %Ln reason more</numerusform>
            <numerusform>and %Ln reasons more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SessionChoices</name>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln step</numerusform>
            <numerusform>%Ln steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SessionHead</name>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln step</numerusform>
            <numerusform>%Ln steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SessionsModel</name>
    <message numerus="yes">
        <source>%Ln new</source>
        <translation>
            <numerusform>%Ln new</numerusform>
            <numerusform>%Ln new</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln step</numerusform>
            <numerusform>%Ln steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln guidance waiting</source>
        <translation>
            <numerusform>%Ln guidance waiting</numerusform>
            <numerusform>%Ln guidance waiting</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StatusController</name>
    <message numerus="yes">
        <source>%Ln waiting to be delivered</source>
        <translation>
            <numerusform>%Ln waiting to be delivered</numerusform>
            <numerusform>%Ln waiting to be delivered</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StepCells</name>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TakeoverController</name>
    <message numerus="yes">
        <source>At work on your action; %Ln more wait(s).</source>
        <translation>
            <numerusform>At work on your action; %Ln more waits.</numerusform>
            <numerusform>At work on your action; %Ln more wait.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TaskSheet</name>
    <message numerus="yes">
        <source>%Ln Docker container(s): {names}</source>
        <translation>
            <numerusform>%Ln Docker container: {names}</numerusform>
            <numerusform>%Ln Docker containers: {names}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln step</numerusform>
            <numerusform>%Ln steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln evaluation(s)</source>
        <translation>
            <numerusform>%Ln evaluation</numerusform>
            <numerusform>%Ln evaluations</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TerminalsView</name>
    <message numerus="yes">
        <source>%Ln command(s) ran; each stands under Step with what it printed.</source>
        <translation>
            <numerusform>%Ln command ran; it stands under Step with what it printed.</numerusform>
            <numerusform>%Ln commands ran; each stands under Step with what it printed.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This log keeps no terminal · %Ln command(s) ran, each stands under Step</source>
        <translation>
            <numerusform>This log keeps no terminal · %Ln command ran, it stands under Step</numerusform>
            <numerusform>This log keeps no terminal · %Ln commands ran, each stands under Step</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TrajectoryView</name>
    <message numerus="yes">
        <source>%Ln new</source>
        <translation>
            <numerusform>%Ln new</numerusform>
            <numerusform>%Ln new</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>WebSearchDelegate</name>
    <message numerus="yes">
        <source>%Ln result(s)</source>
        <translation>
            <numerusform>%Ln result</numerusform>
            <numerusform>%Ln results</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>WebSearchesView</name>
    <message numerus="yes">
        <source>%Ln search(es)</source>
        <translation>
            <numerusform>%Ln search</numerusform>
            <numerusform>%Ln searches</numerusform>
        </translation>
    </message>
</context>
</TS>
