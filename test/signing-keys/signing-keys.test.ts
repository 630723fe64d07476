import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const module = new URL('../../src/signing-keys/', import.meta.url)

test('openpgp is loaded when a key is made, never with the entry', () => {
  const sources = readdirSync(module).map((name) => readFileSync(new URL(name, module), 'utf8'))
  const imports = sources.flatMap((source) => source.match(/^(?:import|export)\b.*'openpgp'/gm) ?? [])

  expect(imports).toEqual([])
})
