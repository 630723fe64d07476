import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Forge } from '../../src/index.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import type { Person } from '../core/a-forge.ts'
import { olga } from '../core/a-forge.ts'
import { mariadbConnection, runOnce } from '../databases.ts'
import type { OwnServer } from '../durability/own-server.ts'
import { OWN_MARIADB, onOwnServer } from '../durability/own-server.ts'
import { freePort } from '../http.ts'
import { programPath } from '../programs.ts'
import { forgeOn } from '../storage/forge-on.ts'

const PROVIDER = ['/usr/lib/galera/libgalera_smm.so', '/usr/lib64/galera-4/libgalera_smm.so'].find((path) =>
  existsSync(path),
)
/** A node whose state is copied by rsync. */
const GALERA_NODE = { ...OWN_MARIADB, programs: [...OWN_MARIADB.programs, PROVIDER, programPath('rsync')] }
const NODES = 3
/** A consumer reports that its node is cut off. */
const LENIENT = { limits: { maxPins: { issue: 3 } }, logger: false } as const

/** A storage on each node, and a forge on each of them. */
type Boards = ReturnType<typeof mariadbStorage>
type Forges = Forge<Person, Parameters<Boards['checkTransaction']>[0]>
const ORGANIZATION = '7'
const BOARD = { repositoryId: '9', kind: 'issue' } as const

onOwnServer(GALERA_NODE, (start) => {
  test('on a Galera cluster of three nodes nothing is lost or left behind, whichever node is asked', {
    timeout: 600_000,
  }, async () => {
    const nodes = await cluster(start)
    await migratesOnce(nodes)
    const { storages, forges } = await openAll(nodes)

    await removesBlocksOfADeletedUser(forges)
    await readsWhatWasAnsweredElsewhere(forges, storages)
    await keepsTheLimit(forges, storages)
    await consumesElsewhere(nodes, forges)
    await goesOnWithoutANode(nodes, forges, storages)
  })
})

async function migratesOnce(nodes: readonly OwnServer[]): Promise<void> {
  for (let round = 1; round <= 10; round += 1) {
    const storages = nodes.map(({ url }) => mariadbStorage(url, { prefix: `round${round}_` }))
    await Promise.all(storages.map((storage) => storage.migrate()))
    const states = await Promise.all(storages.map(async (storage) => (await storage.schemaStatus()).state))
    expect([round, ...states]).toEqual([round, 'current', 'current', 'current'])
    await Promise.all(storages.map((storage) => storage.close()))
  }
}

async function removesBlocksOfADeletedUser(forges: readonly Forges[]): Promise<void> {
  const [one, other, third] = forges
  const left: string[] = []
  for (let n = 1; n <= 50; n += 1) {
    const id = String(1000 + n)
    const block = one?.blocks.block(olga, { organizationId: ORGANIZATION, account: { kind: 'user', id } })
    await Promise.all([block?.catch(onlyCode('USER_NOT_FOUND')), other?.lifecycle.userDeleted(id)])
    if (await third?.blocks.isBlocked({ organizationId: ORGANIZATION, userId: id })) left.push(id)
  }
  expect(left).toEqual([])
}

async function readsWhatWasAnsweredElsewhere(forges: readonly Forges[], storages: readonly Boards[]): Promise<void> {
  const [one, other] = forges
  const issue = { id: '1', ...BOARD }
  for (let n = 1; n <= 50; n += 1) {
    await one?.pins.pin(olga, issue)
    await one?.pins.unpin(olga, issue)
    await other?.pins.pin(olga, issue)
    expect([n, (await storages[2]?.pinBoards.load(BOARD))?.length]).toEqual([n, 1])
  }
}

async function keepsTheLimit(forges: readonly Forges[], storages: readonly Boards[]): Promise<void> {
  const board = { repositoryId: '10', kind: 'issue' } as const
  await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      forges[n % NODES]?.pins
        .pin(olga, { id: String(2000 + n), ...board })
        .catch(onlyCode('PIN_LIMIT_REACHED', 'STORAGE_BUSY')),
    ),
  )
  for (const storage of storages) expect(await storage.pinBoards.load(board)).toHaveLength(3)
}

