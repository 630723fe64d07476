import fs, { renameSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Logger, SigningKeySource } from '../../src/index.ts'
import { isForgeError } from '../../src/index.ts'
import { generateKey, openKeyFile } from '../../src/signing-keys/signing-keys.ts'
import { openWorld } from '../world.ts'
import { SshFolder } from './ssh-folder.ts'

const who = { name: 'Forge Signer', email: 'forge@example.com' }
const folder = new SshFolder()
let [one, other, openpgp] = ['', '', '']
let count = 0
beforeAll(async () => {
  one = (await generateKey({ format: 'ssh', ...who })).publicKey
  other = (await generateKey({ format: 'ssh', ...who })).publicKey
  openpgp = (await generateKey({ format: 'openpgp', ...who })).publicKey
})
afterAll(() => folder.remove())

/** A key file of its own for each test. */
async function opened(content = one): Promise<readonly [key: SigningKeySource, path: string]> {
  count += 1
  const path = folder.write(`key-${count}`, content)
  return [await openKeyFile(path), path]
}

/** What the first request gets that looks at the file. */
async function next(key: SigningKeySource, logger?: Logger): Promise<string> {
  await delay(260)
  return (await key.publicKey({ logger })).text
}

/** A logger that keeps its messages, and what else it is given. */
function keepingLogger() {
  const lines: string[] = []
  const fields: unknown[] = []
  const keep = (line: string, more: unknown) => {
    lines.push(line)
    fields.push(more)
  }
  return { lines, fields, logger: { error: keep, warn: keep } }
}

describe('the next look sees a file that', () => {
  const changes: readonly (readonly [string, (path: string) => unknown])[] = [
    [
      'is written again, with size and time of change as before',
      (path) => {
        const { atime, mtime } = statSync(path)
        fs.writeFileSync(path, other)
        utimesSync(path, atime, mtime)
      },
    ],
    [
      'is a symbolic link now',
      (path) => {
        rmSync(path)
        symlinkSync(folder.write('target', other), path)
      },
    ],
  ]
  test.concurrent.each(changes)('%s', async (_title, change) => {
    const [key, path] = await opened()
    change(path)

    expect(await next(key)).toBe(other)
  })

  test('has a key of the other format: each route answers what it must', async () => {
    const [signingKey, path] = await opened()
    const { forge } = openWorld({ signingKey })
    fs.writeFileSync(path, openpgp)
    await delay(260)

    expect(await forge.signingKeys.publicKey('anonymous', { format: 'openpgp' })).toMatchObject({ format: 'openpgp' })
    await expect(forge.signingKeys.publicKey('anonymous', { format: 'ssh' })).rejects.toThrow('format is openpgp')
  })
})

describe('a file that cannot be read', () => {
  const broken: readonly (readonly [string, (path: string) => unknown])[] = [
    ['is cut off', (path) => fs.writeFileSync(path, one.slice(0, 60))],
    ['is huge', (path) => fs.writeFileSync(path, 'a'.repeat(131_073))],
    ['is missing', (path) => rmSync(path)],
  ]
  test.concurrent.each(broken)(
    'because it %s is served for two seconds, then it is an error that is logged once',
    async (_title, breakIt) => {
      const [key, path] = await opened()
      const { lines, fields, logger } = keepingLogger()
      breakIt(path)
      const seen = [await next(key, logger), await next(key, logger)]
      await delay(1000)
      seen.push(await next(key, logger))
      expect(seen).toEqual([one, one, one])
      await delay(1000)

      for (const _ of [1, 2]) {
        const error = await next(key, logger).catch((thrown: unknown) => thrown)
        if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) throw new Error('it is not unreadable')
        expect(error.message).toMatch(/^the signing key cannot be read: /)
        expect(error.message).not.toContain(path)
        expect(String(error.cause)).toContain(path)
      }
      expect(key.format).toBe('ssh')
      expect(lines).toEqual(['the signing key has become unreadable'])
      expect(inspect(fields, { depth: 9 })).toContain(`the key file is ${path}`)
      fs.writeFileSync(path, other)
      expect(await next(key, logger)).toBe(other)
      expect(lines).toEqual(['the signing key has become unreadable', 'the signing key can be read again'])
    },
  )

  test('is served again without a line when it is whole before the two seconds are over', async () => {
    const [key, path] = await opened()
    const { lines, logger } = keepingLogger()
    renameSync(path, `${path}-away`)
    expect(await next(key, logger)).toBe(one)
    renameSync(`${path}-away`, path)
    await next(key, logger)
    await delay(2000)

    expect(await next(key, logger)).toBe(one)
    expect(lines).toEqual([])
  })
})

