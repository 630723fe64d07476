import { describe, expect, test } from 'vitest'
import type { ContractCase, TrackerHost } from '../../app/testing/testing.ts'
import { trackerContract } from '../../app/testing/testing.ts'
import type { IncomingBatch, IssueTracker } from '../../src/index.ts'
import { after } from '../../src/storage/sql/after.ts'
import type { Person } from '../core/a-forge.ts'
import { aForge } from '../core/a-forge.ts'
import { MemoryTracker } from '../core/exchange/memory-tracker.ts'

type Tracker = IssueTracker<Person, undefined>
type Plant = (sound: MemoryTracker<Person>) => Partial<Tracker>

const ASCENDING = 'issues are returned in ascending order, from above a number and up to a limit, or by their numbers'
const EXISTING_LABEL = 'a label that exists is left as it is, and one that is missing is created'
const EDITED = 'a comment that was edited replaces the one that it was'
const RESERVED = 'the next issue of the host has a number above the numbers that were reserved, which are no issues'
const NAMED = 'people are named in the next issues above a number and up to a limit, and with their accounts'
const ATTRIBUTED = 'people get their accounts wherever they have none, and the records stay as they are'
const EVERY_PROPERTY = 'an issue is returned with every property that was written'

/** Names everyone as if no one had an account. */
const forgetful = attributing((sound) => ({
  named: (query, context) =>
    after(sound.named(query, context), (people) => people.map((person) => ({ ...person, hasAccount: false }))),
}))

const overwriting: Plant = (sound) => ({
  write(batch) {
    for (const label of batch.labels) sound.labels.set(label.name, label)
    sound.write(batch)
  },
})

