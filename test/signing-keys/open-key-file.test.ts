import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey, openKeyFile } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { SshFolder } from './ssh-folder.ts'

const who = { name: 'Forge Signer', email: 'forge@example.com' }
const folder = new SshFolder()
let openpgp = { privateKey: '', publicKey: '' }
let ssh = openpgp
beforeAll(async () => {
  openpgp = await generateKey({ format: 'openpgp', ...who })
  ssh = await generateKey({ format: 'ssh', ...who })
})
afterAll(() => folder.remove())

function write(content: string | Uint8Array): string {
  return folder.write('key', content)
}

async function served(path: string | URL): Promise<string> {
  return (await (await openKeyFile(path)).publicKey()).text
}

test.each([
  ['an OpenPGP key', 'openpgp', () => openpgp.privateKey],
  ['a binary OpenPGP key', 'openpgp', () => Buffer.from(openpgp.publicKey.split('\n').slice(2, -3).join(''), 'base64')],
  ['an SSH public key', 'ssh', () => ssh.publicKey],
  ['an SSH private key', 'ssh', () => ssh.privateKey],
] as const)('the format is determined by the content: %s', async (_title, format, content) => {
  expect(await openKeyFile(write(content()))).toMatchObject({ format })
})

test('a path may be a file URL, and a relative path is resolved when the file is opened', async () => {
  const url = pathToFileURL(write(ssh.publicKey))
  const here = process.cwd()
  process.chdir(folder.path)
  const key = await openKeyFile('key').finally(() => process.chdir(here))
  await new Promise((resolve) => setTimeout(resolve, 300))

  expect(await served(url)).toBe(ssh.publicKey)
  expect(await key.publicKey()).toMatchObject({ text: ssh.publicKey })
})

test.each([
  ['in Latin-1', () => Buffer.from(ssh.publicKey.replace('\n', ' José\n'), 'latin1')],
  ['with half a character of UTF-16', () => Buffer.from(`\uFEFF${ssh.publicKey}`, 'utf16le').subarray(0, -1)],
])('a comment %s is left out', async (_title, content) => {
  expect((await served(write(content()))).trim()).toBe(ssh.publicKey.split(' ').slice(0, 2).join(' '))
})

describe('a file that cannot be used is named as what it is', () => {
  const unusable: readonly (readonly [string, string, string | Uint8Array])[] = [
    ['an empty file', 'it is empty', ''],
    ['a file of another kind', 'neither an OpenPGP nor an SSH key', 'port = 3000\n'],
    ['a huge file', 'larger than 128 KiB', 'a'.repeat(131_073)],
    ['binary garbage', 'damaged', Buffer.alloc(100, 0xff)],
    ['a program', 'neither an OpenPGP nor an SSH key', Buffer.from('\x7fELF\0\0\x01')],
    ['a PuTTY key', 'puttygen FILE -O public-openssh', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n'],
    ['RFC 4716', 'ssh-keygen -i -f FILE', '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----\n'],
    ['pubring.kbx', 'gpg --export --armor KEYID', Buffer.from('\0\0\0 \x01\x01\0\x02KBXf\0\0\0\0')],
    ['authorized_keys', 'head -n 1 > key.pub', '# ours\nfrom="10.0.0.0/8",no-pty ssh-ed25519 AAAAC3NzaC1lZDI1 forge\n'],
    ['known_hosts', 'head -n 1 > key.pub', 'example.com ssh-ed25519 AAAAC3NzaC1lZDI1\n'],
    ['a certificate', 'of a kind that is not', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ]
  const places: readonly (readonly [string, string, (path: string) => unknown])[] = [
    ['a missing file', 'the file does not exist', () => undefined],
    ['a circle of links', 'lead in a circle', (path) => symlinkSync(path, path)],
    ['a link to nothing', 'the file does not exist', (path) => symlinkSync(`${path}-target`, path)],
    ['a directory', 'it is a directory', (path) => symlinkSync(folder.path, path)],
    ['a device', 'a pipe or a device', (path) => symlinkSync('/dev/zero', path)],
    ['a pipe', 'a pipe or a device', (path) => execFileSync('mkfifo', [path])],
    ['a file under a file', 'the file does not exist', (path) => symlinkSync(join(folder.write('f', ''), 'key'), path)],
    ...unusable.map(([what, reason, content]) => [what, reason, () => write(content)] as const),
  ]
  test.each(places)('%s: %s', async (title, reason, make) => {
    const path = join(folder.path, title.replaceAll(' ', '-'))
    const made = make(path)
    const file = typeof made === 'string' ? made : path
    const error = await openKeyFile(file).catch((thrown: unknown) => thrown)

    if (!(error instanceof Error)) throw new Error('it was opened')
    expect(error).toMatchObject({ code: 'SIGNING_KEY_UNREADABLE' })
    expect(error.message).toMatch(/^the signing key cannot be read: /)
    expect(error.message).toContain(reason)
    expect(error.message).not.toContain(file)
    expect(String(error.cause)).toContain(`the key file is ${file}`)
  })

  test('a socket: it is a socket', async () => {
    const path = join(folder.path, 'socket')
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(path, resolve))

    await expect(openKeyFile(path).finally(() => server.close())).rejects.toThrow('it is a socket')
  })

  test('a key in place of its path: it is not repeated', async () => {
    await expect(openKeyFile(ssh.privateKey)).rejects.toThrow('the path is itself a key')
    await expect(openKeyFile(ssh.privateKey)).rejects.not.toThrow(ssh.privateKey.split('\n')[2] ?? '')
    await expect(openKeyFile(ssh.privateKey)).rejects.not.toHaveProperty('cause')
  })

  test('an invalid path: it is a TypeError', async () => {
    // @ts-expect-error an argument of a wrong type
    await expect(openKeyFile(42)).rejects.toThrow(TypeError)
    await expect(openKeyFile(new URL('https://example.com/key.pub'))).rejects.toThrow(TypeError)
  })
})

describeWith(['ssh-keygen'], 'a private key with a passphrase', () => {
  const hidden = ['-t', 'rsa', '-b', '2048', '-N', 'secret words', '-m']

  test('in the form of OpenSSH is served as the .pub file beside it if that has the same key, else alone', async () => {
    folder.generate('encrypted', ['-t', 'ed25519', '-N', 'secret words'])
    const [path, line] = [join(folder.path, 'encrypted'), folder.read('encrypted.pub')]

    expect(await served(path)).toBe(line)
    for (const beside of [ssh.publicKey, 'garbage', line.replace(' forge@example.com', 'AAAA')]) {
      folder.write('encrypted.pub', beside)
      expect(await served(path)).toBe(line.replace(' forge@example.com', ''))
    }
  })

  test.each(['PEM', 'PKCS8'])('in %s is served as the .pub file beside it, and refused without', async (form) => {
    folder.generate(form, [...hidden, form])
    const alone = folder.write(`${form}-alone`, folder.read(form))

    expect(await served(join(folder.path, form))).toBe(folder.read(`${form}.pub`))
    await expect(openKeyFile(alone)).rejects.toThrow('give its .pub file')
    for (const beside of [folder.read(form), openpgp.publicKey]) {
      folder.write(`${form}-alone.pub`, beside)
      await expect(openKeyFile(alone)).rejects.toThrow('give its .pub file')
    }
  })
})
