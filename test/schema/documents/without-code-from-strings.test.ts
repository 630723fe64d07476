// Workers and pages with a strict content security policy make no code from strings: checks are interpreted there.
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IssueValidation } from '../../../src/schema/schema.ts'
import { invalidDocuments, validDocuments, vastDocuments } from './document-cases.ts'

interface Answer {
  readonly validation: IssueValidation
  /** How often making code was tried so far. */
  readonly tried: number
}

describe('where no code may be made from strings', () => {
  let child: ChildProcess

  beforeAll(async () => {
    child = fork(join(import.meta.dirname, 'without-code-from-strings.mjs'), {
      execArgv: ['--disallow-code-generation-from-strings'],
      serialization: 'advanced',
    })
    await once(child, 'message')
  })

  afterAll(() => child.kill())

  async function answerTo(document: { readonly value: unknown } | { readonly text: string }): Promise<Answer> {
    const answered = once(child, 'message')
    child.send(document)
    const [answer] = await answered
    return answer
  }

  test('making it is tried, and refused', async () => {
    expect(await answerTo({ value: [{}] })).toMatchObject({
      validation: { valid: false },
      tried: expect.toSatisfy((n) => n > 0),
    })
  })

  test.each(validDocuments)('accepts %s', async (_, document) => {
    expect((await answerTo({ value: document })).validation).toStrictEqual({ valid: true, issues: document })
  })

  test.each(invalidDocuments)('refuses %s', async (_, document, faults) => {
    const violations = faults.map(([pointer, code, message]) => ({ pointer, code, message }))

    expect((await answerTo({ value: document })).validation).toStrictEqual({ valid: false, violations })
  })

  test.each(vastDocuments)('refuses %s', async (_, text, pointer) => {
    const { validation } = await answerTo({ text })

    expect(!validation.valid && validation.violations[0]?.pointer).toBe(pointer)
  })
})
