import { describe, expect, test } from 'vitest'
import { storageContract } from '../../src/testing/testing.ts'
import { contractSuite, QUICK_FORM, SHORT_FORM } from './contract-suite.ts'
import { memoryKind } from './databases/memory.ts'
import { pgliteKind } from './databases/pglite.ts'

describe('memory', () => contractSuite(memoryKind()))
describe('PostgreSQL in this process', () => contractSuite(pgliteKind(), (name) => QUICK_FORM.test(name)))

test('the short form has an eighth of the cases, or more, and the shortest a sixteenth', () => {
  const { open, host } = memoryKind()
  const names = storageContract(open, host).map(({ name }) => name)

  expect(names.filter((name) => SHORT_FORM.test(name)).length).toBeGreaterThan(names.length / 8)
  expect(names.filter((name) => QUICK_FORM.test(name)).length).toBeGreaterThan(names.length / 16)
})
