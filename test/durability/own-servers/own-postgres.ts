import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { OwnServer, ServerRecipe } from './own-server.ts'
import { startOwnServer } from './own-server.ts'

const DEBIAN = '/usr/lib/postgresql'

/** Where the newest PostgreSQL's programs are; undefined when none is installed. */
export function postgresBin(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined

  const versions = readdirSync(DEBIAN).sort((one, other) => Number(other) - Number(one))
  return versions.map((version) => join(DEBIAN, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
}

/** Starts a PostgreSQL that loses nothing: with its own settings. */
export function startOwnPostgres(bin: string): Promise<OwnServer> {
  return startOwnServer(recipe(bin))
}

function recipe(bin: string): ServerRecipe {
  const url = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    user: 'postgres',
    install: (folder) => [
      [
        join(bin, 'initdb'),
        '-D',
        join(folder, 'data'),
        '-A',
        'trust',
        '-U',
        'postgres',
        '--no-sync',
        '-E',
        'UTF8',
        '--locale=C.UTF-8',
      ],
    ],
    serve(folder, port, settings) {
      const own = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings]
      const options = own.flatMap((setting) => ['-c', setting])
      return [join(bin, 'postgres'), '-D', join(folder, 'data'), '-p', String(port), ...options]
    },
    url,
    async ask(port) {
      const client = new pg.Client({ connectionString: url(port) })
      client.on('error', () => undefined)
      try {
        await client.connect()
        await client.query('select 1')
      } finally {
        await client.end().catch(() => undefined)
      }
    },
  }
}
