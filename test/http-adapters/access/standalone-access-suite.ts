import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routeTable } from '../../../src/http-adapters/routes/route-table.ts'
import type { Standalone } from '../../../src/standalone/standalone.ts'
import { openStandalone } from '../../../src/standalone/standalone.ts'
import { cellsOf, mismatches } from './access-cells.ts'
import { accessWorld, FIXTURE, KEY } from './access-world.ts'

/** The access table on a standalone host, in a database that is empty. */
export function standaloneAccessSuite(name: string, database: () => Promise<string>): void {
  describe(`the access table of a standalone host on ${name}`, () => {
    let host: Standalone

    beforeAll(async () => {
      host = await openStandalone({ db: await database(), fixture: FIXTURE, signingKey: KEY })
    })

    afterAll(() => host.close())

    test.each(routeTable.map((route) => [`${route.method} ${route.path}`, route] as const))(
      'holds for %s',
      async (_name, route) => {
        const found: string[] = []
        for await (const line of mismatches(accessWorld(host), cellsOf(route))) found.push(line)
        expect(found).toEqual([])
      },
      120_000,
    )
  })
}
