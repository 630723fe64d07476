// Serves the worlds with Bun.serve, in memory and on bun:sqlite. Argument: a folder for databases. Prints its port.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { worldListener } from './worlds.mjs'

const folder = process.argv[2]
const listener = worldListener({
  memory: () => undefined,
  async 'bun-sqlite'(name) {
    const storage = sqliteStorage(new Database(join(folder, `${name}.sqlite`)))
    await storage.migrate()
    return storage
  },
})

const { port } = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => listener(request) })
process.stdout.write(`${port}\n`)
