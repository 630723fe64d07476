// Asks for a hundred pins, moves and unpins on one board at once, on each command, and says how they ended.
// Argument: the SQLite file.
import { createInterface } from 'node:readline'
import { openForge, owner } from './open-forge.mjs'

const forge = await openForge(process.argv[2])
process.stdout.write('ready\n')

for await (const line of createInterface({ input: process.stdin })) {
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, n) => outcomeOf(n)))
  process.stdout.write(`${JSON.stringify({ line, outcomes })}\n`)
}
await forge.close()

async function outcomeOf(n) {
  const issue = { id: String(100 + Math.floor(Math.random() * 7)), repositoryId: '10', kind: 'issue' }
  try {
    if (n % 5 < 2) await forge.pins.pin(owner, issue)
    else if (n % 5 < 4) await forge.pins.move(owner, { issue, position: 1 + Math.floor(Math.random() * 4) })
    else await forge.pins.unpin(owner, issue)
    return 'done'
  } catch (error) {
    return error.code ?? String(error)
  }
}
