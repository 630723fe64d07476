import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { ServiceName } from '../../src/http-adapters/http.ts'
import { caseOver } from './known-world.ts'

// The mount is sound and its description is wrong: a case that fails says which part, and blames no mount.

const QUERY = 'a query reaches the handler, and is decoded once'
const LINKS = 'links begin with the public address or are relative, whatever the Host header says, and keep the query'
const FAILS = 'a port that throws is 500 with a requestId, and its message is not shown'
const WAITS = 'a client that disconnects aborts the signal that the ports receive'
const EXPORT = 'an export arrives whole, HEAD without its body, and the connection stays usable'
const IMPORT = 'an import is read in any framing, and the connection stays usable'
const BODY = 'a JSON body of any content type is accepted with POST and DELETE'
const LIMIT = 'a body at the limit is accepted, and one byte more is 413'

const never = () => new Promise<never>(() => undefined)

const services = (...names: readonly ServiceName[]) => ({ world: { services: names } })

/** What of the description is wrong, the part that is named, and a case that fails. */
const WRONG: readonly (readonly [part: string, wrong: Parameters<typeof caseOver>[1], name: string])[] = [
  ['organization', { organization: 'nobody' }, QUERY],
  ['users', { users: ['nobody', 'rita'] }, LINKS],
  ['users', { users: ['nobody', 'rita'] }, BODY],
  ['users', { users: ['root', 'rita'] }, QUERY],
  ['users', { users: ['olga', 'rita'] }, LINKS],
  ['repository', { repository: 'acme/nothing' }, EXPORT],
  ['repository', { repository: 'acme/nothing' }, IMPORT],
  ['authorization', { authorization: 'token nobody' }, QUERY],
  ['authorization', { authorization: 'token stan' }, LINKS],
  ['authorization', { authorization: 'token stan' }, BODY],
  ['authorization', { authorization: 'token stan' }, IMPORT],
  ['maxBodyBytes', { maxBodyBytes: undefined }, LIMIT],
  ['maxImportBytes', { maxImportBytes: 900_000 }, 'an import over the limit is 413, also if it is compressed'],
  ['failing.path', { failing: { path: '/nowhere', secret: 'x' } }, FAILS],
  ['waiting.path', { waiting: { path: '/nowhere', asked: never, aborted: never } }, WAITS],
  ['services', services('pins', 'blocks', 'badges', 'signing-keys'), EXPORT],
  ['services', services('pins', 'blocks'), BODY],
  ['services', services('blocks'), 'a path of the API is answered by the API'],
]

test.each(WRONG)('a case says that %s is wrong: %j, %s', async (part, wrong, name) => {
  expect(await adviceFor(name, wrong)).toMatch(new RegExp(`^${DESCRIPTION} .*\\b${part}\\b`))
})

test('a user who was blocked before is reported, and stays blocked', async () => {
  const { world, run } = await caseOver(LINKS, {})
  const block = { organizationId: 6, account: { kind: 'user', id: 7 } } as const
  const blocks = () => world.forge.blocks.list('system', { organizationId: 6 })
  await world.forge.blocks.block('system', block)
  const before = await blocks()

  expect(adviceOf(await run().catch((error: unknown) => error))).toMatch(
    new RegExp(`^${DESCRIPTION} .*\\busers\\b.*unblock`),
  )
  expect(await blocks()).toEqual(before)
})

test('a 404 that is not of the API leaves the advice of the case, and adds what else it may be', async () => {
  const host = () => (_request: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(404).end('the host has no such page')

  expect(await adviceFor(EXPORT, { host })).toMatch(
    /^pass on the pieces of a response.*; or name in services only what is mounted$/,
  )
})

const DESCRIPTION = 'the description that mountContract was given is wrong, not the mount:'

function adviceOf(failure: unknown): string {
  const message = failure instanceof Error ? failure.message : 'it does not fail'
  return /^fix: {6}(.*)$/m.exec(message)?.[1] ?? message
}

/** What the failure of a case advises, over a sound mount whose description is wrong. */
async function adviceFor(name: string, wrong: Parameters<typeof caseOver>[1]): Promise<string> {
  const { run } = await caseOver(name, wrong)
  return adviceOf(await run().catch((error: unknown) => error))
}
