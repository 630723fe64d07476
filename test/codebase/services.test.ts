import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SERVICE_KEYS } from '../../src/core/bind-services.ts'
import { routeTable } from '../../src/http-adapters/routes/route-table.ts'

// What a service has that no compiler asks for: its public exports, and its place in the pages.

const root = resolve(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Exports of services and rules that only other files of the library use. */
const INTERNAL = ['BlockRequest', 'EventParts', 'checkSlug', 'checkSlugs', 'eventService', 'retirementEvent']

/** The names that a file declares and exports, except for the classes whose methods `bind-services.ts` binds. */
function exportsOf(text: string): readonly string[] {
  const declared = text.matchAll(/^export (?:interface|type|class|const|(?:async )?function\*?) (\w+)/gm)
  return [...declared].map(([, name = '']) => name).filter((name) => !name.endsWith('ServiceMethods'))
}

const CONTRACTS = readdirSync(join(root, 'src/core'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /-(?:service|rules)\.ts$/.test(file))
  .map((file) => `src/core/${file}`)

describe('src/index.ts', () => {
  const exported = [...read('src/index.ts').matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())

  test.each(CONTRACTS)('exports what hosts use of %s', (file) => {
    const missing = exportsOf(read(file)).filter((name) => !exported.includes(name) && !INTERNAL.includes(name))

    expect(missing, 'add these to src/index.ts, or to INTERNAL in this test if no host needs them').toEqual([])
  })

  test('has no export that this test calls internal, and each of those exists', () => {
    expect(INTERNAL.filter((name) => exported.includes(name))).toEqual([])
    expect(CONTRACTS.flatMap((file) => exportsOf(read(file)))).toEqual(expect.arrayContaining(INTERNAL))
  })
})

describe.each(Object.keys(SERVICE_KEYS))('the service %s', (service) => {
  test('has a section in docs/behaviour.md', () => {
    const heading = service.charAt(0).toUpperCase() + service.slice(1).replaceAll('-', ' ')

    expect(read('docs/behaviour.md').split('\n')).toContain(`## ${heading}`)
  })

  test('has a row in docs/mounting.md, with the ports that it needs', () => {
    expect(read('docs/mounting.md')).toContain(`\n| \`${service}\` |`)
  })
})

test('the list of routes in README.md is that of the API', () => {
  const listed = [...read('README.md').matchAll(/^\| \d+ \| `([A-Z]+ [^`?]+)/gm)].map(([, route]) => route)

  expect(listed).toEqual(routeTable.map(({ method, path }) => `${method} ${path}`))
})
