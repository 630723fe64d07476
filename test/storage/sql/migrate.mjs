// A process that brings the tables of one file up to date, as soon as it is told to; the built package.
import { sqliteStorage } from '../../../dist/storage/sqlite.js'

const storage = sqliteStorage(process.argv[2] ?? '')
process.stdout.write('ready\n')
process.stdin.once('data', async () => {
  await storage.migrate()
  process.stdout.write(`${(await storage.schemaStatus()).state}\n`)
  await storage.close()
})
