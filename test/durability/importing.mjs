// One of several processes that import one document into the standalone host of a database: with each line it imports all
// of it, and prints the report. Arguments: the database, as `--db` of `forgelet serve`; how many issues.
import { createInterface } from 'node:readline'
import { openStandalone } from '../../dist/standalone.js'

const [db, count] = process.argv.slice(2)
const host = await openStandalone({ db })
process.stdout.write('ready\n')

for await (const _line of createInterface({ input: process.stdin })) {
  const request = { repositoryId: '1', records: records() }
  const report = await host.forge.exchange.import('system', request, { batch: 10 })
  process.stdout.write(`${JSON.stringify(report)}\n`)
}
await host.close()

function* records() {
  for (let number = 1; number <= Number(count); number += 1) {
    const written = {
      poster_id: 7,
      poster_name: 'zoe',
      created: '2020-01-01T00:00:00Z',
      updated: '2020-01-01T00:00:00Z',
    }
    const labels = [{ name: 'bug' }, { name: `label ${number % 5}` }]
    const milestone = `${number % 3}.0`
    const issue = { number, ...written, title: `Number ${number}`, content: 'Text', state: 'open', is_locked: false }
    yield { kind: 'issue', issue: { ...issue, labels, milestone } }
    yield { kind: 'comment', comment: { issue_number: number, ...written, content: 'First' } }
    yield { kind: 'comment', comment: { issue_number: number, ...written, content: 'Second' } }
  }
}
