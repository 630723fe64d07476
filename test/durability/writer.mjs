// Changes a forge on an SQLite file in lanes until it is killed, and says how each change ended.
// Arguments: the file; the number of the next change of each lane, as JSON.
import { writeSync } from 'node:fs'
import { createForge } from '../../dist/index.js'
import { sqliteStorage } from '../../dist/storage/sqlite.js'
import { LANES, PORTS, step } from './steps.mjs'

const [file, next] = process.argv.slice(2)
const storage = sqliteStorage(file)
await storage.migrate()
const forge = createForge({ storage, ...PORTS })

await Promise.all(
  Object.entries(JSON.parse(next)).map(async ([at, first]) => {
    for (let n = first; ; n += 1) {
      const outcome = await step(forge, LANES[at], n)
      writeSync(1, `${at} ${outcome}\n`) // in one call of the system, so that SIGKILL takes nothing back
    }
  }),
)
