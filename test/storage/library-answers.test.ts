import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage, HostTransaction, SqlValue } from '../../src/storage/storage.ts'
import { fromDrizzle, fromKnex, fromPrisma } from '../../src/storage/storage.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import type { PglitePool } from '../pglite.ts'
import { startPglite } from '../pglite.ts'

type Answer = (rows: readonly object[]) => unknown

const WAYS = {
  Knex: (raw: (sql: string, values: SqlValue[]) => Promise<unknown>) => fromKnex({ raw, isCompleted: () => false }),
  Drizzle: (execute: (sql: string, values: SqlValue[]) => Promise<unknown>) =>
    fromDrizzle(
      { execute: ({ text, values }: SqlParts) => execute(text, values), rollback: () => undefined },
      (parts, ...values) => ({ text: parts.join('?'), values }),
    ),
  Prisma: ($queryRawUnsafe: (sql: string, values: SqlValue[]) => Promise<unknown>) =>
    fromPrisma({ $queryRawUnsafe: (sql, ...values) => $queryRawUnsafe(sql, values) }),
  'any library': (run: (sql: string, values: SqlValue[]) => Promise<unknown>): HostTransaction => ({
    identity: run,
    run: async (sql, values) => (await run(sql, [...values])) as readonly unknown[], // whatever it is
  }),
}

interface SqlParts {
  readonly text: string
  readonly values: SqlValue[]
}

const RAW: Readonly<Record<string, Answer>> = {
  'the answer of pg': (rows) => ({ rows }),
  'the answer of mysql2': (rows) => [rows, []],
}
type Outcome = (typeof OUTCOMES)[number]

const OUTCOMES = ['is right', 'is a TypeError'] as const

const TAKEN: Readonly<Record<string, Answer>> = { 'the rows': (rows) => rows }
const REFUSED: Readonly<Record<string, Answer>> = {
  nothing: () => undefined,
  'a number': (rows) => rows.length,
  'an object without rows': (rows) => ({ result: rows }),
  'rows as lists': (rows) => rows.map((row) => Object.values(row)),
  'rows with other names': (rows) =>
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`),
          value,
        ]),
      ),
    ),
  'undefined for null': (rows) =>
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined]))),
  'numbers as texts': (rows) =>
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value && String(value)]))),
}

describe('a transaction of a library', () => {
  const answers = (way: string, outcome: Outcome): readonly [string, Answer][] => {
    const raw = Object.entries(/Knex|Drizzle/.test(way) ? RAW : {})
    return outcome === 'is right' ? [...Object.entries(TAKEN), ...raw] : Object.entries(REFUSED)
  }
  const rows = Object.entries(WAYS).flatMap(([way, wrap]) =>
    OUTCOMES.flatMap((outcome) =>
      answers(way, outcome).map(([shape, answer]) => ({ way, shape, outcome, wrap, answer })),
    ),
  )
  let pool: PglitePool
  let storage: ForgeStorage<HostTransaction>

  beforeAll(async () => {
    pool = await startPglite()
    await using()
    await storage.migrate()
    await block(storage, '5', '3')
  })
  afterAll(() => pool.end())

  /** A storage that has not met a library yet. */
  async function using(): Promise<void> {
    await storage?.close()
    storage = postgresStorage<HostTransaction>(pool)
  }

  /** A transaction whose answers are sound, until it is told otherwise. */
  async function begun(wrap: (typeof rows)[number]['wrap']) {
    const client = await pool.connect()
    onTestFinished(async () => {
      await client.query({ text: 'rollback', values: [] })
      client.release()
    })
    await client.query({ text: 'begin', values: [] })
    const answers = { answer: (found: readonly object[]): unknown => found }
    const transaction = wrap(async (sql, values) => {
      const places = values.keys()
      const text = sql.replaceAll('?', () => `$${Number(places.next().value) + 1}`)
      return answers.answer((await client.query({ text, values })).rows as object[]) // as PGlite has them
    })
    const find = () => outcomeOf(() => storage.blocks.find({ organizationId: '5', userId: '3' }, transaction))
    return { answers, transaction, find }
  }

  test.each(rows)('of $way that returns $shape $outcome', async ({ outcome, wrap, answer }) => {
    await using()
    const { answers, transaction, find } = await begun(wrap)
    answers.answer = answer
    const found = await find()
    const pinned = await outcomeOf(() => pin(storage, BOARD, '1', { transaction }))

    if (outcome === 'is right') expect([found, pinned]).toMatchObject([{ value: { userId: '3' } }, { value: 1 }])
    else expect([found, pinned]).toEqual([TYPE_ERROR, TYPE_ERROR])
  })

  test.each(Object.entries(WAYS))(
    'of %s that alters one answer is a TypeError, and never without rows',
    async (_, wrap) => {
      const { answers, find } = await begun(wrap)
      expect(await find()).toMatchObject({ value: { userId: '3' } })
      for (const shape of ['nothing', 'a number', 'an object without rows', 'rows as lists']) {
        answers.answer = REFUSED[shape] ?? answers.answer
        expect([shape, await find()]).toEqual([shape, TYPE_ERROR])
      }
    },
  )
})

const TYPE_ERROR = { thrown: expect.any(TypeError) }
