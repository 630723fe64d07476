import assert from 'node:assert/strict'
import { ForgeError } from '../../../index.ts'
import type { ForgeStorage, Outcome, PinRow } from '../../../storage/storage.ts'
import { issuesOn, outbox } from './contents.ts'
import { turns } from './gate.ts'
import { issueImportSample } from './issue-import-cases.ts'
import { atOnce, idsTo, raceCases } from './race.ts'
import { AUTHOR, BOARD, NO_SUBJECT, NOON, pin, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf, refuses, storageCase } from './storage-case.ts'
import { AGGREGATES, everything } from './stores.ts'

const REPOSITORY = { thing: 'repository', repositoryId: BOARD.repositoryId } as const

/** Cases about `prepare`, which looks something up under the lock, before the decision. */
export const prepareCases: readonly StorageCase[] = [
  ...AGGREGATES.flatMap((one) => [
    storageCase(`a change of ${one.name} decides with what its prepare returned`, async (storage) => {
      await one.prepare(storage)
      const { result, events } = await one.lookUp(storage, () => 'looked up')

      assert.equal(result, 'looked up')
      assert.deepEqual((await outbox(storage)).slice(-1), events)
    }),

    storageCase(
      `a change of ${one.name} writes nothing when prepare throws, and throws the same error`,
      async (storage) => {
        await one.prepare(storage)
        await one.alter(storage)
        const before = await everything(storage)
        const error = new Error('the host says no')
        const prepare = () => {
          throw error
        }

        assert.deepEqual(await outcomeOf(() => one.lookUp(storage, prepare)), { thrown: error })
        assert.deepEqual(await everything(storage), before)
        await one.alter(storage)
      },
    ),

    hostCase(
      `a change of ${one.name} that fails in prepare in a host’s transaction keeps the rest of it`,
      ['begin'],
      async (storage, bench) => {
        await one.prepare(storage)
        const { transaction, commit } = await bench.begin()
        await pin(storage, { ...BOARD, repositoryId: '11' }, '1', { transaction })
        const error = new Error('the host says no')
        const prepare = () => {
          throw error
        }
        assert.deepEqual(await outcomeOf(() => one.lookUp(storage, prepare, { transaction })), { thrown: error })
        await one.lookUp(storage, () => 'looked up', { transaction })
        await commit()

        assert.deepEqual(await issuesOn(storage, { ...BOARD, repositoryId: '11' }), ['1'])
        assert.equal((await outbox(storage)).length, 1 + 2, 'that of the sample, and two of the transaction')
      },
    ),
  ]),

  storageCase('a change whose prepare rejects writes nothing', async (storage) => {
    const before = await everything(storage)
    const outcome = await outcomeOf(() => issueImportSample.lookUp(storage, () => Promise.reject(new Error('no'))))

    assert.ok('thrown' in outcome, 'the change is refused')
    assert.deepEqual(await everything(storage), before)
  }),

  storageCase('a change waits for the promise of its prepare, or is a TypeError', async (storage) => {
    const outcome = await outcomeOf(() => issueImportSample.lookUp(storage, async () => 'later'))

    if ('thrown' in outcome) {
      assert.ok(outcome.thrown instanceof TypeError)
      assert.deepEqual(await outbox(storage), [])
    } else {
      assert.equal(Reflect.get(Object(outcome.value), 'result'), 'later')
    }
  }),

  storageCase('a change that is refused or aborted is not prepared', async (storage) => {
    let asked = 0
    const prepare = () => {
      asked += 1
    }
    const signal = AbortSignal.abort(new Error('gone'))
    assert.ok('thrown' in (await outcomeOf(() => issueImportSample.lookUp(storage, prepare, { signal }))))
    await retire(storage, REPOSITORY)
    await refuses('REPOSITORY_NOT_FOUND', () => issueImportSample.lookUp(storage, prepare))

    assert.equal(asked, 0)
  }),

  storageCase('every attempt of a change is prepared, and decided with its own answer', async (storage) => {
    let prepared = 0
    const shown: number[] = []
    const outcome = await outcomeOf(() =>
      issueImportSample.lookUp(
        storage,
        () => {
          prepared += 1
          return prepared
        },
        {
          beforeCommit() {
            shown.push(prepared)
            if (shown.length === 1) throw new ForgeError('STORAGE_BUSY', 'once more', { retry: 'call' })
          },
        },
      ),
    )

    assert.deepEqual(shown, 'value' in outcome ? [1, 2] : [1])
    if ('value' in outcome) assert.equal(Reflect.get(Object(outcome.value), 'result'), 2)
  }),

  storageCase('what prepare reads on its transaction is what the decision sees', (storage) =>
    checkWhatPrepareReads(storage, storage),
  ),

  hostCase(
    'what prepare reads on its transaction is what the decision sees, while another storage writes',
    ['again'],
    async (storage, bench) => checkWhatPrepareReads(storage, await bench.again()),
  ),

  ...raceCases('imports into one repository run one after the other', async (one, other) => {
    const steps: string[] = []
    const work = idsTo(6).map((name) =>
      issueImportSample.lookUp(
        Number(name) % 2 === 0 ? one : other,
        async () => {
          steps.push(name)
          await turns(3)
        },
        {
          async beforeCommit() {
            await turns(3)
            steps.push(name)
          },
        },
      ),
    )
    const outcomes = await Promise.allSettled(work)
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))

    // A synchronous storage refuses a prepare that waits, every time. Any other makes all imports.
    if (refused.length === 0)
      assert.deepEqual(
        pairs(steps).filter(([begun, ended]) => begun !== ended),
        [],
      )
    else
      assert.deepEqual(
        refused.map((error) => error instanceof TypeError),
        work.map(() => true),
      )
  }),

  hostCase('prepare and beforeCommit receive the host’s transaction', ['begin'], async (storage, bench) => {
    const { transaction, commit } = await bench.begin()
    const given: unknown[] = []
    await issueImportSample.lookUp(storage, (open) => void given.push(open), {
      transaction,
      beforeCommit: (_events, open) => void given.push(open),
    })
    await commit()

    assert.deepEqual(
      given.map((open) => open === transaction),
      [true, true],
    )
  }),

  hostCase('a change made by prepare on its own transaction is a TypeError', ['begin'], async (storage, bench) => {
    const { transaction, rollback } = await bench.begin()
    const tried: Promise<unknown>[] = []
    await issueImportSample.lookUp(
      storage,
      (open) => void tried.push(outcomeOf(() => pin(storage, BOARD, '2', { transaction: open }))),
      { transaction },
    )
    const [outcome] = await Promise.all(tried)
    await rollback()

    assert.ok(typeof outcome === 'object' && outcome !== null && 'thrown' in outcome)
    assert.ok(outcome.thrown instanceof TypeError)
    assert.deepEqual(await issuesOn(storage, BOARD), [])
  }),
]

