// Claude Code's own SDK on transcripts: node read_claude.mjs SDK HOME FILE… prints a line of JSON for each.
import { copyFileSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// An answer stands in several records of one message: [role, words, names of the tools that it calls].
function spoken(messages) {
  const found = [], answers = new Map()
  for (const { type, message } of messages) {
    const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
    const text = (blocks) => blocks.filter((b) => b.type === 'text').map((b) => b.text).join('\n')
    if (type === 'assistant') {
      const one = answers.get(message.id) ?? ['assistant', '', []]
      if (!message.id || !answers.has(message.id)) found.push(one)
      answers.set(message.id, one)
      one[1] = [one[1], text(blocks)].filter(Boolean).join('\n')
      one[2].push(...blocks.filter((b) => b.type === 'tool_use').map((b) => b.name))
      continue
    }
    for (const b of blocks.filter((b) => b.type === 'tool_result'))
      found.push(['tool', typeof b.content === 'string' ? b.content : text(b.content ?? []), []])
    if (text(blocks)) found.push(['user', text(blocks), []])
  }
  return found
}

const [sdk, home, ...files] = process.argv.slice(2)
process.env.CLAUDE_CONFIG_DIR = home
const { getSessionMessages } = await import(pathToFileURL(realpathSync(sdk)))
const folder = join(home, 'projects', '-w')
mkdirSync(folder, { recursive: true })
for (const [n, file] of files.entries()) {
  const id = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  copyFileSync(file, join(folder, `${id}.jsonl`))
  console.log(JSON.stringify(spoken(await getSessionMessages(id))))
}
