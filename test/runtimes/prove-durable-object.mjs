// Proves the storage of Durable Objects on workerd: the published contract and what is special to an object, each case in an
// object of its own.
// Arguments: the folder where Miniflare is, and the folder of the built package.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { bundle } from './bundle.mjs'
import { send } from './http/client.mjs'
import { Report } from './report.mjs'
import { startWorker } from './workers.mjs'

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
// One after another, each over a connection of its own: a case keeps the one thread of all objects for seconds on a busy machine,
// and workerd counts them as idle time of its connections, which it then closes.
await report.run(names.map(caseOf))
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
  const { status, text } = await send(port, { method: 'GET', path })
  if (status === 200) return text
  throw new Error(`${status}: ${text}`)
}
