import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { isForgeError } from '../../src/index.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { olga } from '../core/a-forge.ts'
import { pgConnection, runOnce } from '../databases.ts'
import type { OwnServer, OwnServerKind } from '../durability/own-server.ts'
import { OWN_POSTGRES, onOwnServer } from '../durability/own-server.ts'
import { freePort } from '../http.ts'
import { programPath } from '../programs.ts'
import { forgeOn } from '../storage/forge-on.ts'

/** With a setting, the URL of a primary, the server is a copy of it and runs as its standby. */
const PRIMARY_OR_STANDBY: OwnServerKind = {
  ...OWN_POSTGRES,
  programs: [...OWN_POSTGRES.programs, programPath('haproxy'), programPath('pg_basebackup')],
  serve(folder, port, [primary]) {
    const command = OWN_POSTGRES.serve(folder, port, [])
    if (primary === undefined) return command
    const copy = `rm -rf ${folder}/data; pg_basebackup -R -D ${folder}/data -d '${primary}'`
    return ['sh', '-c', `[ -e ${folder}/data/standby.signal ] || { ${copy}; }; exec "$@"`, 'sh', ...command]
  },
}

const CHANGES = 300
/** A consumer reports that the server is away. */
const QUIET = { logger: false } as const

onOwnServer(PRIMARY_OR_STANDBY, (start) => {
  test('when a standby is promoted under load, what was acknowledged is there, and consumers go on', {
    timeout: 120_000,
  }, async () => {
    const [primary, standby] = [await start(), await start()]
    onTestFinished(() => standby.drop())
    onTestFinished(() => primary.drop())
    await standby.kill()
    await standby.start([primary.url])
    await ask(primary, "alter system set synchronous_standby_names = '*'")
    await ask(primary, 'select pg_reload_conf()')
    const url = await behindProxy(primary, standby)

    const [storage, other] = [postgresStorage(url), postgresStorage(url)]
    await storage.migrate()
    const [forge, consumed] = [forgeOn(storage, QUIET), forgeOn(other, QUIET)]
    onTestFinished(
      async () => void (await Promise.all([forge.close(), consumed.close(), storage.close(), other.close()])),
    )
    const received: string[] = []
    const ended = new AbortController()
    const consuming = consumed.events.consume(
      'webhook',
      async (events) => {
        for (const { issueId } of events) received.push(issueId ?? '')
      },
      { signal: ended.signal },
    )

    const acknowledged: string[] = []
    const unknown: string[] = []
    for (let n = 1; n <= CHANGES; n += 1) {
      if (n === CHANGES / 3) {
        await primary.kill()
        setTimeout(() => void ask(standby, 'select pg_promote()'), 500)
      }
      const id = String(n)
      const error = await forge.pins.pin(olga, { id, repositoryId: id, kind: 'issue' }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      if (error === undefined) acknowledged.push(id)
      else
        expect(isForgeError(error, 'STORAGE_UNAVAILABLE') || isForgeError(error, 'STORAGE_BUSY'), String(error)).toBe(
          true,
        )
      if (isForgeError(error, 'STORAGE_UNAVAILABLE') && error.details.outcome === 'unknown') unknown.push(id)
      if (error !== undefined) await pause(50)
    }
    expect(acknowledged.length).toBeGreaterThan(CHANGES / 2)

    const isPinned = async (id: string) =>
      (await storage.pinBoards.load({ repositoryId: id, kind: 'issue' })).length === 1
    for (const id of acknowledged) expect([id, await isPinned(id)]).toEqual([id, true])
    const committed: string[] = [...acknowledged]
    for (const id of unknown) if (await isPinned(id)) committed.push(id)
    const deadline = performance.now() + 40_000 // another consumer waits for the lease of one that is lost
    while (new Set(received).size < committed.length && performance.now() < deadline) await pause(100)
    ended.abort()
    await consuming
    expect([...new Set(received)].sort(byNumber)).toEqual(committed.sort(byNumber))
  })
})

function byNumber(one: string, other: string): number {
  return Number(one) - Number(other)
}

function ask({ url }: OwnServer, text: string): Promise<unknown> {
  return runOnce(pgConnection, url, text)
}

/** Starts HAProxy, which leads to the primary, and to the standby when the primary is gone. Returns the URL behind it. */
async function behindProxy(primary: OwnServer, standby: OwnServer): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-haproxy-'))
  const port = await freePort()
  const server = ({ url }: OwnServer) =>
    `${new URL(url).host} check inter 200ms fall 1 on-marked-down shutdown-sessions`
  writeFileSync(
    join(folder, 'haproxy.cfg'),
    `defaults
  mode tcp
  timeout connect 2s
  timeout client 1m
  timeout server 1m
listen database
  bind 127.0.0.1:${port}
  server one ${server(primary)}
  server two ${server(standby)} backup
`,
  )
  execFileSync('haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')], { stdio: 'pipe' })
  const proxy = spawn('haproxy', ['-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' })
  onTestFinished(async () => {
    proxy.kill('SIGKILL')
    if (proxy.exitCode === null && proxy.signalCode === null) await once(proxy, 'exit')
    rmSync(folder, { recursive: true })
  })
  const url = Object.assign(new URL(primary.url), { port: String(port) }).href
  for (let tries = 0; tries < 100; tries += 1) {
    const isThere = await ask({ ...primary, url }, 'select 1').then(
      () => true,
      () => false,
    )
    if (isThere) return url
    await pause(50)
  }
  throw new Error('HAProxy did not start')
}
