import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { MARIADB, newDatabase, onDatabases, POSTGRES, SQLITE } from '../databases.ts'
import type { Connection } from '../http.ts'
import { ask, dial, freePort } from '../http.ts'
import type { Running, RunningProcess } from '../start-forgelet.ts'
import { startForgeletProcess } from '../start-forgelet.ts'

// Real child processes of dist/cli.js, and clients that repeat a request only if it was refused before it began, on a server
// that is ready.

const USERS = 200
const PROCESSES = 2
const CLIENTS = 24
const GRANT = '{"badge_slugs":["owl"]}'
const fixture = {
  users: [
    { username: 'alice', siteAdmin: true, tokens: ['t'] },
    ...Array.from({ length: USERS }, (_, at) => ({ username: `u${at}` })),
  ],
  organizations: [{ name: 'acme', owners: ['alice'] }],
  badges: [{ slug: 'owl' }],
}

interface Answer {
  readonly status: number | undefined
  readonly closes: boolean
}

/** Sends a request. Rejects with the error of the connection. */
function send(agent: Agent, port: number, method: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'token t' }
    const sent = request({ agent, port, host: '127.0.0.1', method, path: `/api/v1${path}`, headers }, (reply) => {
      reply.resume().on('error', reject)
      reply.on('end', () => resolve({ status: reply.statusCode, closes: reply.headers.connection === 'close' }))
    })
    sent.on('error', reject).end()
  })
}

/** Sends the beginning of a request that changes something, and returns when the server has it. */
async function beginGrant(port: number): Promise<Connection> {
  const client = await dial(port)
  const headers = { authorization: 'token t', Expect: '100-continue', 'Content-Length': String(GRANT.length) }
  await client.send(ask('POST /api/v1/admin/users/u0/badges', headers))
  expect((await client.reply()).status).toBe(100)
  return client
}

onDatabases([SQLITE, POSTGRES, MARIADB], (_open, kind) => {
  test('a rolling restart of two processes under load fails no request but those refused', {
    timeout: 120_000,
  }, async () => {
    const { url } = await newDatabase(kind)
    const ports: number[] = []
    while (ports.length < PROCESSES) ports.push(await freePort())
    let isOver = false
    onTestFinished(() => {
      isOver = true
    })
    const start = (port: number): Promise<Running & RunningProcess> =>
      startForgeletProcess(['--db', url, '--port', String(port)], { fixture })
    const running = await Promise.all(ports.map(start))
    const agents = ports.map(() => new Agent({ keepAlive: true }))
    onTestFinished(() => agents.forEach((agent) => void agent.destroy()))
    const seen = { done: 0, refused: ports.map(() => 0) }
    const out = new Map<number, Promise<void>>()
    let isRestarting = true

    /** Waits until a server that refused a request is ready again, as a load balancer does. */
    const ready = async (index: number): Promise<void> => {
      const isReady = (): Promise<boolean> =>
        fetch(`http://127.0.0.1:${ports[index]}/readyz`).then(
          ({ status }) => status === 200,
          () => false,
        )
      while (!(isOver || (await isReady()))) await pause(50)
      out.delete(index)
    }

    /** Tries the servers in turn until one answers. A connection that no one accepts has sent nothing. */
    const answered = async (method: string, path: string): Promise<number | undefined> => {
      for (let at = seen.done; ; at += 1) {
        if (isOver) throw new Error('the test is over')
        const index = at % PROCESSES
        const [agent, port] = [agents[index], ports[index]]
        if (agent === undefined || port === undefined) throw new Error('there is a server for each index')
        if (out.size === PROCESSES) await Promise.any(out.values())
        if (out.has(index)) continue

        const answer = await send(agent, port, method, path).catch((error) => {
          if (error.syscall !== 'connect') throw error
          return undefined
        })
        if (answer !== undefined && answer.status !== 503) return answer.status
        if (answer !== undefined) {
          expect(answer.closes).toBe(true)
          seen.refused[index] = (seen.refused[index] ?? 0) + 1
        }
        if (!out.has(index)) out.set(index, ready(index))
      }
    }

    const client = async (number: number): Promise<void> => {
      for (let round = 0; isRestarting || round < 2; round += 1) {
        const path = `/orgs/acme/blocks/u${number + CLIENTS * (round % Math.floor(USERS / CLIENTS))}`
        // A change that was made twice would be 422, and one that was lost would be 404.
        expect(await answered('PUT', path)).toBe(204)
        expect(await answered('GET', path)).toBe(204)
        expect(await answered('DELETE', path)).toBe(204)
        seen.done += 3
      }
    }
    /** A request whose beginning has arrived keeps a server from ending before it has refused another. */
    const restart = async (port: number, index: number): Promise<void> => {
      const before = seen.done
      while (seen.done < before + 60 && !isOver) await pause(10)
      const begun = await beginGrant(port)
      const ended = running[index]?.stop('SIGTERM')
      while (seen.refused[index] === 0 && !isOver) await pause(10)
      await begun.send(GRANT)
      const { status, headers } = await begun.reply()
      expect([status, headers.get('connection')]).toEqual([204, 'close'])
      expect((await ended)?.code).toBe(0)
      running[index] = await start(port)
    }
    const restarts = async (): Promise<void> => {
      for (const [index, port] of ports.entries()) await restart(port, index)
      isRestarting = false
    }
    await Promise.all([restarts(), ...Array.from({ length: CLIENTS }, (_, number) => client(number))])

    expect(seen.refused.every((count) => count > 0)).toBe(true)
  })
})
