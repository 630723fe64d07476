import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { generateKey as generateVersionSix, readKeys } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fetchHandler } from '../../src/http-adapters/fetch.ts'
import type { SigningKeySource } from '../../src/index.ts'
import {
  describeKey,
  generateKey,
  openKeyFile,
  openpgpKey,
  rotatingKey,
  sshKey,
} from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { openWorld } from '../world.ts'
import { importedFingerprints } from './gpg-home.ts'
import { VERSION_5 } from './key-bytes.ts'
import { SshFolder } from './ssh-folder.ts'

const folder = new SshFolder()
const ssh: string[] = []
const openpgp: string[] = []
beforeAll(async () => {
  for (const name of ['One', 'Two', 'Three']) {
    ssh.push((await generateKey({ format: 'ssh', name, email: 'forge@example.com' })).publicKey)
    openpgp.push((await generateKey({ format: 'openpgp', name, email: 'forge@example.com' })).publicKey)
  }
})
afterAll(() => folder.remove())

const [sshAt, openpgpAt] = [(at: number) => sshKey(ssh[at] ?? ''), (at: number) => openpgpKey(openpgp[at] ?? '')]

/** What the two routes answer: the status and the body. */
async function routes(signingKey: SigningKeySource) {
  const { api, logged } = openWorld({ signingKey })
  const handler = fetchHandler(api, { authenticate: () => null })
  const get = async (path: string) => {
    const response = await handler(new Request(`http://localhost${path}`))
    return { status: response.status, text: await response.text() }
  }
  return { pub: () => get('/signing-key.pub'), gpg: () => get('/signing-key.gpg'), logged }
}

async function namesIn(armored: string): Promise<readonly string[]> {
  return (await readKeys({ armoredKeys: armored })).flatMap((key) => key.getUserIDs())
}

describe('keys in rotation', () => {
  test('of SSH are a line each, the current one first, and the same key twice is one', async () => {
    const { pub, gpg } = await routes(rotatingKey({ current: sshAt(1), former: [sshAt(0), sshAt(2), sshAt(0)] }))

    expect(await pub()).toEqual({ status: 200, text: `${ssh[1]}${ssh[0]}${ssh[2]}` })
    expect(await gpg()).toMatchObject({ status: 404, text: expect.stringContaining('signing key format is ssh') })
  })

  test('of both formats are served each by its own route', async () => {
    const { pub, gpg } = await routes(rotatingKey({ current: sshAt(0), former: [openpgpAt(0), sshAt(1)] }))

    expect((await pub()).text).toBe(`${ssh[0]}${ssh[1]}`)
    expect(await namesIn((await gpg()).text)).toEqual(['One <forge@example.com>'])
  })

  test('are served without a former one that cannot be read, which is logged once', async () => {
    const { pub, logged } = await routes(rotatingKey({ current: sshAt(0), former: [sshKey('garbage'), sshAt(1)] }))

    expect((await pub()).text).toBe(`${ssh[0]}${ssh[1]}`)
    expect((await pub()).text).toBe(`${ssh[0]}${ssh[1]}`)
    expect(logged.map(({ message }) => message)).toEqual(['a former signing key cannot be read; the others are served'])
  })

  test('are not served without the current one', async () => {
    const { pub } = await routes(rotatingKey({ current: sshKey('garbage'), former: [sshAt(1)] }))

    expect(await pub()).toMatchObject({ status: 500 })
  })

  test('follow their files', async () => {
    const [current, former] = [folder.write('current', ssh[0] ?? ''), folder.write('former', ssh[1] ?? '')]
    const key = rotatingKey({ current: await openKeyFile(current), former: [await openKeyFile(former)] })
    const { pub, gpg } = await routes(key)
    expect((await pub()).text).toBe(`${ssh[0]}${ssh[1]}`)
    folder.write('current', openpgp[0] ?? '')
    rmSync(former)
    await expect.poll(async () => (await gpg()).status, { timeout: 10_000 }).toBe(200)
    expect(await namesIn((await gpg()).text)).toEqual(['One <forge@example.com>'])
    await delay(2300)
    await pub() // looks at the former file, which has been missing for more than two seconds

    expect(await pub()).toMatchObject({ status: 404, text: expect.stringContaining('signing key format is openpgp') })
  })

  test('expire and are revoked with the current one, whatever became of a former one', async () => {
    const expiresAt = new Date(0)
    const former = {
      format: 'openpgp',
      publicKey: async () => ({ ...(await openpgpAt(0).publicKey()), expiresAt, isRevoked: true }),
    } as const
    const { gpg, logged } = await routes(rotatingKey({ current: sshAt(0), former: [former] }))

    expect(await gpg()).toMatchObject({ status: 200 })
    expect(logged).toEqual([])
    const { isRevoked } = await rotatingKey({ current: former, former: [openpgpAt(1)] }).publicKey()
    expect(isRevoked).toBe(true)
  })

  test('have version 4 before others, and describe the current one', async () => {
    const { privateKey } = await generateVersionSix({ userIDs: { name: 'Six' }, config: { v6Keys: true } })
    const six = openpgpKey(privateKey)
    const key = rotatingKey({ current: six, former: [openpgpAt(0), openpgpAt(1)] })
    const { text } = await key.publicKey()
    const two = (at: number) => `${['One', 'Two'][at]} <forge@example.com>`

    expect(await namesIn(text)).toEqual([two(0), two(1), two(1), 'Six'])
    expect(await describeKey(key)).toMatchObject({ userIds: ['Six'] })
    expect(await namesIn((await rotatingKey({ current: six, former: [six] }).publicKey()).text)).toEqual(['Six'])
  })

  test('are joined once, and answer at once then', async () => {
    const key = rotatingKey({ current: openpgpAt(0), former: [openpgpAt(1)] })
    const answer = await key.publicKey()

    expect(key.publicKey()).toBe(answer)
  })

  test('are a TypeError when one of them is none', () => {
    // @ts-expect-error an argument of a wrong type
    expect(() => rotatingKey({ current: 'key.pub', former: [] })).toThrow('rotatingKey needs current')
    // @ts-expect-error an argument of a wrong type
    expect(() => rotatingKey({ current: sshAt(0), former: sshAt(1) })).toThrow('rotatingKey needs former')
  })
})

describeWith(['gpg', 'gpgconf'], 'keys in rotation that gpg imports', () => {
  test('are all of version 4, wherever one of another version is', async () => {
    const { publicKey } = await generateVersionSix({ userIDs: { name: 'Six' }, config: { v6Keys: true } })
    const [known, others] = [
      [openpgpAt(0), openpgpAt(1)],
      [openpgpKey(publicKey), openpgpKey(VERSION_5)],
    ]
    const wanted = await Promise.all(known.map(async (key) => (await describeKey(key)).fingerprint))
    for (const other of others) {
      for (const at of [0, 1, 2]) {
        const [current = other, ...former] = known.toSpliced(at, 0, other)
        const { text } = await rotatingKey({ current, former }).publicKey()

        expect(importedFingerprints(text, 'unknown version')).toEqual(expect.arrayContaining(wanted))
      }
    }
  })
})
