// Gemini CLI's own recording service: node read_gemini.mjs CORE write FOLDER FILE, or CORE read FILE…
// `write` records a session as the program itself would; `read` prints, for each file, one line of JSON: what the
// program would send to a model before each answer, and the answer as it was recorded last.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [core, action, ...rest] = process.argv.slice(2)
const load = (name) => import(pathToFileURL(join(core, 'dist/src', name)))
const { ChatRecordingService, loadConversationRecord } = await load('services/chatRecordingService.js')
const { convertSessionToClientHistory, partListUnionToString } = await load('utils/sessionUtils.js')

async function states(file) {
  const text = readFileSync(file, 'utf8')
  let lines
  try { JSON.parse(text); lines = [text] } catch { lines = text.split('\n').filter((line) => line.trim()) }
  const folder = mkdtempSync(join(tmpdir(), 'gemini-')), found = new Map()
  for (let n = 1; n <= lines.length; n++) {
    const part = join(folder, 'part.jsonl')
    writeFileSync(part, lines.slice(0, n).join('\n'))
    const { messages } = await loadConversationRecord(part)
    const record = JSON.parse(lines[n - 1]), names = messages.map((message) => message.id)
    if (record.$rewindTo) for (const id of found.keys()) if (!names.includes(id)) found.delete(id)
    messages.forEach((message, at) => {
      if (message.type !== 'gemini' || !(record.messages || record.id === message.id)) return
      found.set(message.id, { message, context: found.get(message.id)?.context ?? convertSessionToClientHistory(messages.slice(0, at)) })
    })
  }
  rmSync(folder, { recursive: true })
  return [...found.values()]
}

async function write(folder, file) {
  const config = { getProjectRoot: () => folder, storage: { getProjectTempDir: () => folder }, getWorkspaceContext: () => undefined }
  const service = new ChatRecordingService({ promptId: 'own-session', config, toolRegistry: { getTool: () => undefined } })
  await service.initialize(undefined, 'main')
  const say = (type, content, id) => service.recordMessage({ model: 'own-gemini', type, content, id })
  const used = (input, output, thoughts) => service.recordMessageTokens({ promptTokenCount: input, candidatesTokenCount: output,
    thoughtsTokenCount: thoughts, toolUsePromptTokenCount: 2, cachedContentTokenCount: 1, totalTokenCount: input + output + thoughts + 2 })
  const called = (id, name, args, status, response) => service.recordToolCalls('own-gemini', [{ id, name, args, status,
    timestamp: '2026-01-02T03:04:05.000Z', result: response && [{ functionResponse: { id, name, response } }] }])
  const history = () => convertSessionToClientHistory(service.getConversation().messages)

  say('user', 'List the folder.')
  service.recordThought({ subject: 'Plan', description: 'List first.' })
  say('gemini', 'I look.\n  Indented.')
  used(100, 5, 3)
  called('c1', 'list_directory', { path: '/w', deep: { a: [1, null] } }, 'executing')
  called('c1', 'list_directory', { path: '/w', deep: { a: [1, null] } }, 'success', { output: 'a\n  b' })
  called('c2', 'run_shell_command', { command: 'x' }, 'error', { error: 'x: not found' })
  say('info', 'A word of the program.')
  say('user', [{ text: 'Two' }, { text: 'parts.' }])
  service.recordThought({ subject: 'Again', description: 'Ask without words.' })
  called('c3', 'write_file', { file_path: 'a', content: '' }, 'success', { output: 'written' })
  used(120, 7, 0)
  const wrong = say('user', 'Taken back.')
  say('gemini', 'Nobody shall see this.')
  service.rewindTo(wrong)
  say('user', 'Go another way.')
  // As later versions record: the content holds all parts, and what is masked is written over
  say('gemini', [{ text: 'I think in parts.', thought: true }, { text: 'Reading.' },
    { functionCall: { id: 'c4', name: 'read_file', args: { file_path: 'b' } } }])
  used(140, 9, 1)
  called('c4', 'read_file', { file_path: 'b' }, 'success', { output: 'a long output' })
  const masked = structuredClone(history())
  for (const turn of masked) for (const part of turn.content.parts)
    if (part.functionResponse?.id === 'c1') part.functionResponse.response = { output: '[masked]' }
  service.updateMessagesFromHistory(masked)
  say('user', 'After the masking.')
  say('gemini', 'Answer after the masking.')
  used(150, 4, 0)
  // A compression: the history begins anew
  service.updateMessagesFromHistory([
    { id: 'sum', content: { role: 'user', parts: [{ text: '<state_snapshot>All so far.</state_snapshot>' }] } },
    { id: 'ack', content: { role: 'model', parts: [{ text: 'Got it.' }] } }, ...history().slice(-2)])
  say('user', 'After the compression.')
  say('gemini', 'Last answer.')
  used(50, 3, 0)
  renameSync(service.getConversationFilePath(), file)
}

const words = (content) => (Array.isArray(content) ? content : content ? [content] : [])
  .map((part) => typeof part === 'string' ? part : part.thought ? '' : part.text ?? '').join('\n')
const response = (part) => part.functionResponse.response.output ?? part.functionResponse.response.error

// Where a history was written over, the program sends an answer twice: once is enough here.
function sent(history) {
  const answered = new Set(), found = []
  for (const { content: { role, parts } } of history) {
    for (const part of parts.filter((part) => part.functionResponse)) {
      const id = part.functionResponse.id
      if (id && answered.has(id)) continue
      answered.add(id)
      found.push(['tool', response(part), []])
    }
    if (parts.some((part) => part.functionResponse)) continue
    found.push([role === 'model' ? 'assistant' : 'user', words(parts), parts.filter((p) => p.functionCall).map((p) => p.functionCall.name)])
  }
  return found
}

function step({ message, context }) {
  const [{ content: { parts } }] = convertSessionToClientHistory([message])
  const thought = parts.filter((part) => part.thought).map((part) => part.text.replace(/^\*\*(.*?)\*\* /, '$1: '))
  const status = new Map((message.toolCalls ?? []).map((call) => [call.id, call])), used = message.tokens
  const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall)
  return { text: `${thought.join('\n')}\n${words(parts)}`, calls: calls.map((call) => [call.name, call.args]),
    outs: calls.filter((call) => status.has(call.id)).map(({ id }) => ({
      text: (status.get(id).result ?? []).filter((part) => [id, undefined].includes(part.functionResponse.id)).map(response).join('\n'),
      failed: ['error', 'cancelled'].includes(status.get(id).status) })),
    tokens: used ? [used.input + used.tool, used.output + used.thoughts] : [null, null], context: sent(context) }
}

if (action === 'write') await write(...rest)
else for (const file of rest) console.log(JSON.stringify([{ steps: (await states(file)).map(step) }]))
