// Proves the storage of Durable Objects on workerd: the published contract and what is special to an object, each case in an
// object of its own.
// Arguments: the folder where Miniflare is, and the folder of the built package.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { bundle } from './bundle.mjs'
import { Report } from './report.mjs'
import { startWorker } from './workers.mjs'

/** Cases that run at once; an object has one thread with all others. */
const AT_ONCE = 8

/** What an object does that no other storage can. */
const FACTS = {
  async 'a Durable Object without SQLite says itself what is missing'() {
    assert.match(await textOf('/plain'), /new_sqlite_classes/)
  },
  async 'what was answered is there when the object starts again'() {
    assert.equal(await textOf('/kept/pin'), '7')
    await assert.rejects(textOf('/kept/abort'), /^Error: 500/)
    assert.equal(await textOf('/kept/pins'), '7')
  },
  async 'a statement that is left writing ends the object, without what it wrote in that turn'() {
    await assert.rejects(textOf('/kept/leave'), /^Error: 500/)
    assert.equal(await textOf('/kept/pins'), '7')
  },
}

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
assert.ok(names.length > 0)
const report = new Report()
await report.run(names.map(caseOf), AT_ONCE)
await report.run(Object.entries(FACTS).map(([name, run]) => ({ name, run })))
await stop()
report.end()

function caseOf(name, index) {
  const run = async () => {
    const { failure } = JSON.parse(await textOf(`/case/${index}`))
    if (failure !== undefined) throw failure
  }
  return { name, run }
}

async function textOf(path) {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`)
  const text = await reply.text()
  if (reply.ok) return text
  throw new Error(`${reply.status}: ${text}`)
}
