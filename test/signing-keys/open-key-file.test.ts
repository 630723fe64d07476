import { execFileSync } from 'node:child_process'
import { readdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isForgeError } from '../../src/index.ts'
import type { KeyFileReader } from '../../src/signing-keys/key-file.ts'
import { keyFileAt, WatchedKeyFile } from '../../src/signing-keys/key-file.ts'
import { generateKey, openKeyFile } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { SshFolder } from './ssh-folder.ts'

const unreadable = { code: 'SIGNING_KEY_UNREADABLE' }
const who = { name: 'Forge Signer', email: 'forge@example.com' }
const folder = new SshFolder()
const keys: Record<'openpgp' | 'ssh' | 'other', { readonly privateKey: string; readonly publicKey: string }> = {
  openpgp: { privateKey: '', publicKey: '' },
  ssh: { privateKey: '', publicKey: '' },
  other: { privateKey: '', publicKey: '' },
}
beforeAll(async () => {
  keys.openpgp = await generateKey({ format: 'openpgp', ...who })
  keys.ssh = await generateKey({ format: 'ssh', ...who })
  keys.other = await generateKey({ format: 'ssh', ...who })
})
afterAll(() => folder.remove())

function write(content: string | Uint8Array): string {
  return folder.write('key', content)
}

describe('the format', () => {
  const files = [
    ['an OpenPGP public key', 'openpgp', () => keys.openpgp.publicKey],
    ['an OpenPGP private key', 'openpgp', () => keys.openpgp.privateKey],
    [
      'a binary OpenPGP key',
      'openpgp',
      () => Buffer.from(keys.openpgp.publicKey.split('\n').slice(2, -3).join(''), 'base64'),
    ],
    ['an OpenPGP key from PowerShell', 'openpgp', () => Buffer.from(`\uFEFF${keys.openpgp.publicKey}`, 'utf16le')],
    ['an SSH public key', 'ssh', () => keys.ssh.publicKey],
    ['an SSH private key', 'ssh', () => keys.ssh.privateKey],
    ['an SSH key in git’s literal form', 'ssh', () => `key::${keys.ssh.publicKey}`],
  ] as const
  test.each(files)('of %s is determined by the content: %s', async (_title, format, content) => {
    expect(await openKeyFile(write(content()))).toMatchObject({ format })
  })
})

test('a path may be a file URL', async () => {
  const key = await openKeyFile(pathToFileURL(write(keys.ssh.publicKey)))

  expect(key.publicKey()).toMatchObject({ text: keys.ssh.publicKey })
})

describe('a file that cannot be used is named when it is opened', () => {
  const files: readonly (readonly [string, string, string | Uint8Array])[] = [
    ['an empty file', 'it is empty', ''],
    ['a file of another kind', 'neither an OpenPGP nor an SSH key', 'port = 3000\n'],
    ['a huge file', 'larger than 1 MiB', 'a'.repeat(1_048_577)],
    ['binary garbage', 'damaged', Buffer.alloc(100, 0xff)],
  ]
  test.each(files)('%s: %s', async (_title, reason, content) => {
    const path = write(content)
    const opening = openKeyFile(path)

    await expect(opening).rejects.toMatchObject(unreadable)
    await expect(opening).rejects.toThrow(`${path}: the signing key cannot be read: `)
    await expect(opening).rejects.toThrow(reason)
  })

  test.each([
    ['a comment in Latin-1', () => Buffer.from(keys.ssh.publicKey.replace('\n', ' José\n'), 'latin1')],
    ['half a character of UTF-16', () => Buffer.from(`\uFEFF${keys.ssh.publicKey}`, 'utf16le').subarray(0, -1)],
  ])('a key with %s: it is not text', async (_title, content) => {
    await expect(openKeyFile(write(content()))).rejects.toThrow('it is neither text nor a binary OpenPGP key')
  })

  test('a missing file', async () => {
    const path = join(folder.path, 'missing')

    await expect(openKeyFile(path)).rejects.toThrow(`${path}: the signing key cannot be read: the file does not exist`)
  })

  test('a directory: it is a directory', async () => {
    await expect(openKeyFile(folder.path)).rejects.toThrow(
      `${folder.path}: the signing key cannot be read: it is a dir`,
    )
  })

  test('a device is refused', async () => {
    await expect(openKeyFile('/dev/zero')).rejects.toThrow('a pipe or a device')
  })

  test('a key in place of its path: it is not repeated', async () => {
    const opening = openKeyFile(keys.ssh.privateKey)

    await expect(opening).rejects.toThrow('the path is itself a key')
    await expect(opening).rejects.not.toThrow(keys.ssh.privateKey.split('\n')[2] ?? '')
  })

  test('an invalid path is a TypeError', async () => {
    // @ts-expect-error an argument of a wrong type
    await expect(openKeyFile(42)).rejects.toThrow(TypeError)
    await expect(openKeyFile(new URL('https://example.com/key.pub'))).rejects.toThrow(TypeError)
  })
})

