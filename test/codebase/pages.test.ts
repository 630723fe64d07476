import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

it('the reference has every environment variable that the command reads', () => {
  const [described = ''] = /export interface Environment \{[\s\S]*?\n\}/.exec(sourceOf('app/cli/command.ts')) ?? []
  const variables = [...sourceOf('app/cli/cli.ts').matchAll(/process\.env\['(\w+)'\]/g)]

  expect(variables.length).toBeGreaterThan(0)
  for (const [, name] of variables) expect(described).toContain(`readonly ${name}?: `)
})

function sourceOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