/** The faults behind "a tracker that", and the case that catches each. */
const PLANTED: readonly (readonly [fault: string, caughtBy: string, plant: Plant])[] = [
  [
    'returns issues in descending order',
    ASCENDING,
    (sound) => ({ issues: (query) => sound.issues(query).toReversed() }),
  ],
  [
    'ignores the limit',
    ASCENDING,
    (sound) => ({
      issues: (query) => sound.issues('limit' in query ? { ...query, limit: Number.POSITIVE_INFINITY } : query),
    }),
  ],
  ['loses the lock', EVERY_PROPERTY, writing((record) => ({ ...record, is_locked: false }))],
  [
    'invents a state of the optional properties',
    'an issue without the optional properties is returned without them',
    writing((record) => ({ ref: 'refs/heads/main', ...record })),
  ],
  [
    'loses characters beyond the first plane',
    'texts are returned as they were written',
    writing((record) => ({ ...record, content: record.content.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?') })),
  ],
  ['changes labels that exist', EXISTING_LABEL, overwriting],
  ...(['labelUpdates', 'milestoneUpdates'] as const).map((list): (typeof PLANTED)[number] => [
    `ignores ${list}`,
    'labels and milestones that exist are replaced by an update, also on the issues that have them',
    (sound) => ({ write: (batch) => sound.write({ ...batch, [list]: [] }) }),
  ]),
  [
    'adds to the issue that it should replace',
    'an update replaces the whole issue',
    (sound) => ({
      write: (batch) =>
        sound.write({
          ...batch,
          update: batch.update.map((issue) => ({
            ...issue,
            record: { ...sound.records.get(issue.record.number), ...issue.record },
          })),
        }),
    }),
  ],
  [
    'returns comments newest first',
    'comments are returned for each issue, oldest first, with every property',
    (sound) => ({ comments: (query) => orderedComments(sound, query).toReversed() }),
  ],
  [
    'removes the comments of an issue that it replaces',
    'an update keeps the comments of the issue',
    (sound) => ({
      write(batch) {
        if (batch.update.length > 0) sound.stored.length = 0
        sound.write(batch)
      },
    }),
  ],
  [
    'adds the comment that was edited',
    EDITED,
    (sound) => ({
      write: ({ commentUpdates, ...batch }) =>
        sound.write({ ...batch, comments: [...batch.comments, ...commentUpdates], commentUpdates: [] }),
    }),
  ],
  [
    'returns only the users that it knows',
    'users are found in the order in which they were asked, and unknown ones are undefined',
    (sound) => ({ findUsers: (users) => sound.findUsers(users).filter((id) => id !== undefined) }),
  ],
  [
    'does not raise the next number',
    'the next issue of the host has a number above every number that was written',
    (sound) => ({
      write(batch) {
        const { nextNumber } = sound
        sound.write(batch)
        sound.nextNumber = nextNumber
      },
    }),
  ],
  [
    'lowers the next number',
    RESERVED,
    (sound) => ({
      reserveNumbers({ upTo }) {
        sound.nextNumber = upTo + 1
      },
    }),
  ],
  [
    'keeps the numbers that were reserved as issues',
    RESERVED,
    (sound) => ({
      reserveNumbers(reservation) {
        sound.taken.add(reservation.upTo)
        sound.reserveNumbers(reservation)
      },
    }),
  ],
  [
    'hides the numbers that the host gave out',
    'a number that the host has given out is an issue or taken',
    (sound) => ({ issues: (query) => sound.issues(query).filter((issue) => !('taken' in issue)) }),
  ],
  [
    'names people of issues that nobody asked for',
    NAMED,
    attributing((sound) => ({ named: (query, context) => sound.named({ ...query, after: 0 }, context) })),
  ],
  ['forgets who has an account', NAMED, forgetful],
  [
    'gives accounts to the first issue alone',
    ATTRIBUTED,
    attributing((sound) => ({
      attribute: ({ numbers, ...change }, context) =>
        sound.attribute({ ...change, numbers: numbers.slice(0, 1) }, context),
    })),
  ],
  ['takes issues from their accounts', 'what has an account keeps it when its name gets another', forgetful],
  [
    'writes beside the transaction',
    'what is written in a transaction is read in it, and gone when it is rolled back',
    (sound) => ({
      write(batch) {
        sound.write(batch)
        const kept = [...sound.records]
        setImmediate(() => {
          for (const [number, record] of kept) sound.records.set(number, record)
        })
      },
    }),
  ],
]

describe('a sound tracker', () => {
  for (const one of trackerContract(() => open())) test(one.name, () => one.run())
})

describe('a planted tracker', () => {
  test.each(PLANTED)('that %s is caught by "%s"', async (_fault, caughtBy, plant) => {
    await expect(caseOf(caughtBy, plant).run()).rejects.toThrow(/\nfix: {6}\S/)
  })

  test('is there for every case', () => {
    const caught = new Set(PLANTED.map(([, caughtBy]) => caughtBy))

    expect(new Set(trackerContract(() => open()).map(({ name }) => name))).toEqual(caught)
  })
})

/** What a host may do with what it was given, and an import takes for the same. */
const FAIR: readonly (readonly [string, Plant])[] = [
  [
    'writes times with milliseconds',
    (sound) => ({
      comments: (query) =>
        orderedComments(sound, query).map((one) => ({ ...one, updated: one.updated.replace(/(:\d\d)Z$/, '$1.000Z') })),
    }),
  ],
  [
    'gives a label without a color its own',
    (sound) => ({
      write: (batch) => sound.write({ ...batch, labels: batch.labels.map((label) => ({ color: 'ededed', ...label })) }),
    }),
  ],
]

describe.each(FAIR)('a tracker that %s', (_what, plant) => {
  for (const name of [EVERY_PROPERTY, 'comments are returned for each issue, oldest first, with every property']) {
    test(`meets "${name}"`, async () => caseOf(name, plant).run())
  }
})

test.each([
  ['milestones', writing(({ milestone: _, ...record }) => record)],
  ['reactions', writing(({ reactions: _, ...record }) => record)],
] as const)('a tracker without %s meets the contract if it says so', async (lacking, plant) => {
  await expect(caseOf(EVERY_PROPERTY, plant).run()).rejects.toThrow()
  await caseOf(EVERY_PROPERTY, plant, [lacking]).run()
})

function caseOf(name: string, plant: Plant, lacks?: TrackerHost<Person, undefined>['lacks']): ContractCase {
  const found = trackerContract(async () => ({ ...(await open(plant)), lacks })).find((one) => one.name === name)
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
    reserveNumbers: (reservation) => sound.reserveNumbers(reservation),
    attribution: sound.attribution,
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

function attributing(change: (sound: Tracker['attribution'] & object) => Partial<Tracker['attribution']>): Plant {
  return ({ attribution }) => ({ attribution: { ...attribution, ...change(attribution) } })
}

function writing(
  change: (record: IncomingBatch['create'][number]['record']) => IncomingBatch['create'][number]['record'],
): Plant {
  return (sound) => ({
    write: (batch) =>
      sound.write({ ...batch, create: batch.create.map((issue) => ({ ...issue, record: change(issue.record) })) }),
  })
}