/** A consumer on the second node gets each event of what the others have acknowledged, also when the third is cut off meanwhile. */
async function consumesElsewhere(nodes: readonly OwnServer[], forges: readonly Forges[]): Promise<void> {
  const [one, other, third] = forges
  const received = new Set<string>()
  const ended = new AbortController()
  const consuming = other?.events.consume(
    'webhook',
    async (events) => {
      for (const { issueId } of events) received.add(issueId ?? '')
    },
    { signal: ended.signal },
  )
  const acknowledged: string[] = []
  const isolate = (isOn: boolean) =>
    runOnce(
      mariadbConnection,
      nodes[2]?.url ?? '',
      `set global wsrep_provider_options = 'gmcast.isolate=${isOn ? 1 : 0}'`,
    )
  for (let n = 3000; n < 3060; n += 1) {
    if (n === 3020) await isolate(true)
    if (n === 3040) await isolate(false)
    const issue = { id: String(n), repositoryId: String(n), kind: 'issue' } as const
    const outcomes = await Promise.allSettled([
      one?.pins.pin(olga, issue),
      third?.pins.pin(olga, { ...issue, id: `1${n}`, repositoryId: `1${n}` }),
    ])
    for (const [at, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') acknowledged.push(`${at === 0 ? '' : '1'}${n}`)
      else onlyCode('STORAGE_UNAVAILABLE', 'STORAGE_BUSY')(outcome.reason)
    }
  }
  expect(acknowledged.length).toBeGreaterThan(60)
  const deadline = performance.now() + 60_000
  while (acknowledged.some((id) => !received.has(id)) && performance.now() < deadline) await pause(200)
  ended.abort()
  await consuming
  expect(acknowledged.filter((id) => !received.has(id))).toEqual([])
}

/** What was acknowledged before a node is killed is there on the others, and changes go on. */
async function goesOnWithoutANode(
  nodes: readonly OwnServer[],
  forges: readonly Forges[],
  storages: readonly Boards[],
): Promise<void> {
  const [one, , third] = forges
  const board = (n: number) => ({ id: String(n), repositoryId: String(n), kind: 'issue' }) as const
  for (let n = 5000; n < 5020; n += 1) await third?.pins.pin(olga, board(n))
  await nodes[2]?.kill()
  for (let n = 5020; n < 5030; n += 1) await pinnedAtLast(one, board(n))
  for (let n = 5000; n < 5030; n += 1) expect(await storages[1]?.pinBoards.load(board(n))).toHaveLength(1)
}

/** The others notice within five seconds that a node is gone, and commit nothing until then. */
async function pinnedAtLast(forge: Forges | undefined, issue: Parameters<Forges['pins']['pin']>[1]) {
  const deadline = performance.now() + 30_000
  for (;;) {
    const error = await forge?.pins
      .pin(olga, issue)
      .then(() => undefined, onlyCode('STORAGE_UNAVAILABLE', 'STORAGE_BUSY'))
    if (error === undefined || performance.now() > deadline) return
  }
}

/** Passes over a refusal that a race explains. */
function onlyCode(...codes: readonly string[]): (error: { readonly code?: string }) => unknown {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
    return error
  }
}

async function cluster(start: () => Promise<OwnServer>): Promise<readonly OwnServer[]> {
  const nodes: OwnServer[] = []
  const ports = await Promise.all(Array.from({ length: NODES }, freePort))
  const address = `gcomm://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`
  for (const port of ports) {
    const node = await start()
    onTestFinished(() => node.drop())
    await node.kill()
    await node.start(await settingsOf(address, port, nodes.length === 0))
    nodes.push(node)
  }
  return nodes
}

async function settingsOf(address: string, port: number, isFirst: boolean): Promise<readonly string[]> {
  const [ist, sst] = [await freePort(), await freePort()]
  return [
    'wsrep-on=ON',
    `wsrep-provider=${PROVIDER}`,
    `wsrep-cluster-address=${address}`,
    'wsrep-node-address=127.0.0.1',
    `wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:${port};ist.recv_addr=127.0.0.1:${ist};gcache.size=16M`,
    'wsrep-sst-method=rsync',
    `wsrep-sst-receive-address=127.0.0.1:${sst}`,
    'binlog-format=ROW',
    'innodb-autoinc-lock-mode=2',
    ...(isFirst ? ['wsrep-new-cluster'] : []),
  ]
}

async function openAll(nodes: readonly OwnServer[]) {
  const storages = nodes.map(({ url }) => {
    const storage = mariadbStorage(url)
    onTestFinished(() => storage.close())
    return storage
  })
  for (const storage of storages) await storage.migrate()
  return { storages, forges: storages.map((storage) => forgeOn(storage, LENIENT)) }
}
