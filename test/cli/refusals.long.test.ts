import { afterAll, beforeAll, describe, test } from 'vitest'
import { runCommand } from './command.ts'
import { RefusalFolder } from './refusal-folder.ts'
import { REFUSED } from './refused-commands.ts'

// Real child processes of dist/cli.js, which must also end.

let folder: RefusalFolder

beforeAll(async () => {
  folder = await RefusalFolder.create()
})

afterAll(() => folder.end())

describe('a process of forgelet ends, refusing', () => {
  test.each(REFUSED.map((refusal) => [refusal[0], refusal] as const))('%s', async (_, refusal) => {
    await folder.expectRefusal(refusal, runCommand)
  })
})
