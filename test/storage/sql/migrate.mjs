// A process that brings the tables of one database up to date, on command; the built package.
const database = process.argv[2] ?? ''
const storage = await opened()
process.stdout.write('ready\n')
process.stdin.once('data', async () => {
  await storage.migrate()
  process.stdout.write(`${(await storage.schemaStatus()).state}\n`)
  await storage.close()
})

async function opened() {
  if (database.startsWith('postgres:'))
    return (await import('../../../dist/storage/postgres.js')).postgresStorage(database)
  if (database.startsWith('mysql:')) return (await import('../../../dist/storage/mariadb.js')).mariadbStorage(database)
  return (await import('../../../dist/storage/sqlite.js')).sqliteStorage(database)
}
