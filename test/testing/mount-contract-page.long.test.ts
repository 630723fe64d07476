import { test } from 'vitest'
import { mountContract } from '../../src/testing/testing.ts'
import { onSnippets } from './page-snippets.ts'

onSnippets('docs/mount-contract.md', ['vitest'], (snippets) => {
  test('run the contract with node --test, and nothing known', { timeout: 120_000 }, async () => {
    await snippets.expectNodeTest(0, mountContract(() => Promise.reject(new Error('not run'))).length)
  })

  test('run the contract with vitest, and what it may know', { timeout: 120_000 }, async () => {
    await snippets.expectVitest(1)
  })
})
