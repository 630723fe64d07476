import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newDatabase, onDatabase, POSTGRES } from '../databases.ts'
import type { Place } from '../durability/switches.ts'
import { Switches } from '../durability/switches.ts'
import { freePort } from '../http.ts'
import { describeWith } from '../programs.ts'
import { startForgeletProcess } from '../start-forgelet.ts'

// examples/many-processes with a real HAProxy.

const config = resolve(import.meta.dirname, '../../examples/many-processes/haproxy.cfg')
const LANES = 8

onDatabase(POSTGRES, () => {
  describeWith(['haproxy'], 'examples/many-processes', () => {
    test('clients do not notice that every process is replaced under load, and a killed one is passed over', async () => {
      const load = new Switches(LANES)
      const database = await newDatabase(POSTGRES)
      const [port, ...ports] = [await freePort(), await freePort(), await freePort()]
      const origin = `http://127.0.0.1:${port}`
      const start = (at: number) => {
        const args = ['--db', database.url, '--port', String(at), '--max-pins', '1000', '--log-requests']
        return startForgeletProcess(args, { fixture: load.fixture })
      }
      const running = await Promise.all(ports.map(start))
      const [FORGE_1, FORGE_2] = ports.map((at) => `127.0.0.1:${at}`)
      const env = { ...process.env, BIND: `127.0.0.1:${port}`, FORGE_1, FORGE_2 }
      const proxy = spawn('haproxy', ['-f', config], { env, stdio: 'ignore' })
      onTestFinished(() => void proxy.kill('SIGKILL'))
      const isReady = async (at: number | undefined): Promise<void> =>
        vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${at}/readyz`)).status).toBe(200), 20_000)
      await isReady(port)

      const url = `${origin}/api/v1`
      const places: Place[] = [{ url, is: 'up' }]
      load.start(places, ({ status }) => status === 502 || status === 0)
      try {
        for (const [index, at] of ports.entries()) {
          await load.more(4 * LANES)
          expect((await running[index]?.stop('SIGTERM'))?.code).toBe(0)
          await load.more(4 * LANES)
          const started = await start(at)
          running[index] = started
          await started.says('/api/v1/') // the proxy knows that it is ready
        }

        // Of what was sent to a process that is killed, the answer is lost. HAProxy asks twice a second who is ready.
        places[0] = { url, is: 'changing' }
        await running[0]?.stop('SIGKILL')
        await pause(2000)
        places[0] = { url, is: 'up' }
        await load.more(4 * LANES)
      } finally {
        await load.stop()
      }
      expect(load.wrong).toEqual([])
      await load.expectAllIn(database.storage())

      proxy.kill('SIGTERM')
      await once(proxy, 'exit')
    }, 120_000)
  })
})
