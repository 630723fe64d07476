import { describe, test } from 'vitest'

/** A database server that tests can be run on, and the variable that names its URL. */
export interface TestServer {
  readonly name: string
  readonly variable: string
}

/** Every server that tests know. */
export const SERVERS: { readonly postgres: TestServer; readonly mariadb: TestServer } = {
  postgres: { name: 'PostgreSQL', variable: 'FORGELET_TEST_POSTGRES_URL' },
  mariadb: { name: 'MariaDB', variable: 'FORGELET_TEST_MARIADB_URL' },
}

/** The URL of a server; undefined when this run has none. */
export function urlOf({ variable }: TestServer): string | undefined {
  const url = process.env[variable]
  return url === '' ? undefined : url
}

/** Whether a server that is missing is a failure. */
export function serversAreRequired(): boolean {
  return process.env['FORGELET_REQUIRE_DB'] === '1'
}

/**
 * Defines tests that need a server. Without one they are skipped, of which the run says one line
 * (test/codebase/setup/report-skipped.ts); with `FORGELET_REQUIRE_DB=1` they are one test, and that fails.
 */
export function onServer(server: TestServer, suite: (url: string) => void): void {
  const url = urlOf(server)
  if (url !== undefined) {
    describe(`on ${server.name}`, () => suite(url))
    return
  }

  const required = serversAreRequired()
  describe.skipIf(!required)(`on ${server.name}`, () => {
    test('there is a server', () => {
      throw new Error(`FORGELET_REQUIRE_DB=1 asks for ${server.name}, and ${server.variable} names none`)
    })
  })
}
