import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase, onDatabase, POSTGRES } from '../databases.ts'
import type { Running, RunningProcess } from '../start-forgelet.ts'
import { startForgeletProcess } from '../start-forgelet.ts'

// Real child processes of dist/cli.js, and clients that repeat a request only if it was refused before it began, on a server
// that is ready.

const USERS = 200
const CLIENTS = 8
const fixture = {
  users: [
    { username: 'alice', siteAdmin: true, tokens: ['t'] },
    ...Array.from({ length: USERS }, (_, at) => ({ username: `u${at}` })),
  ],
  organizations: [{ name: 'acme', owners: ['alice'] }],
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

onDatabase(POSTGRES, () => {
  test.each([1, 2])(
    'a rolling restart of %i processes under load fails no request but those refused',
    async (count) => {
      const { url } = await newDatabase(POSTGRES)
      const ports = await freePorts(count)
      let isOver = false
      onTestFinished(() => {
        isOver = true
      })
      const start = (port: number): Promise<Running & RunningProcess> =>
        startForgeletProcess(['--db', url, '--port', String(port)], { fixture })
      const running: (Running & RunningProcess)[] = []
      for (const port of ports) running.push(await start(port))

      const agents = ports.map(() => new Agent({ keepAlive: true }))
      onTestFinished(() => agents.forEach((agent) => void agent.destroy()))
      const seen = { refused: 0, absent: 0, done: 0 }
      const out = new Map<number, Promise<void>>()
      let isRestarting = true

      /** Waits until a server that refused a request is ready again, as a load balancer does. */
      const ready = async (index: number): Promise<void> => {
        const isReady = (): Promise<boolean> =>
          fetch(`http://127.0.0.1:${ports[index]}/readyz`).then(
            ({ status }) => status === 200,
            () => false,
          )
        while (!(isOver || (await isReady()))) await new Promise((resolve) => setTimeout(resolve, 50))
        out.delete(index)
      }

      /** Tries the servers in turn until one answers. A connection that no one accepts has sent nothing. */
      const answered = async (method: string, path: string): Promise<number | undefined> => {
        for (let at = seen.done; ; at += 1) {
          if (isOver) throw new Error('the test is over')
          const index = at % count
          const agent = agents[index]
          const port = ports[index]
          if (agent === undefined || port === undefined) throw new Error('there is a server for each index')
          if (out.size === count) await Promise.any(out.values())
          if (out.has(index)) continue

          const answer = await send(agent, port, method, path).catch((error) => {
            if (error.syscall !== 'connect') throw error
            return undefined
          })
          if (answer !== undefined && answer.status !== 503) return answer.status
          if (answer === undefined) seen.absent += 1
          else {
            expect(answer.closes).toBe(true)
            seen.refused += 1
          }
          if (!out.has(index)) out.set(index, ready(index))
        }
      }

      const client = async (number: number): Promise<void> => {
        for (let round = 0; isRestarting || round < 2; round += 1) {
          const user = `u${number + CLIENTS * (round % Math.floor(USERS / CLIENTS))}`
          const path = `/orgs/acme/blocks/${user}`
          // A change that was made twice would be 422, and one that was lost would be 404.
          expect(await answered('PUT', path)).toBe(204)
          expect(await answered('GET', path)).toBe(204)
          expect(await answered('DELETE', path)).toBe(204)
          seen.done += 3
        }
      }
      const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
      const restarts = async (): Promise<readonly (number | null)[]> => {
        const codes = []
        for (const [index, port] of ports.entries()) {
          const before = seen.done
          while (seen.done < before + 60 && !isOver) await new Promise((resolve) => setTimeout(resolve, 10))
          codes.push((await running[index]?.stop('SIGTERM'))?.code ?? null)
          await start(port)
        }
        isRestarting = false
        return codes
      }
      const [codes] = await Promise.all([restarts(), clients])

      expect(codes).toEqual(ports.map(() => 0))
      expect(seen.refused).toBeGreaterThan(0)
    },
  )
})

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' ? (address?.port ?? 0) : 0
  })
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}