describeWith(['mkfifo'], 'a pipe', () => {
  test('is refused without waiting for a writer', async () => {
    const pipe = join(folder.path, 'pipe')
    execFileSync('mkfifo', [pipe])

    await expect(openKeyFile(pipe)).rejects.toThrow('a pipe or a device')
  })
})

describe('a key file that changes', () => {
  test('is served again by the next request', async () => {
    const key = await openKeyFile(write(keys.ssh.publicKey))
    write(keys.other.publicKey)

    expect(key.publicKey()).toMatchObject({ text: keys.other.publicKey })
  })

  test('is noticed when size and time of change stay the same', async () => {
    const path = write(keys.ssh.publicKey)
    utimesSync(path, 1, 1)
    const key = await openKeyFile(path)
    write(keys.other.publicKey)
    utimesSync(path, 1, 1)

    expect(key.publicKey()).toMatchObject({ text: keys.other.publicKey })
  })

  test('is noticed long after the last change, though size and time of change are set back', async () => {
    const path = write(keys.ssh.publicKey)
    utimesSync(path, 1, 1)
    const { ctimeNs } = statSync(path, { bigint: true })
    const key = new WatchedKeyFile(keyFileAt(path), () => Date.now() + 60_000)
    do {
      write(keys.other.publicKey)
      utimesSync(path, 1, 1)
    } while (statSync(path, { bigint: true }).ctimeNs === ctimeNs) // within one tick of the clock of the file system

    expect(key.publicKey()).toMatchObject({ text: keys.other.publicKey })
  })

  test('is noticed when it changes twice within one tick of its file system’s clock', () => {
    const key = new WatchedKeyFile(coarse(keyFileAt(write(keys.ssh.publicKey))))
    write(keys.other.publicKey)

    expect(key.publicKey()).toMatchObject({ text: keys.other.publicKey })
  })

  test('is read no more once its last change lies back', async () => {
    const reads: string[] = []
    const file = keyFileAt(write(keys.openpgp.privateKey))
    const counted: KeyFileReader = {
      ...file,
      read: () => {
        reads.push('read')
        return file.read()
      },
    }
    const key = new WatchedKeyFile(counted, () => Date.now() + 60_000)
    await key.publicKey()
    await key.publicKey()

    expect(key.format).toBe('openpgp')
    expect(reads).toEqual(['read'])
  })

  test('leaves no open file behind, readable or not', () => {
    const file = keyFileAt(write(keys.ssh.publicKey))
    const huge = keyFileAt(folder.write('huge', 'a'.repeat(1_048_577)))
    const before = readdirSync('/proc/self/fd').length
    for (let times = 0; times < 50; times += 1) {
      file.read()
      expect(() => huge.read()).toThrow('larger than 1 MiB')
    }

    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 25)
  })

  test('is noticed when another file takes its name', async () => {
    const path = write(keys.ssh.publicKey)
    const key = await openKeyFile(path)
    renameSync(folder.write('next', keys.other.publicKey), path)

    expect(key.publicKey()).toMatchObject({ text: keys.other.publicKey })
  })

  test('is noticed when a symbolic link on the way is turned', async () => {
    const link = join(folder.path, 'link')
    symlinkSync(folder.write('first', keys.ssh.publicKey), link)
    const key = await openKeyFile(link)
    rmSync(link)
    symlinkSync(folder.write('second', keys.other.publicKey), link)

    expect(key.publicKey()).toMatchObject({ text: keys.other.publicKey })
  })

  test('to the other format takes the format along', async () => {
    const key = await openKeyFile(write(keys.ssh.privateKey))
    write(keys.openpgp.privateKey)

    expect(key.format).toBe('openpgp')
    expect(await key.publicKey()).toEqual(expect.objectContaining({ format: 'openpgp', text: keys.openpgp.publicKey }))
  })

  test('is parsed once for all who ask at the same time', async () => {
    const key = await openKeyFile(write(keys.ssh.privateKey))
    write(keys.openpgp.privateKey)
    const answers = await Promise.all(Array.from({ length: 20 }, () => key.publicKey()))

    expect(new Set(answers).size).toBe(1)
  })

  test('into garbage is an error without the path, and keeps its format', async () => {
    const path = write(keys.openpgp.publicKey)
    const key = await openKeyFile(path)
    write('garbage')

    expect(key.format).toBe('openpgp')
    expect(() => key.publicKey()).toThrow(expect.objectContaining(unreadable))
    expect(() => key.publicKey()).not.toThrow(path)
  })

  const broken: readonly (readonly [string, string | Uint8Array])[] = [
    ['garbage', 'garbage'],
    ['an empty file', ''],
    ['a huge file', 'a'.repeat(1_048_577)],
    ['a damaged key', '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n'],
  ]
  test.each(broken)('into %s is an error whose cause names the path, for every caller', async (_title, content) => {
    const path = write(keys.openpgp.publicKey)
    const key = await openKeyFile(path)
    write(content)

    for (const _ of [1, 2]) {
      const error = await Promise.resolve()
        .then(() => key.publicKey())
        .catch((thrown: unknown) => thrown)
      if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) throw new Error('it is not unreadable')
      expect(error.message).toMatch(/^the signing key cannot be read: /)
      expect(error.message).not.toContain(path)
      expect(String(error.cause)).toContain(path)
    }
  })

  test('into nothing is an error whose cause names the path, until it is back', async () => {
    const path = write(keys.ssh.publicKey)
    const key = await openKeyFile(path)
    rmSync(path)
    const error = failureOf(() => key.publicKey())
    write(keys.ssh.publicKey)

    expect(isForgeError(error, 'SIGNING_KEY_UNREADABLE') && error.message).not.toContain(path)
    expect(isForgeError(error, 'SIGNING_KEY_UNREADABLE') && String(error.cause)).toContain(path)
    expect(key.publicKey()).toMatchObject({ text: keys.ssh.publicKey })
  })

  test('is not parsed again when only its times change', async () => {
    const path = write(keys.openpgp.privateKey)
    const key = await openKeyFile(path)
    const before = await key.publicKey()
    utimesSync(path, 5, 5)

    expect(key.publicKey()).toBe(before)
  })

  test('observes the signal', async () => {
    const key = await openKeyFile(write(keys.ssh.publicKey))

    expect(() => key.publicKey({ signal: AbortSignal.abort(new Error('gone')) })).toThrow('gone')
  })
})

/** The same file on a file system whose clock stands still. */
function coarse(file: KeyFileReader): KeyFileReader {
  return {
    path: file.path,
    state: () => ({ ...file.state(), stamp: 'always the same' }),
    read: () => ({ ...file.read(), stamp: 'always the same' }),
  }
}

function failureOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
