import { execFileSync } from 'node:child_process'
import { chmodSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey, openKeyFile } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { SshFolder } from './ssh-folder.ts'

const unreadable = { code: 'SIGNING_KEY_UNREADABLE' }
const who = { name: 'Forge Signer', email: 'forge@example.com' }
const folder = new SshFolder()
const keys: Record<'openpgp' | 'ssh', { readonly privateKey: string; readonly publicKey: string }> = {
  openpgp: { privateKey: '', publicKey: '' },
  ssh: { privateKey: '', publicKey: '' },
}
beforeAll(async () => {
  keys.openpgp = await generateKey({ format: 'openpgp', ...who })
  keys.ssh = await generateKey({ format: 'ssh', ...who })
})
afterAll(() => folder.remove())

function write(content: string | Uint8Array): string {
  return folder.write('key', content)
}

async function served(path: string | URL): Promise<string> {
  return (await (await openKeyFile(path)).publicKey()).text
}

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
test.each(files)('the format is determined by the content: %s', async (_title, format, content) => {
  expect(await openKeyFile(write(content()))).toMatchObject({ format })
})

test('a path may be a file URL', async () => {
  expect(await served(pathToFileURL(write(keys.ssh.publicKey)))).toBe(keys.ssh.publicKey)
})

test('a relative path is resolved when the file is opened', async () => {
  const path = write(keys.ssh.publicKey)
  const here = process.cwd()
  process.chdir(folder.path)
  try {
    const key = await openKeyFile('key')
    process.chdir(here)
    await new Promise((resolve) => setTimeout(resolve, 300))

    expect(await key.publicKey()).toMatchObject({ text: await served(path) })
  } finally {
    process.chdir(here)
  }
})

test.each([
  ['in Latin-1', () => Buffer.from(keys.ssh.publicKey.replace('\n', ' José\n'), 'latin1')],
  ['with half a character of UTF-16', () => Buffer.from(`\uFEFF${keys.ssh.publicKey}`, 'utf16le').subarray(0, -1)],
])('a comment %s is left out', async (_title, content) => {
  expect(`${await served(write(content()))}`.trim()).toBe(keys.ssh.publicKey.split(' ').slice(0, 2).join(' '))
})

describe('a file that cannot be used is named when it is opened', () => {
  const unusable: readonly (readonly [string, string, string | Uint8Array])[] = [
    ['an empty file', 'it is empty', ''],
    ['a file of another kind', 'neither an OpenPGP nor an SSH key', 'port = 3000\n'],
    ['a huge file', 'larger than 128 KiB', 'a'.repeat(131_073)],
    ['binary garbage', 'damaged', Buffer.alloc(100, 0xff)],
    ['a program', 'neither text nor a binary OpenPGP key', Buffer.from('\x7fELF\0\0\x01')],
    ['a PuTTY key', 'puttygen FILE -O public-openssh', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n'],
    ['RFC 4716', 'ssh-keygen -i -f FILE', '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----\n'],
    ['pubring.kbx', 'gpg --export --armor KEYID', Buffer.from('\0\0\0 \x01\x01\0\x02KBXf\0\0\0\0')],
    ['a key of gpg-agent', 'gpg --export --armor KEYID', 'Key: (private-key (rsa (n #00#)))\n'],
    ['authorized_keys', 'head -n 1 > key.pub', '# ours\nfrom="10.0.0.0/8",no-pty ssh-ed25519 AAAAC3NzaC1lZDI1 forge\n'],
    ['known_hosts', 'head -n 1 > key.pub', 'example.com ssh-ed25519 AAAAC3NzaC1lZDI1\n'],
    ['a certificate', 'of a kind that SSH does not', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ]
  test.each(unusable)('%s: %s', async (_title, reason, content) => {
    const path = write(content)
    const opening = openKeyFile(path)

    await expect(opening).rejects.toMatchObject(unreadable)
    await expect(opening).rejects.toThrow(`${path}: the signing key cannot be read: `)
    await expect(opening).rejects.toThrow(reason)
  })

  const places: readonly (readonly [string, string, (path: string) => unknown])[] = [
    ['a missing file', 'the file does not exist', () => undefined],
    ['a circle of links', 'lead in a circle', (path) => symlinkSync(path, path)],
    ['a link to nothing', 'the file does not exist', (path) => symlinkSync(`${path}-target`, path)],
    ['a directory', 'it is a directory', (path) => symlinkSync(folder.path, path)],
    ['a device', 'a pipe or a device', (path) => symlinkSync('/dev/zero', path)],
    ['a file under a file', 'the file does not exist', (path) => symlinkSync(join(folder.write('f', ''), 'key'), path)],
  ]
  test.each(places)('%s: %s', async (title, reason, make) => {
    const path = join(folder.path, title.replaceAll(' ', '-'))
    make(path)
    const opening = openKeyFile(path)

    await expect(opening).rejects.toThrow(`${path}: the signing key cannot be read: `)
    await expect(opening).rejects.toThrow(reason)
  })

  test('a socket: it is a socket', async () => {
    const path = join(folder.path, 'socket')
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(path, resolve))
    try {
      await expect(openKeyFile(path)).rejects.toThrow('it is a socket')
    } finally {
      server.close()
    }
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

describeWith(['ssh-keygen'], 'an OpenSSH private key with a passphrase', () => {
  test('is served as the .pub file beside it if that has the same key, and as its own public half otherwise', async () => {
    folder.generate('encrypted', ['-t', 'ed25519', '-N', 'secret words'])
    const [path, line] = [join(folder.path, 'encrypted'), folder.read('encrypted.pub')]

    expect(await served(path)).toBe(line)
    folder.write('encrypted.pub', keys.ssh.publicKey)
    expect(await served(path)).toBe(line.replace(' forge@example.com', ''))
    for (const beside of ['garbage', line.replace(' forge@example.com', 'AAAA')]) {
      folder.write('encrypted.pub', beside)
      expect(await served(path)).toBe(line.replace(' forge@example.com', ''))
    }
  })
})

describeWith(['ssh-keygen'], 'a PEM private key with a passphrase', () => {
  const hidden = ['-t', 'rsa', '-b', '2048', '-N', 'secret words', '-m', 'PEM']
  beforeAll(() => {
    folder.generate('hidden', hidden)
    folder.generate('alone', [...hidden.slice(0, -1), 'PKCS8'])
  })

  test('is served as the .pub file beside it', async () => {
    expect(await served(join(folder.path, 'hidden'))).toBe(folder.read('hidden.pub'))
  })

  test('is refused without one, and with one that is no public line', async () => {
    const path = folder.write('lonely', folder.read('alone'))

    await expect(openKeyFile(path)).rejects.toThrow('give its .pub file')
    folder.write('lonely.pub', folder.read('hidden'))
    await expect(openKeyFile(path)).rejects.toThrow('give its .pub file')
    chmodSync(folder.write('lonely.pub', keys.openpgp.publicKey), 0o600)
    await expect(openKeyFile(path)).rejects.toThrow('give its .pub file')
  })
})
