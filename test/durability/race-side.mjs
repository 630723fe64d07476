// One side of the races between two processes: executes commands, one a line, and prints how it ended.
// Argument: the SQLite file, which holds the host's tables too.

import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import { actions, slowPorts } from './host-tables.mjs'
import { openForge, owner } from './open-forge.mjs'

const handle = new Database(process.argv[2])
const forge = await openForge(handle, { ...slowPorts(handle), limits: { maxPins: { issue: 1000 } } })
const perform = actions(handle, forge, owner)
process.stdout.write('ready\n')

for await (const line of createInterface({ input: process.stdin })) {
  const [action, first, second] = line.split(' ')
  process.stdout.write(`${await perform[action](first, second)}\n`)
}
await forge.close()
handle.close()
