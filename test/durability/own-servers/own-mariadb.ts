import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import type { OwnServer, ServerRecipe } from './own-server.ts'
import { startOwnServer } from './own-server.ts'

/** Where MariaDB's programs are. */
export interface MariadbPrograms {
  readonly serve: string
  readonly install: string
}

/** Finds MariaDB's programs; undefined when it is not installed. */
export function mariadbPrograms(): MariadbPrograms | undefined {
  const serve = found('mariadbd')
  const install = found('mariadb-install-db')
  return serve === undefined || install === undefined ? undefined : { serve, install }
}

/** Starts a MariaDB that loses nothing: with its own settings. */
export function startOwnMariadb(programs: MariadbPrograms): Promise<OwnServer> {
  return startOwnServer(recipe(programs))
}

function recipe(programs: MariadbPrograms): ServerRecipe {
  const address = (port: number): string => `mysql://root@127.0.0.1:${port}/`
  return {
    user: 'mysql',
    install: (folder) => [
      [
        programs.install,
        '--no-defaults',
        `--datadir=${join(folder, 'data')}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ],
    ],
    serve: (folder, port, settings) => [
      programs.serve,
      '--no-defaults',
      `--datadir=${join(folder, 'data')}`,
      `--socket=${join(folder, 'socket')}`,
      `--pid-file=${join(folder, 'pid')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      ...settings.map((setting) => `--${setting}`),
    ],
    url: (port) => `${address(port)}forge`,
    async ask(port) {
      const connection = await createConnection(address(port))
      try {
        await connection.query('create database if not exists forge')
      } finally {
        await connection.end()
      }
    },
  }
}

function found(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}
