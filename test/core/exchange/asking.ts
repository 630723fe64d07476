import type { Asking } from '../asking.ts'

const incoming = { repositoryId: 10, records: [] }

export const asking: readonly Asking[] = [
  {
    about: { repositoryId: '10' },
    concealed: 'REPOSITORY_NOT_FOUND',
    methods: [
      ['exchange.import', 'issues.import', ({ exchange }, who) => exchange.import(who, incoming)],
      ['exchange.inspect', 'issues.import', ({ exchange }, who) => exchange.inspect(who, incoming)],
      [
        'exchange.reattribute',
        'issues.import',
        ({ exchange }, who) => exchange.reattribute(who, { ...incoming, people: {} }),
        'issues.attribute',
      ],
      ['exchange.export', 'issues.export', ({ exchange }, who) => firstOf(exchange.export(who, 10))],
      ['exchange.exportAll', 'issues.export', ({ exchange }, who) => firstOf(exchange.exportAll(who, 10))],
    ],
  },
]

async function firstOf(records: AsyncIterable<unknown>): Promise<unknown> {
  return (await records[Symbol.asyncIterator]().next()).value
}
