import { test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { storageContract } from '../../src/testing/testing.ts'
import { onSnippets } from './page-snippets.ts'

onSnippets('docs/writing-a-storage.md', ['better-sqlite3', 'vitest'], (snippets) => {
  test('run the contract with node --test', { timeout: 120_000 }, async () => {
    await snippets.expectNodeTest(0, storageContract(async () => memoryStorage()).length)
  })

  test('run the contract with vitest, and a host', { timeout: 240_000 }, async () => {
    await snippets.expectVitest(1)
  })
})
