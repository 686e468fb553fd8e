<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>Actions</name>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Session</source>
        <translation>会话(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>转到(&amp;G)</translation>
    </message>
    <message>
        <source>G&amp;uidance</source>
        <translation>指导(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Review</source>
        <translation>评审(&amp;R)</translation>
    </message>
    <message>
        <source>Ch&amp;anges</source>
        <translation>更改(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;New session…</source>
        <translation>新建会话(&amp;N)…</translation>
    </message>
    <message>
        <source>&amp;Open trajectories…</source>
        <translation>打开轨迹(&amp;O)…</translation>
    </message>
    <message>
        <source>&amp;Demonstration</source>
        <translation>演示(&amp;D)</translation>
    </message>
    <message>
        <source>Open a &amp;folder…</source>
        <translation>打开文件夹(&amp;F)…</translation>
    </message>
    <message>
        <source>Open a learning &amp;run…</source>
        <translation>打开强化学习运行(&amp;R)…</translation>
    </message>
    <message>
        <source>&amp;Generated tasks…</source>
        <translation>生成的任务(&amp;G)…</translation>
    </message>
    <message>
        <source>&amp;Merge opinions…</source>
        <translation>合并他人的意见(&amp;M)…</translation>
    </message>
    <message>
        <source>Export as &amp;page…</source>
        <translation>导出为网页(&amp;P)…</translation>
    </message>
    <message>
        <source>&amp;Cancel opening</source>
        <translation>取消打开(&amp;C)</translation>
    </message>
    <message>
        <source>Arc&amp;hive session…</source>
        <translation>归档会话(&amp;H)…</translation>
    </message>
    <message>
        <source>&amp;Delete session…</source>
        <translation>删除会话(&amp;D)…</translation>
    </message>
    <message>
        <source>Ser&amp;vers…</source>
        <translation>服务器(&amp;V)…</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation>设置(&amp;S)…</translation>
    </message>
    <message>
        <source>Change &amp;keys…</source>
        <translation>更改快捷键(&amp;K)…</translation>
    </message>
    <message>
        <source>&amp;Quit (sessions keep running)</source>
        <translation>退出(&amp;Q)（会话继续运行）</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>暂停(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Resume</source>
        <translation>从暂停处继续(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Interrupt the running action</source>
        <translation>中断正在执行的动作(&amp;I)</translation>
    </message>
    <message>
        <source>All&amp;ow what is asked, once</source>
        <translation>允许所请求的这一次(&amp;O)</translation>
    </message>
    <message>
        <source>Refus&amp;e what is asked</source>
        <translation>拒绝所请求的(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Continue…</source>
        <translation>继续(&amp;C)…</translation>
    </message>
    <message>
        <source>Take o&amp;ver</source>
        <translation>接管(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Hand back</source>
        <translation>交还(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Branch from this step…</source>
        <translation>从此步骤分支(&amp;B)…</translation>
    </message>
    <message>
        <source>Take a s&amp;napshot</source>
        <translation>拍摄快照(&amp;N)</translation>
    </message>
    <message>
        <source>Snap&amp;shots…</source>
        <translation>快照列表(&amp;H)…</translation>
    </message>
    <message>
        <source>&amp;Stop…</source>
        <translation>停止(&amp;S)…</translation>
    </message>
    <message>
        <source>&amp;Attention dealt with</source>
        <translation>标为已处理(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;When it asks for a look…</source>
        <translation>何时请求关注(&amp;W)…</translation>
    </message>
    <message>
        <source>Store off&amp;line</source>
        <translation>离线保存(&amp;K)</translation>
    </message>
    <message>
        <source>Save this &amp;filter…</source>
        <translation>保存此筛选(&amp;F)…</translation>
    </message>
    <message>
        <source>&amp;Next step</source>
        <translation>下一步骤(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Previous step</source>
        <translation>上一步骤(&amp;P)</translation>
    </message>
    <message>
        <source>The tas&amp;k</source>
        <translation>任务(&amp;K)</translation>
    </message>
    <message>
        <source>What was &amp;handed in</source>
        <translation>提交物(&amp;H)</translation>
    </message>
    <message>
        <source>Next turn of a &amp;person</source>
        <translation>下一条人的话(&amp;P)</translation>
    </message>
    <message>
        <source>Previous turn of a person</source>
        <translation>上一条人的话</translation>
    </message>
    <message>
        <source>&amp;Follow the live tail</source>
        <translation>跟随最新步骤(&amp;F)</translation>
    </message>
    <message>
        <source>Find in the &amp;trajectory</source>
        <translation>在轨迹中查找(&amp;T)</translation>
    </message>
    <message>
        <source>Find ne&amp;xt</source>
        <translation>查找下一个(&amp;X)</translation>
    </message>
    <message>
        <source>Find pre&amp;vious</source>
        <translation>查找上一个(&amp;V)</translation>
    </message>
    <message>
        <source>Find in a&amp;ll sessions</source>
        <translation>在所有会话中查找(&amp;L)</translation>
    </message>
    <message>
        <source>F&amp;ilter steps</source>
        <translation>筛选步骤(&amp;I)</translation>
    </message>
    <message>
        <source>Overview by t&amp;ime, idle squeezed</source>
        <translation>概览按时间排列，压缩空闲(&amp;I)</translation>
    </message>
    <message>
        <source>Next &amp;error</source>
        <translation>下一个错误(&amp;E)</translation>
    </message>
    <message>
        <source>Previous e&amp;rror</source>
        <translation>上一个错误(&amp;R)</translation>
    </message>
    <message>
        <source>Where two runs &amp;part</source>
        <translation>两次运行的分歧处(&amp;P)</translation>
    </message>
    <message>
        <source>Walk &amp;what is new</source>
        <translation>逐一查看新内容(&amp;W)</translation>
    </message>
    <message>
        <source>Next session that needs &amp;attention</source>
        <translation>下一个需要关注的会话(&amp;A)</translation>
    </message>
    <message>
        <source>Filter &amp;sessions</source>
        <translation>筛选会话(&amp;S)</translation>
    </message>
    <message>
        <source>The learning r&amp;un</source>
        <translation>强化学习运行(&amp;U)</translation>
    </message>
    <message>
        <source>Update before, of the learning run</source>
        <translation>强化学习运行的上一次更新</translation>
    </message>
    <message>
        <source>Next update of the learning run</source>
        <translation>强化学习运行的下一次更新</translation>
    </message>
    <message>
        <source>Newest update of the learning run</source>
        <translation>强化学习运行的最新一次更新</translation>
    </message>
    <message>
        <source>Write &amp;guidance</source>
        <translation>撰写指导(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Go to a link or step…</source>
        <translation>转到链接或步骤(&amp;G)…</translation>
    </message>
    <message>
        <source>&amp;Copy a link to this place</source>
        <translation>复制此处的链接(&amp;C)</translation>
    </message>
    <message>
        <source>Change the chosen message</source>
        <translation>修改所选消息</translation>
    </message>
    <message>
        <source>Withdraw the chosen message</source>
        <translation>撤回所选消息</translation>
    </message>
    <message>
        <source>Use the chosen message&apos;s text again</source>
        <translation>再次使用所选消息的文字</translation>
    </message>
    <message>
        <source>Insert a template…</source>
        <translation>插入模板…</translation>
    </message>
    <message>
        <source>Find in guidance</source>
        <translation>在指导中查找</translation>
    </message>
    <message>
        <source>Find in the guidance of all sessions</source>
        <translation>在所有会话的指导中查找</translation>
    </message>
    <message>
        <source>What the agent did before and after the message</source>
        <translation>智能体在消息前后做了什么</translation>
    </message>
    <message>
        <source>&amp;Keep</source>
        <translation>保留(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;Mask</source>
        <translation>掩码(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Unsure</source>
        <translation>不确定(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Take my verdict back</source>
        <translation>撤回我的裁定(&amp;T)</translation>
    </message>
    <message>
        <source>R&amp;eason</source>
        <translation>理由(&amp;E)</translation>
    </message>
    <message>
        <source>Re&amp;mark</source>
        <translation>备注(&amp;M)</translation>
    </message>
    <message>
        <source>Ne&amp;xt undecided</source>
        <translation>下一个未裁定(&amp;X)</translation>
    </message>
    <message>
        <source>Next session of the &amp;queue</source>
        <translation>队列中的下一会话(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Previous session of the queue</source>
        <translation>队列中的上一会话(&amp;P)</translation>
    </message>
    <message>
        <source>Make a review queue of these sessions…</source>
        <translation>用这些会话建立评审队列…</translation>
    </message>
    <message>
        <source>Put these sessions into a queue…</source>
        <translation>把这些会话放入队列…</translation>
    </message>
    <message>
        <source>Take from the queue</source>
        <translation>从队列领取</translation>
    </message>
    <message>
        <source>Give back to the queue</source>
        <translation>退回队列</translation>
    </message>
    <message>
        <source>Give to somebody…</source>
        <translation>交给他人…</translation>
    </message>
    <message>
        <source>Done, though not all is judged</source>
        <translation>完成（虽未全部裁定）</translation>
    </message>
    <message>
        <source>Take out of the queue</source>
        <translation>移出队列</translation>
    </message>
    <message>
        <source>Close the queue…</source>
        <translation>关闭队列…</translation>
    </message>
    <message>
        <source>&amp;Tokens by probability</source>
        <translation>按概率显示词元(&amp;T)</translation>
    </message>
    <message>
        <source>Texts as they were &amp;written</source>
        <translation>按原文显示(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;What the step saw (its context)</source>
        <translation>步骤所见（上下文）(&amp;C)</translation>
    </message>
    <message>
        <source>Most changed first</source>
        <translation>更改最多的在前</translation>
    </message>
    <message>
        <source>&amp;Files, all of them or one line</source>
        <translation>文件：完整显示或收成一行(&amp;F)</translation>
    </message>
    <message>
        <source>Show or hide the left &amp;side</source>
        <translation>显示或隐藏左侧(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Live</source>
        <translation>实时(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Read</source>
        <translation>阅读(&amp;R)</translation>
    </message>
    <message>
        <source>Co&amp;mpare</source>
        <translation>对比(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Export</source>
        <translation>导出(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Queue</source>
        <translation>队列(&amp;Q)</translation>
    </message>
    <message>
        <source>Remark on the selected &amp;words…</source>
        <translation>为所选文字添加备注(&amp;W)…</translation>
    </message>
    <message>
        <source>&amp;Back to where this session came from</source>
        <translation>回到此会话的来处(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Outline</source>
        <translation>大纲(&amp;O)</translation>
    </message>
    <message>
        <source>Ta&amp;g…</source>
        <translation>标签(&amp;G)…</translation>
    </message>
    <message>
        <source>U&amp;ndo</source>
        <translation>撤销(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>Next &amp;disagreement</source>
        <translation>下一处分歧(&amp;D)</translation>
    </message>
    <message>
        <source>Next &amp;action of the step, then the whole step</source>
        <translation>步骤的下一个动作，然后是整个步骤(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Rules…</source>
        <translation>规则(&amp;R)…</translation>
    </message>
    <message>
        <source>What was said of the &amp;whole session</source>
        <translation>对整个会话的说明(&amp;W)</translation>
    </message>
    <message>
        <source>Is the selected text &amp;in the context?</source>
        <translation>所选文字是否在上下文中？(&amp;I)</translation>
    </message>
    <message>
        <source>Copy the context as &amp;JSON</source>
        <translation>将上下文复制为 JSON(&amp;J)</translation>
    </message>
    <message>
        <source>Copy the context as a c&amp;url request</source>
        <translation>将上下文复制为 curl 请求(&amp;U)</translation>
    </message>
    <message>
        <source>Older version of the file</source>
        <translation>文件的较旧版本</translation>
    </message>
    <message>
        <source>Newer version of the file</source>
        <translation>文件的较新版本</translation>
    </message>
    <message>
        <source>Go to the step of the newer version</source>
        <translation>转到较新版本的步骤</translation>
    </message>
    <message>
        <source>Next changed place</source>
        <translation>下一处更改</translation>
    </message>
    <message>
        <source>Previous changed place</source>
        <translation>上一处更改</translation>
    </message>
    <message>
        <source>Change which white space counts</source>
        <translation>切换哪些空白算作差异</translation>
    </message>
    <message>
        <source>Ignore empty lines</source>
        <translation>忽略空行</translation>
    </message>
    <message>
        <source>Side by side</source>
        <translation>并排显示</translation>
    </message>
    <message>
        <source>Files by folder</source>
        <translation>按文件夹列出文件</translation>
    </message>
    <message>
        <source>C&amp;ommands…</source>
        <translation>命令(&amp;O)…</translation>
    </message>
    <message>
        <source>&amp;Next panel</source>
        <translation>下一个面板(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Previous panel</source>
        <translation>上一个面板(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts</source>
        <translation>键盘快捷键(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;Manual</source>
        <translation>手册(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Guide through the demonstration</source>
        <translation>演示导览(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;About Tiphys</source>
        <translation>关于 Tiphys(&amp;A)</translation>
    </message>
</context>
<context>
    <name>AgentStrip</name>
    <message>
        <source>What the agent asks leave for</source>
        <translation>智能体请求准许的内容</translation>
    </message>
    <message>
        <source>score</source>
        <translation>得分</translation>
    </message>
</context>
<context>
    <name>ApplicationController</name>
    <message>
        <source>Open a folder of trajectories</source>
        <translation>打开轨迹文件夹</translation>
    </message>
    <message>
        <source>Open trajectories</source>
        <translation>打开轨迹</translation>
    </message>
    <message>
        <source>The manual is not built here: “make site” in the source makes it. Its pages lie in docs.</source>
        <translation>此处没有构建手册：在源代码中运行“make site”即可生成。各页面位于 docs 中。</translation>
    </message>
    <message>
        <source>About Tiphys</source>
        <translation>关于 Tiphys</translation>
    </message>
    <message>
        <source>Hold the helm of agents that work for hours or days, and turn what they did into training data.</source>
        <translation>为工作数小时乃至数天的智能体掌舵，并把它们的所作所为变成训练数据。</translation>
    </message>
</context>
<context>
    <name>ArgumentForm</name>
    <message>
        <source>{name} (optional)</source>
        <translation>{name}（可选）</translation>
    </message>
</context>
<context>
    <name>Aside</name>
    <message>
        <source>Summary of steps {first}–{last}</source>
        <translation>步骤 {first}–{last} 的摘要</translation>
    </message>
    <message>
        <source>Person&apos;s turn</source>
        <translation>人的发言</translation>
    </message>
    <message>
        <source>Guidance of {author}</source>
        <translation>{author} 的指导</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>score {value}</source>
        <translation>得分 {value}</translation>
    </message>
    <message>
        <source>Handed in at step {n}</source>
        <translation>在第 {n} 步提交</translation>
    </message>
    <message>
        <source>The log does not hold what was handed in.</source>
        <translation>日志中没有保存提交的内容。</translation>
    </message>
</context>
<context>
    <name>AttentionController</name>
    <message>
        <source>step {n}</source>
        <translation>步骤 {n}</translation>
    </message>
    <message>
        <source>{title}: {kinds}</source>
        <translation>{title}：{kinds}</translation>
    </message>
    <message>
        <source>Nothing needs attention.</source>
        <translation>没有需要关注的事项。</translation>
    </message>
</context>
<context>
    <name>AttentionView</name>
    <message>
        <source>What needs attention</source>
        <translation>需要关注的事项</translation>
    </message>
    <message>
        <source>Dealt with</source>
        <translation>已处理</translation>
    </message>
    <message>
        <source>Take the chosen entry off the list (Delete)</source>
        <translation>将所选条目移出列表（Delete）</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一个</translation>
    </message>
    <message>
        <source>Open the next one ({key})</source>
        <translation>打开下一个（{key}）</translation>
    </message>
    <message>
        <source>Sessions that repeat themselves, fail often, stand still, wait for you or have ended are listed here, each with the step to look at.</source>
        <translation>重复动作、频繁出错、停滞、等待您或已结束的会话会列在这里，并给出应查看的步骤。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln need(s) you</source>
        <translation>
            <numerusform>%Ln 项需要您</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing needs you</source>
        <translation>没有需要您处理的事项</translation>
    </message>
</context>
<context>
    <name>BranchController</name>
    <message numerus="yes">
        <source>%Ln branch(es) begin; Compare offers them as a group.</source>
        <translation>
            <numerusform>%Ln 个分支开始；“对比”面板把它们列为一组。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BranchDialog</name>
    <message>
        <source>Branch after step {n}</source>
        <translation>在步骤 {n} 之后分支</translation>
    </message>
    <message>
        <source>With the advice that was given</source>
        <translation>带有当时的指导</translation>
    </message>
    <message>
        <source>As it was</source>
        <translation>与原来相同</translation>
    </message>
    <message>
        <source>Without it</source>
        <translation>不带该指导</translation>
    </message>
    <message>
        <source>Take the steps since the snapshot again, with the recorded answers</source>
        <translation>用已记录的回答重做快照之后的步骤</translation>
    </message>
    <message>
        <source>Branch</source>
        <translation>分支</translation>
    </message>
    <message>
        <source>Sessions of their own share the past of “{title}” up to this step and go on from there, with files and context of the newest snapshot up to it. What was done outside the sandboxes is not undone.</source>
        <translation>新会话共享“{title}”到此步骤为止的过去并从这里继续，文件和上下文取自此步骤或之前最新的快照。沙箱之外的操作不会撤销。</translation>
    </message>
    <message>
        <source>With another advice</source>
        <translation>带有另一条指导</translation>
    </message>
    <message>
        <source>Branches of each kind</source>
        <translation>每种分支的数量</translation>
    </message>
    <message>
        <source>May be empty</source>
        <translation>可以留空</translation>
    </message>
    <message numerus="yes">
        <source>%Ln session(s) begin.</source>
        <translation>
            <numerusform>将开始 %Ln 个会话。</numerusform>
        </translation>
    </message>
    <message>
        <source>This server is older than this program: it cannot branch sessions.</source>
        <translation>该服务器比本程序旧：无法分支会话。</translation>
    </message>
</context>
<context>
    <name>BriefController</name>
    <message>
        <source>Choose a session</source>
        <translation>请选择会话</translation>
    </message>
    <message>
        <source>Go on at step {n}</source>
        <translation>从步骤 {n} 继续</translation>
    </message>
    <message>
        <source>Begin to read</source>
        <translation>开始阅读</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>Q: next session of the queue</source>
        <translation>Q：队列中的下一会话</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>The log keeps no task</source>
        <translation>日志中没有任务</translation>
    </message>
    <message>
        <source>step {n}, “{title}”</source>
        <translation>步骤 {n}，“{title}”</translation>
    </message>
    <message>
        <source>Your place</source>
        <translation>您的位置</translation>
    </message>
    <message>
        <source>Errors over the run</source>
        <translation>全程错误</translation>
    </message>
    <message>
        <source>Remarks {n}</source>
        <translation>备注 {n}</translation>
    </message>
    <message>
        <source>you</source>
        <translation>您</translation>
    </message>
    <message>
        <source>Its log is not here yet</source>
        <translation>其日志尚未到达本机</translation>
    </message>
    <message>
        <source>No step failed</source>
        <translation>没有步骤失败</translation>
    </message>
    <message numerus="yes">
        <source>%Ln submission(s)</source>
        <translation>
            <numerusform>%Ln 份提交物</numerusform>
        </translation>
    </message>
    <message>
        <source>score {n}</source>
        <translation>得分 {n}</translation>
    </message>
    <message>
        <source>Handed in</source>
        <translation>提交物</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>更改</translation>
    </message>
    <message numerus="yes">
        <source>%Ln file(s)</source>
        <translation>
            <numerusform>%Ln 个文件</numerusform>
        </translation>
    </message>
    <message>
        <source>lines</source>
        <translation>行</translation>
    </message>
</context>
<context>
    <name>BriefView</name>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>above: errors, below: judged</source>
        <translation>上：错误，下：裁定</translation>
    </message>
</context>
<context>
    <name>ChartsController</name>
    <message>
        <source>Save the curves</source>
        <translation>保存曲线</translation>
    </message>
    <message>
        <source>Saved: {path}</source>
        <translation>已保存：{path}</translation>
    </message>
</context>
<context>
    <name>ChartsView</name>
    <message>
        <source>Over it</source>
        <translation>叠加</translation>
    </message>
    <message>
        <source>Score, context, cost and duration of each step are drawn here as the session works. Drag over them to mark steps.</source>
        <translation>会话工作时，这里会绘制每个步骤的得分、上下文、成本和耗时。拖动可选中一段步骤。</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>得分</translation>
    </message>
    <message>
        <source>Context (tokens)</source>
        <translation>上下文（词元）</translation>
    </message>
    <message>
        <source>Cost</source>
        <translation>成本</translation>
    </message>
    <message>
        <source>Duration of the step</source>
        <translation>步骤耗时</translation>
    </message>
    <message>
        <source>Idle before and in the step</source>
        <translation>步骤前及步骤中的空闲</translation>
    </message>
    <message>
        <source>Verdicts</source>
        <translation>裁定</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>masked</source>
        <translation>已掩码</translation>
    </message>
    <message>
        <source>What the curves run over</source>
        <translation>曲线的横轴</translation>
    </message>
    <message>
        <source>over steps</source>
        <translation>按步骤</translation>
    </message>
    <message>
        <source>over time</source>
        <translation>按时间</translation>
    </message>
    <message>
        <source>over time at work</source>
        <translation>按工作时间</translation>
    </message>
    <message>
        <source>Point at a curve to read its values.</source>
        <translation>指向曲线即可读出其数值。</translation>
    </message>
    <message>
        <source>Draw other sessions over this one</source>
        <translation>将其他会话叠加绘制在此会话上</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Choose what is drawn</source>
        <translation>选择要绘制的内容</translation>
    </message>
    <message>
        <source>Save the curves as a picture or a table</source>
        <translation>将曲线保存为图片或表格</translation>
    </message>
    <message>
        <source>Save as</source>
        <translation>另存为</translation>
    </message>
    <message>
        <source>Picture (PNG)</source>
        <translation>图片（PNG）</translation>
    </message>
    <message>
        <source>Drawing (SVG)</source>
        <translation>矢量图（SVG）</translation>
    </message>
    <message>
        <source>Table (CSV)</source>
        <translation>表格（CSV）</translation>
    </message>
    <message>
        <source>Charts of score, tokens, cost, time and verdicts</source>
        <translation>得分、词元、成本、时间与裁定的图表</translation>
    </message>
    <message numerus="yes">
        <source>Curves of %Ln step(s)</source>
        <translation>
            <numerusform>%Ln 个步骤的曲线</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing is drawn before the first step</source>
        <translation>第一步之前没有曲线</translation>
    </message>
    <message>
        <source>There is no other session</source>
        <translation>没有其他会话</translation>
    </message>
    <message>
        <source>Step {n}</source>
        <translation>步骤 {n}</translation>
    </message>
</context>
<context>
    <name>ChooseView</name>
    <message>
        <source>Sessions to export</source>
        <translation>要导出的会话</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Folder of the model or tokenizer</source>
        <translation>模型或分词器的文件夹</translation>
    </message>
    <message>
        <source>SmolLM2, the small model of the training extra</source>
        <translation>SmolLM2（训练附加组件自带的小模型）</translation>
    </message>
    <message>
        <source>steps 7×, summaries 10×, computed once</source>
        <translation>步骤 7 倍，摘要 10 倍，只计算一次</translation>
    </message>
    <message>
        <source>repeat rows: steps 7×, summaries 10×</source>
        <translation>重复样本：步骤 7 倍，摘要 10 倍</translation>
    </message>
    <message>
        <source>a weight per row</source>
        <translation>每条样本一个权重</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>each action once</source>
        <translation>每个动作训练一次</translation>
    </message>
    <message>
        <source>as in the paper (APOLLO)</source>
        <translation>与论文（APOLLO）一致</translation>
    </message>
    <message>
        <source>Once: an action that was carried past a summary trains in the first sample only. As in the paper: each context before a summary, and the last one, trains all its actions.</source>
        <translation>一次：被带过摘要的动作只在第一个样本中训练。与论文一致：每个摘要之前的上下文以及最后的上下文，都训练其中的全部动作。</translation>
    </message>
    <message>
        <source>Not judged</source>
        <translation>无裁定</translation>
    </message>
    <message>
        <source>refuse to write</source>
        <translation>拒绝写出</translation>
    </message>
    <message>
        <source>train them</source>
        <translation>参与训练</translation>
    </message>
    <message>
        <source>do not train them</source>
        <translation>不参与训练</translation>
    </message>
    <message>
        <source>What becomes of steps that no person, rule or model judged</source>
        <translation>没有任何人、规则或模型裁定过的步骤如何处理</translation>
    </message>
    <message>
        <source>Written by people</source>
        <translation>由人写的步骤</translation>
    </message>
    <message>
        <source>train it as the agent&apos;s own</source>
        <translation>按智能体自己的来训练</translation>
    </message>
    <message>
        <source>context alone, without loss</source>
        <translation>只作上下文，不计损失</translation>
    </message>
    <message>
        <source>What becomes of steps that a person wrote in the agent&apos;s place</source>
        <translation>人代替智能体写的步骤如何处理</translation>
    </message>
    <message>
        <source>Thoughts</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>leave out (as in the paper)</source>
        <translation>不包含（与论文相同）</translation>
    </message>
    <message>
        <source>show, without loss</source>
        <translation>显示，不计损失</translation>
    </message>
    <message>
        <source>train with the action</source>
        <translation>与动作一起训练</translation>
    </message>
    <message>
        <source>What becomes of reasoning that was recorded before an action, where the chat template of the model has a place for it</source>
        <translation>动作之前记录的推理如何处理（仅当模型的对话模板为其留有位置时）</translation>
    </message>
    <message>
        <source>Ignore all verdicts (ablation: train every action)</source>
        <translation>忽略所有裁定（消融：训练每个动作）</translation>
    </message>
    <message>
        <source>Result of the check</source>
        <translation>检查结果</translation>
    </message>
    <message>
        <source>Check says how many samples and tokens would be written, what would be refused and why; it writes nothing.</source>
        <translation>“检查”会说明将写出多少样本和词元、哪些会被拒绝以及原因；它不写任何文件。</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Write …</source>
        <translation>写出…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>None</source>
        <translation>全不选</translation>
    </message>
    <message>
        <source>Tokenizer</source>
        <translation>分词器</translation>
    </message>
    <message>
        <source>Balance</source>
        <translation>平衡方式</translation>
    </message>
    <message>
        <source>An empty or new folder for the data set</source>
        <translation>用于数据集的空文件夹或新文件夹</translation>
    </message>
</context>
<context>
    <name>CodeDialog</name>
    <message>
        <source>Log in</source>
        <translation>登录</translation>
    </message>
    <message>
        <source>To log in to {server}, open this page in any browser and enter the code:</source>
        <translation>要登录 {server}，请在任意浏览器中打开此页面并输入代码：</translation>
    </message>
    <message>
        <source>This window closes by itself when you have agreed there.</source>
        <translation>您在那里确认后，此窗口会自动关闭。</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>打开页面</translation>
    </message>
    <message>
        <source>Copy the code</source>
        <translation>复制代码</translation>
    </message>
</context>
<context>
    <name>ColumnNames</name>
    <message>
        <source>Session</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步骤</translation>
    </message>
    <message>
        <source>Judged</source>
        <translation>已裁定</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>得分</translation>
    </message>
    <message>
        <source>Who</source>
        <translation>谁</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>提醒</translation>
    </message>
</context>
<context>
    <name>CompareController</name>
    <message>
        <source>There is no other run of this task here. Choose one in Compare.</source>
        <translation>这里没有该任务的其他运行。请在“对比”中选择一个。</translation>
    </message>
</context>
<context>
    <name>CompareView</name>
    <message>
        <source>The session to compare with</source>
        <translation>要对比的会话</translation>
    </message>
    <message>
        <source>Steps of both sessions</source>
        <translation>两个会话的步骤</translation>
    </message>
    <message>
        <source>Where they part</source>
        <translation>分叉处</translation>
    </message>
    <message>
        <source>Choose a session or a group of branches above: their steps stand beside those of the one that is looked at, aligned on what all begin with.</source>
        <translation>在上面选择一个会话或一组分支：它们的步骤与正在查看的会话并排，以共同的开头对齐。</translation>
    </message>
    <message>
        <source>Compare with…</source>
        <translation>对比…</translation>
    </message>
    <message numerus="yes">
        <source>All begin with the same %Ln step(s).</source>
        <translation>
            <numerusform>所有会话的前 %Ln 步相同。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Both take the same %Ln step(s).</source>
        <translation>
            <numerusform>两者的 %Ln 个步骤完全相同。</numerusform>
        </translation>
    </message>
    <message>
        <source>They differ from the first step on.</source>
        <translation>从第一步起就不同。</translation>
    </message>
    <message numerus="yes">
        <source>The first %Ln step(s) are the same.</source>
        <translation>
            <numerusform>前 %Ln 个步骤相同。</numerusform>
        </translation>
    </message>
    <message>
        <source>Branches after step {n}: {arms}</source>
        <translation>步骤 {n} 之后的分支：{arms}</translation>
    </message>
    <message>
        <source>{arm}: {scores}, {ended} of {count} ended</source>
        <translation>{arm}：{scores}，已结束 {ended}/{count}</translation>
    </message>
    <message>
        <source>{arm} − {other}: {difference}</source>
        <translation>{arm} − {other}：{difference}</translation>
    </message>
    <message>
        <source>no score yet</source>
        <translation>尚无得分</translation>
    </message>
    <message>
        <source> (no interval: too few)</source>
        <translation>（样本太少，无区间）</translation>
    </message>
</context>
<context>
    <name>ComparisonModel</name>
    <message>
        <source>shared step {n}</source>
        <translation>共享步骤 {n}</translation>
    </message>
</context>
<context>
    <name>ConnectionState</name>
    <message>
        <source>The server is newer ({theirs}) than this program ({ours}): update this program when you can.</source>
        <translation>服务器的版本（{theirs}）比本程序（{ours}）新：请在方便时更新本程序。</translation>
    </message>
    <message>
        <source>The server is older ({theirs}) than this program ({ours}); its administrator can update it.</source>
        <translation>服务器的版本（{theirs}）比本程序（{ours}）旧；其管理员可以更新它。</translation>
    </message>
    <message>
        <source>This computer, up to date</source>
        <translation>本机，已是最新</translation>
    </message>
    <message>
        <source>This computer, its server starts</source>
        <translation>本机，服务器正在启动</translation>
    </message>
    <message>
        <source>connected</source>
        <translation>已连接</translation>
    </message>
    <message>
        <source>what you sent waits for a newer server</source>
        <translation>发出的内容在等待更新的服务器</translation>
    </message>
    <message>
        <source>refused by the server since {time}</source>
        <translation>自 {time} 起被服务器拒绝</translation>
    </message>
    <message>
        <source>offline, as you chose</source>
        <translation>已按您的选择离线</translation>
    </message>
    <message>
        <source>not connected: stale since {time}</source>
        <translation>未连接：内容停留在 {time}</translation>
    </message>
</context>
<context>
    <name>ContextModel</name>
    <message>
        <source>Summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>step {n}</source>
        <translation>第 {n} 步</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s) of earlier contexts are gone</source>
        <translation>
            <numerusform>较早上下文中的 %Ln 条消息已不在</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>%Ln 条消息</numerusform>
        </translation>
    </message>
    <message>
        <source>{sign}{tokens} tokens</source>
        <translation>{sign}{tokens} 词元</translation>
    </message>
    <message>
        <source>Who</source>
        <translation>谁</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步骤</translation>
    </message>
    <message>
        <source>First words</source>
        <translation>开头</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>{n} entered</source>
        <translation>新增 {n}</translation>
    </message>
    <message>
        <source>{n} left</source>
        <translation>移出 {n}</translation>
    </message>
    <message>
        <source>{tokens} of {limit}</source>
        <translation>{tokens} / {limit}</translation>
    </message>
    <message>
        <source>{n} steps</source>
        <translation>{n} 步</translation>
    </message>
    <message>
        <source>1 step</source>
        <translation>1 步</translation>
    </message>
    <message>
        <source>System</source>
        <translation>系统</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>附注</translation>
    </message>
    <message>
        <source>{tokens}, estimated: the log does not count each message</source>
        <translation>{tokens}，估算：日志未逐条计数</translation>
    </message>
    <message>
        <source>{tokens}, counted</source>
        <translation>{tokens}，实际计数</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>Person</source>
        <translation>人</translation>
    </message>
    <message>
        <source>until {n}</source>
        <translation>到第 {n} 步</translation>
    </message>
    <message>
        <source>− since step {n}</source>
        <translation>− 自步骤 {n} 起</translation>
    </message>
    <message>
        <source>entered</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>left</source>
        <translation>移出</translation>
    </message>
</context>
<context>
    <name>ContinueDialog</name>
    <message>
        <source>Continue the session</source>
        <translation>继续会话</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>“{title}” goes on after its last step, with its files; terminals and programs that ran when it ended are gone. The agent reads that its work is to go on.</source>
        <translation>“{title}”从最后一步之后继续，文件都在；结束时正在运行的终端和程序已不在。智能体会读到它的工作要继续。</translation>
    </message>
    <message>
        <source>Advice</source>
        <translation>指导</translation>
    </message>
    <message>
        <source>More steps</source>
        <translation>再给的步数</translation>
    </message>
    <message>
        <source>More hours of work</source>
        <translation>再给的工作小时数</translation>
    </message>
    <message>
        <source>What the agent should do better; may be empty</source>
        <translation>智能体应当改进之处；可以留空</translation>
    </message>
    <message>
        <source>as it is</source>
        <translation>保持不变</translation>
    </message>
    <message>
        <source>This server is older than this program: it cannot continue sessions.</source>
        <translation>该服务器比本程序旧：无法继续会话。</translation>
    </message>
</context>
<context>
    <name>Controls</name>
    <message>
        <source>Step {n} is at work now.</source>
        <translation>第 {n} 步正在进行。</translation>
    </message>
    <message>
        <source>Pause “{title}”?</source>
        <translation>暂停“{title}”？</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>The running action goes on to its end (a sleep ends at once); then the agent waits until it is resumed. What runs in the background goes on.</source>
        <translation>正在进行的动作会执行完（睡眠立即结束），之后智能体等待继续。后台运行的内容继续。</translation>
    </message>
    <message>
        <source>Interrupt the running action of “{title}”?</source>
        <translation>中断“{title}”正在进行的动作？</translation>
    </message>
    <message>
        <source>Interrupt</source>
        <translation>中断</translation>
    </message>
    <message>
        <source>The running command gets Ctrl+C, a sleep ends. {person} goes on with the next action. What runs in the background goes on.</source>
        <translation>正在运行的命令收到 Ctrl+C，sleep 结束。{person} 继续下一个操作。后台运行的程序继续运行。</translation>
    </message>
    <message>
        <source>The running command gets Ctrl+C, a sleep ends. The agent sees that it was interrupted and goes on with its next step. What runs in the background goes on.</source>
        <translation>正在运行的命令收到 Ctrl+C，睡眠结束。智能体会看到被中断，并继续下一步。后台运行的内容继续。</translation>
    </message>
    <message>
        <source>Stop “{title}”?</source>
        <translation>停止“{title}”？</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>The running command gets Ctrl+C, and the session ends. Its sandboxes are stopped: what runs in the background ends too. Steps and files stay, and it can be resumed.</source>
        <translation>正在运行的命令收到 Ctrl+C，会话结束。沙箱被停止：后台运行的内容也会结束。步骤和文件保留，可以继续。</translation>
    </message>
    <message>
        <source>Resume “{title}”?</source>
        <translation>继续“{title}”？</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>The session begins to work again after its last step, with its files. Commands and terminals that ran when it ended are gone; an action that was interrupted is not run again.</source>
        <translation>会话将在最后一步之后重新开始工作，文件保留。结束时运行的命令和终端已不存在；被中断的动作不会再次执行。</translation>
    </message>
    <message>
        <source>The agent goes on with its next step. What ran in the background has gone on meanwhile.</source>
        <translation>智能体继续下一步。后台运行的内容在此期间一直在继续。</translation>
    </message>
</context>
<context>
    <name>DiffView</name>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>A binary content: it cannot be compared line by line.</source>
        <translation>二进制内容：无法逐行比较。</translation>
    </message>
    <message>
        <source>Both versions are empty.</source>
        <translation>两个版本都为空。</translation>
    </message>
    <message numerus="yes">
        <source>⋯ %Ln unchanged line(s)</source>
        <translation>
            <numerusform>⋯ %Ln 行未变</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DigestController</name>
    <message numerus="yes">
        <source>%Ln new step(s)</source>
        <translation>
            <numerusform>%Ln 个新步骤</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln error(s)</source>
        <translation>
            <numerusform>%Ln 个错误</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln guidance delivered</source>
        <translation>
            <numerusform>%Ln 条指导已送达</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln summary(ies)</source>
        <translation>
            <numerusform>%Ln 条摘要</numerusform>
        </translation>
    </message>
    <message>
        <source>score {now}</source>
        <translation>得分 {now}</translation>
    </message>
    <message>
        <source>score {before} → {now}</source>
        <translation>得分 {before} → {now}</translation>
    </message>
    <message>
        <source>Since you looked: {news}</source>
        <translation>自上次查看以来：{news}</translation>
    </message>
    <message>
        <source>Nothing is new since you looked.</source>
        <translation>自上次查看以来没有新内容。</translation>
    </message>
    <message>
        <source>That was all that is new.</source>
        <translation>新内容已全部看完。</translation>
    </message>
</context>
<context>
    <name>Disagreements</name>
    <message>
        <source>Step {n}</source>
        <translation>步骤 {n}</translation>
    </message>
    <message>
        <source>, action {n}</source>
        <translation>，动作 {n}</translation>
    </message>
    <message>
        <source>keep: {keep} · mask: {mask}</source>
        <translation>保留：{keep} · 掩码：{mask}</translation>
    </message>
    <message>
        <source>between people</source>
        <translation>人员之间</translation>
    </message>
    <message>
        <source>rule</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>judge</source>
        <translation>评审模型</translation>
    </message>
    <message>
        <source>{first} – {second}: κ {kappa}, same on {raw} of {n} steps</source>
        <translation>{first} – {second}：κ {kappa}，{n} 步中 {raw} 相同</translation>
    </message>
</context>
<context>
    <name>DisagreementsController</name>
    <message numerus="yes">
        <source>{person}: active time {time} on %Ln step(s)</source>
        <translation>
            <numerusform>{person}：在 %Ln 个步骤上的活动时间 {time}</numerusform>
        </translation>
    </message>
    <message>
        <source>Opinions differ on no step.</source>
        <translation>没有意见不一的步骤。</translation>
    </message>
</context>
<context>
    <name>DisagreementsView</name>
    <message>
        <source>Steps on which opinions differ</source>
        <translation>意见不一的步骤</translation>
    </message>
    <message numerus="yes">
        <source>%Ln step(s) on which opinions differ</source>
        <translation>
            <numerusform>%Ln 个步骤意见不一</numerusform>
        </translation>
    </message>
    <message>
        <source>Blind: shown once you have decided</source>
        <translation>盲评：您裁定之后显示</translation>
    </message>
    <message>
        <source>Nobody disagrees</source>
        <translation>没有分歧</translation>
    </message>
    <message>
        <source>Blind: a step appears here once you have decided on it and others decide otherwise.</source>
        <translation>盲评：在您裁定之后，若他人裁定不同，该步骤会出现在这里。</translation>
    </message>
    <message>
        <source>Steps that one keeps and another masks appear here: people, rules and judges.</source>
        <translation>有人保留、有人掩码的步骤会出现在这里：人员、规则和评审模型。</translation>
    </message>
</context>
<context>
    <name>DownloadBar</name>
    <message>
        <source>How much of the session is here</source>
        <translation>会话已取得的比例</translation>
    </message>
    <message>
        <source>Stop fetching the session</source>
        <translation>停止获取会话</translation>
    </message>
</context>
<context>
    <name>Drafts</name>
    <message>
        <source>accepted</source>
        <translation>已接受</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>已拒绝</translation>
    </message>
    <message>
        <source>to mend</source>
        <translation>需修改</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>描述</translation>
    </message>
    <message>
        <source>Initial tests</source>
        <translation>初始测试</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>镜像</translation>
    </message>
    <message>
        <source>Final tests</source>
        <translation>最终测试</translation>
    </message>
    <message>
        <source>Form</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Near-duplicates</source>
        <translation>近似题</translation>
    </message>
    <message>
        <source>Hidden solution</source>
        <translation>解答不外泄</translation>
    </message>
    <message>
        <source>Initial tests on the image</source>
        <translation>镜像上的初始测试</translation>
    </message>
    <message>
        <source>Doing nothing</source>
        <translation>什么都不做</translation>
    </message>
    <message>
        <source>Solution</source>
        <translation>解答</translation>
    </message>
    <message>
        <source>Solution, once more</source>
        <translation>解答（再次）</translation>
    </message>
    <message>
        <source>Attempts of a policy</source>
        <translation>策略的尝试</translation>
    </message>
    <message>
        <source>End of its author&apos;s work</source>
        <translation>作者完成</translation>
    </message>
    <message>
        <source>A person</source>
        <translation>人工</translation>
    </message>
    <message>
        <source>Cheating ({name})</source>
        <translation>作弊（{name}）</translation>
    </message>
    <message>
        <source>{state} by a person</source>
        <translation>由人{state}</translation>
    </message>
    <message>
        <source>{solved} of {attempts}</source>
        <translation>{solved}/{attempts}</translation>
    </message>
    <message>
        <source>{answers} answers, {refused} refused</source>
        <translation>{answers} 次作答，{refused} 次被拒</translation>
    </message>
    <message>
        <source>passed its gates</source>
        <translation>通过关卡</translation>
    </message>
    <message>
        <source>This answer could not be read.</source>
        <translation>这次作答无法读取。</translation>
    </message>
    <message>
        <source>Nothing differs from the answer before.</source>
        <translation>与上一次作答没有差别。</translation>
    </message>
</context>
<context>
    <name>DraftsController</name>
    <message>
        <source>The folder that tiphys tasks generate made</source>
        <translation>tiphys tasks generate 生成的文件夹</translation>
    </message>
</context>
<context>
    <name>DraftsDialog</name>
    <message>
        <source>Generated tasks in {folder}</source>
        <translation>{folder} 中生成的任务</translation>
    </message>
    <message>
        <source>Drafts</source>
        <translation>草稿</translation>
    </message>
    <message>
        <source>Answers of the author</source>
        <translation>作者的各次作答</translation>
    </message>
    <message>
        <source>The chosen answer</source>
        <translation>选中的作答</translation>
    </message>
    <message>
        <source>Why (needed to refuse, or to have it mended)</source>
        <translation>理由（拒绝或要求修改时必填）</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>理由</translation>
    </message>
    <message>
        <source>Accept (A)</source>
        <translation>接受 (A)</translation>
    </message>
    <message>
        <source>Refuse (R)</source>
        <translation>拒绝 (R)</translation>
    </message>
    <message>
        <source>To mend (M)</source>
        <translation>需修改 (M)</translation>
    </message>
    <message>
        <source>Session of its author</source>
        <translation>作者的会话</translation>
    </message>
    <message>
        <source>reading …</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>What its author gave was not noted.</source>
        <translation>没有记录作者的作答。</translation>
    </message>
</context>
<context>
    <name>Drawer</name>
    <message>
        <source>Close (Esc)</source>
        <translation>关闭 (Esc)</translation>
    </message>
</context>
<context>
    <name>EffectModel</name>
    <message>
        <source>No step after it yet</source>
        <translation>之后还没有步骤</translation>
    </message>
    <message>
        <source>No step before it</source>
        <translation>之前没有步骤</translation>
    </message>
    <message>
        <source>After: {first}–{last}</source>
        <translation>之后：{first}–{last}</translation>
    </message>
    <message>
        <source>Before: {first}–{last}</source>
        <translation>之前：{first}–{last}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln error(s)</source>
        <translation>
            <numerusform>%Ln 个错误</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln different action(s)</source>
        <translation>
            <numerusform>%Ln 种不同动作</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ErrorKind</name>
    <message>
        <source>exit code</source>
        <translation>退出码</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>timeout</source>
        <translation>超时</translation>
    </message>
    <message>
        <source>killed</source>
        <translation>被杀死</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>被拒绝</translation>
    </message>
    <message>
        <source>malformed call</source>
        <translation>调用格式错误</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>已取消</translation>
    </message>
    <message>
        <source>network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>wrong arguments</source>
        <translation>参数错误</translation>
    </message>
    <message>
        <source>unknown tool</source>
        <translation>未知工具</translation>
    </message>
    <message>
        <source>evaluator failed</source>
        <translation>评测程序失败</translation>
    </message>
    <message>
        <source>submission too large</source>
        <translation>提交过大</translation>
    </message>
    <message>
        <source>submission not readable</source>
        <translation>无法读取提交</translation>
    </message>
    <message>
        <source>not UTF-8</source>
        <translation>不是 UTF-8</translation>
    </message>
    <message>
        <source>not permitted</source>
        <translation>无权限</translation>
    </message>
    <message>
        <source>no such file</source>
        <translation>文件不存在</translation>
    </message>
    <message>
        <source>is a folder</source>
        <translation>是文件夹</translation>
    </message>
    <message>
        <source>limit reached</source>
        <translation>达到上限</translation>
    </message>
    <message>
        <source>output too long</source>
        <translation>输出过长</translation>
    </message>
    <message>
        <source>not approved</source>
        <translation>未获批准</translation>
    </message>
    <message>
        <source>unknown error</source>
        <translation>未知错误</translation>
    </message>
    <message>
        <source>exception</source>
        <translation>异常</translation>
    </message>
    <message>
        <source>model service failed</source>
        <translation>模型服务出错</translation>
    </message>
    <message>
        <source>model failed</source>
        <translation>模型出错</translation>
    </message>
    <message>
        <source>agent failed</source>
        <translation>智能体出错</translation>
    </message>
    <message>
        <source>malformed answer</source>
        <translation>回答格式有误</translation>
    </message>
    <message>
        <source>not finished</source>
        <translation>未结束</translation>
    </message>
    <message>
        <source>no result</source>
        <translation>无结果</translation>
    </message>
    <message>
        <source>terminal lost</source>
        <translation>终端丢失</translation>
    </message>
</context>
<context>
    <name>ErrorStrip</name>
    <message numerus="yes">
        <source>%Ln error(s) over the run</source>
        <translation>
            <numerusform>全程 %Ln 个错误</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Errors</name>
    <message>
        <source>Too late: this guidance was delivered at step {step}.</source>
        <translation>太晚了：这条指导已在步骤 {step} 送达。</translation>
    </message>
    <message>
        <source>This guidance was withdrawn already.</source>
        <translation>这条指导已经撤回。</translation>
    </message>
    <message>
        <source>“{address}” is no address of a server.</source>
        <translation>“{address}”不是服务器地址。</translation>
    </message>
    <message>
        <source>The server answered something else than was asked.</source>
        <translation>服务器的回答与所问不符。</translation>
    </message>
    <message>
        <source>This archive is damaged or was tampered with.</source>
        <translation>此归档文件已损坏或被篡改。</translation>
    </message>
    <message>
        <source>The server does not take this in that name.</source>
        <translation>服务器不接受以这个名义发出的内容。</translation>
    </message>
    <message>
        <source>“{endpoint}” is no endpoint&apos;s address: http:// or https://, host and path, without user, query or escapes.</source>
        <translation>“{endpoint}”不是端点地址：应为 http(s)://主机/路径，不带用户、查询或转义。</translation>
    </message>
    <message>
        <source>The archive could not be read back whole. The session stays.</source>
        <translation>归档文件无法完整读回。会话仍保留。</translation>
    </message>
    <message>
        <source>Something in the log cannot be read: {why}</source>
        <translation>日志里有内容无法读取：{why}</translation>
    </message>
    <message>
        <source>“{address}” does not end with the fingerprint of a certificate: wss:// and, behind #, sha256= with 64 hexadecimal digits.</source>
        <translation>“{address}” 末尾不是证书指纹：应为 wss://，# 之后是 sha256= 和 64 位十六进制数字。</translation>
    </message>
    <message>
        <source>The server sent something that cannot be read.</source>
        <translation>服务器发来了无法读取的内容。</translation>
    </message>
    <message>
        <source>This is no invitation to a Tiphys server, or a part of it is missing.</source>
        <translation>这不是 Tiphys 服务器的邀请，或内容不完整。</translation>
    </message>
    <message>
        <source>This name cannot be used: it has characters that a name may not have, or is too long.</source>
        <translation>这个名称不能用：含有不允许的字符，或者太长。</translation>
    </message>
    <message>
        <source>The lab&apos;s log-in provider {url} cannot be used: it is none, or not encrypted.</source>
        <translation>实验室的登录服务 {url} 无法使用：它不是登录服务，或未加密。</translation>
    </message>
    <message>
        <source>This is no link to a session, no step and no session.</source>
        <translation>这既不是会话链接，也不是步骤或会话。</translation>
    </message>
    <message>
        <source>The server cannot be asked this: {why}</source>
        <translation>不能向服务器这样请求：{why}</translation>
    </message>
    <message>
        <source>This is no opinion that can be taken over.</source>
        <translation>这不是可以合并的意见。</translation>
    </message>
    <message>
        <source>An import needs the name of its format.</source>
        <translation>导入需要给出格式的名称。</translation>
    </message>
    <message>
        <source>A review queue needs a name of one line, and says how many steps it asks for.</source>
        <translation>评审队列需要一行的名称，并说明要多少步骤。</translation>
    </message>
    <message>
        <source>A review queue needs at least one session that its server has.</source>
        <translation>评审队列至少需要一个在其服务器上的会话。</translation>
    </message>
    <message>
        <source>There is no account “{name}” on that server.</source>
        <translation>该服务器上没有账户“{name}”。</translation>
    </message>
    <message>
        <source>This review queue is not there.</source>
        <translation>没有这个评审队列。</translation>
    </message>
    <message>
        <source>The session is not in this review queue.</source>
        <translation>该会话不在这个评审队列中。</translation>
    </message>
    <message>
        <source>Only {by}, who made the review queue, or an administrator may do this.</source>
        <translation>只有评审队列的建立者 {by} 或管理员可以这样做。</translation>
    </message>
    <message>
        <source>The review queue is closed.</source>
        <translation>该评审队列已关闭。</translation>
    </message>
    <message>
        <source>No session of the review queue is left to take.</source>
        <translation>该评审队列已没有可领取的会话。</translation>
    </message>
    <message>
        <source>The server holds this review queue already.</source>
        <translation>服务器已有这个评审队列。</translation>
    </message>
    <message>
        <source>The session is not with {people} any more.</source>
        <translation>该会话已不在 {people} 手中。</translation>
    </message>
    <message>
        <source>{people} is reading this session just now: it was not given to you.</source>
        <translation>{people} 正在阅读该会话：它没有交给您。</translation>
    </message>
    <message>
        <source>This session is with {people} already: it was not given to you.</source>
        <translation>该会话已在 {people} 手中：它没有交给您。</translation>
    </message>
    <message>
        <source>A review queue has at most 10,000 sessions.</source>
        <translation>一个评审队列最多有 10,000 个会话。</translation>
    </message>
    <message>
        <source>The session was taken out of the review queue.</source>
        <translation>该会话已移出评审队列。</translation>
    </message>
    <message>
        <source>The server has as many review queues as it takes.</source>
        <translation>服务器的评审队列已达上限。</translation>
    </message>
    <message>
        <source>A tag has 1 to 40 printable characters.</source>
        <translation>标签由 1 到 40 个可显示的字符组成。</translation>
    </message>
    <message>
        <source>This task cannot be started: the value of “{field}” is not possible.</source>
        <translation>这个任务无法启动：“{field}”的值不可用。</translation>
    </message>
    <message>
        <source>The task&apos;s files cannot be used: {path}</source>
        <translation>任务的文件不可用：{path}</translation>
    </message>
    <message>
        <source>Counts lie between 0 and 10,000, minutes up to 100,000, shares between 0 and 1.</source>
        <translation>次数在 0 到 10,000 之间，分钟数不超过 100,000，比例在 0 到 1 之间。</translation>
    </message>
    <message>
        <source>The server did not take the time at work that was told to it.</source>
        <translation>服务器没有接受所报告的工作时间。</translation>
    </message>
    <message>
        <source>“{variable}” cannot be the name of a variable.</source>
        <translation>“{variable}”不能作为变量名。</translation>
    </message>
    <message>
        <source>A text of this session is damaged.</source>
        <translation>这个会话的一段文字已损坏。</translation>
    </message>
    <message>
        <source>A text of this session is damaged: it does not match its name.</source>
        <translation>这个会话的一段文字已损坏：内容与名称不符。</translation>
    </message>
    <message>
        <source>A text of this session has a name that no text can have.</source>
        <translation>这个会话的一段文字的名称不合规则。</translation>
    </message>
    <message>
        <source>A text is larger than the server takes.</source>
        <translation>一段文字超出了服务器接受的大小。</translation>
    </message>
    <message>
        <source>{path} cannot be written.</source>
        <translation>无法写入 {path}。</translation>
    </message>
    <message>
        <source>Files of a deleted session cannot be removed.</source>
        <translation>已删除会话的文件无法移除。</translation>
    </message>
    <message>
        <source>The server shows another certificate than the one that it should have. Nothing was sent. Ask its administrator before you go on. It shows {fingerprint}</source>
        <translation>服务器出示的证书与应有的不同。没有发送任何内容。请先询问管理员再继续。它出示的是 {fingerprint}</translation>
    </message>
    <message>
        <source>“tiphys {command}” failed: {why}</source>
        <translation>“tiphys {command}”失败：{why}</translation>
    </message>
    <message>
        <source>The server holds another command under this name already.</source>
        <translation>服务器上已有同名但内容不同的命令。</translation>
    </message>
    <message>
        <source>This session was deleted before the log of its server was restored. It is there again, until somebody deletes it anew.</source>
        <translation>此会话在其服务器的日志恢复之前已被删除。它现在又存在，直到有人再次删除。</translation>
    </message>
    <message>
        <source>There is no text to send.</source>
        <translation>没有可发送的文字。</translation>
    </message>
    <message>
        <source>This is larger than one entry of the log may be.</source>
        <translation>这超出了日志中一条记录允许的大小。</translation>
    </message>
    <message>
        <source>Another program works on this session now.</source>
        <translation>现在由另一个程序处理这个会话。</translation>
    </message>
    <message>
        <source>This cannot be a member of the host pool.</source>
        <translation>它不能成为主机池的成员。</translation>
    </message>
    <message>
        <source>Sessions hold GPUs of {name}; end them first.</source>
        <translation>有会话占用 {name} 的 GPU；请先结束它们。</translation>
    </message>
    <message>
        <source>The feed of updates is older than the one that was there before: it is not believed. Somebody put it there again.</source>
        <translation>更新信息比先前的旧，因此不予采信。有人把旧的又放了回去。</translation>
    </message>
    <message>
        <source>The feed of updates is not signed with your administrator&apos;s key: it is not believed.</source>
        <translation>更新信息没有用管理员的密钥签名：不予采信。</translation>
    </message>
    <message>
        <source>This guidance was given at step {step}: to go on without it, branch from an earlier step.</source>
        <translation>这条指导是在第 {step} 步给出的：要不带它继续，请从更早的步骤分支。</translation>
    </message>
    <message>
        <source>{name} is held by sessions; end them first.</source>
        <translation>{name} 正被会话占用；请先结束它们。</translation>
    </message>
    <message>
        <source>The lab&apos;s log-in provider cannot be asked now: {url}</source>
        <translation>现在无法访问实验室的登录服务：{url}</translation>
    </message>
    <message>
        <source>The session ended by a limit ({limit}): say how much more it may use, or it ends at once again.</source>
        <translation>会话因限制（{limit}）而结束：请说明还可以使用多少，否则它会立即再次结束。</translation>
    </message>
    <message>
        <source>{server} offers no log-in by the lab&apos;s accounts. Ask its administrator for an invitation.</source>
        <translation>{server} 不提供实验室账户登录。请向其管理员索取邀请。</translation>
    </message>
    <message>
        <source>The host pool has no {name}.</source>
        <translation>主机池中没有 {name}。</translation>
    </message>
    <message>
        <source>No host of this server&apos;s pool could ever take this task. Who runs the server may add one.</source>
        <translation>此服务器的主机池中没有任何主机能承担该任务。服务器的管理者可以添加一台。</translation>
    </message>
    <message>
        <source>A part of the window could not be drawn ({place}). All else goes on, and the log has the details. [not_drawn]</source>
        <translation>窗口有一部分无法绘制（{place}）。其余照常，详情见日志。[not_drawn]</translation>
    </message>
    <message>
        <source>The session has not ended, so it needs no word to go on.</source>
        <translation>会话尚未结束，因此无需说明即可继续。</translation>
    </message>
    <message>
        <source>Step {step} is one of session {parent}: branch that one.</source>
        <translation>第 {step} 步属于会话 {parent}：请对那个会话分支。</translation>
    </message>
    <message>
        <source>{path} is there and is no earlier archive of this session. It stays as it is.</source>
        <translation>{path} 已存在，且不是此会话较早的归档文件。它保持不变。</translation>
    </message>
    <message>
        <source>{path} cannot be written: {why}</source>
        <translation>无法写入 {path}：{why}</translation>
    </message>
    <message>
        <source>This file is too large.</source>
        <translation>此文件过大。</translation>
    </message>
    <message>
        <source>The server refuses this connection. Is {server} the name that it is known by?</source>
        <translation>服务器拒绝了这个连接。它是以 {server} 这个名称提供服务的吗？</translation>
    </message>
    <message>
        <source>The server holds this guidance already.</source>
        <translation>服务器已有这条指导。</translation>
    </message>
    <message>
        <source>The server&apos;s program is older and would take your verdict on one action for one on the whole step. That verdict, and what you sent after it, waits on this computer until the server is updated.</source>
        <translation>服务器的程序较旧，会把对单个动作的裁定当作对整个步骤的裁定。这条裁定以及之后发出的内容留在本机等待，直到服务器更新。</translation>
    </message>
    <message>
        <source>An imported trajectory cannot be controlled: no agent is behind it.</source>
        <translation>导入的轨迹无法控制：背后没有智能体。</translation>
    </message>
    <message>
        <source>The server met a fault of its own. Its log has the details.</source>
        <translation>服务器自身出错。详情见其日志。</translation>
    </message>
    <message>
        <source>Something went wrong in a command of Tiphys. Its log has the details.</source>
        <translation>Tiphys 的一个命令出错。详情见其日志。</translation>
    </message>
    <message>
        <source>This invitation has expired. Ask the administrator for a new one.</source>
        <translation>此邀请已过期。请向管理员索取新的邀请。</translation>
    </message>
    <message>
        <source>The server does not know this invitation. Ask the administrator for a new one.</source>
        <translation>服务器不认识此邀请。请向管理员索取新的邀请。</translation>
    </message>
    <message>
        <source>The file of the invitation cannot be read.</source>
        <translation>邀请文件无法读取。</translation>
    </message>
    <message>
        <source>This invitation was used already. If that was not you, tell the administrator.</source>
        <translation>此邀请已被使用。如果不是您本人所为，请告知管理员。</translation>
    </message>
    <message>
        <source>The lab&apos;s provider did not log you in: {why}</source>
        <translation>实验室的登录服务没有让您登录：{why}</translation>
    </message>
    <message>
        <source>There is an account of your name already that does not belong to this log-in. The administrator can link it.</source>
        <translation>已有一个与您同名的账户，但不属于此登录。管理员可以将其关联。</translation>
    </message>
    <message>
        <source>You are in no group that may work on this server.</source>
        <translation>您不在任何可使用此服务器的组中。</translation>
    </message>
    <message>
        <source>Too many log-ins were begun from your network. Wait a minute, then begin again.</source>
        <translation>从您的网络发起的登录过多。请等一分钟再重新开始。</translation>
    </message>
    <message>
        <source>Your log-in to this server is over: log in again under File › Servers….</source>
        <translation>您在此服务器上的登录已到期：请在“文件 › 服务器…”中重新登录。</translation>
    </message>
    <message>
        <source>The log-in was refused in the browser.</source>
        <translation>登录在浏览器中被拒绝。</translation>
    </message>
    <message>
        <source>Your account on this server was revoked. Ask your administrator.</source>
        <translation>您在此服务器上的账户已被撤销。请联系管理员。</translation>
    </message>
    <message>
        <source>The code was not entered in time. Begin again.</source>
        <translation>未及时输入代码。请重新开始。</translation>
    </message>
    <message>
        <source>This log-in was used already. If that was not you, tell your administrator.</source>
        <translation>此登录已被使用过。如果不是您本人所为，请告知管理员。</translation>
    </message>
    <message>
        <source>The data folder lies on a network disk, where a log cannot be kept safely.</source>
        <translation>数据文件夹位于网络磁盘上，无法安全地保存日志。</translation>
    </message>
    <message>
        <source>Step {step} has no action {action}.</source>
        <translation>第 {step} 步没有动作 {action}。</translation>
    </message>
    <message>
        <source>The server did not answer in time.</source>
        <translation>服务器没有及时回答。</translation>
    </message>
    <message>
        <source>Nothing needs attention here any more.</source>
        <translation>这里已没有需要关注的内容。</translation>
    </message>
    <message>
        <source>A text of this session is not there.</source>
        <translation>这个会话缺少一段文字。</translation>
    </message>
    <message>
        <source>This command is not among those that were sent from here.</source>
        <translation>这条命令不在本机发出的命令之中。</translation>
    </message>
    <message>
        <source>{server} knows no invitations: its program is older, or another.</source>
        <translation>{server} 不支持邀请：它的程序较旧，或者不是本程序。</translation>
    </message>
    <message>
        <source>“{folder}” is not the folder of a learning run.</source>
        <translation>“{folder}”不是强化学习运行的文件夹。</translation>
    </message>
    <message>
        <source>The groups in “{path}” cannot be shown.</source>
        <translation>无法显示“{path}”中的分组。</translation>
    </message>
    <message>
        <source>The learning run cannot be read: {why}</source>
        <translation>无法读取强化学习运行：{why}</translation>
    </message>
    <message>
        <source>No agent is running now, so nothing can be interrupted.</source>
        <translation>现在没有智能体在运行，无法中断。</translation>
    </message>
    <message>
        <source>The link leads to {address}, which is not among your servers.</source>
        <translation>链接指向 {address}，它不在您的服务器列表中。</translation>
    </message>
    <message>
        <source>The server does not know this session.</source>
        <translation>服务器不认识此会话。</translation>
    </message>
    <message>
        <source>The session handed nothing in under that number.</source>
        <translation>该会话没有这个编号的提交。</translation>
    </message>
    <message>
        <source>The server&apos;s computer holds no such snapshot any more.</source>
        <translation>服务器上已没有这个快照。</translation>
    </message>
    <message>
        <source>This task names no model that is to work on it. Choose one under “Model”.</source>
        <translation>此任务没有指定要使用的模型，请在“模型”处选择一个。</translation>
    </message>
    <message>
        <source>The server does not know this task.</source>
        <translation>服务器不认识此任务。</translation>
    </message>
    <message>
        <source>This text is too long: {limit} characters are the most.</source>
        <translation>文字过长：最多 {limit} 个字符。</translation>
    </message>
    <message>
        <source>The server does not know this guidance.</source>
        <translation>服务器不认识这条指导。</translation>
    </message>
    <message>
        <source>The feed of updates cannot be used: it is none, or its signature is not by the key of your administrator.</source>
        <translation>更新源无法使用：它不是更新源，或签名不是管理员的密钥所作。</translation>
    </message>
    <message>
        <source>The feed of updates cannot be read at {place}.</source>
        <translation>无法从 {place} 读取更新源。</translation>
    </message>
    <message>
        <source>The lab&apos;s log-in provider signs in a way that the server does not accept.</source>
        <translation>实验室的登录服务使用了服务器不接受的签名方式。</translation>
    </message>
    <message>
        <source>This log-in was made for another program.</source>
        <translation>这次登录是为另一个程序作的。</translation>
    </message>
    <message>
        <source>What the lab&apos;s log-in provider sent cannot be read.</source>
        <translation>实验室的登录服务所发的内容无法读取。</translation>
    </message>
    <message>
        <source>This log-in is not valid yet: compare the clocks of server and provider.</source>
        <translation>这次登录尚未生效：请核对服务器与登录服务的时钟。</translation>
    </message>
    <message>
        <source>This log-in has expired: log in again.</source>
        <translation>这次登录已过期：请重新登录。</translation>
    </message>
    <message>
        <source>What the lab&apos;s log-in provider sent lacks something that the server needs.</source>
        <translation>实验室的登录服务所发的内容缺少服务器需要的部分。</translation>
    </message>
    <message>
        <source>This log-in comes from another provider than the server&apos;s.</source>
        <translation>这次登录来自另一个登录服务，而非服务器所用的。</translation>
    </message>
    <message>
        <source>This log-in is signed with a key that the lab&apos;s provider does not name.</source>
        <translation>这次登录的签名密钥不在实验室登录服务公布之列。</translation>
    </message>
    <message>
        <source>This log-in was made too long ago: log in again.</source>
        <translation>这次登录作出已久：请重新登录。</translation>
    </message>
    <message>
        <source>The signature of this log-in is not right.</source>
        <translation>这次登录的签名不正确。</translation>
    </message>
    <message>
        <source>There is an account of this name already. Ask the administrator for another invitation.</source>
        <translation>已有同名账户。请向管理员索取另一份邀请。</translation>
    </message>
    <message>
        <source>An agent that is not ours goes on from its own record alone: branch it from a step with a snapshot, where its recipe says how it is taken up.</source>
        <translation>外部智能体只能从它自己的记录继续：请从有快照的步骤分支，且其配方须说明如何接续。</translation>
    </message>
    <message>
        <source>A token is needed.</source>
        <translation>需要令牌。</translation>
    </message>
    <message>
        <source>This is no server of Tiphys, or none that can be spoken to.</source>
        <translation>这不是 Tiphys 服务器，或者无法与它通信。</translation>
    </message>
    <message>
        <source>Not all of this session is here, and its server does not send it now.</source>
        <translation>此会话的内容未全部在此计算机上，其服务器现在也不发送。</translation>
    </message>
    <message>
        <source>This account has {count} texts on the server that nothing names; they are removed after a day.</source>
        <translation>这个账户在服务器上有 {count} 段没有任何记录引用的文字，一天后会被删除。</translation>
    </message>
    <message>
        <source>{url} would carry your token unencrypted. Use wss://</source>
        <translation>{url} 会以明文传送您的令牌。请使用 wss://</translation>
    </message>
    <message>
        <source>An agent works on the session now: stop it first.</source>
        <translation>智能体正在会话中工作，请先停止它。</translation>
    </message>
    <message>
        <source>The server closed the connection to {server}: the token may not do that.</source>
        <translation>服务器关闭了到 {server} 的连接：令牌没有这个权限。</translation>
    </message>
    <message>
        <source>The search on the server failed. Its log says more.</source>
        <translation>服务器上的搜索失败。详情见服务器日志。</translation>
    </message>
    <message>
        <source>The search took too long. Use more words, or search in one session.</source>
        <translation>搜索用时过长。请多用几个词，或只在一个会话里搜索。</translation>
    </message>
    <message>
        <source>The server cannot be reached.</source>
        <translation>无法连接服务器。</translation>
    </message>
    <message>
        <source>The server&apos;s program is older and does not know this.</source>
        <translation>服务器的程序较旧，不支持这个功能。</translation>
    </message>
    <message>
        <source>This session was deleted on its server by {account}.</source>
        <translation>此会话已在其服务器上被 {account} 删除。</translation>
    </message>
    <message>
        <source>Something was added to this session meanwhile. Look again at what would be lost.</source>
        <translation>此会话在此期间又有新增内容。请重新查看将失去什么。</translation>
    </message>
    <message>
        <source>“{argument}” is missing, or is not what the tool takes.</source>
        <translation>缺少“{argument}”，或它不是该工具接受的值。</translation>
    </message>
    <message>
        <source>What there is to call cannot be read: update the older program.</source>
        <translation>无法读取可调用的工具：请更新较旧的程序。</translation>
    </message>
    <message>
        <source>Nobody can act in the place of this agent.</source>
        <translation>无法代替这个智能体操作。</translation>
    </message>
    <message>
        <source>The agent has this session back, or somebody else has it: take it over first.</source>
        <translation>此会话已回到智能体或由他人接管：请先接管。</translation>
    </message>
    <message>
        <source>This session is still at work, or being written. Stop it, or end the import that follows its file; then ask again.</source>
        <translation>此会话仍在运行或正被写入。请先停止它，或结束跟踪其文件的导入，然后重试。</translation>
    </message>
    <message>
        <source>The session has come further than its snapshot after step {step}: branch from that step.</source>
        <translation>会话已超过步骤 {step} 之后的快照，请从该步骤分支。</translation>
    </message>
    <message>
        <source>The data folder is closed already.</source>
        <translation>数据文件夹已经关闭。</translation>
    </message>
    <message>
        <source>The data folder cannot be used now.</source>
        <translation>数据文件夹现在无法使用。</translation>
    </message>
    <message>
        <source>The disk refused to store this. Is it full?</source>
        <translation>磁盘拒绝保存。磁盘满了吗？</translation>
    </message>
    <message>
        <source>{server} does not speak the protocol of this program.</source>
        <translation>{server} 不使用本程序的协议。</translation>
    </message>
    <message>
        <source>The folder of the task {task} has changed since you saw what it asks. Open the dialog again.</source>
        <translation>任务 {task} 的文件夹在您查看其要求之后改变了。请重新打开对话框。</translation>
    </message>
    <message>
        <source>The task {task} asks for what nobody has allowed it on the server&apos;s computer.</source>
        <translation>任务 {task} 要求的权限在服务器的计算机上没有人允许。</translation>
    </message>
    <message>
        <source>Your account on this server has expired. The administrator can prolong it.</source>
        <translation>您在此服务器上的账户已过期。管理员可以延长其期限。</translation>
    </message>
    <message>
        <source>{server} does not accept your token.</source>
        <translation>{server} 不接受您的令牌。</translation>
    </message>
    <message>
        <source>This account has {most} connections to the server already, which is as many as one may have.</source>
        <translation>这个账户与服务器的连接已有 {most} 个，达到了一个账户的上限。</translation>
    </message>
    <message>
        <source>You have given {most} opinions on sessions that are not on the server: it takes no more of them.</source>
        <translation>您对服务器上没有的会话已给出 {most} 条意见，不再接受更多。</translation>
    </message>
    <message>
        <source>Too many texts are asked for at once.</source>
        <translation>一次请求的文字太多。</translation>
    </message>
    <message>
        <source>This computer does not know the certificate of {server}. Add its fingerprint to the address: …#sha256=…; “tiphys serve” prints it.</source>
        <translation>本机不认识 {server} 的证书。请在地址末尾加上指纹：…#sha256=…；“tiphys serve” 会显示它。</translation>
    </message>
    <message>
        <source>“{path}” is packed by {packing}, which is not unpacked here. Unpack it, and open what it holds.</source>
        <translation>“{path}”由 {packing} 打包，此处不解包。请先解包，再打开其中的内容。</translation>
    </message>
    <message>
        <source>This archive was written by a newer Tiphys (version {version}).</source>
        <translation>此归档由更新的 Tiphys 写成（版本 {version}）。</translation>
    </message>
    <message>
        <source>“{path}” is cut off, or no database that can be read.</source>
        <translation>“{path}”不完整，或不是可读取的数据库。</translation>
    </message>
    <message>
        <source>“{path}” is empty.</source>
        <translation>“{path}”是空的。</translation>
    </message>
    <message>
        <source>“{path}” is being written now.</source>
        <translation>“{path}”正在写入。</translation>
    </message>
    <message>
        <source>“{path}” cannot be read.</source>
        <translation>无法读取“{path}”。</translation>
    </message>
    <message>
        <source>“{path}” has a line that is too long to be read.</source>
        <translation>“{path}”中有一行过长，无法读取。</translation>
    </message>
    <message>
        <source>“{path}” holds no session of an agent. {why}</source>
        <translation>“{path}”中没有智能体的会话。{why}</translation>
    </message>
    <message>
        <source>“{path}” holds no step of an agent. {why}</source>
        <translation>“{path}”中没有智能体的步骤。{why}</translation>
    </message>
    <message>
        <source>“{path}” is in no format that is known here.</source>
        <translation>“{path}”不是已知的格式。</translation>
    </message>
    <message>
        <source>A subagent cannot be asked that by itself: ask the session that called it.</source>
        <translation>不能单独要求子智能体这样做：请对调用它的会话提出。</translation>
    </message>
    <message>
        <source>{server} speaks another version of the protocol. Update the older program.</source>
        <translation>{server} 使用另一个版本的协议。请更新较旧的程序。</translation>
    </message>
    <message>
        <source>This is not possible in the session&apos;s present state.</source>
        <translation>会话当前的状态不允许这样做。</translation>
    </message>
    <message>
        <source>Your token does not allow this.</source>
        <translation>您的令牌不允许这样做。</translation>
    </message>
    <message>
        <source>The server does not accept your token.</source>
        <translation>服务器不接受您的令牌。</translation>
    </message>
    <message>
        <source>This session has no such step.</source>
        <translation>此会话没有这个步骤。</translation>
    </message>
    <message>
        <source>“{path}” is not a file.</source>
        <translation>“{path}”不是文件。</translation>
    </message>
    <message>
        <source>There is a session of this name already.</source>
        <translation>已有同名的会话。</translation>
    </message>
    <message>
        <source>This session has ended: no agent will read this.</source>
        <translation>此会话已结束：不会再有智能体读到它。</translation>
    </message>
    <message>
        <source>Step {step} has changed since you judged it. Look at it again: what you chose or wrote waits where you did.</source>
        <translation>第 {step} 步在您裁定之后有变化。请再看一遍：您的选择或文字仍在原处等待。</translation>
    </message>
    <message>
        <source>This data was written by a newer version of Tiphys.</source>
        <translation>这些数据由更新版本的 Tiphys 写入。</translation>
    </message>
    <message>
        <source>There is no Docker engine that can be used.</source>
        <translation>没有可用的 Docker 引擎。</translation>
    </message>
    <message>
        <source>The private server did not start. Its log is in {folder}.</source>
        <translation>本机服务器没有启动。日志在 {folder}。</translation>
    </message>
</context>
<context>
    <name>ExportController</name>
    <message numerus="yes">
        <source>%Ln chosen session(s) are not whole on this computer. Menu Session, “Store offline” fetches what is missing.</source>
        <translation>
            <numerusform>所选会话中有 %Ln 个在本机不完整。“会话”菜单中的“离线保存”可获取缺少的部分。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln place(s) look like secrets. Write the data set?</source>
        <translation>
            <numerusform>有 %Ln 处疑似密钥。是否写入数据集？</numerusform>
        </translation>
    </message>
    <message>
        <source>The report lists them. In the data set they are replaced by [redacted].</source>
        <translation>报告中已列出。数据集中会以 [redacted] 代替。</translation>
    </message>
    <message>
        <source>Write</source>
        <translation>写入</translation>
    </message>
    <message>
        <source>The data set was written to {folder}.</source>
        <translation>数据集已写入 {folder}。</translation>
    </message>
    <message>
        <source>It was cancelled.</source>
        <translation>已取消。</translation>
    </message>
    <message>
        <source>Blind: what others masked would show here.</source>
        <translation>盲评：这里会显示他人掩码的内容。</translation>
    </message>
    <message>
        <source>Tokens and training need PyTorch and transformers, which are not installed here. Install them with:  tiphys train-setup</source>
        <translation>计算词元和训练需要 PyTorch 与 transformers，这里没有安装。用以下命令安装：  tiphys train-setup</translation>
    </message>
    <message numerus="yes">
        <source>%Ln session(s)</source>
        <translation>
            <numerusform>%Ln 个会话</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Nobody judged %Ln step(s) in {sessions}. Judge them, or choose under “Not judged” what becomes of such steps. “Check” counts them.</source>
        <translation>
            <numerusform>{sessions}中有 %Ln 个步骤无人裁定。请先裁定，或在“无裁定”一栏选择如何处理这些步骤。“检查”会给出数目。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExportFormats</name>
    <message>
        <source>Token ids and labels, made by the program&apos;s own renderer: the exact mask. What “Train” reads.</source>
        <translation>由程序自己的渲染器生成的词元编号和标签：精确的掩码。“训练”读取的就是它。</translation>
    </message>
    <message>
        <source>The same rows in a Parquet file.</source>
        <translation>同样的行，存为 Parquet 文件。</translation>
    </message>
    <message>
        <source>Ids, labels, positions and a weight per token in shards, for large engines and for “Train”.</source>
        <translation>分片存放的编号、标签、位置和每个词元的权重，供大型引擎和“训练”使用。</translation>
    </message>
    <message>
        <source>Messages of the OpenAI chat API; train is true on the assistant messages that carry loss.</source>
        <translation>OpenAI 对话接口的消息；计入损失的助手消息的 train 为 true。</translation>
    </message>
    <message>
        <source>Messages with step_loss_mask, tools in metadata.</source>
        <translation>带 step_loss_mask 的消息，工具放在 metadata 中。</translation>
    </message>
    <message>
        <source>Messages with train per message, for type: chat_template.</source>
        <translation>每条消息带 train 的消息，用于 type: chat_template。</translation>
    </message>
    <message>
        <source>Messages with loss_weight per message.</source>
        <translation>每条消息带 loss_weight 的消息。</translation>
    </message>
    <message>
        <source>Turns of a person and the model, one row for each action that trains.</source>
        <translation>人与模型的轮次，每个参与训练的动作一行。</translation>
    </message>
</context>
<context>
    <name>ExportReasons</name>
    <message>
        <source>The chat template of this model has no tool calls.</source>
        <translation>该模型的对话模板没有工具调用。</translation>
    </message>
    <message>
        <source>The chat template does not render the action as the model wrote it.</source>
        <translation>对话模板没有按模型写下的样子呈现该动作。</translation>
    </message>
    <message>
        <source>The action holds text that means a control token to this model.</source>
        <translation>该动作含有对此模型而言是控制标记的文字。</translation>
    </message>
    <message>
        <source>It holds a value that is to be kept secret.</source>
        <translation>其中含有应当保密的值。</translation>
    </message>
    <message>
        <source>The sample that holds the action is refused.</source>
        <translation>包含该动作的样本被拒绝。</translation>
    </message>
    <message>
        <source>What is trained cannot be cut from the rest between two tokens.</source>
        <translation>要训练的部分与其余部分无法在两个词元之间分开。</translation>
    </message>
    <message>
        <source>The arguments of a call are not a JSON object.</source>
        <translation>某个调用的参数不是 JSON 对象。</translation>
    </message>
    <message>
        <source>It is masked in part, and its message cannot be marked in part: none of it is trained.</source>
        <translation>它有一部分被掩码，而其消息无法只标记一部分：整条都不训练。</translation>
    </message>
    <message>
        <source>The tokenizer has no chat template.</source>
        <translation>该分词器没有对话模板。</translation>
    </message>
    <message>
        <source>The log does not say in which context the steps before it were summarised.</source>
        <translation>日志没有说明此前的步骤是在怎样的上下文中总结的。</translation>
    </message>
    <message>
        <source>The chat template has no place for recorded thoughts within an answer; leave them out.</source>
        <translation>对话模板在回答中没有放置所记录思考的位置；请将其略去。</translation>
    </message>
    <message>
        <source>The chat template does not end an action with a stop token of this model.</source>
        <translation>对话模板没有用该模型的停止标记结束动作。</translation>
    </message>
    <message>
        <source>The action is kept, but no sample holds it as the model wrote it.</source>
        <translation>该动作被保留，但没有样本按模型写下的样子包含它。</translation>
    </message>
    <message>
        <source>No action of this sample is kept.</source>
        <translation>该样本中没有被保留的动作。</translation>
    </message>
    <message>
        <source>The chat template rewrites what came before, or the answer, once something follows.</source>
        <translation>一旦后面还有内容，对话模板就会改写之前的内容或回答。</translation>
    </message>
    <message>
        <source>The chat template makes the model think before it answers, and leaves thoughts out of answers.</source>
        <translation>对话模板让模型先思考再回答，却在回答中略去思考。</translation>
    </message>
    <message>
        <source>The chat template refuses these messages.</source>
        <translation>对话模板不接受这些消息。</translation>
    </message>
    <message>
        <source>The chat template leaves out what the model was told.</source>
        <translation>对话模板略去了给模型的内容。</translation>
    </message>
    <message>
        <source>The chat template does not come to an end.</source>
        <translation>对话模板的渲染没有结束。</translation>
    </message>
    <message>
        <source>It has more tokens than the model takes at once, or than a row of this export may have (tiphys export --max-tokens).</source>
        <translation>它的词元数超过模型一次所能容纳的，或超过本次导出每行所允许的（tiphys export --max-tokens）。</translation>
    </message>
    <message>
        <source>The chat template does not show the model all its tools.</source>
        <translation>对话模板没有把全部工具展示给模型。</translation>
    </message>
</context>
<context>
    <name>ExportRemarks</name>
    <message>
        <source>No tokenizer was at hand: tokens are not counted, and what a model&apos;s template or length would refuse is not known.</source>
        <translation>没有可用的分词器：未统计词元，也不知道模型的模板或长度会拒绝什么。</translation>
    </message>
    <message>
        <source>Nobody judged {steps} steps in {sessions} of {of} sessions. Let them be judged, or choose at “Not judged” what becomes of such steps.</source>
        <translation>{of} 个会话中有 {sessions} 个共 {steps} 步无人裁定。请裁定它们，或在“无裁定”处选择如何处理这些步骤。</translation>
    </message>
    <message>
        <source>{steps} steps in {sessions} of {of} sessions were judged by nobody: {trained} train as if they were kept, {refused} stand in refused samples, {others} are in no row for other reasons.</source>
        <translation>{of} 个会话中有 {sessions} 个共 {steps} 步无人裁定：其中 {trained} 步按保留来训练，{refused} 步在被拒绝的样本中，{others} 步因其他原因不在任何行中。</translation>
    </message>
    <message>
        <source>{steps} steps in {sessions} of {of} sessions were judged by nobody; they do not train.</source>
        <translation>{of} 个会话中有 {sessions} 个共 {steps} 步无人裁定；它们不参与训练。</translation>
    </message>
    <message>
        <source>{sessions} sessions do not say exactly what the model was given; their contexts are put together from what they do say.</source>
        <translation>{sessions} 个会话没有确切说明给了模型什么；其上下文由它们所记载的内容拼成。</translation>
    </message>
    <message>
        <source>The template has no place for the thoughts of {answers} trained answers: these train without.</source>
        <translation>模板没有放置 {answers} 个所训练回答的思考的位置：这些回答不带思考训练。</translation>
    </message>
    <message>
        <source>No trained answer of these sessions has a recorded thought.</source>
        <translation>这些会话中所训练的回答都没有记录思考。</translation>
    </message>
    <message>
        <source>The tool calls of {sessions} sessions are written in the plain-text action format.</source>
        <translation>{sessions} 个会话的工具调用以纯文本动作格式写出。</translation>
    </message>
    <message>
        <source>{samples} samples equal an earlier one and are left out.</source>
        <translation>{samples} 个样本与先前的相同，已略去。</translation>
    </message>
    <message>
        <source>{places} places that held or looked like secrets were replaced by [redacted].</source>
        <translation>{places} 处含有或像是机密的内容已替换为 [redacted]。</translation>
    </message>
    <message>
        <source>People&apos;s names were taken out of {paths} paths.</source>
        <translation>已从 {paths} 个路径中去掉人名。</translation>
    </message>
    <message>
        <source>{rows} rows go on with a sample: the template tells its past otherwise later on, so that one row cannot hold it exactly.</source>
        <translation>有 {rows} 行接续同一样本：模板之后会以不同方式呈现其过去，一行无法精确容纳。</translation>
    </message>
    <message>
        <source>At {places} places the model&apos;s own token boundary is used, which tokenizing the whole text would not give.</source>
        <translation>有 {places} 处采用模型自己的词元边界，对整段文字分词不会得到它。</translation>
    </message>
</context>
<context>
    <name>ExportView</name>
    <message>
        <source>Choose</source>
        <translation>选择</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>预览</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>训练</translation>
    </message>
</context>
<context>
    <name>ExportWords</name>
    <message>
        <source>The exporter starts, and loads the tokenizer where one is needed. The first time this takes up to a minute, since the small model is unpacked.</source>
        <translation>导出程序正在启动，并按需加载分词器。首次需要解包小模型，最多约一分钟。</translation>
    </message>
</context>
<context>
    <name>EyeController</name>
    <message>
        <source>Entered for {step}</source>
        <translation>第 {step} 步新进入</translation>
    </message>
    <message>
        <source>Entered for the summary</source>
        <translation>摘要时新进入</translation>
    </message>
    <message>
        <source>This context cannot be read: {why}</source>
        <translation>无法读取此上下文：{why}</translation>
    </message>
    <message>
        <source>Fetching this message from the server…</source>
        <translation>正在从服务器获取此消息…</translation>
    </message>
    <message>
        <source>There is no context here to copy: choose a step first.</source>
        <translation>这里没有可复制的上下文：请先选择一个步骤。</translation>
    </message>
    <message>
        <source>Fetched {n} of {all} messages to copy them…</source>
        <translation>复制前正在获取消息：{n}/{all}…</translation>
    </message>
    <message>
        <source>Copied: the context as JSON.</source>
        <translation>已复制：JSON 格式的上下文。</translation>
    </message>
    <message>
        <source>Copied: a curl request. It reads the key from OPENAI_API_KEY.</source>
        <translation>已复制：curl 请求。密钥从 OPENAI_API_KEY 读取。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln secret(s) were taken out.</source>
        <translation>
            <numerusform>已去除 %Ln 个密钥。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EyeView</name>
    <message>
        <source>task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>note of the program</source>
        <translation>程序的附注</translation>
    </message>
    <message>
        <source>step {name}</source>
        <translation>步骤 {name}</translation>
    </message>
    <message>
        <source>guidance</source>
        <translation>指导</translation>
    </message>
    <message>
        <source>summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>instructions</source>
        <translation>系统说明</translation>
    </message>
    <message>
        <source>answers {id}</source>
        <translation>回答 {id}</translation>
    </message>
    <message>
        <source>Reasoning (never sent back to the model)</source>
        <translation>推理过程（从不发回给模型）</translation>
    </message>
    <message>
        <source>Call</source>
        <translation>调用</translation>
    </message>
    <message>
        <source>Which messages are listed</source>
        <translation>列出哪些消息</translation>
    </message>
    <message>
        <source>Whole context</source>
        <translation>整个上下文</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Entered</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>Left</source>
        <translation>移出</translation>
    </message>
    <message>
        <source>Gone by now</source>
        <translation>现已不在</translation>
    </message>
    <message>
        <source>Messages of the context</source>
        <translation>上下文中的消息</translation>
    </message>
    <message>
        <source>The chosen message</source>
        <translation>所选消息</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy what the model was given</source>
        <translation>复制模型收到的内容</translation>
    </message>
    <message>
        <source>Nothing is gone: this context holds all that earlier ones held.</source>
        <translation>没有消息被移出：此上下文包含较早上下文的全部内容。</translation>
    </message>
    <message>
        <source>Nothing changed since the step before.</source>
        <translation>与上一步骤相比没有变化。</translation>
    </message>
    <message>
        <source>+{tokens} tokens</source>
        <translation>+{tokens} 词元</translation>
    </message>
</context>
<context>
    <name>FacetChips</name>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Undecided</source>
        <translation>未裁定</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>更改</translation>
    </message>
    <message>
        <source>People</source>
        <translation>人</translation>
    </message>
    <message>
        <source>Judged</source>
        <translation>已裁定</translation>
    </message>
    <message>
        <source>Scores</source>
        <translation>得分</translation>
    </message>
    <message>
        <source>More of what can be listed</source>
        <translation>更多可列出的内容</translation>
    </message>
    <message>
        <source>Which steps are listed</source>
        <translation>列出哪些步骤</translation>
    </message>
</context>
<context>
    <name>Fate</name>
    <message>
        <source>too late to change it</source>
        <translation>已来不及修改</translation>
    </message>
    <message>
        <source>your change was not taken: {why}. Use it again below.</source>
        <translation>您的修改未被采用：{why}。可在下方再次使用。</translation>
    </message>
    <message>
        <source>withdrawn</source>
        <translation>已撤回</translation>
    </message>
    <message>
        <source>delivered at step {step}, answered at {answer}</source>
        <translation>在步骤 {step} 送达，步骤 {answer} 已回应</translation>
    </message>
    <message>
        <source>delivered at step {step}</source>
        <translation>在步骤 {step} 送达</translation>
    </message>
    <message>
        <source>the session ended before it was delivered</source>
        <translation>会话在送达之前已结束</translation>
    </message>
    <message>
        <source>waits for the session to be resumed</source>
        <translation>等待会话继续运行</translation>
    </message>
    <message>
        <source>on the server, waits for the next step</source>
        <translation>在服务器上，等待下一步骤</translation>
    </message>
    <message>
        <source>, again after a compaction at {steps}</source>
        <translation>，压缩后于步骤 {steps} 再次送达</translation>
    </message>
    <message>
        <source>on this computer, waits for the server</source>
        <translation>在本机上，等待服务器</translation>
    </message>
    <message>
        <source>refused: {why}</source>
        <translation>被拒绝：{why}</translation>
    </message>
    <message>
        <source>withdrawal asked</source>
        <translation>已请求撤回</translation>
    </message>
    <message>
        <source>edit asked</source>
        <translation>已请求修改</translation>
    </message>
</context>
<context>
    <name>FileDelegate</name>
    <message numerus="yes">
        <source>%Ln file(s)</source>
        <translation>
            <numerusform>%Ln 个文件</numerusform>
        </translation>
    </message>
    <message>
        <source>read</source>
        <translation>仅读取</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>过大</translation>
    </message>
    <message>
        <source>deleted</source>
        <translation>已删除</translation>
    </message>
    <message>
        <source>new</source>
        <translation>新建</translation>
    </message>
</context>
<context>
    <name>FilesController</name>
    <message>
        <source>A version of {size} was too large to be kept.</source>
        <translation>有一个 {size} 的版本过大，未被保存。</translation>
    </message>
    <message>
        <source>Loading …</source>
        <translation>正在加载…</translation>
    </message>
    <message>
        <source>The server does not hold this version: it was never sent there, or is gone.</source>
        <translation>服务器上没有这个版本：它从未被发送到那里，或者已经丢失。</translation>
    </message>
    <message>
        <source>first {size} compared</source>
        <translation>比较了前 {size}</translation>
    </message>
</context>
<context>
    <name>FilesGist</name>
    <message>
        <source>No file changed up to step {step}</source>
        <translation>到步骤 {step} 为止没有文件改动</translation>
    </message>
    <message>
        <source>No file was changed</source>
        <translation>没有文件改动</translation>
    </message>
    <message numerus="yes">
        <source>%Ln changed so far</source>
        <translation>
            <numerusform>至此共改动 %Ln 个</numerusform>
        </translation>
    </message>
    <message>
        <source>at {step}</source>
        <translation>于 {step}</translation>
    </message>
</context>
<context>
    <name>FilesView</name>
    <message>
        <source>Older version</source>
        <translation>旧版本</translation>
    </message>
    <message>
        <source>Newer version</source>
        <translation>新版本</translation>
    </message>
    <message>
        <source>All white space counts</source>
        <translation>所有空白都算</translation>
    </message>
    <message>
        <source>White space at line ends does not count</source>
        <translation>行尾空白不算</translation>
    </message>
    <message>
        <source>No white space counts</source>
        <translation>空白一律不算</translation>
    </message>
    <message>
        <source>Which white space counts</source>
        <translation>哪些空白算作差异</translation>
    </message>
    <message>
        <source>empty lines are ignored</source>
        <translation>忽略空行</translation>
    </message>
    <message>
        <source>No file touched yet</source>
        <translation>还没有改动过文件</translation>
    </message>
    <message>
        <source>Every file that the agent writes or edits appears here with its versions and their differences.</source>
        <translation>智能体写入或编辑的每个文件都会出现在这里，附带各个版本及其差异。</translation>
    </message>
    <message>
        <source>No file touched as of step {step}</source>
        <translation>到步骤 {step} 为止没有改动过文件</translation>
    </message>
    <message>
        <source>Go to a later step, or press F to follow.</source>
        <translation>请转到更晚的步骤，或按 F 跟随最新步骤。</translation>
    </message>
    <message>
        <source>Only read, at step {steps}. What the step saw stands in Step.</source>
        <translation>仅在第 {steps} 步读取。该步所见内容显示在“步骤”中。</translation>
    </message>
    <message>
        <source>v{version} · step {step}, in part</source>
        <translation>v{version} · 第 {step} 步，部分内容</translation>
    </message>
    <message>
        <source>v0 · before, in part</source>
        <translation>v0 · 之前，部分内容</translation>
    </message>
    <message>
        <source>v0 · before</source>
        <translation>v0 · 之前</translation>
    </message>
    <message>
        <source>v0 · absent</source>
        <translation>v0 · 不存在</translation>
    </message>
    <message>
        <source>v{version} · step {step}</source>
        <translation>v{version} · 步骤 {step}</translation>
    </message>
    <message>
        <source>{name}, changed by other means</source>
        <translation>{name}，被其他方式修改</translation>
    </message>
    <message>
        <source>{name}, deleted</source>
        <translation>{name}，已删除</translation>
    </message>
</context>
<context>
    <name>FilterBar</name>
    <message>
        <source>Clear filters</source>
        <translation>清除筛选</translation>
    </message>
    <message>
        <source>any error</source>
        <translation>任何错误</translation>
    </message>
    <message>
        <source>{shown} of {total} steps</source>
        <translation>{total} 步中的 {shown} 步</translation>
    </message>
    <message>
        <source>Any family</source>
        <translation>任何类别</translation>
    </message>
    <message>
        <source>Any tool</source>
        <translation>任何工具</translation>
    </message>
    <message>
        <source>Any host</source>
        <translation>任何主机</translation>
    </message>
    <message>
        <source>However it ended</source>
        <translation>任何结束方式</translation>
    </message>
    <message>
        <source>Judged by anybody</source>
        <translation>任何裁定者</translation>
    </message>
    <message>
        <source>Any outcome</source>
        <translation>任何结果</translation>
    </message>
    <message>
        <source>At any time</source>
        <translation>任何时间</translation>
    </message>
    <message>
        <source>commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>parsing</source>
        <translation>解析</translation>
    </message>
    <message>
        <source>search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>browsing</source>
        <translation>浏览</translation>
    </message>
    <message>
        <source>control</source>
        <translation>控制</translation>
    </message>
    <message>
        <source>other</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>masked</source>
        <translation>已掩码</translation>
    </message>
    <message>
        <source>unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>undecided</source>
        <translation>未裁定</translation>
    </message>
    <message>
        <source>opinions differ</source>
        <translation>意见不一</translation>
    </message>
    <message>
        <source>no keep or mask by anybody</source>
        <translation>无人保留或掩码</translation>
    </message>
</context>
<context>
    <name>FilterChips</name>
    <message>
        <source>Filter: {name}</source>
        <translation>筛选：{name}</translation>
    </message>
    <message>
        <source>{query}
Delete or right click: take it away</source>
        <translation>{query}
按 Delete 或右键单击可移除</translation>
    </message>
    <message>
        <source>Take this filter away</source>
        <translation>移除此筛选</translation>
    </message>
</context>
<context>
    <name>Filters</name>
    <message>
        <source>“{term}” is no term of a filter, so it is looked for as a word.</source>
        <translation>“{term}”不是筛选条件，因此作为词语查找。</translation>
    </message>
</context>
<context>
    <name>FiltersController</name>
    <message>
        <source>Save this filter</source>
        <translation>保存此筛选</translation>
    </message>
    <message>
        <source>Its name:</source>
        <translation>名称：</translation>
    </message>
</context>
<context>
    <name>Find</name>
    <message>
        <source>step {n}</source>
        <translation>步骤 {n}</translation>
    </message>
    <message>
        <source>title</source>
        <translation>标题</translation>
    </message>
    <message>
        <source>thought</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>action</source>
        <translation>动作</translation>
    </message>
    <message>
        <source>output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>guidance</source>
        <translation>指导</translation>
    </message>
    <message>
        <source>remark</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>{server} looked for parts of words in its newest texts only.</source>
        <translation>{server} 仅在最新的文本中查找了词的一部分。</translation>
    </message>
    <message>
        <source>{server} has yet to read {n} of its events.</source>
        <translation>{server} 还有 {n} 个事件尚未读取。</translation>
    </message>
    <message>
        <source>Asking {servers}…</source>
        <translation>正在询问 {servers}…</translation>
    </message>
    <message>
        <source>{servers}: not connected.</source>
        <translation>{servers}：未连接。</translation>
    </message>
    <message>
        <source>{servers}: an older program, which cannot be searched.</source>
        <translation>{servers}：程序较旧，无法搜索。</translation>
    </message>
    <message>
        <source>{servers}: your token may not search there.</source>
        <translation>{servers}：您的令牌无权在那里搜索。</translation>
    </message>
    <message>
        <source>{servers}: the search took too long.</source>
        <translation>{servers}：搜索耗时过长。</translation>
    </message>
    <message>
        <source>{servers}: no answer.</source>
        <translation>{servers}：没有回答。</translation>
    </message>
</context>
<context>
    <name>FindBoxController</name>
    <message>
        <source>No valid expression: {why}</source>
        <translation>表达式无效：{why}</translation>
    </message>
</context>
<context>
    <name>FindView</name>
    <message>
        <source>Words, or “a phrase”, in every session</source>
        <translation>词语或“短语”，在所有会话中</translation>
    </message>
    <message>
        <source>Find in all sessions</source>
        <translation>在所有会话中查找</translation>
    </message>
    <message>
        <source>Menu Session, “Store offline” fetches all of one.</source>
        <translation>“会话”菜单中的“离线保存”可获取全部内容。</translation>
    </message>
    <message>
        <source>Places found</source>
        <translation>找到的位置</translation>
    </message>
    <message numerus="yes">
        <source>%Ln place(s)</source>
        <translation>
            <numerusform>%Ln 处</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing is looked for</source>
        <translation>尚未查找</translation>
    </message>
    <message>
        <source>Thoughts, actions, outputs, guidance, summaries and remarks of every session are searched. Type some words above.</source>
        <translation>将搜索每个会话的思考、动作、输出、指导、摘要和备注。请在上方输入词语。</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>正在查找…</translation>
    </message>
    <message>
        <source>The search failed: {why}</source>
        <translation>查找失败：{why}</translation>
    </message>
    <message>
        <source>Nothing found.</source>
        <translation>没有找到。</translation>
    </message>
    <message numerus="yes">
        <source>Of %Ln session(s) on other servers only what is on this computer is searched.</source>
        <translation>
            <numerusform>其他服务器上有 %Ln 个会话仅搜索本机已有的部分。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FoundList</name>
    <message>
        <source>Found on this computer</source>
        <translation>在本机找到</translation>
    </message>
    <message>
        <source>only counted, nothing is read or copied before you open it</source>
        <translation>仅作计数，打开之前不读取也不复制任何内容</translation>
    </message>
    <message numerus="yes">
        <source>%Ln {program} run(s)</source>
        <translation>
            <numerusform>%Ln 个 {program} 运行</numerusform>
        </translation>
    </message>
    <message>
        <source>more than {runs}</source>
        <translation>超过 {runs}</translation>
    </message>
    <message>
        <source>newest {time}</source>
        <translation>最新 {time}</translation>
    </message>
    <message>
        <source>Open {count}</source>
        <translation>打开 {count} 个</translation>
    </message>
    <message>
        <source>Open all</source>
        <translation>全部打开</translation>
    </message>
    <message>
        <source>Open the runs in {folder}</source>
        <translation>打开 {folder} 中的运行</translation>
    </message>
</context>
<context>
    <name>Gist</name>
    <message>
        <source>No session is chosen</source>
        <translation>未选择会话</translation>
    </message>
    <message>
        <source>Not on this computer yet</source>
        <translation>尚不在本机</translation>
    </message>
    <message>
        <source>first at {step}</source>
        <translation>首次出现于 {step}</translation>
    </message>
</context>
<context>
    <name>GoToDialog</name>
    <message>
        <source>Go to</source>
        <translation>转到</translation>
    </message>
    <message>
        <source>A link, the number of a step, or the id of a session</source>
        <translation>链接、步骤编号或会话标识</translation>
    </message>
    <message>
        <source>Go</source>
        <translation>转到</translation>
    </message>
</context>
<context>
    <name>GroupTable</name>
    <message>
        <source>The sessions of one task side by side</source>
        <translation>同一任务的各个会话并列</translation>
    </message>
</context>
<context>
    <name>GuidanceBox</name>
    <message>
        <source>Write guidance</source>
        <translation>撰写指导</translation>
    </message>
    <message>
        <source>Send (Ctrl+Enter)</source>
        <translation>发送 (Ctrl+Enter)</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Leave the message as it was (Esc)</source>
        <translation>保持消息原样 (Esc)</translation>
    </message>
    <message>
        <source>Keys type here · Esc: list</source>
        <translation>按键在此输入 · Esc：列表</translation>
    </message>
    <message>
        <source>Templates</source>
        <translation>模板</translation>
    </message>
    <message>
        <source>Begin with a ready sentence (Ctrl+T)</source>
        <translation>从现成的句子开始 (Ctrl+T)</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Save this text as a template</source>
        <translation>将这段文字存为模板</translation>
    </message>
    <message>
        <source>Too late to change the message: your text is here, to be sent as a new one.</source>
        <translation>已来不及修改该消息：您的文字在这里，可作为新消息发送。</translation>
    </message>
    <message>
        <source>Save change</source>
        <translation>保存修改</translation>
    </message>
    <message>
        <source>Editing a queued message</source>
        <translation>正在修改排队中的消息</translation>
    </message>
    <message>
        <source>{place} is not filled in. Ctrl+Enter again sends it as it is.</source>
        <translation>{place} 尚未填写。再按 Ctrl+Enter 将原样发送。</translation>
    </message>
    <message>
        <source>{n} characters: a message has at most {most}.</source>
        <translation>{n} 个字符：一条消息最多 {most} 个。</translation>
    </message>
</context>
<context>
    <name>GuidanceController</name>
    <message>
        <source>This trajectory was imported: nobody is there to be guided.</source>
        <translation>这条轨迹是导入的：没有可指导的智能体。</translation>
    </message>
    <message>
        <source>This session has ended: guidance reaches it no more.</source>
        <translation>此会话已结束：指导无法再送达。</translation>
    </message>
    <message>
        <source>The server is not reached. What you send waits on this computer, and is sent as soon as it is.</source>
        <translation>未连接到服务器。您发送的内容保存在本机，连接后会立即发出。</translation>
    </message>
    <message>
        <source>This refuses what the agent asks leave for, and tells it why.</source>
        <translation>这会拒绝智能体所请求的，并告诉它原因。</translation>
    </message>
    <message>
        <source>The agent waits for this, and goes on as soon as it has it.</source>
        <translation>智能体在等待这条指导，收到后立即继续。</translation>
    </message>
    <message>
        <source>The session is paused. The agent reads it before step {n}, once it goes on.</source>
        <translation>会话已暂停。继续后，智能体会在步骤 {n} 之前读到它。</translation>
    </message>
    <message>
        <source>The agent reads it before step {n}. It does not wait for you. You can change or withdraw it until then.</source>
        <translation>智能体会在步骤 {n} 之前读到它，不会停下等您。在此之前您可以修改或撤回。</translation>
    </message>
    <message>
        <source>You write the next steps. The agent reads it when you hand back.</source>
        <translation>接下来的步骤由您编写。您交还后，智能体会读到它。</translation>
    </message>
    <message>
        <source>{person} writes the next steps. The agent reads it when it goes on itself.</source>
        <translation>接下来的步骤由 {person} 编写。智能体自己继续时会读到它。</translation>
    </message>
    <message>
        <source>Too late to change the message: the agent had read it already.</source>
        <translation>已来不及修改该消息：智能体已读过它。</translation>
    </message>
</context>
<context>
    <name>GuidanceRowDelegate</name>
    <message>
        <source>interrupt</source>
        <translation>中断</translation>
    </message>
    <message>
        <source>agent, before step {n}</source>
        <translation>智能体，步骤 {n} 之前</translation>
    </message>
    <message>
        <source>this computer</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>answered</source>
        <translation>已答复</translation>
    </message>
</context>
<context>
    <name>GuidanceView</name>
    <message>
        <source>Look at the {error} of step {step} before you go on: {why}</source>
        <translation>继续之前，先看步骤 {step} 的{error}：{why}</translation>
    </message>
    <message>
        <source>Do not use the test split for training or for choosing.</source>
        <translation>不要用测试集来训练或挑选。</translation>
    </message>
    <message>
        <source>You repeat yourself since step {step}. Say what you have tried, then try another way: {other way}</source>
        <translation>自步骤 {step} 起你一直在重复。先说明试过什么，再换一种做法：{other way}</translation>
    </message>
    <message>
        <source>Start it in the background and check on it every {minutes} minutes.</source>
        <translation>在后台启动它，每 {minutes} 分钟查看一次。</translation>
    </message>
    <message>
        <source>Look at {file} again: {what is wrong there}</source>
        <translation>再看一下 {file}：{what is wrong there}</translation>
    </message>
    <message>
        <source>No session is chosen</source>
        <translation>尚未选择会话</translation>
    </message>
    <message>
        <source>Tell “{title}” what to do. Ctrl+Enter sends.</source>
        <translation>告诉“{title}”该做什么。Ctrl+Enter 发送。</translation>
    </message>
    <message>
        <source>Choose a session to guide it.</source>
        <translation>选择一个会话来指导它。</translation>
    </message>
    <message>
        <source>Tell the agent something</source>
        <translation>给智能体写指导</translation>
    </message>
</context>
<context>
    <name>ImportBar</name>
    <message>
        <source>How far the import is</source>
        <translation>导入进度</translation>
    </message>
    <message>
        <source>Cancel the import</source>
        <translation>取消导入</translation>
    </message>
    <message numerus="yes">
        <source>Opening %Ln file(s)…</source>
        <translation>
            <numerusform>正在打开 %Ln 个文件…</numerusform>
        </translation>
    </message>
    <message>
        <source>{name} ({number} of {of})</source>
        <translation>{name}（第 {number} 个，共 {of} 个）</translation>
    </message>
</context>
<context>
    <name>ImportRemarks</name>
    <message>
        <source>{0} The file ends inside this line.</source>
        <translation>{0}文件在这一行中途结束。</translation>
    </message>
    <message>
        <source>{0} What stands before it was read.</source>
        <translation>{0}此前的内容已读取。</translation>
    </message>
    <message>
        <source>{0} What stands before was read.</source>
        <translation>{0}此前的内容已读取。</translation>
    </message>
    <message>
        <source>{0} The {1} steps before it were read.</source>
        <translation>{0}此前的 {1} 个步骤已读取。</translation>
    </message>
    <message>
        <source>Step {0} {1}: {2}.</source>
        <translation>步骤 {0} {1}：{2}。</translation>
    </message>
    <message>
        <source>Recorded for {0}: {1}.</source>
        <translation>文件为{0}记录：{1}。</translation>
    </message>
    <message>
        <source>{0} was left out: {1}</source>
        <translation>{0}被略去：{1}</translation>
    </message>
    <message>
        <source>{0} repeats {1}.</source>
        <translation>{0}与{1}重复。</translation>
    </message>
    <message>
        <source>The archive is cut off or damaged at byte {0}.</source>
        <translation>归档在第 {0} 字节处被截断或损坏。</translation>
    </message>
    <message>
        <source>The archive&apos;s table of contents is damaged. Its members were read one by one.</source>
        <translation>归档的目录已损坏，其成员已逐个读取。</translation>
    </message>
    <message>
        <source>The compressed file is cut off at byte {0}.</source>
        <translation>压缩文件在第 {0} 字节处被截断。</translation>
    </message>
    <message>
        <source>The compressed file is damaged before byte {0}: {1}.</source>
        <translation>压缩文件在第 {0} 字节之前损坏：{1}。</translation>
    </message>
    <message>
        <source>The text is damaged at line {0}, byte {1}: {2}.</source>
        <translation>文本在第 {0} 行第 {1} 字节处损坏：{2}。</translation>
    </message>
    <message>
        <source>The text is nested too deeply to be read.</source>
        <translation>文本嵌套过深，无法读取。</translation>
    </message>
    <message>
        <source>Line {0}, byte {1} is not UTF-8; such bytes are shown as �.</source>
        <translation>第 {0} 行第 {1} 字节不是 UTF-8；此类字节显示为 �。</translation>
    </message>
    <message>
        <source>Only {0} of {1} events are in the archive.</source>
        <translation>归档中只有 {1} 个事件中的 {0} 个。</translation>
    </message>
    <message>
        <source>Only {0} of {1} events were read; event {2}: {3}</source>
        <translation>只读取了 {1} 个事件中的 {0} 个；事件 {2}：{3}</translation>
    </message>
    <message>
        <source>It goes on in {0}, which is not beside it.</source>
        <translation>它在 {0} 中继续，而该文件不在旁边。</translation>
    </message>
    <message>
        <source>It goes on in {0}, which is no trajectory.</source>
        <translation>它在 {0} 中继续，而该文件不是轨迹。</translation>
    </message>
    <message>
        <source>The action of observation {0} is not in the file.</source>
        <translation>观察 {0} 所属的动作不在文件中。</translation>
    </message>
    <message>
        <source>The answer that made {0} calls is not in the file.</source>
        <translation>发出 {0} 次调用的回答不在文件中。</translation>
    </message>
    <message>
        <source>The result of call {0} has no call.</source>
        <translation>调用 {0} 的结果没有对应的调用。</translation>
    </message>
    <message>
        <source>{0} results have no call before them and were left out.</source>
        <translation>{0} 个结果之前没有调用，已略去。</translation>
    </message>
    <message>
        <source>{0} requests were left out: nothing stands in them.</source>
        <translation>{0} 个请求被略去：其中没有内容。</translation>
    </message>
    <message>
        <source>{0} more lines could not be read.</source>
        <translation>另有 {0} 行无法读取。</translation>
    </message>
    <message>
        <source>{0} lines of {1} could not be read.</source>
        <translation>{1} 中有 {0} 行无法读取。</translation>
    </message>
    <message>
        <source>An event is not [seconds, kind, data] and was left out.</source>
        <translation>一个事件不是 [秒、类型、数据] 的形式，已略去。</translation>
    </message>
    <message>
        <source>The file does not hold the exact input of every step: contexts are taken from its history and may differ from what the model was given.</source>
        <translation>文件没有保存每个步骤的确切输入：上下文取自其历史，可能与模型实际得到的不同。</translation>
    </message>
    <message>
        <source>The history does not match the steps, so {0} of {1} contexts are unknown.</source>
        <translation>历史与步骤不一致，因此 {1} 个上下文中有 {0} 个未知。</translation>
    </message>
    <message>
        <source>The context of step {0} is too long to be kept.</source>
        <translation>步骤 {0} 的上下文过长，未保存。</translation>
    </message>
    <message>
        <source>The task&apos;s description is shown up to its character {0}.</source>
        <translation>任务描述显示到第 {0} 个字符为止。</translation>
    </message>
    <message>
        <source>A {0} is shown up to its character {1}.</source>
        <translation>一处 {0} 显示到第 {1} 个字符为止。</translation>
    </message>
    <message>
        <source>The messages are given as text: names and arguments of {0} calls are not in it.</source>
        <translation>消息以文本给出：其中没有 {0} 次调用的名称和参数。</translation>
    </message>
    <message>
        <source>The node begins after a summary: the steps before it are not in it.</source>
        <translation>该节点从一次摘要之后开始：此前的步骤不在其中。</translation>
    </message>
    <message>
        <source>Messages on other branches of the conversation, which are not among the steps: {0}.</source>
        <translation>对话其他分支上的消息，不在步骤之中：{0}。</translation>
    </message>
    <message>
        <source>The program recorded no contents: the steps have times, models and tokens only.</source>
        <translation>该程序没有记录内容：步骤只有时间、模型和词元数。</translation>
    </message>
    <message>
        <source>The keys have no times: no step says where in the terminal it was typed.</source>
        <translation>按键没有时间：没有步骤说明它是在终端的何处输入的。</translation>
    </message>
    <message>
        <source>No step says where in {0} it is: the recording stands at the end.</source>
        <translation>没有步骤说明它在 {0} 的何处：录像放在最后。</translation>
    </message>
    <message>
        <source>{0} tells of {1} requests, and there are {2} answers: their times and costs were not joined.</source>
        <translation>{0} 记有 {1} 个请求，而回答有 {2} 个：未合并它们的时间和成本。</translation>
    </message>
    <message>
        <source>{0} beside it holds no messages of this program.</source>
        <translation>旁边的 {0} 没有这个程序的消息。</translation>
    </message>
    <message>
        <source>The row also holds a {0} answer.</source>
        <translation>该行还有一个 {0} 回答。</translation>
    </message>
    <message>
        <source>{0} is being written now.</source>
        <translation>{0} 正在被写入。</translation>
    </message>
    <message>
        <source>The agent asked for leave: {0}. Answer: allow.</source>
        <translation>智能体请求准许：{0}。回答：允许。</translation>
    </message>
    <message>
        <source>The agent asked for leave: {0}. Answer: reject.</source>
        <translation>智能体请求准许：{0}。回答：拒绝。</translation>
    </message>
    <message>
        <source>Run {0}</source>
        <translation>运行 {0} </translation>
    </message>
    <message>
        <source>Session {0}</source>
        <translation>会话 {0} </translation>
    </message>
    <message>
        <source>Simulation {0}</source>
        <translation>模拟 {0} </translation>
    </message>
    <message>
        <source>Trace {0}</source>
        <translation>追踪 {0} </translation>
    </message>
    <message>
        <source>a turn</source>
        <translation>一轮</translation>
    </message>
    <message>
        <source>says something else in this session than where this was said of it</source>
        <translation>在此会话中的内容与当初被评说时不同</translation>
    </message>
    <message>
        <source>goes on in its file after this was said of it, so that it holds no more</source>
        <translation>在被评说之后其文件又有延续，因此以下意见不再成立</translation>
    </message>
    <message>
        <source>it holds no message of the assistant.</source>
        <translation>其中没有助手的消息。</translation>
    </message>
    <message>
        <source>Line {0} (byte {1})</source>
        <translation>第 {0} 行(字节 {1})</translation>
    </message>
    <message>
        <source>Row {0}</source>
        <translation>第 {0} 行</translation>
    </message>
    <message>
        <source>The end</source>
        <translation>结尾</translation>
    </message>
    <message>
        <source>it is no record.</source>
        <translation>它不是记录。</translation>
    </message>
    <message>
        <source>it holds no answer of the model.</source>
        <translation>其中没有模型的回答。</translation>
    </message>
    <message>
        <source>it holds no action of the agent.</source>
        <translation>其中没有智能体的动作。</translation>
    </message>
    <message>
        <source>it holds no chat messages.</source>
        <translation>其中没有对话消息。</translation>
    </message>
    <message>
        <source>it holds no request to a model.</source>
        <translation>其中没有对模型的请求。</translation>
    </message>
    <message>
        <source>it holds no request to a model and no run of a tool.</source>
        <translation>其中没有对模型的请求，也没有工具运行。</translation>
    </message>
    <message>
        <source>no turn is the agent&apos;s.</source>
        <translation>没有一轮是智能体的。</translation>
    </message>
    <message>
        <source>no turn is the assistant&apos;s.</source>
        <translation>没有一轮是助手的。</translation>
    </message>
    <message>
        <source>no message is the assistant&apos;s.</source>
        <translation>没有一条消息是助手的。</translation>
    </message>
    <message>
        <source>no item is an action.</source>
        <translation>没有一个条目是动作。</translation>
    </message>
    <message>
        <source>the whole run</source>
        <translation>整个运行</translation>
    </message>
    <message>
        <source>Expecting value</source>
        <translation>此处应有一个值</translation>
    </message>
    <message>
        <source>Expecting &apos;,&apos; delimiter</source>
        <translation>此处应有分隔符“，”</translation>
    </message>
    <message>
        <source>Expecting &apos;:&apos; delimiter</source>
        <translation>此处应有分隔符“：”</translation>
    </message>
    <message>
        <source>Expecting property name enclosed in double quotes</source>
        <translation>此处应有双引号括起的属性名</translation>
    </message>
    <message>
        <source>Unterminated string starting at</source>
        <translation>字符串没有结束</translation>
    </message>
    <message>
        <source>the agent</source>
        <translation>智能体</translation>
    </message>
</context>
<context>
    <name>ImportsController</name>
    <message>
        <source>without a suffix</source>
        <translation>无后缀</translation>
    </message>
    <message>
        <source>Files read: {read}; in no known format: {unknown} ({kinds}).</source>
        <translation>已读取 {read} 个文件，{unknown} 个不是已知格式（{kinds}）。</translation>
    </message>
    <message numerus="yes">
        <source>Cancelled: %Ln session(s) were imported; each other one is here whole or not at all.</source>
        <translation>
            <numerusform>已取消：已导入 %Ln 个会话；其余每个会话要么完整存在，要么没有留下任何内容。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln session(s) imported.</source>
        <translation>
            <numerusform>已导入 %Ln 个会话。</numerusform>
        </translation>
    </message>
    <message>
        <source>No session was found there.</source>
        <translation>那里没有找到会话。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln remark(s) on what was opened: see above the steps of each session.</source>
        <translation>
            <numerusform>对所打开内容有 %Ln 条备注：见各会话步骤上方。</numerusform>
        </translation>
    </message>
    <message>
        <source>“{name}” is being written: it is followed.</source>
        <translation>“{name}”正在写入：将持续跟随。</translation>
    </message>
</context>
<context>
    <name>InvitationsController</name>
    <message>
        <source>Joining {server}…</source>
        <translation>正在加入 {server}…</translation>
    </message>
    <message>
        <source>You work on {server} as {name} now: {scopes}.</source>
        <translation>您现在以 {name} 的身份使用 {server}，可以：{scopes}。</translation>
    </message>
    <message>
        <source>Join the server {server} as {name}?</source>
        <translation>以 {name} 的身份加入服务器 {server}？</translation>
    </message>
    <message>
        <source>Its sessions then appear in your list. Agree only if you expected this invitation.</source>
        <translation>之后它的会话会出现在您的列表中。请仅在您预期会收到此邀请时同意。</translation>
    </message>
    <message>
        <source>Fingerprint of its certificate: {pin}…</source>
        <translation>其证书的指纹：{pin}…</translation>
    </message>
    <message>
        <source>The server is on your list; the token that it has there is replaced.</source>
        <translation>此服务器已在您的列表中；列表中的令牌将被替换。</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>加入</translation>
    </message>
</context>
<context>
    <name>KeysDialog</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Change keys…</source>
        <translation>更改快捷键…</translation>
    </message>
    <message>
        <source>In the guidance box</source>
        <translation>在指导输入框中</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
</context>
<context>
    <name>KeysEditor</name>
    <message>
        <source>Change keys</source>
        <translation>更改快捷键</translation>
    </message>
    <message>
        <source>Find a command</source>
        <translation>查找命令</translation>
    </message>
    <message>
        <source>As at first</source>
        <translation>恢复默认</translation>
    </message>
    <message>
        <source>This key belongs to “{command}”: take it away there first.</source>
        <translation>此键属于“{command}”：请先在那里移除。</translation>
    </message>
    <message>
        <source>No command has these letters.</source>
        <translation>没有包含这些字的命令。</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>全部显示</translation>
    </message>
</context>
<context>
    <name>Learning</name>
    <message>
        <source>reward {low}–{high}</source>
        <translation>奖励 {low}–{high}</translation>
    </message>
    <message>
        <source>nothing learnt: reward {reward} for all</source>
        <translation>未学到任何东西：奖励均为 {reward}</translation>
    </message>
    <message>
        <source>nothing learnt from it</source>
        <translation>未从中学习</translation>
    </message>
    <message>
        <source>Highest reward, fewest steps</source>
        <translation>奖励最高、步数最少</translation>
    </message>
    <message>
        <source>Rewarded though actions failed</source>
        <translation>动作失败却得到奖励</translation>
    </message>
    <message>
        <source>Much longer than usual</source>
        <translation>比平常长得多</translation>
    </message>
    <message>
        <source>Much shorter than usual</source>
        <translation>比平常短得多</translation>
    </message>
    <message>
        <source>Says the same again</source>
        <translation>重复同样的话</translation>
    </message>
    <message>
        <source>{value} steps, usually {usual}</source>
        <translation>{value} 步，平常 {usual} 步</translation>
    </message>
    <message>
        <source>{value} of {usual} actions failed</source>
        <translation>{usual} 个动作中有 {value} 个失败</translation>
    </message>
    <message>
        <source>{value} tokens, usually {usual}</source>
        <translation>{value} 个词元，平常 {usual} 个</translation>
    </message>
    <message>
        <source>{value} of its words, usually {usual}</source>
        <translation>其用词的 {value}，平常 {usual}</translation>
    </message>
    <message>
        <source>Length changed suddenly</source>
        <translation>长度突变</translation>
    </message>
    <message>
        <source>Entropy changed suddenly</source>
        <translation>熵突变</translation>
    </message>
    <message>
        <source>Failed actions changed suddenly</source>
        <translation>失败动作数突变</translation>
    </message>
    <message>
        <source>Steps changed suddenly</source>
        <translation>步数突变</translation>
    </message>
    <message>
        <source>{now}, before {before}</source>
        <translation>{now}，此前 {before}</translation>
    </message>
</context>
<context>
    <name>LearningController</name>
    <message>
        <source>update {n} of {all}</source>
        <translation>第 {n}/{all} 次更新</translation>
    </message>
    <message>
        <source>no update yet</source>
        <translation>尚无更新</translation>
    </message>
    <message>
        <source>done</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>last heard {time} ago</source>
        <translation>{time}前有消息</translation>
    </message>
    <message numerus="yes">
        <source>%Ln line(s) of metrics.jsonl cannot be read</source>
        <translation>
            <numerusform>metrics.jsonl 中有 %Ln 行无法读取</numerusform>
        </translation>
    </message>
    <message>
        <source>Update {n}</source>
        <translation>第 {n} 次更新</translation>
    </message>
    <message>
        <source>step {n}</source>
        <translation>步骤 {n}</translation>
    </message>
    <message>
        <source>advantage {a}</source>
        <translation>优势 {a}</translation>
    </message>
    <message>
        <source>entropy {e}</source>
        <translation>熵 {e}</translation>
    </message>
    <message>
        <source>log-probability {p}</source>
        <translation>对数概率 {p}</translation>
    </message>
    <message>
        <source>the action failed</source>
        <translation>动作失败</translation>
    </message>
    <message>
        <source>masked</source>
        <translation>已掩码</translation>
    </message>
</context>
<context>
    <name>LearningRuns</name>
    <message>
        <source>Open the folder of a learning run</source>
        <translation>打开强化学习运行的文件夹</translation>
    </message>
</context>
<context>
    <name>LearningView</name>
    <message>
        <source>What is worth a look</source>
        <translation>值得一看的会话</translation>
    </message>
    <message>
        <source>Tasks of the update</source>
        <translation>本次更新的任务</translation>
    </message>
    <message>
        <source>What the policy wrote</source>
        <translation>策略写了什么</translation>
    </message>
    <message>
        <source>Open session</source>
        <translation>打开会话</translation>
    </message>
    <message>
        <source>Open this session at this step (Enter)</source>
        <translation>在此步骤打开该会话（回车）</translation>
    </message>
    <message>
        <source>Curves and sessions of a run of “tiphys rl” appear here, also while it runs. Open its folder, or drop it onto the window.</source>
        <translation>这里显示“tiphys rl”运行的曲线和会话，运行期间也会更新。打开它的文件夹，或把文件夹拖到窗口上。</translation>
    </message>
    <message>
        <source>Worth a look</source>
        <translation>值得一看</translation>
    </message>
    <message>
        <source>Tasks</source>
        <translation>任务</translation>
    </message>
</context>
<context>
    <name>LifeLine</name>
    <message>
        <source>Written at step {written}; read at step {read}</source>
        <translation>在第 {written} 步写入；在第 {read} 步读取</translation>
    </message>
</context>
<context>
    <name>LinkStatus</name>
    <message>
        <source>This text is not on this computer, and its server is switched off. Switch it on under File › Servers to fetch it.</source>
        <translation>这段文本不在本机，而且它的服务器已关闭。请在“文件 › 服务器”中打开它以获取文本。</translation>
    </message>
    <message>
        <source>This text is not on this computer. It comes as soon as the server is reached.</source>
        <translation>这段文本不在本机。连接到服务器后会自动获取。</translation>
    </message>
</context>
<context>
    <name>LogInController</name>
    <message>
        <source>You work on {server} as {name} now: {scopes}.</source>
        <translation>您现在以 {name} 的身份使用 {server}，可以：{scopes}。</translation>
    </message>
</context>
<context>
    <name>LongText</name>
    <message>
        <source>Show all</source>
        <translation>全部显示</translation>
    </message>
    <message>
        <source>{shown} characters are shown so far.</source>
        <translation>目前已显示 {shown} 个字符。</translation>
    </message>
    <message>
        <source>The first {shown} of {total} characters are shown.</source>
        <translation>只显示了 {total} 个字符中的前 {shown} 个。</translation>
    </message>
    <message>
        <source>{n} lines more (Enter)</source>
        <translation>还有 {n} 行（Enter）</translation>
    </message>
</context>
<context>
    <name>LossChart</name>
    <message>
        <source>Loss and speed</source>
        <translation>损失与速度</translation>
    </message>
    <message>
        <source>loss, and ● on data held out</source>
        <translation>损失，● 为留出数据</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>词元/秒</translation>
    </message>
    <message>
        <source>memory (MB)</source>
        <translation>内存（MB）</translation>
    </message>
    <message>
        <source>step {step}</source>
        <translation>步骤 {step}</translation>
    </message>
    <message>
        <source>loss {loss}</source>
        <translation>损失 {loss}</translation>
    </message>
    <message>
        <source>{rate} tokens/s</source>
        <translation>{rate} 词元/秒</translation>
    </message>
    <message>
        <source>{size} MB</source>
        <translation>{size} MB</translation>
    </message>
</context>
<context>
    <name>Losses</name>
    <message>
        <source>Delete “{title}” for everybody?</source>
        <translation>为所有人删除“{title}”？</translation>
    </message>
    <message>
        <source>It goes from the server, and from every computer that holds a copy when that connects next. This cannot be undone; only an archive or a backup of the server brings it back.</source>
        <translation>它将从服务器删除，也将从每台存有副本的计算机在其下次连接时删除。此操作无法撤销；只有归档文件或服务器备份才能将其恢复。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Archive “{title}”?</source>
        <translation>归档“{title}”？</translation>
    </message>
    <message>
        <source>All of it is written to {path} and read back.</source>
        <translation>其全部内容将写入 {path}，并重新读取核对。</translation>
    </message>
    <message>
        <source>Then it is deleted: from the server, and from every computer that holds a copy. Opening the file brings it back as it was; sandboxes with their files are not in it.</source>
        <translation>随后将其删除：从服务器，也从每台存有副本的计算机。打开该文件即可恢复原样；沙箱及其文件不在其中。</translation>
    </message>
    <message>
        <source>Archive</source>
        <translation>归档</translation>
    </message>
    <message>
        <source>Remove the copy of “{title}” from this computer?</source>
        <translation>从此计算机移除“{title}”的副本？</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Its server is not connected, so that only what is here can go.</source>
        <translation>其服务器未连接，因此只能移除此计算机上的内容。</translation>
    </message>
    <message>
        <source>Your account may not delete sessions of that server, so that only what is here can go.</source>
        <translation>您的账户无权删除该服务器上的会话，因此只能移除此计算机上的内容。</translation>
    </message>
    <message>
        <source>Its server is too old to delete sessions, so that only what is here can go.</source>
        <translation>其服务器版本过旧，无法删除会话，因此只能移除此计算机上的内容。</translation>
    </message>
    <message>
        <source>The session itself stays on its server. What you wrote and could not send yet stays, too.</source>
        <translation>会话本身仍保留在其服务器上。您已写下但尚未发出的内容也会保留。</translation>
    </message>
    <message>
        <source>Steps: {n}</source>
        <translation>步骤：{n}</translation>
    </message>
    <message>
        <source>Opinions of people: {n}</source>
        <translation>人的意见：{n}</translation>
    </message>
    <message>
        <source>Messages to the agent: {n}</source>
        <translation>给智能体的消息：{n}</translation>
    </message>
    <message>
        <source>Size: {n}</source>
        <translation>大小：{n}</translation>
    </message>
    <message>
        <source>Sandboxes with their files: {n}</source>
        <translation>沙箱及其文件：{n}</translation>
    </message>
</context>
<context>
    <name>MakeQueueDialog</name>
    <message>
        <source>New review queue</source>
        <translation>新建评审队列</translation>
    </message>
    <message>
        <source>All steps</source>
        <translation>所有步骤</translation>
    </message>
    <message>
        <source>The steps that failed</source>
        <translation>失败的步骤</translation>
    </message>
    <message>
        <source>Errors, answers and reports</source>
        <translation>错误、回答和汇报</translation>
    </message>
    <message>
        <source>So many steps of each session</source>
        <translation>每个会话若干步骤</translation>
    </message>
    <message>
        <source>By what to judge (optional): what is to be kept, what masked</source>
        <translation>裁定依据（可选）：什么应保留，什么应掩码</translation>
    </message>
    <message>
        <source>Blind: nobody sees what others said before the own word</source>
        <translation>盲评：自己裁定之前看不到他人的意见</translation>
    </message>
    <message numerus="yes">
        <source>%Ln session(s), chosen by hand.</source>
        <translation>
            <numerusform>手工选择的 %Ln 个会话。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln session(s), chosen by the filter {query}</source>
        <translation>
            <numerusform>由筛选 {query} 选出的 %Ln 个会话</numerusform>
        </translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Asks for</source>
        <translation>要求</translation>
    </message>
    <message>
        <source>How many</source>
        <translation>数量</translation>
    </message>
    <message>
        <source>Judged twice</source>
        <translation>两人裁定</translation>
    </message>
    <message>
        <source>Rubric</source>
        <translation>评分标准</translation>
    </message>
</context>
<context>
    <name>MemberHead</name>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln 步</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} tokens</source>
        <translation>{n} 个词元</translation>
    </message>
    <message>
        <source>{n} failed</source>
        <translation>{n} 个失败</translation>
    </message>
</context>
<context>
    <name>MergingController</name>
    <message>
        <source>Merge the opinions in archives of sessions</source>
        <translation>合并归档文件中的意见</translation>
    </message>
    <message numerus="yes">
        <source>%Ln opinion(s) merged, {known} were here already.</source>
        <translation>
            <numerusform>已合并 %Ln 条意见，{known} 条此前已有。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln opinion(s) on steps that differ here were left out.</source>
        <translation>
            <numerusform>%Ln 条意见所指的步骤与此处不同，未采用。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Minimap</name>
    <message>
        <source>Overview of the trajectory</source>
        <translation>轨迹总览</translation>
    </message>
    <message>
        <source>The whole trajectory: errors at the left, masked steps at the right, the darker the more of them; lines are people and scores. Click to go.</source>
        <translation>整条轨迹：左侧为错误，右侧为被掩码的步骤，越多越深；横线是人的发言和得分。点击即前往。</translation>
    </message>
</context>
<context>
    <name>ModeSwitch</name>
    <message>
        <source>How it is sent</source>
        <translation>发送方式</translation>
    </message>
    <message>
        <source>At the next step</source>
        <translation>下一步时</translation>
    </message>
    <message>
        <source>Waits for the next step.</source>
        <translation>等到下一步。</translation>
    </message>
    <message>
        <source>Interrupt now</source>
        <translation>立即中断</translation>
    </message>
    <message>
        <source>Also ends the action that is running.</source>
        <translation>同时结束正在运行的动作。</translation>
    </message>
</context>
<context>
    <name>NewSessionController</name>
    <message>
        <source>Let the scripted agent of the demonstration work on this computer without a sandbox?</source>
        <translation>让演示用的脚本智能体不经沙箱在这台电脑上工作？</translation>
    </message>
    <message>
        <source>&amp;Without a sandbox</source>
        <translation>不用沙箱(&amp;W)</translation>
    </message>
    <message>
        <source>There is no task yet. Put a folder with a task.toml into {folder}.</source>
        <translation>还没有任务。请把含有 task.toml 的文件夹放入 {folder}。</translation>
    </message>
    <message>
        <source>{server} is not connected.</source>
        <translation>{server} 未连接。</translation>
    </message>
    <message numerus="yes">
        <source>{server} has %Ln task(s) that it cannot read; its log says why.</source>
        <translation>
            <numerusform>{server} 有 %Ln 个任务无法读取；原因见其日志。</numerusform>
        </translation>
    </message>
    <message>
        <source>{server} has no task yet.</source>
        <translation>{server} 还没有任务。</translation>
    </message>
    <message>
        <source>{server} has an older program, which does not tell its tasks.</source>
        <translation>{server} 的程序较旧，不会告知它的任务。</translation>
    </message>
    <message>
        <source>Your token does not allow to start sessions on {server}: that needs “guide”.</source>
        <translation>您的令牌不能在 {server} 上启动会话：需要“guide”权限。</translation>
    </message>
    <message>
        <source>{server} does not answer.</source>
        <translation>{server} 没有回答。</translation>
    </message>
</context>
<context>
    <name>NewSessionDialog</name>
    <message>
        <source>New session</source>
        <translation>新建会话</translation>
    </message>
    <message>
        <source>As the task says</source>
        <translation>按任务的规定</translation>
    </message>
    <message>
        <source>An OpenAI-compatible endpoint</source>
        <translation>OpenAI 兼容的接口</translation>
    </message>
    <message>
        <source>A local model (transformers)</source>
        <translation>本地模型 (transformers)</translation>
    </message>
    <message>
        <source>Your token there starts tasks only as they stand: another model needs “admin”.</source>
        <translation>您在那里的令牌只能按任务原样启动：换用其他模型需要“admin”权限。</translation>
    </message>
    <message>
        <source>The model has no tool calls: actions as plain text</source>
        <translation>模型不支持工具调用：以纯文本表示动作</translation>
    </message>
    <message>
        <source>Docker containers</source>
        <translation>Docker 容器</translation>
    </message>
    <message>
        <source>UNCONFINED on this computer</source>
        <translation>在本机上，不加隔离</translation>
    </message>
    <message>
        <source>UNCONFINED on the server&apos;s computer</source>
        <translation>在服务器的机器上，不加隔离</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Asking for the tasks…</source>
        <translation>正在询问有哪些任务…</translation>
    </message>
    <message>
        <source>I know that the agent and the task&apos;s evaluator can then read and change my own files</source>
        <translation>我知道智能体和任务的评测程序随后可以读取和修改我自己的文件</translation>
    </message>
    <message>
        <source>I know that the agent and the task&apos;s evaluator can then read and change files of the server&apos;s computer</source>
        <translation>我知道智能体和任务的评测程序随后可以读取和修改服务器所在计算机的文件</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Model name</source>
        <translation>模型名称</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Variable with the key</source>
        <translation>存放密钥的环境变量</translation>
    </message>
    <message>
        <source>Sandbox</source>
        <translation>沙箱</translation>
    </message>
</context>
<context>
    <name>NewsBar</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>NothingFound</name>
    <message>
        <source>Show all (Esc)</source>
        <translation>显示全部 (Esc)</translation>
    </message>
</context>
<context>
    <name>NothingListed</name>
    <message>
        <source>Show all (Esc)</source>
        <translation>显示全部 (Esc)</translation>
    </message>
    <message>
        <source>undecided</source>
        <translation>未裁定的</translation>
    </message>
    <message>
        <source>an error</source>
        <translation>出错的</translation>
    </message>
    <message>
        <source>a change</source>
        <translation>有更改的</translation>
    </message>
    <message>
        <source>judged</source>
        <translation>已裁定的</translation>
    </message>
    <message>
        <source>Nobody wrote to the agent</source>
        <translation>没有人给智能体写过话</translation>
    </message>
    <message>
        <source>Nothing was scored</source>
        <translation>没有评分</translation>
    </message>
    <message>
        <source>No step passes these filters</source>
        <translation>没有步骤符合这些筛选</translation>
    </message>
    <message>
        <source>No step is both {these} and {this}</source>
        <translation>没有既是{these}又是{this}步骤</translation>
    </message>
    <message>
        <source>No step is {this}</source>
        <translation>没有{this}步骤</translation>
    </message>
</context>
<context>
    <name>Notices</name>
    <message>
        <source>Something went wrong in Tiphys itself ({kind}). The log has the details.</source>
        <translation>Tiphys 自身出了问题（{kind}）。详情见日志。</translation>
    </message>
</context>
<context>
    <name>OfflineController</name>
    <message>
        <source>“{title}” waits for the server</source>
        <translation>“{title}”正在等待服务器</translation>
    </message>
    <message>
        <source>Storing “{title}” offline: {percent} %</source>
        <translation>正在离线保存“{title}”：{percent} %</translation>
    </message>
    <message>
        <source>“{title}” is whole on this computer.</source>
        <translation>“{title}”已完整保存到本机。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln part(s) are not on the server either.</source>
        <translation>
            <numerusform>有 %Ln 个部分服务器上也没有。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Outline</name>
    <message>
        <source>{n} failed</source>
        <translation>{n} 个失败</translation>
    </message>
    <message>
        <source>Ended: failed</source>
        <translation>已结束：失败</translation>
    </message>
    <message>
        <source>Ended: stopped by a person</source>
        <translation>已结束：被人停止</translation>
    </message>
    <message>
        <source>Ended: stopped</source>
        <translation>已结束：停止</translation>
    </message>
    <message>
        <source>Ended: finished</source>
        <translation>已结束：完成</translation>
    </message>
    <message>
        <source>Pause of {time}</source>
        <translation>停顿 {time}</translation>
    </message>
    <message>
        <source>After a pause of {time}</source>
        <translation>停顿 {time} 之后</translation>
    </message>
    <message>
        <source>Beginning</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Summary of {first}–{last}</source>
        <translation>第 {first}–{last} 步的摘要</translation>
    </message>
    <message>
        <source>{n} files changed</source>
        <translation>更改了 {n} 个文件</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>报告</translation>
    </message>
</context>
<context>
    <name>OutlineController</name>
    <message>
        <source>Plan of step {n}</source>
        <translation>第 {n} 步的计划</translation>
    </message>
</context>
<context>
    <name>OutlineList</name>
    <message>
        <source>Outline</source>
        <translation>大纲</translation>
    </message>
</context>
<context>
    <name>OutlineView</name>
    <message>
        <source>Filter the outline</source>
        <translation>筛选大纲</translation>
    </message>
    <message>
        <source>The outline of a session appears here: phases, subagents, failures, files.</source>
        <translation>会话的大纲显示在这里：阶段、子智能体、失败、文件。</translation>
    </message>
    <message>
        <source>No line holds these words.</source>
        <translation>没有一行含有这些词语。</translation>
    </message>
</context>
<context>
    <name>PageController</name>
    <message>
        <source>Export as page</source>
        <translation>导出为网页</translation>
    </message>
    <message>
        <source>The page is written: {path}</source>
        <translation>网页已写入：{path}</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>Outline</source>
        <translation>大纲</translation>
    </message>
    <message>
        <source>Cited steps</source>
        <translation>引用的步骤</translation>
    </message>
    <message>
        <source>Remarks on the session</source>
        <translation>对整个会话的备注</translation>
    </message>
    <message>
        <source>Step {n}</source>
        <translation>第 {n} 步</translation>
    </message>
    <message>
        <source>Thought</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>state</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>began</source>
        <translation>开始时间</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>errors</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>{state}: {reason}</source>
        <translation>{state}：{reason}</translation>
    </message>
    <message>
        <source>score</source>
        <translation>得分</translation>
    </message>
    <message>
        <source>cost</source>
        <translation>成本</translation>
    </message>
    <message>
        <source>guidance</source>
        <translation>指导</translation>
    </message>
    <message>
        <source>user</source>
        <translation>用户</translation>
    </message>
    <message>
        <source>summary of steps {first} to {last}</source>
        <translation>第 {first} 至 {last} 步的摘要</translation>
    </message>
    <message>
        <source>{shown} of {total} characters are shown.</source>
        <translation>显示 {total} 个字符中的 {shown} 个。</translation>
    </message>
    <message>
        <source>No step was cited.</source>
        <translation>没有引用任何步骤。</translation>
    </message>
    <message>
        <source>on words that the step has no more: “{words}”</source>
        <translation>所指文字在该步骤中已不存在：“{words}”</translation>
    </message>
    <message>
        <source>{cited} of the session&apos;s {n} steps</source>
        <translation>会话共 {n} 步，此处 {cited} 步</translation>
    </message>
    <message>
        <source>keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>mask</source>
        <translation>掩码</translation>
    </message>
    <message>
        <source>unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
</context>
<context>
    <name>Palette</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Type a command: some letters are enough</source>
        <translation>输入命令：几个字即可</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Matching commands</source>
        <translation>匹配的命令</translation>
    </message>
    <message>
        <source>No command has these letters.</source>
        <translation>没有包含这些字的命令。</translation>
    </message>
</context>
<context>
    <name>PaletteController</name>
    <message>
        <source>Panel</source>
        <translation>面板</translation>
    </message>
</context>
<context>
    <name>Panel</name>
    <message>
        <source>Sessions</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>关注</translation>
    </message>
    <message>
        <source>Guidance</source>
        <translation>指导</translation>
    </message>
    <message>
        <source>Trajectory</source>
        <translation>轨迹</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步骤</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Searches</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Terminals</source>
        <translation>终端</translation>
    </message>
    <message>
        <source>Disagreements</source>
        <translation>分歧</translation>
    </message>
    <message>
        <source>Charts</source>
        <translation>图表</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>对比</translation>
    </message>
    <message>
        <source>Export and train</source>
        <translation>导出与训练</translation>
    </message>
    <message>
        <source>Remarks</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Opinions</source>
        <translation>意见</translation>
    </message>
    <message>
        <source>Outline</source>
        <translation>大纲</translation>
    </message>
    <message>
        <source>In brief</source>
        <translation>概要</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Queues</source>
        <translation>队列列表</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>强化学习</translation>
    </message>
    <message>
        <source>Take over</source>
        <translation>接管</translation>
    </message>
</context>
<context>
    <name>PanelDock</name>
    <message>
        <source>Drag to move {panel}</source>
        <translation>拖动以移动“{panel}”</translation>
    </message>
</context>
<context>
    <name>Pictures</name>
    <message>
        <source>The picture could not be decoded.</source>
        <translation>无法解码此图片。</translation>
    </message>
    <message>
        <source>A picture of a kind that is not shown here.</source>
        <translation>此类图片在这里不显示。</translation>
    </message>
    <message>
        <source>The picture is too large to be shown.</source>
        <translation>图片过大，无法显示。</translation>
    </message>
    <message>
        <source>The picture&apos;s file is damaged.</source>
        <translation>图片文件已损坏。</translation>
    </message>
    <message>
        <source>The server does not hold this picture.</source>
        <translation>服务器没有此图片。</translation>
    </message>
    <message>
        <source>The picture took too long to decode.</source>
        <translation>解码图片耗时过长。</translation>
    </message>
</context>
<context>
    <name>PinnedController</name>
    <message>
        <source>Nothing was handed in here.</source>
        <translation>这里没有提交任何东西。</translation>
    </message>
    <message>
        <source>{title} · {n} steps</source>
        <translation>{title} · {n} 步</translation>
    </message>
</context>
<context>
    <name>PinnedRows</name>
    <message>
        <source>What was asked (0), and the step that called this subagent (Backspace)</source>
        <translation>所提的要求（0），以及调用此子智能体的步骤（Backspace）</translation>
    </message>
</context>
<context>
    <name>PlacesController</name>
    <message>
        <source>Link copied: {link}</source>
        <translation>已复制链接：{link}</translation>
    </message>
</context>
<context>
    <name>PresenceBar</name>
    <message>
        <source>Is this text in the context? Type it, or select it and press Shift+C</source>
        <translation>这段文字在上下文中吗？请输入，或选中后按 Shift+C</translation>
    </message>
    <message>
        <source>Text to look for in the contexts</source>
        <translation>要在上下文中查找的文字</translation>
    </message>
    <message>
        <source>Looking through the contexts…</source>
        <translation>正在查找各步骤的上下文…</translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s) are fetched from the server first…</source>
        <translation>
            <numerusform>先从服务器获取 %Ln 条消息…</numerusform>
        </translation>
    </message>
    <message>
        <source>✗ In no step&apos;s context.</source>
        <translation>✗ 不在任何步骤的上下文中。</translation>
    </message>
    <message>
        <source>! Only its own words: nothing that it read up to step {n} says so. Steps with it: {runs}</source>
        <translation>! 只是它自己的话：到步骤 {n} 为止，它读到的内容都没有这样说。含有它的步骤：{runs}</translation>
    </message>
    <message>
        <source>✓ In the context at step {n}. Steps with it: {runs}</source>
        <translation>✓ 在步骤 {n} 的上下文中。含有它的步骤：{runs}</translation>
    </message>
    <message>
        <source>✗ Gone since step {n}. Steps with it: {runs}</source>
        <translation>✗ 自步骤 {n} 起已不在。含有它的步骤：{runs}</translation>
    </message>
    <message>
        <source>✗ Not yet at step {n}. Steps with it: {runs}</source>
        <translation>✗ 步骤 {n} 时尚未出现。含有它的步骤：{runs}</translation>
    </message>
</context>
<context>
    <name>PresenceStrip</name>
    <message>
        <source>Steps whose context held the text</source>
        <translation>上下文含有该文字的步骤</translation>
    </message>
    <message>
        <source>Filled: the text was in the context. A click goes to the step; Left and Right go to where it came and went.</source>
        <translation>填充处：该文字在上下文中。单击转到该步骤；左右方向键转到它出现和消失的位置。</translation>
    </message>
</context>
<context>
    <name>ProgressRow</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>Quantities</name>
    <message>
        <source>{n} s</source>
        <translation>{n} 秒</translation>
    </message>
    <message>
        <source>{m} min {s} s</source>
        <translation>{m} 分 {s} 秒</translation>
    </message>
    <message>
        <source>{h} h {m} min</source>
        <translation>{h} 小时 {m} 分</translation>
    </message>
    <message>
        <source>{m} min</source>
        <translation>{m} 分钟</translation>
    </message>
    <message>
        <source>{d} d {h} h</source>
        <translation>{d} 天 {h} 小时</translation>
    </message>
</context>
<context>
    <name>QueueActs</name>
    <message>
        <source>Give to somebody</source>
        <translation>交给他人</translation>
    </message>
    <message>
        <source>The account that is to judge the selected sessions:</source>
        <translation>由哪个账户裁定所选会话：</translation>
    </message>
    <message>
        <source>List some sessions first: a queue is made of those.</source>
        <translation>请先列出一些会话：队列由它们组成。</translation>
    </message>
    <message>
        <source>This server is older and knows no review queues.</source>
        <translation>该服务器版本较旧，不支持评审队列。</translation>
    </message>
    <message>
        <source>There is no other queue that you may change.</source>
        <translation>没有您可以更改的其他队列。</translation>
    </message>
    <message>
        <source>Put into a queue</source>
        <translation>放入队列</translation>
    </message>
    <message>
        <source>Which queue gets the selected sessions:</source>
        <translation>所选会话放入哪个队列：</translation>
    </message>
    <message>
        <source>Close “{name}” for everybody? What was judged stays.</source>
        <translation>为所有人关闭“{name}”吗？已有的裁定会保留。</translation>
    </message>
    <message>
        <source>Close the queue</source>
        <translation>关闭队列</translation>
    </message>
</context>
<context>
    <name>QueueBook</name>
    <message>
        <source>The server is away: what you asked of the queue waits here and is decided when it is back.</source>
        <translation>服务器暂时不可达：您对队列的请求在此等待，恢复后再决定。</translation>
    </message>
    <message>
        <source>No review queue is open: choose one in the Queue layout.</source>
        <translation>没有打开的评审队列：请在“队列”布局中选择。</translation>
    </message>
    <message>
        <source>No other session of this queue is with you.</source>
        <translation>该队列中没有其他属于您的会话。</translation>
    </message>
</context>
<context>
    <name>QueueController</name>
    <message>
        <source>Order of the queue</source>
        <translation>队列顺序</translation>
    </message>
    <message>
        <source>Newest first</source>
        <translation>最新在前</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>按名称</translation>
    </message>
    <message>
        <source>Least judged first</source>
        <translation>裁定最少在前</translation>
    </message>
    <message>
        <source>Longest first</source>
        <translation>最长在前</translation>
    </message>
    <message numerus="yes">
        <source>%Ln session(s)</source>
        <translation>
            <numerusform>%Ln 个会话</numerusform>
        </translation>
    </message>
    <message>
        <source>made by {person}, {day}</source>
        <translation>{person} 建立，{day}</translation>
    </message>
    <message>
        <source>you</source>
        <translation>您</translation>
    </message>
    <message>
        <source>{share} % judged twice</source>
        <translation>{share} % 由两人裁定</translation>
    </message>
    <message>
        <source>blind</source>
        <translation>盲评</translation>
    </message>
    <message>
        <source>asks for errors, answers and reports</source>
        <translation>要求裁定错误、回答和汇报</translation>
    </message>
    <message numerus="yes">
        <source>asks for %Ln step(s) of each</source>
        <translation>
            <numerusform>每个会话要求裁定 %Ln 个步骤</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>agreement {name} {value} on %Ln step(s)</source>
        <translation>
            <numerusform>一致性 {name} {value}（%Ln 个步骤）</numerusform>
        </translation>
    </message>
    <message>
        <source>No session of this list passes the filter.</source>
        <translation>此列表中没有会话符合筛选条件。</translation>
    </message>
    <message numerus="yes">
        <source>Nothing is left for you. %Ln session(s) wait for somebody: take one.</source>
        <translation>
            <numerusform>没有留给您的会话了。还有 %Ln 个会话等待领取：领取一个吧。</numerusform>
        </translation>
    </message>
    <message>
        <source>No session is assigned to you. Take another list at the left, such as Undecided, and make a queue of it with +.</source>
        <translation>没有分配给您的会话。请在左侧选择其他列表，例如“未裁定”，并用 + 以其建立队列。</translation>
    </message>
    <message>
        <source>No session is in this list.</source>
        <translation>此列表中没有会话。</translation>
    </message>
    <message>
        <source>asks for the steps that failed</source>
        <translation>要求裁定失败的步骤</translation>
    </message>
    <message>
        <source>asks for all steps</source>
        <translation>要求裁定所有步骤</translation>
    </message>
</context>
<context>
    <name>QueueHead</name>
    <message>
        <source>What can be done with the queue</source>
        <translation>可以对队列做什么</translation>
    </message>
    <message>
        <source>No session of it is with you yet: Q takes one</source>
        <translation>其中还没有分配给您的会话：按 Q 领取一个</translation>
    </message>
    <message>
        <source>{done} of {total} sessions done</source>
        <translation>{total} 个会话中完成 {done} 个</translation>
    </message>
    <message>
        <source>steps judged</source>
        <translation>个步骤已裁定</translation>
    </message>
    <message>
        <source>{count} masked</source>
        <translation>掩码 {count}</translation>
    </message>
    <message>
        <source>{count} unsure</source>
        <translation>不确定 {count}</translation>
    </message>
</context>
<context>
    <name>QueuePlace</name>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>session {n} of {count}</source>
        <translation>第 {n} 个会话，共 {count} 个</translation>
    </message>
</context>
<context>
    <name>QueueTable</name>
    <message>
        <source>{judged} of {asked} judged, {masked} masked, {unsure} unsure</source>
        <translation>{asked} 中已裁定 {judged}，掩码 {masked}，不确定 {unsure}</translation>
    </message>
    <message>
        <source>done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>not whole</source>
        <translation>不完整</translation>
    </message>
    <message>
        <source>{person} is reading</source>
        <translation>{person} 正在阅读</translation>
    </message>
    <message>
        <source>unassigned</source>
        <translation>未分配</translation>
    </message>
    <message>
        <source>live</source>
        <translation>实时</translation>
    </message>
    <message>
        <source>you</source>
        <translation>您</translation>
    </message>
    <message>
        <source>Filter: words, judged&lt;50%, is:undecided</source>
        <translation>筛选：词语、judged&lt;50%、is:undecided</translation>
    </message>
    <message>
        <source>Filter the queue</source>
        <translation>筛选队列</translation>
    </message>
    <message>
        <source>Sessions of the queue</source>
        <translation>队列中的会话</translation>
    </message>
    <message>
        <source>All {n}</source>
        <translation>全部 {n}</translation>
    </message>
    <message>
        <source>Mine {n}</source>
        <translation>我的 {n}</translation>
    </message>
    <message>
        <source>Undecided {n}</source>
        <translation>未裁定 {n}</translation>
    </message>
    <message>
        <source>Order of the sessions</source>
        <translation>会话的顺序</translation>
    </message>
</context>
<context>
    <name>QueueView</name>
    <message>
        <source>Find in guidance</source>
        <translation>在指导中查找</translation>
    </message>
    <message>
        <source>All sessions</source>
        <translation>所有会话</translation>
    </message>
    <message>
        <source>Look through what was said to every session on this computer (Ctrl+Alt+H)</source>
        <translation>在本机所有会话的指导中查找 (Ctrl+Alt+H)</translation>
    </message>
    <message>
        <source>Guidance and its fate</source>
        <translation>指导及其去向</translation>
    </message>
    <message>
        <source>Steps before and after the message</source>
        <translation>消息前后的步骤</translation>
    </message>
    <message>
        <source>What you tell the agent appears here with its fate: on this computer, on the server, delivered at a step, answered.</source>
        <translation>您对智能体说的话会出现在这里，并显示其去向：在本机、在服务器、在某步骤送达、已回应。</translation>
    </message>
    <message numerus="yes">
        <source>Under way: %Ln</source>
        <translation>
            <numerusform>在途：%Ln 条</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing is under way</source>
        <translation>没有在途的指导</translation>
    </message>
    <message numerus="yes">
        <source>not taken: %Ln</source>
        <translation>
            <numerusform>未被接受：%Ln 条</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln earlier</source>
        <translation>
            <numerusform>更早的 %Ln 条</numerusform>
        </translation>
    </message>
    <message>
        <source>No message holds these words.</source>
        <translation>没有消息包含这些文字。</translation>
    </message>
</context>
<context>
    <name>Queues</name>
    <message>
        <source>Assigned to me</source>
        <translation>分配给我</translation>
    </message>
    <message>
        <source>Needs you</source>
        <translation>需要您</translation>
    </message>
    <message>
        <source>New since I looked</source>
        <translation>上次查看后的新内容</translation>
    </message>
    <message>
        <source>Undecided</source>
        <translation>未裁定</translation>
    </message>
</context>
<context>
    <name>QueuesController</name>
    <message>
        <source>Mine</source>
        <translation>我的</translation>
    </message>
    <message>
        <source>Queues</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Filters</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Servers</source>
        <translation>服务器</translation>
    </message>
</context>
<context>
    <name>QueuesView</name>
    <message>
        <source>Sessions</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>What there is to work through</source>
        <translation>待处理的内容</translation>
    </message>
</context>
<context>
    <name>Rail</name>
    <message>
        <source>{panel}, over the list until Esc</source>
        <translation>{panel}，盖在列表上，按 Esc 收起</translation>
    </message>
</context>
<context>
    <name>ReadStep</name>
    <message>
        <source>This step cannot be read: {why}</source>
        <translation>无法读取此步骤：{why}</translation>
    </message>
</context>
<context>
    <name>Reasons</name>
    <message>
        <source>by a person</source>
        <translation>由人操作</translation>
    </message>
    <message>
        <source>its file tells no end</source>
        <translation>文件没有记录结束</translation>
    </message>
    <message>
        <source>its file is being written</source>
        <translation>文件正在写入</translation>
    </message>
    <message>
        <source>its runner died</source>
        <translation>其运行进程已终止</translation>
    </message>
    <message>
        <source>the agent&apos;s program ended</source>
        <translation>智能体程序已结束</translation>
    </message>
    <message>
        <source>the session that called it ended</source>
        <translation>调用它的会话已结束</translation>
    </message>
    <message>
        <source>its steps are used up</source>
        <translation>步骤数已用完</translation>
    </message>
    <message>
        <source>its time is used up</source>
        <translation>时间已用完</translation>
    </message>
    <message>
        <source>its tokens are used up</source>
        <translation>词元已用完</translation>
    </message>
    <message>
        <source>its money is used up</source>
        <translation>成本额度已用完</translation>
    </message>
    <message>
        <source>its evaluations are used up</source>
        <translation>评估次数已用完</translation>
    </message>
    <message>
        <source>the model does not answer</source>
        <translation>模型没有应答</translation>
    </message>
    <message>
        <source>for advice</source>
        <translation>等待建议</translation>
    </message>
    <message>
        <source>for a host that is away</source>
        <translation>等待失联的主机</translation>
    </message>
    <message>
        <source>for a free host</source>
        <translation>等待空闲主机</translation>
    </message>
    <message>
        <source>it asks for leave</source>
        <translation>请求许可</translation>
    </message>
</context>
<context>
    <name>Refusal</name>
    <message>
        <source>Your guidance “{text}” was not taken: {why} It stands under Guidance, to be used again.</source>
        <translation>您的指导“{text}”未被接受：{why}它保留在“指导”面板中，可再次使用。</translation>
    </message>
    <message>
        <source>Your change to “{text}” was not taken: {why} It stands under Guidance, to be used again.</source>
        <translation>您改成“{text}”的修改未被接受：{why}它保留在“指导”面板中，可再次使用。</translation>
    </message>
    <message>
        <source>Your remark “{text}” on step {step} was not taken: {why}</source>
        <translation>您在步骤 {step} 的备注“{text}”未被接受：{why}</translation>
    </message>
    <message>
        <source>Your word on step {step} was not taken: {why}</source>
        <translation>您对步骤 {step} 的裁定或标签未被接受：{why}</translation>
    </message>
    <message>
        <source>The task {task} was not started: nobody has allowed it on the server&apos;s computer. {rights}</source>
        <translation>任务 {task} 没有启动：服务器所在的计算机上没有人准许它。{rights}</translation>
    </message>
</context>
<context>
    <name>RemarkBox</name>
    <message>
        <source>Remark</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Ctrl+Enter adds the remark, Esc leaves without.</source>
        <translation>按 Ctrl+Enter 添加备注，按 Esc 放弃。</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
</context>
<context>
    <name>RemarksBar</name>
    <message>
        <source>Remarks on the session</source>
        <translation>对会话的备注</translation>
    </message>
    <message numerus="yes">
        <source>%Ln remark(s)</source>
        <translation>
            <numerusform>%Ln 条备注</numerusform>
        </translation>
    </message>
    <message>
        <source>Show all that was said of the whole session</source>
        <translation>显示对整个会话的全部说明</translation>
    </message>
</context>
<context>
    <name>RemarksController</name>
    <message>
        <source>Not all of this session can be read; nothing of it is lost. {why}</source>
        <translation>此会话无法全部读取；其中的内容没有丢失。{why}</translation>
    </message>
    <message>
        <source>the import, {when}</source>
        <translation>导入时，{when}</translation>
    </message>
    <message>
        <source>{name}, {when}</source>
        <translation>{name}，{when}</translation>
    </message>
</context>
<context>
    <name>RemarksPanelController</name>
    <message>
        <source>Step {n}</source>
        <translation>第 {n} 步</translation>
    </message>
    <message>
        <source>Session</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Step {n} has the words of this remark no more: “{words}”</source>
        <translation>第 {n} 步已没有这条备注所指的文字：“{words}”</translation>
    </message>
    <message>
        <source>On step {n}</source>
        <translation>针对第 {n} 步</translation>
    </message>
    <message>
        <source>On the session</source>
        <translation>针对整个会话</translation>
    </message>
</context>
<context>
    <name>RemarksView</name>
    <message>
        <source>Filter remarks …</source>
        <translation>筛选备注…</translation>
    </message>
    <message>
        <source>Filter remarks</source>
        <translation>筛选备注</translation>
    </message>
    <message>
        <source>Remarks</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>No remark holds these words.</source>
        <translation>没有备注包含这些词。</translation>
    </message>
    <message>
        <source>No remark yet</source>
        <translation>还没有备注</translation>
    </message>
    <message numerus="yes">
        <source>%Ln remark(s)</source>
        <translation>
            <numerusform>%Ln 条备注</numerusform>
        </translation>
    </message>
    <message>
        <source>write one</source>
        <translation>写一条</translation>
    </message>
    <message>
        <source>Blind: what others remark on a step appears once you have decided on it.</source>
        <translation>盲评：您对某一步作出裁定后，才会显示他人对它的备注。</translation>
    </message>
    <message>
        <source>Select words in the Step panel and press Ctrl+Alt+M to remark on them.</source>
        <translation>在“步骤”面板中选中文字，按 Ctrl+Alt+M 即可添加备注。</translation>
    </message>
</context>
<context>
    <name>Removal</name>
    <message>
        <source>“{title}” was deleted on its server.</source>
        <translation>“{title}”已在其服务器上被删除。</translation>
    </message>
    <message>
        <source>Archive session</source>
        <translation>归档会话</translation>
    </message>
    <message>
        <source>Writing “{title}” and reading it back</source>
        <translation>正在写入“{title}”并读回核对</translation>
    </message>
    <message>
        <source>“{title}” is in {path}, which was read back.</source>
        <translation>“{title}”已存入 {path}，并已重新读取核对。</translation>
    </message>
    <message>
        <source>Fetching what is to be archived: {percent} %</source>
        <translation>正在取回要归档的内容：{percent} %</translation>
    </message>
    <message>
        <source>The copy of “{title}” was removed from this computer.</source>
        <translation>“{title}”的副本已从此计算机移除。</translation>
    </message>
    <message>
        <source>“{title}” was deleted.</source>
        <translation>“{title}”已删除。</translation>
    </message>
</context>
<context>
    <name>ReportView</name>
    <message>
        <source>The samples are being made: {share} %</source>
        <translation>正在生成样本：{share} %</translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>无法进行</translation>
    </message>
    <message numerus="yes">
        <source>%Ln place(s) look like secrets; [redacted] is written there:</source>
        <translation>
            <numerusform>有 %Ln 处疑似密钥；写入时以 [redacted] 代替：</numerusform>
        </translation>
    </message>
    <message>
        <source>{steps} steps: {kept} kept, {masked} masked, {partly} masked in part, {undecided} undecided → {samples}</source>
        <translation>{steps} 步：保留 {kept}，掩码 {masked}，部分掩码 {partly}，未裁定 {undecided} → {samples}</translation>
    </message>
    <message>
        <source>step {step}: </source>
        <translation>步骤 {step}：</translation>
    </message>
    <message>
        <source>Written to {folder}</source>
        <translation>已写入 {folder}</translation>
    </message>
    <message numerus="yes">
        <source>✗ Nothing is written: nobody judged %Ln step(s)</source>
        <translation>
            <numerusform>✗ 不会写出任何内容：有 %Ln 个步骤无人裁定</numerusform>
        </translation>
    </message>
    <message>
        <source>✓ Nothing would be refused</source>
        <translation>✓ 没有会被拒绝的内容</translation>
    </message>
    <message numerus="yes">
        <source>✗ %Ln refusal(s)</source>
        <translation>
            <numerusform>✗ %Ln 处被拒绝</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln sample(s)</source>
        <translation>
            <numerusform>%Ln 个样本</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln row(s)</source>
        <translation>
            <numerusform>%Ln 行</numerusform>
        </translation>
    </message>
    <message>
        <source>{samples} (of steps: {react}, summaries: {summary}), {rows}</source>
        <translation>{samples}（步骤 {react}，摘要 {summary}），共 {rows}</translation>
    </message>
    <message>
        <source>{tokens} tokens, {trained} trained ({share} %), longest {longest}</source>
        <translation>{tokens} 个词元，训练 {trained} 个（{share} %），最长 {longest}</translation>
    </message>
</context>
<context>
    <name>ReviewBar</name>
    <message>
        <source>Next session</source>
        <translation>下一会话</translation>
    </message>
    <message>
        <source>It was not taken, for the step says something else now. Look first.</source>
        <translation>它未被接受，因为此步骤的内容已变。请先查看。</translation>
    </message>
    <message>
        <source>What is judged</source>
        <translation>裁定对象</translation>
    </message>
    <message>
        <source>Judge the step, or one of its actions alone (I chooses the next)</source>
        <translation>裁定整个步骤，或只裁定其中一个动作（I 选择下一个）</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>理由</translation>
    </message>
    <message>
        <source>Repeats what failed before</source>
        <translation>重复先前失败的做法</translation>
    </message>
    <message>
        <source>Acts on a wrong belief</source>
        <translation>基于错误的判断行动</translation>
    </message>
    <message>
        <source>Uses data that it must not use</source>
        <translation>使用了不得使用的数据</translation>
    </message>
    <message>
        <source>Changes a file without looking at it</source>
        <translation>未查看就修改文件</translation>
    </message>
    <message>
        <source>Waits for nothing</source>
        <translation>无谓的等待</translation>
    </message>
    <message>
        <source>Malformed or empty action</source>
        <translation>动作格式错误或为空</translation>
    </message>
    <message>
        <source>Follows guidance well</source>
        <translation>很好地遵循了指导</translation>
    </message>
    <message>
        <source>Why (optional)</source>
        <translation>理由（可选）</translation>
    </message>
    <message>
        <source>Reason (R): written before the verdict, or after it, then Enter adds it</source>
        <translation>理由 (R)：写在裁定之前；写在之后时按 Enter 补上</translation>
    </message>
    <message>
        <source>no step to judge</source>
        <translation>没有可裁定的步骤</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>已保留</translation>
    </message>
    <message>
        <source>masked</source>
        <translation>已掩码</translation>
    </message>
    <message>
        <source>masked in part</source>
        <translation>部分掩码</translation>
    </message>
    <message>
        <source>unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>undecided</source>
        <translation>未裁定</translation>
    </message>
    <message>
        <source>{count} marked steps</source>
        <translation>已选中 {count} 个步骤</translation>
    </message>
    <message>
        <source>blind</source>
        <translation>盲评</translation>
    </message>
    <message>
        <source>Step {n}</source>
        <translation>步骤 {n}</translation>
    </message>
    <message>
        <source>The whole step</source>
        <translation>整个步骤</translation>
    </message>
    <message>
        <source>Action {n} · {tool}</source>
        <translation>动作 {n} · {tool}</translation>
    </message>
    <message>
        <source>You chose “{value}” before this step changed: say it again</source>
        <translation>此步骤变化之前您选择了“{value}”：再次裁定</translation>
    </message>
    <message>
        <source>Nothing is asked here</source>
        <translation>这里没有要求裁定的步骤</translation>
    </message>
    <message>
        <source>All {asked} judged</source>
        <translation>{asked} 个全部已裁定</translation>
    </message>
    <message>
        <source>{judged}/{asked} judged</source>
        <translation>已裁定 {judged}/{asked}</translation>
    </message>
    <message>
        <source>{count} masked</source>
        <translation>{count} 掩码</translation>
    </message>
    <message>
        <source>{count} unsure</source>
        <translation>{count} 不确定</translation>
    </message>
</context>
<context>
    <name>ReviewController</name>
    <message>
        <source>A new step has just come: look again, then press again.</source>
        <translation>刚有新步骤到来：请再看一眼，然后再按一次。</translation>
    </message>
    <message>
        <source>This step has no actions to choose from: it is judged as a whole.</source>
        <translation>此步骤没有可选的动作：按整个步骤裁定。</translation>
    </message>
    <message>
        <source>This server is older and knows verdicts on whole steps only.</source>
        <translation>此服务器版本较旧，只支持对整个步骤的裁定。</translation>
    </message>
    <message>
        <source>Step {n} was not in sight: look at it, then press again.</source>
        <translation>步骤 {n} 不在视野内：请先看它，再按一次。</translation>
    </message>
    <message>
        <source>People have judged every step.</source>
        <translation>每个步骤都已有人裁定。</translation>
    </message>
</context>
<context>
    <name>ReviewView</name>
    <message>
        <source>Here stand the verdicts of rules, judges and people on the step that is looked at. K keeps it for training, M masks it.</source>
        <translation>这里显示规则、评审模型和标注员对当前步骤的裁定。按 K 保留用于训练，按 M 掩码。</translation>
    </message>
    <message>
        <source>No step to judge yet</source>
        <translation>还没有可裁定的步骤</translation>
    </message>
    <message>
        <source>Opinions</source>
        <translation>意见</translation>
    </message>
    <message>
        <source>Only while the window is in front and keys or mouse are used</source>
        <translation>仅当窗口在前且使用键盘或鼠标时计时</translation>
    </message>
    <message>
        <source>Blind</source>
        <translation>盲评</translation>
    </message>
    <message>
        <source>Hide the others&apos; opinions until you have decided</source>
        <translation>在您裁定之前隐藏他人的意见</translation>
    </message>
    <message>
        <source>Advance</source>
        <translation>自动前进</translation>
    </message>
    <message>
        <source>Run rules</source>
        <translation>运行规则</translation>
    </message>
    <message>
        <source>Let the rules propose verdicts for every step; a person&apos;s verdict always wins</source>
        <translation>让规则为每个步骤提出裁定；人的裁定总是优先</translation>
    </message>
    <message>
        <source>Step {number} · {title}</source>
        <translation>步骤 {number} · {title}</translation>
    </message>
    <message>
        <source>{count} marked steps</source>
        <translation>已选 {count} 个步骤</translation>
    </message>
    <message>
        <source>After a verdict go to the next step that no person has judged</source>
        <translation>裁定之后转到下一个没有人裁定的步骤</translation>
    </message>
    <message>
        <source>Nobody has judged this step: it is undecided.</source>
        <translation>还没有人裁定此步骤：未裁定。</translation>
    </message>
    <message>
        <source>your active time {time}</source>
        <translation>您的活动时间 {time}</translation>
    </message>
    <message>
        <source>all opinions together: kept {kept} · masked {masked} · neither {unjudged}</source>
        <translation>所有意见合计：保留 {kept} · 掩码 {masked} · 两者皆无 {unjudged}</translation>
    </message>
    <message>
        <source>masked in part {count}</source>
        <translation>部分掩码 {count}</translation>
    </message>
    <message>
        <source>judged by people {count}</source>
        <translation>人工裁定 {count}</translation>
    </message>
    <message>
        <source>{count} on the way</source>
        <translation>{count} 条在途</translation>
    </message>
    <message>
        <source>Rules run …</source>
        <translation>规则运行中…</translation>
    </message>
    <message>
        <source>remark</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>⊘ masked</source>
        <translation>⊘ 已掩码</translation>
    </message>
    <message>
        <source>✓ kept</source>
        <translation>✓ 保留</translation>
    </message>
    <message>
        <source>◐ masked in part</source>
        <translation>◐ 部分掩码</translation>
    </message>
    <message>
        <source>undecided</source>
        <translation>未裁定</translation>
    </message>
    <message>
        <source>◐ masked in part, else undecided</source>
        <translation>◐ 部分掩码，其余未裁定</translation>
    </message>
    <message>
        <source>Blind: the others&apos; opinions show when you have decided.</source>
        <translation>盲评：您裁定之后才显示他人的意见。</translation>
    </message>
    <message>
        <source>action {n}</source>
        <translation>动作 {n}</translation>
    </message>
    <message>
        <source>keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>mask</source>
        <translation>掩码</translation>
    </message>
    <message>
        <source>unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>person</source>
        <translation>标注员</translation>
    </message>
    <message>
        <source>rule</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>judge</source>
        <translation>评审模型</translation>
    </message>
    <message>
        <source>import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>{name}, version {version}</source>
        <translation>{name}，版本 {version}</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Mask</source>
        <translation>掩码</translation>
    </message>
    <message>
        <source>Unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>Tag</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Take back</source>
        <translation>撤回</translation>
    </message>
    <message>
        <source>Remark</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>{verb}: step {n}, which the list does not show?</source>
        <translation>{verb}:列表中未显示的步骤 {n}?</translation>
    </message>
    <message>
        <source>{verb}: {count} steps, {first} to {last}, of which {unseen} are not in sight?</source>
        <translation>{verb}：{count} 个步骤（{first} 至 {last}），其中 {unseen} 个不在视野内？</translation>
    </message>
</context>
<context>
    <name>Right</name>
    <message>
        <source>Sandbox: none. The agent runs UNCONFINED and can read and change all files of the user it runs as.</source>
        <translation>沙箱：无。智能体不受限制地运行，可以读取和修改运行它的用户的所有文件。</translation>
    </message>
    <message>
        <source>Evaluator: {name} runs UNCONFINED too.</source>
        <translation>评测程序：{name} 也不受限制地运行。</translation>
    </message>
    <message>
        <source>Folder: {name} is read as a model.</source>
        <translation>文件夹：{name} 将作为模型读取。</translation>
    </message>
    <message>
        <source>Variable: the value of {name} is sent to {endpoint}.</source>
        <translation>变量：{name} 的值将发送到 {endpoint}。</translation>
    </message>
    <message>
        <source>Endpoint: all that the agent sees is sent to {name}.</source>
        <translation>端点：智能体看到的一切都将发送到 {name}。</translation>
    </message>
    <message>
        <source>Code: the installed package {name} runs as this user without a container. Its settings: {endpoint}.</source>
        <translation>代码：已安装的软件包 {name} 以该用户的身份运行，不在容器中。其设置：{endpoint}。</translation>
    </message>
    <message>
        <source>Image: the container is made from {name}.</source>
        <translation>镜像：容器由 {name} 创建。</translation>
    </message>
    <message>
        <source>Build: the container is built by {name}. The task&apos;s commands run as root in containers for that.</source>
        <translation>构建：容器由 {name} 构建，任务自己的命令会为此在容器中以 root 身份运行。</translation>
    </message>
    <message>
        <source>Network: while {name} builds, it reaches public addresses.</source>
        <translation>网络：{name} 构建时可以访问公网地址。</translation>
    </message>
    <message>
        <source>Service: {name} runs the programs of its image, as root of a container of their own where that says so.</source>
        <translation>服务：{name} 运行其镜像中的程序；镜像如此规定时，在它们自己的容器中以 root 身份运行。</translation>
    </message>
    <message>
        <source>Tests: {name} runs as root in a container of its own.</source>
        <translation>测试：{name} 在它自己的容器中以 root 身份运行。</translation>
    </message>
    <message>
        <source>Network: the host {name} has one.</source>
        <translation>网络：主机 {name} 可以联网。</translation>
    </message>
    <message>
        <source>Network: the host {name} reaches {endpoint}.</source>
        <translation>网络：主机 {name} 可以访问 {endpoint}。</translation>
    </message>
    <message>
        <source>Data: {name} of this computer is read.</source>
        <translation>数据：读取本机的 {name}。</translation>
    </message>
    <message>
        <source>Machine: the agent works on {name} without a sandbox, and can do there all that its login can.</source>
        <translation>机器：智能体在 {name} 上工作，没有沙箱，可以做其登录账户能做的一切。</translation>
    </message>
</context>
<context>
    <name>RightsSheet</name>
    <message>
        <source>I allow this, as long as the task&apos;s folder stays as it is</source>
        <translation>我准许，只要任务文件夹保持原样</translation>
    </message>
    <message>
        <source>This task asks for more than a closed container on this computer:</source>
        <translation>这个任务要求本机提供封闭容器以外的东西：</translation>
    </message>
    <message>
        <source>This task asks for more than a closed container on the server&apos;s computer:</source>
        <translation>这个任务要求服务器所在的计算机提供封闭容器以外的东西：</translation>
    </message>
    <message>
        <source>The task&apos;s folder cannot be read whole, so that nothing can be allowed to it.</source>
        <translation>无法完整读取任务文件夹，因此不能准许它任何东西。</translation>
    </message>
    <message>
        <source>Nobody has allowed it there. Who runs the server can: {command}</source>
        <translation>那里还没有人准许它。运行服务器的人可以准许：{command}</translation>
    </message>
</context>
<context>
    <name>Row</name>
    <message>
        <source>error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>summary of {first}–{last}</source>
        <translation>步骤 {first}–{last} 的摘要</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>得分</translation>
    </message>
    <message>
        <source>not scored</source>
        <translation>未评分</translation>
    </message>
    <message>
        <source>mask proposed</source>
        <translation>建议掩码</translation>
    </message>
    <message>
        <source>keep proposed</source>
        <translation>建议保留</translation>
    </message>
    <message>
        <source>not scored again</source>
        <translation>未能重新评分</translation>
    </message>
    <message>
        <source>now {value}</source>
        <translation>现为 {value}</translation>
    </message>
    <message>
        <source>gain {gain}</source>
        <translation>增益 {gain}</translation>
    </message>
    <message>
        <source>submission {n}, after step {step}</source>
        <translation>第 {n} 次提交，在第 {step} 步之后</translation>
    </message>
    <message>
        <source>score {value}</source>
        <translation>得分 {value}</translation>
    </message>
    <message>
        <source>Handed in</source>
        <translation>提交物</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Call</source>
        <translation>调用</translation>
    </message>
    <message>
        <source>{n} steps</source>
        <translation>{n} 步</translation>
    </message>
    <message>
        <source>1 step</source>
        <translation>1 步</translation>
    </message>
    <message>
        <source>exit {code}</source>
        <translation>退出码 {code}</translation>
    </message>
    <message>
        <source>background</source>
        <translation>后台</translation>
    </message>
    <message>
        <source>Waited</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>Same ×{count}</source>
        <translation>相同 ×{count}</translation>
    </message>
    <message>
        <source>%Ln masked</source>
        <translation>%Ln 个掩码</translation>
    </message>
    <message>
        <source>%Ln unsure</source>
        <translation>%Ln 个不确定</translation>
    </message>
    <message>
        <source>Person</source>
        <translation>人</translation>
    </message>
    <message>
        <source>Simulated user</source>
        <translation>模拟用户</translation>
    </message>
    <message>
        <source>User</source>
        <translation>用户</translation>
    </message>
    <message>
        <source>masked</source>
        <translation>已掩码</translation>
    </message>
    <message>
        <source>action {n} masked</source>
        <translation>动作 {n} 已掩码</translation>
    </message>
    <message>
        <source>unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>%Ln failed</source>
        <translation>%Ln 个失败</translation>
    </message>
    <message>
        <source>Simulated</source>
        <translation>模拟用户</translation>
    </message>
    <message>
        <source>now</source>
        <translation>当前</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>branched from {title}</source>
        <translation>分支自 {title}</translation>
    </message>
    <message>
        <source>Branch</source>
        <translation>分支</translation>
    </message>
    <message>
        <source>step {n} of {count}</source>
        <translation>第 {n} 步，共 {count} 步</translation>
    </message>
    <message>
        <source>Caller</source>
        <translation>调用者</translation>
    </message>
</context>
<context>
    <name>Rules</name>
    <message>
        <source>An action that failed</source>
        <translation>失败的操作</translation>
    </message>
    <message>
        <source>The start of a background job that failed later</source>
        <translation>启动了后来失败的后台任务</translation>
    </message>
    <message>
        <source>No action, or a call that cannot be read</source>
        <translation>没有操作，或调用无法读取</translation>
    </message>
    <message>
        <source>A change of a file that was not looked at just before</source>
        <translation>修改了刚才没有看过的文件</translation>
    </message>
    <message>
        <source>The second edit of a file in a row</source>
        <translation>连续第二次修改同一文件</translation>
    </message>
    <message>
        <source>A variant of a script that was provided</source>
        <translation>另写了已提供脚本的变体</translation>
    </message>
    <message>
        <source>Bulk inference with transformers where vLLM is expected</source>
        <translation>本应使用 vLLM 却用 transformers 批量推理</translation>
    </message>
    <message>
        <source>Training that leaves GPUs idle</source>
        <translation>训练时让 GPU 闲置</translation>
    </message>
    <message>
        <source>Evaluating again though nothing changed</source>
        <translation>没有任何变化却再次评测</translation>
    </message>
    <message>
        <source>Finishing too early, or with worse outputs than the best</source>
        <translation>过早结束，或以不如最佳的结果结束</translation>
    </message>
    <message>
        <source>Work that lowered a full score</source>
        <translation>使满分降低的操作</translation>
    </message>
    <message>
        <source>The same failing call again</source>
        <translation>再次执行同样失败的调用</translation>
    </message>
    <message>
        <source>Many steps that wait for nothing</source>
        <translation>许多毫无目的等待的步骤</translation>
    </message>
    <message>
        <source>A secret in a call or its result</source>
        <translation>调用或其结果中有密钥</translation>
    </message>
    <message>
        <source>broken</source>
        <translation>出错</translation>
    </message>
    <message>
        <source>masks {n}</source>
        <translation>掩码 {n} 步</translation>
    </message>
    <message>
        <source>would mask {n}</source>
        <translation>将掩码 {n} 步</translation>
    </message>
    <message>
        <source>off</source>
        <translation>已关闭</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>已修改</translation>
    </message>
    <message>
        <source>The rule itself failed; the log names the error.</source>
        <translation>规则本身出错；日志中有错误说明。</translation>
    </message>
    <message>
        <source>It finds nothing in this session.</source>
        <translation>它在此会话中没有发现任何步骤。</translation>
    </message>
    <message>
        <source>Steps that it finds in this session: {n}.</source>
        <translation>它在此会话中发现的步骤：{n}。</translation>
    </message>
    <message>
        <source>Masked by it alone: {n}.</source>
        <translation>仅由它掩码：{n}。</translation>
    </message>
    <message>
        <source>More that would be masked if it were on: {n}.</source>
        <translation>若开启，将再掩码：{n}。</translation>
    </message>
    <message>
        <source>Kept by a person all the same: {n}.</source>
        <translation>仍由人保留：{n}。</translation>
    </message>
    <message>
        <source>Decided by people: {judged}, of which they mask {confirmed}.</source>
        <translation>人已裁定 {judged} 个，其中掩码 {confirmed} 个。</translation>
    </message>
</context>
<context>
    <name>RulesController</name>
    <message>
        <source>What the rules find here is not shown while you judge blindly.</source>
        <translation>盲评时不显示规则的发现。</translation>
    </message>
</context>
<context>
    <name>RulesDialog</name>
    <message>
        <source>Rules</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>For which sessions</source>
        <translation>适用于哪些会话</translation>
    </message>
    <message>
        <source>Steps that the rule finds</source>
        <translation>规则发现的步骤</translation>
    </message>
    <message>
        <source>Switched on</source>
        <translation>开启</translation>
    </message>
    <message>
        <source>As it came</source>
        <translation>恢复原样</translation>
    </message>
    <message>
        <source>Let the rules judge now</source>
        <translation>现在让规则裁定</translation>
    </message>
    <message>
        <source>For all sessions</source>
        <translation>适用于所有会话</translation>
    </message>
    <message>
        <source>Only for the task {task}</source>
        <translation>仅适用于任务 {task}</translation>
    </message>
    <message>
        <source>Step {n}</source>
        <translation>步骤 {n}</translation>
    </message>
</context>
<context>
    <name>RulesRun</name>
    <message>
        <source>Rules run on the server&apos;s own computer:  tiphys judge {session}</source>
        <translation>规则在服务器所在的计算机上运行：  tiphys judge {session}</translation>
    </message>
    <message>
        <source>The rules gave {count} new verdicts, {masked} of them mask.</source>
        <translation>规则给出 {count} 条新裁定，其中 {masked} 条为掩码。</translation>
    </message>
    <message>
        <source>The rules could not run: {why}</source>
        <translation>规则无法运行：{why}</translation>
    </message>
</context>
<context>
    <name>RunCurves</name>
    <message>
        <source>reward</source>
        <translation>奖励</translation>
    </message>
    <message>
        <source>– – solved  ● held out</source>
        <translation>– – 解决率  ● 留出集</translation>
    </message>
    <message>
        <source>KL</source>
        <translation>KL</translation>
    </message>
    <message>
        <source>– – to the first model</source>
        <translation>– – 相对初始模型</translation>
    </message>
    <message>
        <source>entropy</source>
        <translation>熵</translation>
    </message>
    <message>
        <source>tokens a session</source>
        <translation>每会话词元数</translation>
    </message>
    <message>
        <source>clipped</source>
        <translation>截断比例</translation>
    </message>
    <message>
        <source>staleness, in updates</source>
        <translation>陈旧度（更新次数）</translation>
    </message>
    <message>
        <source>Curves of the run</source>
        <translation>运行曲线</translation>
    </message>
</context>
<context>
    <name>SampleView</name>
    <message>
        <source>trained</source>
        <translation>参与训练</translation>
    </message>
    <message>
        <source>the summary, trained</source>
        <translation>摘要，参与训练</translation>
    </message>
    <message>
        <source>masked by a verdict</source>
        <translation>被裁定掩码</translation>
    </message>
    <message>
        <source>nobody judged it, so not trained</source>
        <translation>无人裁定，因此不训练</translation>
    </message>
    <message>
        <source>trained in an earlier sample</source>
        <translation>已在更早的样本中训练</translation>
    </message>
    <message>
        <source>not as the model wrote it, so not trained</source>
        <translation>与模型所写不同，故不训练</translation>
    </message>
    <message>
        <source>cannot be split exactly, so not trained</source>
        <translation>无法精确切分，故不训练</translation>
    </message>
    <message>
        <source>context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Session</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Sample</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Tick sessions on the first page. Here you then read a sample exactly as the model will, token by token: what training sees is marked ▸ and underlined.</source>
        <translation>请在第一页勾选会话。然后就可以在这里逐词元阅读样本，与模型所见完全一致：参与训练的部分以 ▸ 和下划线标出。</translation>
    </message>
    <message>
        <source>Nothing to preview yet</source>
        <translation>还没有可预览的内容</translation>
    </message>
    <message>
        <source>Previous sample</source>
        <translation>上一个样本</translation>
    </message>
    <message>
        <source>Next sample</source>
        <translation>下一个样本</translation>
    </message>
    <message>
        <source>Previous part that is trained</source>
        <translation>上一处参与训练的部分</translation>
    </message>
    <message>
        <source>Previous page</source>
        <translation>上一页</translation>
    </message>
    <message>
        <source>Next page</source>
        <translation>下一页</translation>
    </message>
    <message>
        <source>Next part that is trained</source>
        <translation>下一处参与训练的部分</translation>
    </message>
    <message>
        <source>tokens {first}–{last} of {total}</source>
        <translation>词元 {first}–{last}，共 {total}</translation>
    </message>
    <message>
        <source>summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步骤</translation>
    </message>
    <message>
        <source>{number} · {kind} to step {step}</source>
        <translation>{number} · {kind}，到步骤 {step}</translation>
    </message>
    <message>
        <source>This session gives no sample. {why}</source>
        <translation>此会话没有产生样本。{why}</translation>
    </message>
    <message>
        <source>▸ {trained} of {total} tokens are trained ({share} %)</source>
        <translation>▸ {total} 个词元中训练 {trained} 个（{share} %）</translation>
    </message>
    <message numerus="yes">
        <source>✗ %Ln masked action(s)</source>
        <translation>
            <numerusform>✗ %Ln 个被掩码的动作</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>? %Ln action(s) that nobody judged</source>
        <translation>
            <numerusform>? %Ln 个无人裁定的动作</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %Ln reason(s) more</source>
        <translation>
            <numerusform>另有 %Ln 个原因</numerusform>
        </translation>
    </message>
    <message>
        <source>step {step}: {state}</source>
        <translation>步骤 {step}：{state}</translation>
    </message>
</context>
<context>
    <name>SampledParts</name>
    <message>
        <source>This step has no sampled tokens.</source>
        <translation>此步骤没有采样词元。</translation>
    </message>
    <message>
        <source>The server does not hold this step&apos;s sampled tokens.</source>
        <translation>服务器上没有此步骤的采样词元。</translation>
    </message>
    <message>
        <source>The sampled tokens are fetched from the server…</source>
        <translation>正在从服务器获取采样词元…</translation>
    </message>
    <message>
        <source>Point at a token, or move the text cursor to it.</source>
        <translation>指向一个词元，或将文本光标移到它上面。</translation>
    </message>
    <message>
        <source>Sampled tokens: {n}</source>
        <translation>采样词元：{n}</translation>
    </message>
    <message>
        <source>The policy gave no texts of its tokens: these are their ids.</source>
        <translation>该策略没有给出词元的文本：这里显示的是它们的编号。</translation>
    </message>
    <message>
        <source>{policy}, version {version} · temperature {heat}</source>
        <translation>{policy}，版本 {version} · 温度 {heat}</translation>
    </message>
    <message>
        <source>“{text}” · token {id} · {chance} (log {log}) · {policy}</source>
        <translation>“{text}” · 词元 {id} · {chance}（对数 {log}） · {policy}</translation>
    </message>
    <message>
        <source>Probability:</source>
        <translation>概率：</translation>
    </message>
</context>
<context>
    <name>Scopes</name>
    <message>
        <source>look</source>
        <translation>查看</translation>
    </message>
    <message>
        <source>guide</source>
        <translation>指导</translation>
    </message>
    <message>
        <source>judge steps</source>
        <translation>评判步骤</translation>
    </message>
    <message>
        <source>work on sessions that wait for a runner from outside</source>
        <translation>处理等待外部运行程序的会话</translation>
    </message>
    <message>
        <source>propose verdicts</source>
        <translation>提议裁定</translation>
    </message>
    <message>
        <source>watch the server</source>
        <translation>监控服务器</translation>
    </message>
    <message>
        <source>everything</source>
        <translation>全部操作</translation>
    </message>
</context>
<context>
    <name>ScoreText</name>
    <message>
        <source>Submission {n} was not scored</source>
        <translation>第 {n} 次提交未评分</translation>
    </message>
    <message>
        <source>Score {value} of submission {n}</source>
        <translation>第 {n} 次提交的得分 {value}</translation>
    </message>
    <message>
        <source>measured {value}</source>
        <translation>测得 {value}</translation>
    </message>
    <message>
        <source>Not scored by {evaluator}, version {version}</source>
        <translation>{evaluator}（版本 {version}）未能评分</translation>
    </message>
    <message>
        <source>Scored again by {evaluator}, version {version}: {value}</source>
        <translation>由 {evaluator}（版本 {version}）重新评分：{value}</translation>
    </message>
</context>
<context>
    <name>Searcher</name>
    <message>
        <source>The search took too long. Is the expression too complex?</source>
        <translation>查找用时过长。表达式是否过于复杂？</translation>
    </message>
</context>
<context>
    <name>Servers</name>
    <message>
        <source>this computer</source>
        <translation>本机</translation>
    </message>
</context>
<context>
    <name>ServersController</name>
    <message>
        <source>Take “{name}” off the list?</source>
        <translation>将“{name}”从列表中移除？</translation>
    </message>
    <message>
        <source>Its token is forgotten. The copy of its sessions, and what was not sent yet, stay on this computer and come back when the server is added again.</source>
        <translation>其令牌将被删除。会话副本和尚未发送的内容保留在本机，重新添加该服务器后即可恢复。</translation>
    </message>
    <message>
        <source>Take off</source>
        <translation>移除</translation>
    </message>
</context>
<context>
    <name>ServersDialog</name>
    <message>
        <source>Servers</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Connected</source>
        <translation>保持连接</translation>
    </message>
    <message>
        <source>Take off the list…</source>
        <translation>从列表中移除…</translation>
    </message>
    <message>
        <source>Log in again…</source>
        <translation>重新登录…</translation>
    </message>
    <message>
        <source>an invitation (tiphys://join…), or wss://lab.example:7717</source>
        <translation>邀请（tiphys://join…），或 wss://lab.example:7717</translation>
    </message>
    <message>
        <source>what “tiphys account add” printed</source>
        <translation>“tiphys account add”输出的内容</translation>
    </message>
    <message>
        <source>optional</source>
        <translation>可选</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Log in with a lab account…</source>
        <translation>用实验室账户登录…</translation>
    </message>
    <message>
        <source>This server</source>
        <translation>此服务器</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Add a server</source>
        <translation>添加服务器</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>令牌</translation>
    </message>
    <message>
        <source>Join…</source>
        <translation>加入…</translation>
    </message>
</context>
<context>
    <name>SessionChoices</name>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln 个步骤</numerusform>
        </translation>
    </message>
    <message>
        <source>score {score}</source>
        <translation>得分 {score}</translation>
    </message>
    <message>
        <source>still working</source>
        <translation>仍在工作</translation>
    </message>
</context>
<context>
    <name>SessionHead</name>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Interrupt</source>
        <translation>中断</translation>
    </message>
    <message>
        <source>Continue…</source>
        <translation>继续…</translation>
    </message>
    <message>
        <source>step {n} of {total}</source>
        <translation>步骤 {n}/{total}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln 个步骤</numerusform>
        </translation>
    </message>
    <message>
        <source>{amount} of {limit}</source>
        <translation>{amount}/{limit}</translation>
    </message>
    <message>
        <source>score {n}</source>
        <translation>得分 {n}</translation>
    </message>
    <message>
        <source>{state}, not reviewed</source>
        <translation>{state}，未评审</translation>
    </message>
    <message>
        <source>{state}, not fully reviewed</source>
        <translation>{state}，未评审完</translation>
    </message>
    <message>
        <source>{state}, judged in its file</source>
        <translation>{state}，已在其文件中裁定</translation>
    </message>
    <message>
        <source>{state}, reviewed</source>
        <translation>{state}，已评审</translation>
    </message>
</context>
<context>
    <name>Sessions</name>
    <message>
        <source>{person} acts</source>
        <translation>{person} 在操作</translation>
    </message>
    <message>
        <source>asks for leave</source>
        <translation>请求准许</translation>
    </message>
    <message>
        <source>queued</source>
        <translation>排队中</translation>
    </message>
    <message>
        <source>running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>等待中</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>unreadable</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>many errors</source>
        <translation>错误频发</translation>
    </message>
    <message>
        <source>repeats itself</source>
        <translation>原地重复</translation>
    </message>
    <message>
        <source>no progress</source>
        <translation>没有进展</translation>
    </message>
    <message>
        <source>waits for you</source>
        <translation>在等您</translation>
    </message>
    <message>
        <source>budget nearly used</source>
        <translation>预算将尽</translation>
    </message>
    <message>
        <source>not dealt with yet</source>
        <translation>尚未处理</translation>
    </message>
    <message>
        <source>Needs you</source>
        <translation>需要您处理</translation>
    </message>
    <message>
        <source>New</source>
        <translation>有新步骤</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>运行中</translation>
    </message>
</context>
<context>
    <name>SessionsModel</name>
    <message numerus="yes">
        <source>%Ln new</source>
        <translation>
            <numerusform>%Ln 个新步骤</numerusform>
        </translation>
    </message>
    <message>
        <source>waits for hosts, place {n}</source>
        <translation>等待主机，排第 {n} 位</translation>
    </message>
    <message>
        <source>stored offline</source>
        <translation>已离线保存</translation>
    </message>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln 个步骤</numerusform>
        </translation>
    </message>
    <message>
        <source>score {n}</source>
        <translation>得分 {n}</translation>
    </message>
    <message>
        <source>{n} tokens</source>
        <translation>{n} 词元</translation>
    </message>
    <message numerus="yes">
        <source>%Ln guidance waiting</source>
        <translation>
            <numerusform>%Ln 条指导待送达</numerusform>
        </translation>
    </message>
    <message>
        <source>{amount} of {limit}</source>
        <translation>{amount}（上限 {limit}）</translation>
    </message>
</context>
<context>
    <name>SessionsView</name>
    <message>
        <source>No session passes the filter.</source>
        <translation>没有会话符合筛选条件。</translation>
    </message>
    <message>
        <source>Sessions</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Filter: words, is:new …</source>
        <translation>筛选：词语、is:new …</translation>
    </message>
    <message>
        <source>Filter sessions</source>
        <translation>筛选会话</translation>
    </message>
    <message>
        <source>Words of title, task, model or server; state: server: model: task: format: attention:
is:new is:attention is:live is:imported is:guided; steps&gt; errors&gt; score&gt; score:failed cost&gt; tokens&gt;
is:undecided is:done judged&lt;50% judged&gt;20; queue:NAME assigned:me assigned:nobody
-… : not so</source>
        <translation>标题、任务、模型或服务器中的词语；state: server: model: task: format: attention:
is:new is:attention is:live is:imported is:guided; steps&gt; errors&gt; score&gt; score:failed cost&gt; tokens&gt;
is:undecided is:done judged&lt;50% judged&gt;20; queue:名称 assigned:me assigned:nobody
-… ：非</translation>
    </message>
    <message>
        <source>Order of the sessions</source>
        <translation>会话排序</translation>
    </message>
    <message>
        <source>Order of the sessions: {order}</source>
        <translation>会话的顺序：{order}</translation>
    </message>
    <message>
        <source>{shown} of {total}</source>
        <translation>{shown} / {total}</translation>
    </message>
    <message>
        <source>Sessions appear here, live ones and imported ones. Start one on a task, or import saved trajectories.</source>
        <translation>会话会出现在这里，包括实时的和导入的。请就某个任务新建一个会话，或导入保存的轨迹。</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Takes effect at the next start.</source>
        <translation>下次启动时生效。</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Contrast</source>
        <translation>对比度</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>普通</translation>
    </message>
    <message>
        <source>High</source>
        <translation>高</translation>
    </message>
    <message>
        <source>Text size (points)</source>
        <translation>字号（磅）</translation>
    </message>
    <message>
        <source>Trajectory</source>
        <translation>轨迹</translation>
    </message>
    <message>
        <source>Fold three or more waiting steps in a row</source>
        <translation>折叠连续三个及以上的等待步骤</translation>
    </message>
    <message>
        <source>Guidance</source>
        <translation>指导</translation>
    </message>
    <message>
        <source>Guidance is sent first as</source>
        <translation>指导默认以何种方式发送</translation>
    </message>
    <message>
        <source>At the next step</source>
        <translation>在下一步骤</translation>
    </message>
    <message>
        <source>Interrupt now: also ends the running action</source>
        <translation>立即中断：同时结束正在进行的动作</translation>
    </message>
    <message>
        <source>Templates, one per line</source>
        <translation>模板，每行一个</translation>
    </message>
    <message>
        <source>Empty: the usual ones. {step}, {title}, {error}, {file}, {task}, {score} are filled in; other {words} wait for you.</source>
        <translation>留空：使用常用模板。{step}、{title}、{error}、{file}、{task}、{score} 会自动填入；其他 {words} 由您填写。</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Show differences side by side</source>
        <translation>并排显示差异</translation>
    </message>
    <message>
        <source>List the files by folder</source>
        <translation>按文件夹列出文件</translation>
    </message>
    <message>
        <source>List the most changed file first</source>
        <translation>更改最多的文件列在最前</translation>
    </message>
    <message>
        <source>White space in differences</source>
        <translation>差异中的空白</translation>
    </message>
    <message>
        <source>All counts</source>
        <translation>全部算</translation>
    </message>
    <message>
        <source>At line ends it does not count</source>
        <translation>行尾的不算</translation>
    </message>
    <message>
        <source>None counts</source>
        <translation>一律不算</translation>
    </message>
    <message>
        <source>Empty lines do not count in differences</source>
        <translation>空行不算差异</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>评审</translation>
    </message>
    <message>
        <source>After a verdict go to the next step that no person has judged</source>
        <translation>裁定之后转到下一个没有人裁定的步骤</translation>
    </message>
    <message>
        <source>Hide the others&apos; opinions until you have decided</source>
        <translation>在您裁定之前隐藏他人的意见</translation>
    </message>
    <message>
        <source>Reasons to choose from, one per line</source>
        <translation>可选理由，每行一条</translation>
    </message>
    <message>
        <source>Empty: the usual ones.</source>
        <translation>留空则使用常用理由。</translation>
    </message>
    <message>
        <source>Sessions</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Order of the list</source>
        <translation>列表顺序</translation>
    </message>
    <message>
        <source>Newest first</source>
        <translation>最新的在前</translation>
    </message>
    <message>
        <source>What needs attention first</source>
        <translation>需要关注的在前</translation>
    </message>
    <message>
        <source>Most new steps first</source>
        <translation>新步骤最多的在前</translation>
    </message>
    <message>
        <source>Last heard of first</source>
        <translation>最近有动静的在前</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>按名称</translation>
    </message>
    <message>
        <source>Saved filters, one per line: name = query</source>
        <translation>已保存的筛选，每行一个：名称 = 条件</translation>
    </message>
    <message>
        <source>Record how long I work on steps that I judge (active time only)</source>
        <translation>记录我在所裁定步骤上的工作时间（仅计活动时间）</translation>
    </message>
    <message>
        <source>Seconds without key or mouse after which I am not at work</source>
        <translation>多少秒没有键盘或鼠标操作后不再计时</translation>
    </message>
    <message>
        <source>Say what pause, resume and interrupt do, and ask before</source>
        <translation>说明暂停、继续和中断的作用，并先询问</translation>
    </message>
    <message>
        <source>Say when a session needs attention</source>
        <translation>会话需要关注时提示</translation>
    </message>
    <message>
        <source>Say nothing in quiet hours</source>
        <translation>在安静时段不提示</translation>
    </message>
    <message>
        <source>Quiet from</source>
        <translation>安静时段开始</translation>
    </message>
    <message>
        <source>Quiet until</source>
        <translation>安静时段结束</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>关注</translation>
    </message>
    <message>
        <source>Failed steps in a row</source>
        <translation>连续失败的步骤数</translation>
    </message>
    <message>
        <source>Equal actions in a row</source>
        <translation>连续相同的动作数</translation>
    </message>
    <message>
        <source>Waiting steps in a row</source>
        <translation>连续等待的步骤数</translation>
    </message>
    <message>
        <source>Minutes in which no step ends</source>
        <translation>没有步骤结束的分钟数</translation>
    </message>
    <message>
        <source>Used share of a limit</source>
        <translation>限额的已用比例</translation>
    </message>
    <message>
        <source>Different commands of the last 50 since the first error: share, at most</source>
        <translation>首次出错后最近 50 条命令中不同命令所占比例，不高于</translation>
    </message>
    <message>
        <source>For sessions that are started from here; 0 means never. One session: menu Session.</source>
        <translation>用于从此处启动的会话；0 表示从不。单个会话请用“会话”菜单。</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>The administrator of this computer has fixed this.</source>
        <translation>此项由这台计算机的管理员统一设定。</translation>
    </message>
</context>
<context>
    <name>ShareBar</name>
    <message>
        <source>errors</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>instructions</source>
        <translation>指令</translation>
    </message>
    <message>
        <source>task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>earlier steps</source>
        <translation>先前的步骤</translation>
    </message>
    <message>
        <source>entered</source>
        <translation>进入</translation>
    </message>
</context>
<context>
    <name>Snapshots</name>
    <message>
        <source>after so many steps</source>
        <translation>达到设定步数后</translation>
    </message>
    <message>
        <source>after some time</source>
        <translation>经过设定时间后</translation>
    </message>
    <message>
        <source>before an evaluation</source>
        <translation>评估之前</translation>
    </message>
    <message>
        <source>after a summary</source>
        <translation>摘要之后</translation>
    </message>
    <message>
        <source>before advice</source>
        <translation>指导之前</translation>
    </message>
    <message>
        <source>by hand</source>
        <translation>手动</translation>
    </message>
    <message>
        <source>at the end</source>
        <translation>结束时</translation>
    </message>
    <message>
        <source>program {what}</source>
        <translation>程序 {what}</translation>
    </message>
    <message>
        <source>variables of the shell {what}</source>
        <translation>Shell {what} 的变量</translation>
    </message>
    <message>
        <source>{what}</source>
        <translation>{what}</translation>
    </message>
    <message>
        <source>file {what}</source>
        <translation>文件 {what}</translation>
    </message>
    <message>
        <source>what the service {what} holds</source>
        <translation>服务 {what} 所存的内容</translation>
    </message>
    <message>
        <source>what the network saw</source>
        <translation>对网络的影响</translation>
    </message>
    <message>
        <source>Step {n}, {cause}</source>
        <translation>步骤 {n}，{cause}</translation>
    </message>
    <message>
        <source>Not taken: {why}</source>
        <translation>未能拍摄：{why}</translation>
    </message>
    <message>
        <source>removed meanwhile</source>
        <translation>已被清除</translation>
    </message>
    <message>
        <source>Files: {n}</source>
        <translation>文件：{n}</translation>
    </message>
    <message>
        <source>{size} new</source>
        <translation>新增 {size}</translation>
    </message>
    <message>
        <source>and {n} more</source>
        <translation>另有 {n} 项</translation>
    </message>
    <message>
        <source>Not in it: {what}</source>
        <translation>不包含：{what}</translation>
    </message>
</context>
<context>
    <name>SnapshotsController</name>
    <message>
        <source>A snapshot is taken when the running step is done.</source>
        <translation>当前步骤完成后将拍摄快照。</translation>
    </message>
    <message>
        <source>Snapshot after step {n}: {size}</source>
        <translation>步骤 {n} 之后的快照：{size}</translation>
    </message>
    <message>
        <source>No snapshot could be taken: {why}</source>
        <translation>未能拍摄快照：{why}</translation>
    </message>
    <message>
        <source>A session is restored when it has ended: stop it first.</source>
        <translation>会话结束后才能恢复，请先停止它。</translation>
    </message>
    <message>
        <source>Its server is not there, or older than this program: only it can restore the session.</source>
        <translation>服务器不在线，或版本较旧；只有它能恢复会话。</translation>
    </message>
    <message>
        <source>Its sandboxes get the files of this snapshot when it works again; what they hold now goes. The log stays as it is. Then “Continue…” has the session go on.</source>
        <translation>会话再次工作时，沙箱将恢复为此快照的文件，现有内容会丢失，日志保持不变。之后用“继续…”让会话继续。</translation>
    </message>
    <message>
        <source>Restore the session from its snapshot after step {n}?</source>
        <translation>从步骤 {n} 之后的快照恢复会话？</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>The session is as after step {n}: “Continue…” has it go on.</source>
        <translation>会话已恢复到步骤 {n} 之后，用“继续…”让它继续。</translation>
    </message>
    <message>
        <source>This server is older than this program: it takes no snapshots.</source>
        <translation>此服务器的版本比本程序旧，不能拍摄快照。</translation>
    </message>
</context>
<context>
    <name>SnapshotsDialog</name>
    <message>
        <source>Snapshots of “{title}”</source>
        <translation>“{title}”的快照</translation>
    </message>
    <message>
        <source>Snapshots</source>
        <translation>快照</translation>
    </message>
    <message>
        <source>Take one now</source>
        <translation>立即拍摄</translation>
    </message>
    <message>
        <source>Branch from it…</source>
        <translation>由此分支…</translation>
    </message>
    <message>
        <source>Restore…</source>
        <translation>恢复…</translation>
    </message>
    <message>
        <source>Snapshots are taken by the rules of the task, and by hand. None was taken yet.</source>
        <translation>快照按任务的规则拍摄，也可手动拍摄。目前还没有快照。</translation>
    </message>
    <message>
        <source>The server&apos;s computer holds it no more.</source>
        <translation>服务器上已没有这个快照。</translation>
    </message>
    <message>
        <source>The session has come further since: the log stays as it is, so branch from it.</source>
        <translation>此后会话已继续前进，日志不会改动，请由此分支。</translation>
    </message>
</context>
<context>
    <name>StartPage</name>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Saved runs of other programs: Claude Code, Codex, Inspect, SWE-agent, OpenHands … Files, folders or archives.</source>
        <translation>其他程序保存的运行：Claude Code、Codex、Inspect、SWE-agent、OpenHands……文件、文件夹或压缩包均可。</translation>
    </message>
    <message>
        <source>Demonstration</source>
        <translation>演示</translation>
    </message>
    <message>
        <source>An agent works in a sandbox and soon makes a mistake. Guide it, judge it, export. Five minutes, no account.</source>
        <translation>一个智能体在沙箱中工作，很快会犯一个错误。指导它、裁定它、导出。五分钟，无需账户。</translation>
    </message>
    <message>
        <source>New session</source>
        <translation>新建会话</translation>
    </message>
    <message>
        <source>Give an agent a task, a model, a budget and its rights. It works in a sandbox, also when this window is closed.</source>
        <translation>给智能体一个任务、模型、预算和权限。它在沙箱中工作，关闭本窗口后也继续。</translation>
    </message>
    <message>
        <source>Connect to a server</source>
        <translation>连接服务器</translation>
    </message>
    <message>
        <source>See your lab&apos;s sessions here: paste the address that tiphys serve printed.</source>
        <translation>在此查看实验室的会话：粘贴 tiphys serve 打印的地址。</translation>
    </message>
    <message>
        <source>Watch, steer and judge long runs of agents</source>
        <translation>观察、指导并裁定智能体的长时间运行</translation>
    </message>
    <message>
        <source>or drop files and folders anywhere in this window</source>
        <translation>或将文件和文件夹拖放到本窗口任意位置</translation>
    </message>
</context>
<context>
    <name>StatusBar</name>
    <message>
        <source>Connection</source>
        <translation>连接</translation>
    </message>
</context>
<context>
    <name>StatusController</name>
    <message numerus="yes">
        <source>%Ln waiting to be delivered</source>
        <translation>
            <numerusform>%Ln 条待送达</numerusform>
        </translation>
    </message>
    <message>
        <source>Letters do nothing · Esc returns to the list</source>
        <translation>字母键暂不起作用 · 按 Esc 返回列表</translation>
    </message>
    <message>
        <source>Keys type here · Esc returns to the list</source>
        <translation>按键在此输入 · Esc 返回列表</translation>
    </message>
    <message>
        <source>Keys act on the list</source>
        <translation>按键作用于列表</translation>
    </message>
    <message>
        <source>{keys} all keys · {palette} every command</source>
        <translation>{keys} 所有按键 · {palette} 所有命令</translation>
    </message>
    <message>
        <source>Keys act on {panel} · Esc returns to the list</source>
        <translation>按键作用于{panel} · Esc 返回列表</translation>
    </message>
    <message>
        <source>Esc returns to the list</source>
        <translation>Esc 返回列表</translation>
    </message>
    <message>
        <source>{shown} of {total} sessions</source>
        <translation>{total} 个会话中的 {shown} 个</translation>
    </message>
    <message>
        <source>reading the session: {share} %</source>
        <translation>正在读取会话：{share} %</translation>
    </message>
    <message>
        <source>at step {n} of {total}, following</source>
        <translation>步骤 {n}/{total}，跟随中</translation>
    </message>
    <message>
        <source>at step {n} of {total}</source>
        <translation>步骤 {n}/{total}</translation>
    </message>
</context>
<context>
    <name>Step</name>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>running in the background</source>
        <translation>后台运行中</translation>
    </message>
    <message>
        <source>timeout</source>
        <translation>超时</translation>
    </message>
    <message>
        <source>killed</source>
        <translation>被杀死</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>被拒绝</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Sent by a person</source>
        <translation>由人发送</translation>
    </message>
    <message>
        <source>Thought</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>This answer has no sampled tokens: {why}</source>
        <translation>此回答没有采样词元：{why}</translation>
    </message>
    <message>
        <source>The model wrote nothing in this step.</source>
        <translation>模型在此步骤中什么也没写。</translation>
    </message>
    <message>
        <source>reward {value}</source>
        <translation>奖励 {value}</translation>
    </message>
    <message>
        <source>episode over</source>
        <translation>回合结束</translation>
    </message>
    <message>
        <source>its file does not name the tool</source>
        <translation>文件未写明是哪个工具</translation>
    </message>
    <message>
        <source>{n} of {count}</source>
        <translation>第 {n} 个，共 {count} 个</translation>
    </message>
    <message>
        <source>Malformed call: </source>
        <translation>调用格式错误：</translation>
    </message>
    <message>
        <source>Observation</source>
        <translation>观察</translation>
    </message>
    <message>
        <source>No output.</source>
        <translation>没有输出。</translation>
    </message>
    <message>
        <source>picture</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Picture at {place}: only its address is known, and no address is loaded.</source>
        <translation>位于 {place} 的图片：只知道其地址，而任何地址都不会被加载。</translation>
    </message>
    <message>
        <source>{kind} of {size}: too large to be stored.</source>
        <translation>{kind}，{size}：过大，未保存。</translation>
    </message>
    <message>
        <source>exit code {code}</source>
        <translation>退出码 {code}</translation>
    </message>
    <message>
        <source>job {id}</source>
        <translation>作业 {id}</translation>
    </message>
    <message>
        <source>terminal {name}</source>
        <translation>终端 {name}</translation>
    </message>
    <message>
        <source>truncated</source>
        <translation>已截断</translation>
    </message>
    <message>
        <source>The model was given {shown} of {total} characters.</source>
        <translation>模型得到了 {total} 个字符中的 {shown} 个。</translation>
    </message>
</context>
<context>
    <name>StepCells</name>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln 个词元</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StepController</name>
    <message>
        <source>The server does not hold this text: it was never sent there, or is gone. What the list says about the step is all there is. If you have the file that the session came from, open it again.</source>
        <translation>服务器上没有这段文本：从未上传，或已不存在。关于这一步，列表中显示的就是全部内容。如果您有该会话的来源文件，请重新打开它。</translation>
    </message>
    <message>
        <source>Fetching this step from the server…</source>
        <translation>正在从服务器获取此步骤…</translation>
    </message>
</context>
<context>
    <name>StepHeading</name>
    <message>
        <source>Step {n}</source>
        <translation>步骤 {n}</translation>
    </message>
    <message>
        <source>by {person}</source>
        <translation>由 {person} 执行</translation>
    </message>
    <message>
        <source>action {n} alone is judged</source>
        <translation>只裁定动作 {n}</translation>
    </message>
    <message>
        <source>advantage {a}</source>
        <translation>优势 {a}</translation>
    </message>
    <message>
        <source>{given} tokens in, {made} out</source>
        <translation>输入 {given} 词元，输出 {made}</translation>
    </message>
</context>
<context>
    <name>StepRemarkBox</name>
    <message>
        <source>Remark on this step … Ctrl+Enter stores it, Esc leaves.</source>
        <translation>对此步骤的备注…… Ctrl+Enter 保存，Esc 离开。</translation>
    </message>
    <message>
        <source>Remark</source>
        <translation>备注</translation>
    </message>
</context>
<context>
    <name>StepView</name>
    <message>
        <source>Previous step (Shift+J)</source>
        <translation>上一步 (Shift+J)</translation>
    </message>
    <message>
        <source>Next step (J)</source>
        <translation>下一步 (J)</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>The answer as it was sampled, token by token</source>
        <translation>按采样时的样子逐个词元显示回答</translation>
    </message>
    <message>
        <source>What it saw</source>
        <translation>所见</translation>
    </message>
    <message>
        <source>The exact context the model was given</source>
        <translation>给模型的确切上下文</translation>
    </message>
    <message>
        <source>Thought, actions and observations</source>
        <translation>思考、动作和观察</translation>
    </message>
    <message>
        <source>The heading of an action, by a click or by Tab and Enter, makes the judging keys judge that action alone</source>
        <translation>点击动作的标题，或用 Tab 和 Enter 选中它，裁定键就只裁定这个动作</translation>
    </message>
    <message>
        <source>The chosen step appears here: what the model thought, did and got back. At the live tail it is the newest step.</source>
        <translation>所选步骤会显示在这里：模型想了什么、做了什么、得到了什么。跟随时显示最新步骤。</translation>
    </message>
</context>
<context>
    <name>StripController</name>
    <message>
        <source>Asks for leave:</source>
        <translation>请求许可：</translation>
    </message>
    <message>
        <source>Allow</source>
        <translation>允许</translation>
    </message>
    <message>
        <source>Refuse</source>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>your answer is on its way</source>
        <translation>您的回答正在送达</translation>
    </message>
    <message>
        <source>guidance refuses it too, and tells the agent why</source>
        <translation>发送指导同样会拒绝，并告诉智能体原因</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Waits for its turn</source>
        <translation>等待轮到</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>已失败</translation>
    </message>
    <message>
        <source>Working on step {n}</source>
        <translation>正在执行步骤 {n}</translation>
    </message>
    <message>
        <source>Waits before step {n}</source>
        <translation>在步骤 {n} 之前等待</translation>
    </message>
    <message>
        <source>waits for</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>{time} so far</source>
        <translation>已用 {time}</translation>
    </message>
    <message>
        <source>{person} writes step {n}</source>
        <translation>{person} 在写第 {n} 步</translation>
    </message>
    <message>
        <source>You write step {n}</source>
        <translation>您在编写第 {n} 步</translation>
    </message>
    <message>
        <source>the agent waits</source>
        <translation>智能体在等待</translation>
    </message>
    <message>
        <source>The first step is being thought</source>
        <translation>正在思考第一步</translation>
    </message>
    <message>
        <source>started {time}, {long} ago</source>
        <translation>{time} 开始，已过 {long}</translation>
    </message>
    <message>
        <source>thinks</source>
        <translation>正在思考</translation>
    </message>
    <message>
        <source>not connected since {time}: it goes on unseen</source>
        <translation>自 {time} 起未连接：会话继续运行，但看不到</translation>
    </message>
    <message>
        <source>nothing heard since {time}</source>
        <translation>自 {time} 起没有消息</translation>
    </message>
    <message>
        <source>heard {n} ago</source>
        <translation>{n}前有消息</translation>
    </message>
    <message>
        <source>such commands took {time}</source>
        <translation>此类命令用时 {time}</translation>
    </message>
    <message>
        <source>such commands took {least}–{most}</source>
        <translation>此类命令用时 {least}–{most}</translation>
    </message>
    <message>
        <source>since {time}</source>
        <translation>自 {time} 起</translation>
    </message>
</context>
<context>
    <name>TagLine</name>
    <message>
        <source>Tag: Enter puts it on or takes it off, Esc leaves</source>
        <translation>标签：Enter 添加或移除，Esc 离开</translation>
    </message>
    <message>
        <source>Tag</source>
        <translation>标签</translation>
    </message>
</context>
<context>
    <name>TakeoverController</name>
    <message>
        <source>The agent works by itself. Take over to write its next actions yourself, and hand back when you are done: it goes on from there.</source>
        <translation>智能体正在自行工作。接管后由您写出它接下来的动作，完成后交还：它从那里继续。</translation>
    </message>
    <message>
        <source>{person} writes the next actions.</source>
        <translation>接下来的动作由 {person} 写出。</translation>
    </message>
    <message>
        <source>Yours as soon as what runs now is over: Interrupt ends it. A model that is being asked is cut off.</source>
        <translation>当前运行的动作结束后即由您接管：可用“中断”终止它。正在请求的模型会被切断。</translation>
    </message>
    <message>
        <source>At work on your action.</source>
        <translation>正在执行您的操作。</translation>
    </message>
    <message numerus="yes">
        <source>At work on your action; %Ln more wait(s).</source>
        <translation>
            <numerusform>正在执行您的操作；另有 %Ln 个在等待。</numerusform>
        </translation>
    </message>
    <message>
        <source>You write step {n}. The agent waits; without a word of yours it goes on in {m} minutes.</source>
        <translation>第 {n} 步由您写出。智能体在等待；若您不再操作，{m} 分钟后它会继续。</translation>
    </message>
    <message>
        <source>Choose a session.</source>
        <translation>请选择一个会话。</translation>
    </message>
    <message>
        <source>This trajectory was imported: nobody works on it.</source>
        <translation>这条轨迹是导入的：没有智能体在工作。</translation>
    </message>
    <message>
        <source>Nobody can act in the place of this agent.</source>
        <translation>无法代替这个智能体操作。</translation>
    </message>
    <message>
        <source>This session has ended.</source>
        <translation>此会话已结束。</translation>
    </message>
    <message>
        <source>“{name}” takes a value of the type {kind}, not “{text}”.</source>
        <translation>“{name}”须为 {kind} 类型的值，不能是“{text}”。</translation>
    </message>
    <message>
        <source>“{name}” is empty, and {tool} needs it.</source>
        <translation>“{name}”为空，而 {tool} 需要它。</translation>
    </message>
</context>
<context>
    <name>TakeoverView</name>
    <message>
        <source>What the agent read last</source>
        <translation>智能体最后读到的内容</translation>
    </message>
    <message>
        <source>Tool</source>
        <translation>工具</translation>
    </message>
    <message>
        <source>Why (the agent reads it as its own thought)</source>
        <translation>理由（智能体会把它读作自己的思考）</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>理由</translation>
    </message>
    <message>
        <source>Carry out</source>
        <translation>执行</translation>
    </message>
    <message>
        <source>Carry the action out as the session&apos;s next step</source>
        <translation>把这个操作作为会话的下一步执行</translation>
    </message>
    <message>
        <source>The action</source>
        <translation>操作</translation>
    </message>
</context>
<context>
    <name>TaskSheet</name>
    <message>
        <source>The task&apos;s text</source>
        <translation>任务的文字</translation>
    </message>
    <message>
        <source>Budget</source>
        <translation>预算</translation>
    </message>
    <message>
        <source>Sandbox</source>
        <translation>沙箱</translation>
    </message>
    <message>
        <source>Rights</source>
        <translation>权限</translation>
    </message>
    <message>
        <source>The task says nothing of itself.</source>
        <translation>该任务没有说明。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln Docker container(s): {names}</source>
        <translation>
            <numerusform>%Ln 个 Docker 容器：{names}</numerusform>
        </translation>
    </message>
    <message>
        <source>none needed: it is played in {environment}</source>
        <translation>无需：在环境 {environment} 中进行</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>none: the agent runs UNCONFINED</source>
        <translation>无：智能体不受限制地运行</translation>
    </message>
    <message>
        <source>nothing beyond a closed container</source>
        <translation>封闭容器之外没有任何权限</translation>
    </message>
    <message numerus="yes">
        <source>%Ln step(s)</source>
        <translation>
            <numerusform>%Ln 个步骤</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} tokens</source>
        <translation>{n} 个词元</translation>
    </message>
    <message numerus="yes">
        <source>%Ln evaluation(s)</source>
        <translation>
            <numerusform>%Ln 次评测</numerusform>
        </translation>
    </message>
    <message>
        <source>no limit: it ends when somebody stops it</source>
        <translation>没有限制：有人停止时结束</translation>
    </message>
</context>
<context>
    <name>TerminalScreen</name>
    <message>
        <source>Terminal</source>
        <translation>终端</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>全选</translation>
    </message>
</context>
<context>
    <name>TerminalsView</name>
    <message>
        <source>Terminals</source>
        <translation>终端</translation>
    </message>
    <message>
        <source>This log keeps no terminal</source>
        <translation>此日志没有保存终端</translation>
    </message>
    <message numerus="yes">
        <source>%Ln command(s) ran; each stands under Step with what it printed.</source>
        <translation>
            <numerusform>运行了 %Ln 条命令；每条命令及其输出都在“步骤”中。</numerusform>
        </translation>
    </message>
    <message>
        <source>No terminal yet</source>
        <translation>还没有终端</translation>
    </message>
    <message>
        <source>Each shell that the agent opens gets a tab here and streams while the agent types. Select a session that runs commands.</source>
        <translation>智能体打开的每个终端在这里都有一个标签页，并实时显示。请选择一个会运行命令的会话。</translation>
    </message>
    <message>
        <source>No terminal as of step {step}</source>
        <translation>到步骤 {step} 为止没有终端</translation>
    </message>
    <message>
        <source>The agent had opened no shell by then. Go to a later step, or press F to follow.</source>
        <translation>那时智能体还没有打开终端。请转到更晚的步骤，或按 F 跟随最新步骤。</translation>
    </message>
    <message numerus="yes">
        <source>This log keeps no terminal · %Ln command(s) ran, each stands under Step</source>
        <translation>
            <numerusform>此日志不含终端 · 运行了 %Ln 条命令，见各步骤</numerusform>
        </translation>
    </message>
    <message>
        <source>No terminal up to step {step}</source>
        <translation>到步骤 {step} 为止没有终端</translation>
    </message>
    <message>
        <source>No terminal was opened</source>
        <translation>没有打开终端</translation>
    </message>
    <message>
        <source>{name}: written to in this step</source>
        <translation>{name}：此步骤有输出</translation>
    </message>
    <message>
        <source>loading …</source>
        <translation>正在加载…</translation>
    </message>
    <message>
        <source>catching up …</source>
        <translation>正在追赶…</translation>
    </message>
    <message>
        <source>as of {time}: not connected</source>
        <translation>截至 {time}：未连接</translation>
    </message>
    <message>
        <source>● live</source>
        <translation>● 实时</translation>
    </message>
    <message>
        <source>as it was at the end</source>
        <translation>结束时的内容</translation>
    </message>
    <message>
        <source>as of step {step}</source>
        <translation>截至步骤 {step}</translation>
    </message>
</context>
<context>
    <name>ThinLine</name>
    <message>
        <source>Open {panel} (Enter, a click, or drag its edge)</source>
        <translation>打开“{panel}”（回车、单击或拖动边缘）</translation>
    </message>
</context>
<context>
    <name>Thresholds</name>
    <message>
        <source>Failed steps in a row</source>
        <translation>连续失败的步骤数</translation>
    </message>
    <message>
        <source>Equal actions in a row</source>
        <translation>连续相同的动作数</translation>
    </message>
    <message>
        <source>Waiting steps in a row</source>
        <translation>连续等待的步骤数</translation>
    </message>
    <message>
        <source>Minutes in which no step ends</source>
        <translation>没有步骤结束的分钟数</translation>
    </message>
    <message>
        <source>Used share of a limit</source>
        <translation>限额的已用比例</translation>
    </message>
    <message>
        <source>Different commands of the last 50 since the first error: share, at most</source>
        <translation>首次出错后最近 50 条命令中不同命令所占比例，不高于</translation>
    </message>
</context>
<context>
    <name>ThresholdsDialog</name>
    <message>
        <source>When it asks for a look</source>
        <translation>何时请求关注</translation>
    </message>
    <message>
        <source>As in the settings</source>
        <translation>按设置</translation>
    </message>
    <message>
        <source>“{title}” asks for a look from these numbers on; everybody who watches it is told. 0 means never.</source>
        <translation>“{title}”达到以下数值时请求关注；所有查看者都会收到通知。0 表示从不。</translation>
    </message>
</context>
<context>
    <name>TouchedFiles</name>
    <message>
        <source>Touched files</source>
        <translation>改动过的文件</translation>
    </message>
    <message>
        <source>Touched files by folder</source>
        <translation>按文件夹列出的改动文件</translation>
    </message>
</context>
<context>
    <name>TourBand</name>
    <message>
        <source>Look</source>
        <translation>查看</translation>
    </message>
    <message>
        <source>Each row is a step of the agent. Choose one: what it thought, did and got back stands beside it.</source>
        <translation>每一行是智能体的一个步骤。选择一个：旁边会显示它的思考、动作和得到的结果。</translation>
    </message>
    <message>
        <source>Choose the first step</source>
        <translation>选择第一个步骤</translation>
    </message>
    <message>
        <source>Tell it something</source>
        <translation>给它指导</translation>
    </message>
    <message>
        <source>Take this example</source>
        <translation>使用此示例</translation>
    </message>
    <message>
        <source>Judge</source>
        <translation>裁定</translation>
    </message>
    <message>
        <source>This agent errs on purpose: it measures itself on the test data. Write what it should use instead, and press Ctrl+Enter. It goes on working meanwhile.</source>
        <translation>这个智能体故意出错：它用测试数据评估自己。写下它应改用什么，然后按 Ctrl+Enter。其间它会继续工作。</translation>
    </message>
    <message>
        <source>Esc leads to the list. Choose a step that used the test data and press M: training leaves it out. K keeps one.</source>
        <translation>按 Esc 回到列表。选择使用了测试数据的步骤并按 M：训练会跳过它。按 K 保留步骤。</translation>
    </message>
    <message>
        <source>Mask step {n}</source>
        <translation>掩码步骤 {n}</translation>
    </message>
    <message>
        <source>Hand it on</source>
        <translation>交付</translation>
    </message>
    <message>
        <source>The layout Export turns judged sessions into training data, and shows each sample token by token.</source>
        <translation>“导出”布局将裁定过的会话变成训练数据，并逐词元显示每个样本。</translation>
    </message>
    <message>
        <source>Open Export</source>
        <translation>打开“导出”</translation>
    </message>
    <message>
        <source>Use a held-out part of the training split, not data/test.jsonl.</source>
        <translation>请使用训练集中留出的部分，不要使用 data/test.jsonl。</translation>
    </message>
    <message>
        <source>Close the guide; menu Help brings it back</source>
        <translation>关闭导览；可从“帮助”菜单再次打开</translation>
    </message>
    <message>
        <source>{n} of {total}</source>
        <translation>{n}/{total}</translation>
    </message>
</context>
<context>
    <name>TrainingController</name>
    <message>
        <source>Starting: the model is being loaded …</source>
        <translation>正在启动：加载模型…</translation>
    </message>
    <message>
        <source>Stopping: a checkpoint is being saved …</source>
        <translation>正在停止：保存检查点…</translation>
    </message>
    <message>
        <source>Training needs PyTorch and transformers, which are not installed here. Install them with:  tiphys train-setup</source>
        <translation>训练需要 PyTorch 与 transformers，这里没有安装。用以下命令安装：  tiphys train-setup</translation>
    </message>
    <message>
        <source>✓ Trained. The model is in {folder}.</source>
        <translation>✓ 训练完成。模型在 {folder}。</translation>
    </message>
    <message>
        <source>Stopped. The checkpoint is in {folder}; training into the same folder goes on.</source>
        <translation>已停止。检查点在 {folder}；再次训练到同一文件夹会接着进行。</translation>
    </message>
    <message>
        <source>The training ended with code {code}.</source>
        <translation>训练以代码 {code} 结束。</translation>
    </message>
</context>
<context>
    <name>TrainingView</name>
    <message>
        <source>Folder of the data set</source>
        <translation>数据集文件夹</translation>
    </message>
    <message>
        <source>Written on the first page, format TRL</source>
        <translation>在第一页写出，格式 TRL</translation>
    </message>
    <message>
        <source>Folder of the model</source>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>SmolLM2, the small model of the training extra</source>
        <translation>SmolLM2（训练附加组件自带的小模型）</translation>
    </message>
    <message>
        <source>Folder for the trained model</source>
        <translation>训练后模型的文件夹</translation>
    </message>
    <message>
        <source>A new folder</source>
        <translation>一个新文件夹</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Stop and keep a checkpoint</source>
        <translation>停止并保留检查点</translation>
    </message>
    <message>
        <source>The loss and the speed are drawn here while a model trains.</source>
        <translation>训练时会在这里绘制损失和速度。</translation>
    </message>
    <message>
        <source>What the training said</source>
        <translation>训练输出</translation>
    </message>
    <message>
        <source>all parameters</source>
        <translation>全部参数</translation>
    </message>
    <message>
        <source>LoRA adapter, merged at the end</source>
        <translation>LoRA 适配器，结束时合并</translation>
    </message>
    <message>
        <source>as exported</source>
        <translation>与导出时相同</translation>
    </message>
    <message>
        <source>without loss</source>
        <translation>不计损失</translation>
    </message>
    <message>
        <source>must train</source>
        <translation>必须参与训练</translation>
    </message>
    <message>
        <source>must be absent</source>
        <translation>必须不存在</translation>
    </message>
    <message>
        <source>What recorded reasoning in the data set does</source>
        <translation>数据集中记录的推理如何处理</translation>
    </message>
    <message>
        <source>Method</source>
        <translation>方法</translation>
    </message>
    <message>
        <source>Thoughts</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>轮数</translation>
    </message>
    <message>
        <source>Data set</source>
        <translation>数据集</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>起始模型</translation>
    </message>
    <message>
        <source>Save in</source>
        <translation>保存到</translation>
    </message>
    <message>
        <source>step {step} of {steps}</source>
        <translation>第 {step}/{steps} 步</translation>
    </message>
    <message>
        <source>step {step}</source>
        <translation>步骤 {step}</translation>
    </message>
    <message>
        <source>loss {loss}</source>
        <translation>损失 {loss}</translation>
    </message>
    <message>
        <source>{rate} tokens/s</source>
        <translation>{rate} 词元/秒</translation>
    </message>
    <message>
        <source>{share} % of the tokens trained</source>
        <translation>训练了 {share} % 的词元</translation>
    </message>
    <message>
        <source>{size} GB memory</source>
        <translation>内存 {size} GB</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>剩余 {time}</translation>
    </message>
</context>
<context>
    <name>TrajectoryController</name>
    <message>
        <source>The steps of a session appear here. Choose one under Sessions.</source>
        <translation>会话的步骤会出现在这里。请在“会话”中选择一个。</translation>
    </message>
    <message>
        <source>The steps of this session are not on this computer. They come as soon as the server is reached.</source>
        <translation>此会话的步骤不在本机。连接到服务器后会自动获取。</translation>
    </message>
    <message>
        <source>The steps of this session appear here as soon as the server has sent them.</source>
        <translation>服务器发来后，此会话的步骤就会出现在这里。</translation>
    </message>
</context>
<context>
    <name>TrajectoryView</name>
    <message>
        <source>Steps of the trajectory</source>
        <translation>轨迹的步骤</translation>
    </message>
    <message>
        <source>Find, or 9.46</source>
        <translation>查找，或 9.46</translation>
    </message>
    <message>
        <source>Find in the trajectory, or go to a step by its number</source>
        <translation>在轨迹中查找，或按编号转到步骤</translation>
    </message>
    <message>
        <source>Regular expression</source>
        <translation>正则表达式</translation>
    </message>
    <message>
        <source>More filters: family, tool, host, end, verdicts, time</source>
        <translation>更多筛选：类别、工具、主机、结果、裁定、时间</translation>
    </message>
    <message>
        <source>Reading the session</source>
        <translation>正在读取会话</translation>
    </message>
    <message>
        <source>Show the first</source>
        <translation>查看第一处</translation>
    </message>
    <message>
        <source>Previous hit (Shift+F3)</source>
        <translation>上一个匹配 (Shift+F3)</translation>
    </message>
    <message>
        <source>Next hit (F3)</source>
        <translation>下一个匹配 (F3)</translation>
    </message>
    <message>
        <source>The steps of a session appear here. Choose one under Sessions.</source>
        <translation>会话的步骤会出现在这里。请在“会话”中选择一个。</translation>
    </message>
    <message>
        <source>none</source>
        <translation>没有匹配</translation>
    </message>
    <message>
        <source>{at} of {count}</source>
        <translation>{at}/{count}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln new</source>
        <translation>
            <numerusform>%Ln 个新步骤</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Typing</name>
    <message>
        <source>No box takes what you type. Esc leads to the list.</source>
        <translation>没有输入框接收所键入的内容。按 Esc 返回列表。</translation>
    </message>
</context>
<context>
    <name>Unscored</name>
    <message>
        <source>The evaluator failed; that is not the agent&apos;s doing.</source>
        <translation>评测程序失败；这不是智能体造成的。</translation>
    </message>
    <message>
        <source>There is no complete submission: a file was not handed in.</source>
        <translation>没有完整的提交：有文件未上交。</translation>
    </message>
    <message>
        <source>What was handed in has not the form that was asked for.</source>
        <translation>提交的内容不符合要求的格式。</translation>
    </message>
    <message>
        <source>The submission is larger than may be handed in.</source>
        <translation>提交的内容超过了允许的大小。</translation>
    </message>
    <message>
        <source>The evaluator asks for files that were not handed in.</source>
        <translation>评测程序要求的文件当时没有提交。</translation>
    </message>
    <message>
        <source>The submission could not be collected.</source>
        <translation>无法收集提交的内容。</translation>
    </message>
</context>
<context>
    <name>UpdatesController</name>
    <message>
        <source>Tiphys {version} is there ({place}); this is {running}.</source>
        <translation>已有 Tiphys {version}（{place}）；当前版本为 {running}。</translation>
    </message>
    <message>
        <source>Tiphys {version} was installed while {running} runs here. Start it again now?</source>
        <translation>已安装 Tiphys {version}，而此处仍在运行 {running}。现在重新启动吗？</translation>
    </message>
    <message>
        <source>Until then this window and the agents of this computer go on as they are. Nothing that you wrote is lost.</source>
        <translation>在此之前，本窗口和本机的智能体照常工作。您写下的内容不会丢失。</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>重新启动</translation>
    </message>
</context>
<context>
    <name>WebSearchDelegate</name>
    <message>
        <source>page</source>
        <translation>网页</translation>
    </message>
    <message numerus="yes">
        <source>%Ln result(s)</source>
        <translation>
            <numerusform>%Ln 条结果</numerusform>
        </translation>
    </message>
    <message>
        <source>step {step}</source>
        <translation>步骤 {step}</translation>
    </message>
    <message>
        <source>visited at step {step}</source>
        <translation>在步骤 {step} 访问</translation>
    </message>
</context>
<context>
    <name>WebSearchesView</name>
    <message>
        <source>Filter queries, titles, addresses …</source>
        <translation>筛选查询、标题、地址…</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Searches</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>No search holds these words.</source>
        <translation>没有搜索包含这些词。</translation>
    </message>
    <message>
        <source>Return or a double click goes to the step of the search</source>
        <translation>回车或双击转到搜索所在的步骤</translation>
    </message>
    <message numerus="yes">
        <source>%Ln search(es)</source>
        <translation>
            <numerusform>%Ln 次搜索</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing searched up to step {step}</source>
        <translation>到步骤 {step} 为止没有搜索</translation>
    </message>
    <message>
        <source>Nothing was searched</source>
        <translation>没有搜索</translation>
    </message>
    <message>
        <source>Select a query or a result to read it here. {key} copies.</source>
        <translation>选择一条查询或结果即可在此阅读。{key} 复制。</translation>
    </message>
    <message>
        <source>No search yet</source>
        <translation>还没有搜索</translation>
    </message>
    <message>
        <source>The agent&apos;s web queries, their results and the pages it visits appear here.</source>
        <translation>智能体的网络查询、结果以及访问的网页会出现在这里。</translation>
    </message>
    <message>
        <source>No search as of step {step}</source>
        <translation>到步骤 {step} 为止没有搜索</translation>
    </message>
    <message>
        <source>Go to a later step, or press F to follow.</source>
        <translation>请转到更晚的步骤，或按 F 跟随最新步骤。</translation>
    </message>
</context>
<context>
    <name>WorkerCalls</name>
    <message>
        <source>The process gave an answer that cannot be read: {why}</source>
        <translation>进程给出了无法读取的回答：{why}</translation>
    </message>
    <message>
        <source>The process ended with code {code}.</source>
        <translation>进程以代码 {code} 结束。</translation>
    </message>
</context>
<context>
    <name>WritingAidsController</name>
    <message>
        <source>The administrator of this computer has fixed the templates.</source>
        <translation>模板由这台计算机的管理员统一设定。</translation>
    </message>
    <message>
        <source>Saved as a template.</source>
        <translation>已存为模板。</translation>
    </message>
</context>
<context>
    <name>_Toast</name>
    <message>
        <source>Close this notice</source>
        <translation>关闭此通知</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
</context>
</TS>
