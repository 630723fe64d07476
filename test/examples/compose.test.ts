import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { databaseOf } from '../../src/cli/database.ts'
import { createProgram } from '../../src/cli/program.ts'

// examples/many-processes/compose.yaml, as Compose and the command read it.

const noOutput = {
  out: () => undefined,
  err: () => undefined,
  write: async () => undefined,
  showStatus: undefined,
  stop: new AbortController().signal,
  environment: {},
}

const folder = resolve(import.meta.dirname, '../../examples/many-processes')

const Seconds = z.string().regex(/^\d+s$/)
const Service = z.strictObject({
  image: z.string().regex(/^[a-z0-9./-]+(:[a-z0-9.-]+)?$/),
  build: z.strictObject({ dockerfile_inline: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()),
  volumes: z.array(z.string()),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/)).optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  healthcheck: z.strictObject({
    test: z.tuple([z.literal('CMD')], z.string()),
    interval: Seconds,
    timeout: Seconds,
    retries: z.int(),
    start_period: Seconds.optional(),
  }),
  stop_grace_period: Seconds.optional(),
  init: z.boolean().optional(),
  restart: z.literal('unless-stopped'),
})
const Compose = z.strictObject({
  name: z.string(),
  'x-forge': Service,
  services: z.strictObject({ database: Service, 'forge-1': Service, 'forge-2': Service, proxy: Service }),
  volumes: z.record(z.string(), z.strictObject({})),
})

/** How the files name the password, which is a variable of the environment. */
const PASSWORD = '$' + '{DATABASE_PASSWORD:?set it}'

const { services, volumes } = Compose.parse(parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }))
const { database, proxy } = services
const forges = [services['forge-1'], services['forge-2']]

/** The options of a process, as the command reads them in its container. */
function optionsOf({ command = [], environment }: z.infer<typeof Service>) {
  const [file, name, ...args] = command
  expect([file, name]).toEqual(['node_modules/.bin/forgelet', 'serve'])
  const serve = createProgram(noOutput, async () => undefined).commands.find((sub) => sub.name() === 'serve')
  expect(serve?.parseOptions(args)).toEqual({ operands: [], unknown: [] })
  const database = databaseOf({}, { FORGELET_DB: withPassword(environment['FORGELET_DB'] ?? '') })
  return { ...serve?.opts(), database }
}

function withPassword(text: string): string {
  return text.replaceAll(PASSWORD, 'secret')
}

test('starts the database, two processes on it and the proxy, each when those before it are ready', () => {
  expect(forges.map(({ depends_on }) => Object.keys(depends_on ?? {}))).toEqual([['database'], ['database']])
  expect(Object.keys(proxy.depends_on ?? {})).toEqual(['forge-1', 'forge-2'])
})

test('gives every process a command line that forgelet accepts, and the database that the server makes', () => {
  for (const forge of forges) {
    const { database: address, ...options } = optionsOf(forge)
    const { host, port, fixture } = options as Record<string, unknown>
    expect([address.kind, host, port]).toEqual(['postgres', '0.0.0.0', 3000])
    expect(forge.volumes).toContain(`./fixture.json:${fixture}:ro`)
    const url = new URL(address.db)
    const made = Object.values(database.environment).map(withPassword)
    expect(made).toEqual(expect.arrayContaining([url.username, url.pathname.slice(1), url.password]))
    expect(database.environment['POSTGRES_PASSWORD']).toBe(PASSWORD)
    expect(url.hostname).toBe('database')
    expect(Number(url.searchParams.get('max')) * forges.length).toBeLessThan(97)
  }
})

test('names files that exist, and volumes that are declared', () => {
  for (const volume of Object.values(services).flatMap((service) => service.volumes)) {
    const [source = ''] = volume.split(':')
    expect(source.startsWith('./') ? existsSync(join(folder, source)) : source in volumes, volume).toBe(true)
  }
})

test('leads the proxy to every process, and asks each whether it is ready', () => {
  const variables = readFileSync(join(folder, 'haproxy.cfg'), 'utf8').matchAll(/"\$\{(\w+)\}"/g)
  expect([...variables].map(([, name]) => name).sort()).toEqual(Object.keys(proxy.environment).sort())
  expect(proxy.environment).toEqual({ BIND: ':3000', FORGE_1: 'forge-1:3000', FORGE_2: 'forge-2:3000' })
  for (const one of [...forges, proxy]) expect(one.healthcheck.test.at(-1)).toContain('http://127.0.0.1:3000/readyz')
})
