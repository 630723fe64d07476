// How much memory do large sources need? Each work is a process of its own, and prints a line of JSON: what it did, and the most
// memory that it had, in MB. It needs Linux, and the package as it is built.
// Usage: node test/exchange/memory.mjs document [issues, default 1000000]
//        node test/exchange/memory.mjs github-archive [issues, default 100000]
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readIssues } from 'forgelet/exchange'
import { openIssueSource, writeIssueFile } from 'forgelet/exchange/files'
import { openStandalone } from 'forgelet/standalone'
import { countOf, issueDocument, issueLine } from '../../bench/exchange.mjs'

const FIXTURE = { users: [{ username: 'acme' }], repositories: [{ owner: 'acme', name: 'rocket' }] }
const REPOSITORY_ID = '1'

const REPOSITORY = 'https://github.com/acme/rocket'
const TIMES = { created_at: '2024-02-29T08:30:00Z', updated_at: '2024-03-01T10:00:00Z' }
/** Records in each file. */
const PAGE = 100
const COMMENTS_OF_EACH = 2
const EVENTS_OF_EACH = ['labeled', 'locked', 'unlocked', 'subscribed']

/** Each returns the number of issues, or the exit code of the command. */
const WORK = {
  read: async (document) => countOf(readIssues(await openIssueSource(document))),
  import: (document, db) =>
    onHost(db, async ({ forge }) => {
      const records = readIssues(await openIssueSource(document))
      const { issues } = await forge.exchange.import('system', { repositoryId: REPOSITORY_ID, records })
      return issues.created
    }),
  export: (document, db) =>
    onHost(db, async ({ forge }) => {
      await writeIssueFile(`${document}.exported`, forge.exchange.export('system', REPOSITORY_ID))
      return countOf(readIssues(await openIssueSource(`${document}.exported`)))
    }),
  command: async (...args) => {
    process.argv.splice(2, Infinity, ...args, '--quiet')
    await Promise.all([once(process, 'beforeExit'), import('../../dist/cli.js')])
    return process.exitCode
  },
}

const [name, ...args] = process.argv.slice(2)
if (name in WORK) {
  const result = await WORK[name](...args)
  // What getrusage reports contains the memory of the process that started this one.
  const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))
  process.send({ result, peak: Math.round(kilobytes / 1024) }, () => process.exit())
} else {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-memory-'))
  try {
    if (name === 'document') await measureDocument(folder, Number(args[0] ?? 1_000_000))
    else await measureArchive(folder, Number(args[0] ?? 100_000))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function measureDocument(folder, issues) {
  const [document, db] = [join(folder, 'issues.json'), join(folder, 'forge.sqlite')]
  await pipeline(Readable.from(issueDocument(issues)), createWriteStream(document))
  for (const work of ['read', 'import', 'export']) await report(work, [work, document, db])
}

async function measureArchive(folder, issues) {
  const [root, archive] = [join(folder, 'archive'), join(folder, 'archive.tar.gz')]
  writeArchive(root, issues)
  execFileSync('tar', ['-czf', archive, '-C', root, '.'])
  for (const [what, source] of Object.entries({ folder: root, archive })) {
    const db = join(folder, `${what}.sqlite`)
    await onHost(db, () => undefined)
    await report(`validate ${what}`, ['command', 'issues', 'validate', source])
    await report(`import ${what}`, ['command', 'issues', 'import', source, '--repo', 'acme/rocket', '--db', db])
  }
}

async function report(work, words) {
  const child = fork(import.meta.filename, words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [message] = await once(child, 'message')
  process.stdout.write(`${JSON.stringify({ work, ...message })}\n`)
}

async function onHost(db, work) {
  const host = await openStandalone({ db, fixture: FIXTURE })
  const result = await work(host)
  await host.close()
  return result
}

/** Writes an archive as GitHub exports it. */
function writeArchive(root, issues) {
  mkdirSync(root)
  const pages = {}
  const write = (kind) => {
    const { records, written } = pages[kind]
    pages[kind] = { records: [], written: written + 1 }
    writeFileSync(join(root, `${kind}_${String(written + 1).padStart(6, '0')}.json`), JSON.stringify(records))
  }
  const add = (kind, record) => {
    pages[kind] ??= { records: [], written: 0 }
    pages[kind].records.push(record)
    if (pages[kind].records.length === PAGE) write(kind)
  }
  writeFileSync(join(root, 'schema.json'), '{"version":"1.1.0"}')
  const labels = ['bug', ...Array.from({ length: 20 }, (_, at) => `area/${at}`)].map((name) => {
    return { url: `${REPOSITORY}/labels/${encodeURIComponent(name)}`, name, color: 'd73a4a', description: null }
  })
  add('repositories', { type: 'repository', url: REPOSITORY, labels })
  for (let user = 0; user < 997; user += 1) {
    const emails = [{ address: `user${user}@example.com`, primary: true }]
    add('users', { type: 'user', url: `https://github.com/user${user}`, emails })
  }
  for (let number = 1; number <= issues; number += 1) {
    const { title, content: body, closed: closed_at } = JSON.parse(issueLine(number))
    const [url, user] = [`${REPOSITORY}/issues/${number}`, `https://github.com/user${number % 997}`]
    const reactions = [{ user, content: 'tada', subject_type: 'Issue', created_at: TIMES.created_at }]
    const people = { user, reactions, assignee: null, assignees: [user], milestone: null }
    const of = { type: 'issue', url, repository: REPOSITORY, title, body, closed_at, ...TIMES, ...people }
    add('issues', { ...of, labels: [labels[0].url, labels[1 + (number % 20)].url] })
    for (let at = 0; at < COMMENTS_OF_EACH; at += 1) {
      const comment = { type: 'issue_comment', url: `${url}#issuecomment-${at}`, issue: url, user, body, reactions: [] }
      add('issue_comments', { ...comment, formatter: 'markdown', created_at: `2024-03-01T10:00:0${at}Z` })
    }
    for (const [at, event] of EVENTS_OF_EACH.entries())
      add('issue_events', { type: 'issue_event', url: `${url}#event-${at}`, issue: url, actor: user, event, ...TIMES })
  }
  for (const [kind, { records }] of Object.entries(pages)) if (records.length > 0) write(kind)
}
