import { describe, expect, test } from 'vitest'
import type { IncomingBatch, IssueTracker } from '../../src/index.ts'
import type { ContractCase, TrackerHost } from '../../src/testing/testing.ts'
import { trackerContract } from '../../src/testing/testing.ts'
import type { Person } from '../core/a-forge.ts'
import { aForge } from '../core/a-forge.ts'
import { MemoryTracker } from '../exchange/trackers/memory-tracker.ts'

type Tracker = IssueTracker<Person, undefined>
type Plant = (sound: MemoryTracker<Person>) => Partial<Tracker>

/** A tracker that breaks one rule, and the case that catches it. */
interface PlantedTracker {
  readonly fault: string
  readonly caughtBy: string
  readonly plant: Plant
}

const EVERY_PROPERTY = 'an issue is returned with every property that was written'

const PLANTED: readonly PlantedTracker[] = [
  {
    fault: 'returns issues in descending order',
    caughtBy: 'issues are returned by their numbers, in ascending order, and no others',
    plant: (sound) => ({ issues: (query) => sound.issues(query).toReversed() }),
  },
  {
    fault: 'ignores the limit',
    caughtBy: 'issues are returned in ascending order, from above a number and up to a limit',
    plant: (sound) => ({
      issues: (query) => sound.issues('limit' in query ? { ...query, limit: Number.POSITIVE_INFINITY } : query),
    }),
  },
  { fault: 'loses the lock', caughtBy: EVERY_PROPERTY, plant: writing((record) => ({ ...record, is_locked: false })) },
  {
    fault: 'keeps whole seconds',
    caughtBy: EVERY_PROPERTY,
    plant: writing((record) => ({ ...record, created: record.created.replace(/\.\d+/, '') })),
  },
  {
    fault: 'loses assignees without an account',
    caughtBy: EVERY_PROPERTY,
    plant: writing(({ assignees: _, ...record }) => record),
  },
  {
    fault: 'invents a state of the optional properties',
    caughtBy: 'an issue without the optional properties is returned without them',
    plant: writing((record) => ({ ref: 'refs/heads/main', ...record })),
  },
  {
    fault: 'loses characters beyond the first plane',
    caughtBy: 'texts are returned as they were written',
    plant: writing((record) => ({ ...record, content: record.content.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?') })),
  },
  {
    fault: 'changes labels that exist',
    caughtBy: 'a label that exists is left as it is, and one that is missing is created',
    plant: (sound) => ({
      write(batch) {
        for (const label of batch.labels) sound.labels.set(label.name, label)
        sound.write(batch)
      },
    }),
  },
  {
    fault: 'adds to the issue that it should replace',
    caughtBy: 'an update replaces the whole issue',
    plant: (sound) => ({
      write: (batch) =>
        sound.write({
          ...batch,
          update: batch.update.map((issue) => ({
            ...issue,
            record: { ...sound.records.get(issue.record.number), ...issue.record },
          })),
        }),
    }),
  },
  {
    fault: 'returns comments newest first',
    caughtBy: 'comments are returned for each issue, oldest first, with every property',
    plant: (sound) => ({ comments: (query) => orderedComments(sound, query).toReversed() }),
  },
  {
    fault: 'removes the comments of an issue that it replaces',
    caughtBy: 'an update keeps the comments of the issue',
    plant: (sound) => ({
      write(batch) {
        if (batch.update.length > 0) sound.stored.length = 0
        sound.write(batch)
      },
    }),
  },
  {
    fault: 'returns only the users that it knows',
    caughtBy: 'users are found in the order in which they were asked, and unknown ones are undefined',
    plant: (sound) => ({ findUsers: (users) => sound.findUsers(users).filter((id) => id !== undefined) }),
  },
  {
    fault: 'does not raise the next number',
    caughtBy: 'the next issue of the host has a number above every number that was written',
    plant: (sound) => ({
      write(batch) {
        const { nextNumber } = sound
        sound.write(batch)
        sound.nextNumber = nextNumber
      },
    }),
  },
  {
    fault: 'hides the numbers that the host gave out',
    caughtBy: 'a number that the host has given out is an issue or taken',
    plant: (sound) => ({ issues: (query) => sound.issues(query).filter((issue) => !('taken' in issue)) }),
  },
  {
    fault: 'writes beside the transaction',
    caughtBy: 'what is written in a transaction is read in it, and gone when it is rolled back',
    plant: (sound) => ({
      write(batch) {
        sound.write(batch)
        const kept = [...sound.records]
        setImmediate(() => {
          for (const [number, record] of kept) sound.records.set(number, record)
        })
      },
    }),
  },
]

describe('a sound tracker', () => {
  for (const one of trackerContract(() => open())) test(one.name, () => one.run())
})

describe('a planted tracker', () => {
  test.each(PLANTED)('that $fault is caught by "$caughtBy"', async ({ caughtBy, plant }) => {
    await expect(caseOf(caughtBy, plant).run()).rejects.toThrow()
  })

  test('is there for every case', () => {
    const caught = new Set(PLANTED.map(({ caughtBy }) => caughtBy))

    expect(new Set(trackerContract(() => open()).map(({ name }) => name))).toEqual(caught)
  })
})

test('the contract needs a function that opens a host', () => {
  // @ts-expect-error: no function
  expect(() => trackerContract(undefined)).toThrow(TypeError)
})

function caseOf(name: string, plant: Plant): ContractCase {
  const found = trackerContract(() => open(plant)).find((one) => one.name === name)
  if (found === undefined) throw new TypeError(`the contract has no case "${name}"`)
  return found
}

async function open(plant: Plant = () => ({})): Promise<TrackerHost<Person, undefined>> {
  const sound = new MemoryTracker<Person>()
  sound.accounts.set('olga', '1').set('mia', '2')
  const tracker: Tracker = {
    issues: (query) => sound.issues(query),
    comments: (query) => orderedComments(sound, query),
    labelsAndMilestones: () => sound.labelsAndMilestones(),
    findUsers: (users) => sound.findUsers(users),
    write: (batch) => sound.write(batch),
    ...plant(sound),
  }
  return {
    forge: aForge({ issues: tracker }),
    tracker,
    repositoryId: 10,
    users: [
      { id: '1', name: 'olga' },
      { id: '2', name: 'mia' },
    ],
    createIssue() {
      const number = sound.nextNumber
      sound.taken.add(number)
      sound.nextNumber += 1
      return number
    },
    async rolledBack(work) {
      const kept = { records: [...sound.records], labels: [...sound.labels] }
      await work(undefined)
      sound.records.clear()
      sound.labels.clear()
      for (const [number, record] of kept.records) sound.records.set(number, record)
      for (const [name, label] of kept.labels) sound.labels.set(name, label)
      await new Promise((resolve) => setImmediate(resolve))
    },
    close: async () => undefined,
  }
}

function orderedComments(sound: MemoryTracker<Person>, query: { readonly numbers: readonly number[] }) {
  return sound
    .comments(query)
    .toSorted((one, other) => one.issue_number - other.issue_number || one.created.localeCompare(other.created))
}

function writing(
  change: (record: IncomingBatch['create'][number]['record']) => IncomingBatch['create'][number]['record'],
): Plant {
  return (sound) => ({
    write: (batch) =>
      sound.write({ ...batch, create: batch.create.map((issue) => ({ ...issue, record: change(issue.record) })) }),
  })
}
