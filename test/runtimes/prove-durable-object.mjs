// Proves the storage of Durable Objects on workerd: the published contract and what is special to an object, each case in an
// object of its own. One line for each failure, and a last line with the counts; the exit code is 1 when something failed.
// Arguments: the folder where Miniflare is, and the folder of the built package.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { bundle } from './bundle.mjs'
import { startWorker } from './workers.mjs'

/** Cases that run at once; an object has one thread with all others. */
const AT_ONCE = 8
/** Milliseconds that a case may take: some race hundreds of writers. */
const PATIENCE = 60_000

const [folder, dist] = process.argv.slice(2)
const file = await bundle({
  entry: join(import.meta.dirname, 'durable-object/contract-worker.mjs'),
  dist,
  outfile: join(folder, 'contract-worker.mjs'),
  whole: true,
})
const { port, stop } = await startWorker({
  folder,
  file,
  objects: {
    CASES: { className: 'CaseObject', useSQLite: true },
    PLAIN: { className: 'PlainObject' },
    KEPT: { className: 'KeptObject', useSQLite: true },
  },
  flags: ['nodejs_compat'], // of the test kit, which asserts with node:assert
})

const names = JSON.parse(await textOf('/'))
let passed = 0
let failed = 0
const waiting = names.keys()
await Promise.all(Array.from({ length: AT_ONCE }, work))
await prove('a Durable Object without SQLite says itself what is missing', async () => {
  assert.match(await textOf('/plain'), /new_sqlite_classes/)
})
await prove('what was answered is there when the object starts again', async () => {
  assert.equal(await textOf('/kept/pin'), '7')
  await assert.rejects(textOf('/kept/abort'), /^Error: 500/)
  assert.equal(await textOf('/kept/pins'), '7')
})
await prove('a statement that is left writing ends the object, without what it wrote in that turn', async () => {
  await assert.rejects(textOf('/kept/leave'), /^Error: 500/)
  assert.equal(await textOf('/kept/pins'), '7')
})
await stop()
say(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && names.length > 0 ? 0 : 1

async function work() {
  for (const index of waiting) {
    await prove(names[index], async () => {
      const { failure } = JSON.parse(await textOf(`/case/${index}`))
      if (failure !== undefined) throw failure
    })
  }
}

async function prove(name, check) {
  try {
    await check()
    passed += 1
  } catch (error) {
    failed += 1
    say(`FAIL  ${name}: ${error instanceof Error ? error.stack : String(error)}`)
  }
}

async function textOf(path) {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(PATIENCE) })
  const text = await reply.text()
  if (reply.ok) return text
  throw new Error(`${reply.status}: ${text}`)
}

function say(line) {
  process.stdout.write(`${line}\n`)
}
