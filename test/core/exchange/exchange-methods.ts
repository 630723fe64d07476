import type { AskingMethod } from '../asking.ts'
import { methodsAbout } from '../asking.ts'

const incoming = { repositoryId: 10, records: [] }
const named = { repositoryId: 10, people: {} }

/** The methods of the exchange. */
export const exchangeMethods: readonly AskingMethod[] = [
  ...methodsAbout({ repositoryId: '10' }, 'REPOSITORY_NOT_FOUND', [
    ['exchange.import', 'issues.import', ({ exchange }, who) => exchange.import(who, incoming)],
    ['exchange.inspect', 'issues.import', ({ exchange }, who) => exchange.inspect(who, incoming)],
    [
      'exchange.reattribute',
      'issues.import',
      ({ exchange }, who) => exchange.reattribute(who, named),
      'issues.attribute',
    ],
    ['exchange.export', 'issues.export', ({ exchange }, who) => firstOf(exchange.export(who, 10))],
    ['exchange.exportAll', 'issues.export', ({ exchange }, who) => firstOf(exchange.exportAll(who, 10))],
  ]),
]

async function firstOf(records: AsyncIterable<unknown>): Promise<unknown> {
  return (await records[Symbol.asyncIterator]().next()).value
}