describe('the file system', () => {
  const undo: (() => unknown)[] = []
  afterEach(() => {
    for (const each of undo.splice(0)) each()
    syncBuiltinESMExports()
  })
  const replace = (target: object, replacements: Readonly<Record<string, unknown>>) => {
    for (const [name, replacement] of Object.entries(replacements)) {
      const whole = Reflect.get(target, name)
      undo.push(() => Reflect.set(target, name, whole))
      Reflect.set(target, name, replacement)
    }
    syncBuiltinESMExports()
  }

  test('is never called synchronously once the file is open', async () => {
    const [key, path] = await opened()
    const called: string[] = []
    const names = Object.keys(fs).filter((name) => name.endsWith('Sync'))
    replace(fs, Object.fromEntries(names.map((name) => [name, () => called.push(name)])))
    await fs.promises.writeFile(path, other)
    const text = await next(key)
    await fs.promises.unlink(path)
    await next(key)

    expect(text).toBe(other)
    expect(called).toEqual([])
  })

  test('is looked at once in 250 ms, and when it takes 400 ms, requests wait for 200 and others not at all', async () => {
    const [key, path] = await opened()
    await next(key)
    let looks = 0
    const { open } = fs.promises
    replace(fs.promises, {
      open: async (...given: Parameters<typeof open>) => {
        if (given[0] === path) looks += 1
        await delay(400)
        return open(...given)
      },
    })
    await delay(260)
    const lag = monitorEventLoopDelay({ resolution: 5 })
    lag.enable()
    const waits: number[] = []
    for (const end = performance.now() + 2000; performance.now() < end; await delay(5)) {
      const began = performance.now()
      expect((await key.publicKey()).text).toBe(one)
      waits.push(performance.now() - began)
    }
    lag.disable()

    expect(looks).toBeLessThanOrEqual(4)
    expect(Math.max(...waits)).toBeGreaterThan(150)
    expect(Math.max(...waits)).toBeLessThan(300)
    expect(lag.max / 1e6).toBeLessThan(200) // a look that blocks would be 400
  })
})

test('inside a transaction that may not wait, the known key is taken, and the file is looked at meanwhile', async () => {
  const [key, path] = await opened()
  fs.writeFileSync(path, other)
  await delay(260)

  expect(key.publicKey({ mayWait: false })).toMatchObject({ text: one })
  expect((await key.publicKey()).text).toBe(other)
})

test('while it is replaced 40 times under eight clients, each answer is a whole key', async () => {
  const ways: readonly ((path: string, content: string) => unknown)[] = [
    (path, content) => renameSync(folder.write('renamed', content), path),
    async (path, content) => {
      const file = await fs.promises.open(path, 'w')
      const middle = Math.floor(content.length / 2)
      await file.write(content.slice(0, middle))
      await delay(15)
      await file.write(content.slice(middle))
      await file.close()
    },
  ]
  const [signingKey, path] = await opened()
  const { forge, logged } = openWorld({ signingKey })
  const seen = new Set<string>()
  let isOver = false
  const clients = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      seen.add((await forge.signingKeys.publicKey('anonymous', { format: 'ssh' })).text)
      await delay(2)
    }
  })
  for (let times = 0; times <= 40; times += 1) {
    await ways[times % 3 === 0 ? 0 : 1]?.(path, times % 2 === 0 ? other : one)
    await delay(times % 5 === 4 ? 300 : 15)
  }
  isOver = true
  await Promise.all(clients)

  expect([...seen].filter((text) => text !== one && text !== other)).toEqual([])
  expect(logged).toEqual([])
  await expect.poll(() => next(signingKey), { timeout: 10_000 }).toBe(other)
})