async function checkWhatPrepareReads<Tx>(one: ForgeStorage<Tx>, other: ForgeStorage<Tx>): Promise<void> {
  const work = idsTo(20).map((issueId) => pinPrepared(Number(issueId) % 2 === 0 ? one : other, issueId))
  const outcomes = await atOnce(work, 'STORAGE_BUSY')

  assert.notEqual(outcomes.length, 0)
  for (const outcome of outcomes) assert.deepEqual(...outcome.result)
  assert.equal((await issuesOn(one, BOARD)).length, outcomes.length)
}

/** Pins an issue, and returns the board as prepare read it and as the decision saw it. */
async function pinPrepared<Tx>(
  storage: ForgeStorage<Tx>,
  issueId: string,
): Promise<Outcome<readonly [readonly PinRow[], readonly PinRow[]]>> {
  return storage.pinBoards.update(BOARD, {
    by: AUTHOR,
    prepare: (_rows, transaction) => storage.pinBoards.load(BOARD, transaction),
    decide: (rows, _at, prepared) => ({
      state: [...rows, { issueId, pinnedAt: NOON, pinnedBy: null }],
      events: [{ ...NO_SUBJECT, type: 'issue.pinned', data: { position: rows.length + 1 }, ...SUBJECT, issueId }],
      result: [structuredClone(prepared), structuredClone(rows)],
    }),
  })
}

const SUBJECT = { repositoryId: BOARD.repositoryId }

function pairs(steps: readonly string[]): readonly (readonly string[])[] {
  return steps.flatMap((step, index) => (index % 2 === 0 ? [[step, ...steps.slice(index + 1, index + 2)]] : []))
}
