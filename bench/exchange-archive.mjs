// How much memory do checking and importing an archive of GitHub need? It is generated, and given to the command as a
// folder and as tar packs it, in a process of its own. Usage: npm run build && node bench/exchange-archive.mjs [issues, default 100000]
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStandalone } from 'forgelet/standalone'
import { issueLine } from './exchange.mjs'
import { inFolder, startProcess } from './harness.mjs'

const FIXTURE = { users: [{ username: 'acme' }], repositories: [{ owner: 'acme', name: 'rocket' }] }
const REPOSITORY = 'https://github.com/acme/rocket'
const TIMES = { created_at: '2024-02-29T08:30:00Z', updated_at: '2024-03-01T10:00:00Z' }
/** Records in each file. */
const PAGE = 100
const COMMENTS_OF_EACH = 2
const EVENTS_OF_EACH = 4
const COMMANDS = {
  validate: (archive) => ['validate', archive],
  import: (archive, db) => ['import', archive, '--repo', 'acme/rocket', '--db', db],
}

if (process.send === undefined) await measure(Number(process.argv[2] ?? 100_000))
else await run(process.argv.slice(2))

function measure(issues) {
  return inFolder(async (folder) => {
    const [root, archive, db] = ['archive', 'archive.tar.gz', 'forge.sqlite'].map((name) => join(folder, name))
    writeArchive(root, issues)
    execFileSync('tar', ['-czf', archive, '-C', root, '.'])
    console.log(`${issues} issues, ${COMMENTS_OF_EACH * issues} comments, ${statSync(archive).size / 1e6} MB packed`)
    for (const [what, source] of Object.entries({ folder: root, archive })) {
      for (const name of ['', '-shm', '-wal']) rmSync(`${db}${name}`, { force: true })
      await (await openStandalone({ db, fixture: FIXTURE })).close()
      for (const [name, argsOf] of Object.entries(COMMANDS)) {
        const { message } = await startProcess(import.meta.filename, argsOf(source, db))
        console.log(`  ${name} ${what}: ${message}`)
      }
    }
  })
}

function writeArchive(root, issues) {
  mkdirSync(root)
  const pages = {}
  const write = (kind) => {
    const { records = [], written = 0 } = pages[kind] ?? {}
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
    for (let at = 0; at < EVENTS_OF_EACH; at += 1) {
      const event = ['labeled', 'locked', 'unlocked', 'subscribed'][at]
      add('issue_events', { type: 'issue_event', url: `${url}#event-${at}`, issue: url, actor: user, event, ...TIMES })
    }
  }
  for (const [kind, { records }] of Object.entries(pages)) if (records.length > 0) write(kind)
}

/** In a process of its own: runs the command as it is, and reports the most memory that the process had. */
async function run(args) {
  const beganAt = performance.now()
  process.argv.splice(2, Infinity, 'issues', ...args, '--quiet')
  process.once('beforeExit', () => {
    const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))
    const { user, system } = process.cpuUsage()
    const seconds = `${((user + system) / 1e6).toFixed(1)} s of CPU, ${((performance.now() - beganAt) / 1e3).toFixed(0)} s`
    process.send(`exit code ${process.exitCode}, ${seconds}, peak ${Math.round(kilobytes / 1024)} MB`)
    process.disconnect()
  })
  await import('../dist/cli.js')
}
