import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Page } from '../../../src/index.ts'
import type { SyncOrAsync } from '../../../src/schema/sync-or-async.ts'
import { runSync, wait } from '../../../src/schema/sync-or-async.ts'
import type { PageQuery } from '../../../src/storage/contract/stores.ts'
import type { CountedRows, PagedList } from '../../../src/storage/sql/stores/pages.ts'
import { readPage } from '../../../src/storage/sql/stores/pages.ts'

/**
 * A list of numbers in pages, which notes how many rows it had to pass over.
 *
 * @param counted - the list as it is counted, where it is another when its rows are read
 */
function listOf(
  places: readonly number[],
  passed: number[] = [],
  counted: readonly number[] = places,
): PagedList<number, number> {
  const cut = (rows: readonly number[], offset: number, limit: number): SyncOrAsync<CountedRows<number>> => {
    passed.push(offset)
    return wait({ rows: rows.slice(offset, offset + limit), total: places.length })
  }

  return {
    start: 0,
    count: () => wait(counted.length),
    slice: ({ after, offset, limit }) =>
      cut(
        places.filter((place) => place > after),
        offset,
        limit,
      ),
    tail: ({ offset, limit }) => cut(places.toReversed(), offset, limit),
    place: (row) => row,
    item: (row) => row,
  }
}

function pageOf(list: PagedList<number, number>, from: PageQuery['from'], limit: number): Page<number> {
  return runSync(readPage(list, { from, limit }))
}

const places = fc
  .uniqueArray(fc.integer({ min: 1, max: 500 }), { maxLength: 60 })
  .map((some) => some.sort((a, b) => a - b))
const limit = fc.integer({ min: 1, max: 12 })

describe('a page of a list', () => {
  test('by number holds what a plain cut of the list holds, from whichever end it is found', () => {
    fc.assert(
      fc.property(places, limit, fc.integer({ min: 1, max: 70 }), (all, size, page) => {
        const found = pageOf(listOf(all), { page }, size)

        expect(found).toMatchObject({
          items: all.slice((page - 1) * size, page * size),
          total: all.length,
          limit: size,
        })
      }),
    )
  })

  test('has a cursor exactly when something comes after it, and walking by cursors meets every row once', () => {
    fc.assert(
      fc.property(places, limit, fc.integer({ min: 1, max: 3 }), (all, size, page) => {
        const met: number[] = []
        let from: PageQuery['from'] | undefined = { page }
        while (from !== undefined) {
          const found = pageOf(listOf(all), from, size)
          met.push(...found.items)
          from = found.cursor === undefined ? undefined : { after: found.cursor }
        }

        expect(met).toEqual(all.slice((page - 1) * size))
      }),
    )
  })

  test('is that of its total, whatever the list was when it was counted', () => {
    fc.assert(
      fc.property(places, places, limit, fc.integer({ min: 1, max: 70 }), (all, before, size, page) => {
        const { items, total, cursor } = pageOf(listOf(all, [], before), { page }, size)

        expect([all.length, before.length]).toContain(total)
        if (total === all.length) expect(items).toEqual(all.slice((page - 1) * size, page * size))
        else expect([items, page > Math.ceil(total / size)]).toEqual([[], true])
        expect(cursor !== undefined).toBe(page * size < total)
      }),
    )
  })

  test('at the end is read again from the beginning when rows were added since the count', () => {
    const all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

    expect(pageOf(listOf(all, [], all.slice(0, 9)), { page: 3 }, 3)).toMatchObject({ items: [7, 8, 9], total: 10 })
  })

  test.each(['', '3', 's', 's1x', 's1.5', 's99999999999999999999', 'S1', ' s1'])(
    'after "%s" is INVALID_INPUT',
    (after) => {
      expect(() => pageOf(listOf([1]), { after }, 1)).toThrow(
        expect.objectContaining({
          code: 'INVALID_INPUT',
          details: { violations: [expect.objectContaining({ pointer: '/after' })] },
        }),
      )
    },
  )
})
