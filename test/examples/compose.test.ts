import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { definedCommands } from '../start-forgelet.ts'

// examples/many-processes/compose.yaml, as Compose and the command read it.

/** What the tests read of a service. */
interface Service {
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly depends_on?: object
  readonly healthcheck: { readonly test: readonly string[] }
}

const folder = resolve(import.meta.dirname, '../../examples/many-processes')
const file = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true })
const { database, proxy, ...forges }: Readonly<Record<'database' | 'proxy' | 'forge-1' | 'forge-2', Service>> =
  file.services

test.each(Object.values(forges))('a process has a command line that forgelet accepts, and its database', (forge) => {
  const [command, name, ...args] = forge.command ?? []
  expect([command, name]).toEqual(['node_modules/.bin/forgelet', 'serve'])
  const serve = definedCommands().commands.find((sub) => sub.name() === 'serve')
  expect(serve?.parseOptions(args)).toEqual({ operands: [], unknown: [] })
  const { host, port, fixture } = serve?.opts() ?? {}
  expect([host, port]).toEqual(['0.0.0.0', 3000])
  expect(forge.volumes).toContain(`./fixture.json:${fixture}:ro`)

  const password = '$' + '{DATABASE_PASSWORD:?set it}'
  const url = new URL(forge.environment['FORGELET_DB']?.replace(password, 'secret') ?? '')
  expect([url.protocol, url.hostname, url.password]).toEqual(['postgres:', 'database', 'secret'])
  expect(database.environment).toMatchObject({
    POSTGRES_USER: url.username,
    POSTGRES_DB: url.pathname.slice(1),
    POSTGRES_PASSWORD: password,
  })
  expect(Number(url.searchParams.get('max')) * Object.keys(forges).length).toBeLessThan(97)
})

test('names files that exist, and volumes that are declared', () => {
  for (const volume of [database, proxy, ...Object.values(forges)].flatMap((service) => service.volumes)) {
    const [source = ''] = volume.split(':')
    expect(source.startsWith('./') ? existsSync(join(folder, source)) : source in file.volumes, volume).toBe(true)
  }
})

test('leads the proxy to every process, and asks each whether it is ready', () => {
  const variables = readFileSync(join(folder, 'haproxy.cfg'), 'utf8').matchAll(/"\$\{(\w+)\}"/g)
  expect([...variables].map(([, name]) => name).sort()).toEqual(Object.keys(proxy.environment).sort())
  expect(proxy.environment).toEqual({ BIND: ':3000', FORGE_1: 'forge-1:3000', FORGE_2: 'forge-2:3000' })
  expect(Object.keys(proxy.depends_on ?? {})).toEqual(Object.keys(forges))
  for (const { healthcheck } of [...Object.values(forges), proxy]) {
    expect(healthcheck.test.at(-1)).toContain('http://127.0.0.1:3000/readyz')
  }
})
