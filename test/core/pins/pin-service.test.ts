import { describe, expect, test } from 'vitest'
import type { IssueRef } from '../../../src/index.ts'
import { aForge, olga } from '../a-forge.ts'

const issue = (id: number | string, repositoryId = '10'): IssueRef => ({ id, repositoryId, kind: 'issue' })
const board = { repositoryId: '10', kind: 'issue' } as const

describe('the pin service', () => {
  test('finds the positions of issues of several repositories, by the ids as they were given', async () => {
    const asked: unknown[] = []
    const forge = aForge({
      policy: {
        authorize(request) {
          asked.push(request)
          return { allow: true }
        },
      },
    })
    for (const one of [issue(7), issue(8), issue(9, '11')]) await forge.pins.pin('system', one)
    const pull = { id: 5, repositoryId: 10, kind: 'pullRequest' } as const
    await forge.pins.pin('system', pull)

    const ids = [issue(8), issue('7'), issue(6), { ...issue(9, '11'), id: 9n }, issue(9), pull]
    expect([...(await forge.pins.positions(olga, ids))]).toEqual([
      [8, 2],
      ['7', 1],
      [9n, 1],
      [5, 1],
    ])
    expect(asked).toEqual(['10', '11'].map((repositoryId) => ({ action: 'pins.read', repositoryId })))
  })

  test('shows the board as each change leaves it, and whether another pin is allowed', async () => {
    const { pins } = aForge({ limits: { maxPins: { pullRequest: 1 } } })
    const pull = { ...issue(6), kind: 'pullRequest' } as const
    const shown = (id: string, position: number, pinnedBy: string | null = '1') => {
      return { issueId: id, position, pinnedAt: new Date('2026-01-02T03:04:05Z'), pinnedBy }
    }
    expect(await pins.pin(olga, issue(7))).toEqual(shown('7', 1))
    expect(await pins.pin('system', issue(8))).toEqual(shown('8', 2, null))
    expect(await pins.move(olga, { issue: issue(8), position: 1 })).toEqual(shown('8', 1, null))
    expect(await pins.move(olga, { issue: issue(8), position: 1 })).toEqual(shown('8', 1, null))
    expect(await pins.list(olga, board)).toEqual([shown('8', 1, null), shown('7', 2)])
    expect(await pins.allowed(olga, 10)).toEqual({ issue: true, pullRequest: true })
    await pins.pin(olga, pull)
    await pins.pin(olga, issue(9))
    expect(await pins.allowed(olga, 10)).toEqual({ issue: false, pullRequest: false })
    expect(await pins.unpin(olga, issue(7))).toBeUndefined()
    const history = (await pins.history(olga, issue(7))).map(({ type, data }) => [type, data])
    expect(history).toEqual([
      ['issue.pinned', { position: 1 }],
      ['issue.unpinned', { position: 2 }],
    ])
  })

  test.each([
    [{ id: 7 }, 'issues must be an array'],
    [[7], 'issue must be an object'],
    [[{ id: 7, repositoryId: 10, kind: 'pull' }], "'issue' or 'pullRequest'"],
  ])('takes no positions of %j', async (issues, message) => {
    const { pins } = aForge()
    await expect(Reflect.apply(pins.positions, pins, [olga, issues])).rejects.toThrow(message)
  })

  test('rejects with the reason of an aborted signal and writes nothing', async () => {
    const forge = aForge()
    const reason = new Error('no longer wanted')
    await expect(forge.pins.pin(olga, issue(7), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(await forge.pins.list(olga, board)).toEqual([])
  })

  const [allowed, never] = [{ allow: true } as const, () => new Promise<never>(() => undefined)]
  test.each([
    ['allows at once, and of the options only the signal counts', () => allowed, { aborted: false }],
    ['allows later', async () => allowed, {}],
    ['never answers', never, {}],
  ])('writes nothing when the signal aborts while the policy is called, which %s', async (_how, decide, more) => {
    const [abort, reason] = [new AbortController(), new Error('no longer wanted')]
    const forge = aForge({
      policy: {
        authorize() {
          abort.abort(reason)
          return decide()
        },
      },
    })
    await expect(forge.pins.pin(olga, issue(7), { signal: abort.signal, ...more })).rejects.toBe(reason)
    expect(await forge.pins.list('system', board)).toEqual([])
  })

  test('refuses an invalid kind', async () => {
    const { pins } = aForge()
    const pull = { ...issue(7), kind: 'pull' } as unknown as IssueRef
    await expect(pins.pin(olga, pull)).rejects.toThrow(TypeError)
    await expect(pins.list(olga, pull)).rejects.toThrow(TypeError)
  })
})
