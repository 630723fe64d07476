// How much memory do a reading, an import and an export need, and how long does anything else wait meanwhile? Each runs in a
// process of its own, with a document of generated issues and the SQLite file of a standalone server.
// Usage: npm run build && node bench/exchange-memory.mjs [issues, default 1000000]
import { createWriteStream, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readIssues } from 'forgelet/exchange'
import { openIssueSource, writeIssueFile } from 'forgelet/exchange/files'
import { openStandalone } from 'forgelet/standalone'
import { countOf, issueDocument } from './exchange.mjs'
import { inFolder, startProcess } from './harness.mjs'

const FIXTURE = { users: [{ username: 'ada' }], repositories: [{ owner: 'ada', name: 'rocket' }] }
const REPOSITORY = '1'

/** Each returns the number of issues. */
const WORK = {
  nothing: () => 0,
  read: async (document) => countOf(readIssues(await openIssueSource(document))),
  async import(document, { forge }) {
    const records = readIssues(await openIssueSource(document))
    const { issues } = await forge.exchange.import('system', { repositoryId: REPOSITORY, records })
    return issues.created
  },
  async export(document, { forge }) {
    let issues = 0
    const counted = async function* () {
      for await (const issue of forge.exchange.export('system', REPOSITORY)) {
        issues += 1
        yield issue
      }
    }
    await writeIssueFile(`${document}.exported`, counted())
    return issues
  },
}

if (process.send === undefined) await measure(Number(process.argv[2] ?? 1_000_000))
else await work(...process.argv.slice(2))

function measure(issues) {
  return inFolder(async (folder) => {
    for (const count of [issues / 10, issues]) {
      const [document, database] = [join(folder, `${count}.json`), join(folder, `${count}.sqlite`)]
      await pipeline(Readable.from(issueDocument(count)), createWriteStream(document))
      console.log(`${count} issues, ${megabytes(statSync(document).size)} MB`)
      for (const name of Object.keys(WORK)) {
        const { message } = await startProcess(import.meta.filename, [name, document, database])
        console.log(`  ${name}: ${message}`)
      }
      rmSync(document)
    }
  })
}

/** In a process of its own: works, and reports. The log of SQLite never shrinks before it is closed. */
async function work(name, document, database) {
  const host =
    name === 'import' || name === 'export' ? await openStandalone({ db: database, fixture: FIXTURE }) : undefined
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const issues = await WORK[name](document, host)
  delay.disable()
  const { user, system } = process.cpuUsage()
  const log = statSync(`${database}-wal`, { throwIfNoEntry: false })
  await host?.close()
  const parts = [
    `${issues} issues, CPU ${((user + system) / 1e6).toFixed(1)} s, peak ${peak()} MB`,
    `delay of the event loop p99 ${milliseconds(delay.percentile(99))} ms, at most ${milliseconds(delay.max)} ms`,
    ...(log === undefined ? [] : [`log of SQLite ${megabytes(log.size)} MB`]),
  ]
  process.send(parts.join(', '), () => process.exit())
}

/** The most memory that this process had, in MB. What getrusage reports contains that of the process that started it. */
function peak() {
  const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))
  return Math.round(kilobytes / 1024)
}

function milliseconds(nanoseconds) {
  return (nanoseconds / 1e6).toFixed(0)
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(0)
}
