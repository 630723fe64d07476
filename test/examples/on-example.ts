import { afterEach, beforeEach } from 'vitest'
import type { HostDatabase } from './host-databases.ts'
import type { RunningExample } from './running-example.ts'
import { startExample } from './running-example.ts'

/** What a test of an example works with. */
export interface ExampleBench<Database extends HostDatabase> {
  readonly database: Database
  readonly example: RunningExample
}

/** Starts an example for each test of the group, on a database of its own. */
export function onExample<Database extends HostDatabase>(
  name: string,
  makeDatabase: () => Promise<Database>,
): () => ExampleBench<Database> {
  let database: Database | undefined
  let example: RunningExample | undefined

  beforeEach(async () => {
    database = await makeDatabase()
    example = await startExample(name, database.env)
  })
  afterEach(async () => {
    await example?.stop()
    await database?.drop()
    example = undefined
    database = undefined
  })

  return () => {
    if (database === undefined || example === undefined) throw new Error('the example is not running')
    return { database, example }
  }
}
