// How much memory does a reading need? Writes a document of generated issues and reads it in a process of its own.
// Usage: npm run build && node --expose-gc bench/exchange-memory.mjs [issues, default 1000000]
import { fork } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readIssues } from 'forgelet/exchange'
import { openIssueSource } from 'forgelet/exchange/files'
import { issueLine } from './exchange.mjs'

if (process.send === undefined) await measure(Number(process.argv[2] ?? 1_000_000))
else await read(process.argv[2])

async function measure(issues) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-exchange-'))
  const file = join(folder, 'issues.json')
  const base = await peakOf(undefined)
  try {
    for (const count of [issues / 10, issues]) {
      await pipeline(Readable.from(document(count)), createWriteStream(file))
      const { records, peak, cpu } = await peakOf(file)
      const size = (statSync(file).size / 1e6).toFixed(0)
      console.log(
        `${records} issues, ${size} MB: peak ${peak} MB (an empty process ${base.peak} MB), CPU ${cpu.toFixed(1)} s`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function* document(count) {
  yield '[\n'
  const lines = []
  for (let number = 1; number <= count; number += 1) {
    lines.push(`${issueLine(number)}${number === count ? '\n]\n' : ',\n'}`)
    if (lines.length === 100) yield lines.splice(0).join('')
  }
  yield lines.join('')
}

function peakOf(file) {
  return new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, file === undefined ? [] : [file])
    child.once('message', resolve).once('exit', () => reject(new Error('the reader ended')))
  })
}

async function read(file) {
  let records = 0
  if (file !== undefined)
    for await (const issue of readIssues(await openIssueSource(file))) records += issue.number > 0 ? 1 : 0
  const { user, system } = process.cpuUsage()
  process.send({ records, peak: Math.round(process.resourceUsage().maxRSS / 1024), cpu: (user + system) / 1e6 }, () =>
    process.exit(),
  )
}
