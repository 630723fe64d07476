import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SigningKeySource } from '../../src/index.ts'
import { describeKey, generateKey, openGitConfigKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith, programPath } from '../programs.ts'
import { GpgHome } from './gpg-home.ts'
import { SshFolder } from './ssh-folder.ts'

const who = { name: 'Forge Signer', email: 'forge@example.com' }

describeWith(['git', 'gpg', 'gpgconf', 'ssh-keygen'], 'the key that git signs with', () => {
  const folder = new SshFolder()
  let gpg: GpgHome
  let fingerprint: string
  let count = 0
  beforeAll(() => {
    gpg = new GpgHome()
    fingerprint = gpg.generate('forge@example.com', 'ed25519')
    folder.generate('id_ed25519', ['-t', 'ed25519', '-N', ''])
    folder.generate('second', ['-t', 'ed25519', '-N', ''])
  })
  afterAll(() => {
    gpg.close()
    folder.remove()
  })

  /** A user with a home and a repository, and what the configuration of the user says. */
  function user(config: string, environment: Readonly<Record<string, string>> = {}) {
    count += 1
    const cwd = join(folder.path, `user-${count}`)
    mkdirSync(cwd)
    const home = join(cwd, '.gitconfig')
    const env = { PATH: process.env['PATH'], HOME: cwd, GNUPGHOME: gpg.path, ...environment }
    execFileSync('git', ['init', '-q', cwd], { env, stdio: 'pipe' })
    writeFileSync(home, config)
    return { options: { cwd, env }, home, cwd }
  }

  async function textOf(key: SigningKeySource | undefined): Promise<string | undefined> {
    return (await key?.publicKey())?.text
  }

  const ssh = '[gpg]\nformat = ssh\n'
  const forms: readonly (readonly [string, () => string])[] = [
    ['a path to a public key', () => `[user]\nsigningKey = ${folder.path}/id_ed25519.pub\n${ssh}`],
    ['a path to a private key', () => `[user]\nsigningKey = ${folder.path}/id_ed25519\n${ssh}`],
    ['a path from the home', () => `[user]\nsigningKey = ~/../id_ed25519.pub\n${ssh}`],
    ['a path from the repository', () => `[user]\nsigningKey = ../id_ed25519.pub\n${ssh}`],
    ['a literal key', () => `[user]\nsigningKey = ${folder.read('id_ed25519.pub')}${ssh}`],
    ['a literal key behind key::', () => `[user]\nsigningKey = key::${folder.read('id_ed25519.pub')}${ssh}`],
    ['what a command prints', () => `[gpg "ssh"]\ndefaultKeyCommand = cat '${folder.path}/id_ed25519.pub'\n${ssh}`],
    [
      'an included file',
      () => `[include]\npath = ${folder.write('more', `[user]\nsigningKey = ~/../id_ed25519.pub\n${ssh}`)}\n`,
    ],
  ]
  test.each(forms)('by SSH is found by %s', async (_form, config) => {
    const key = await openGitConfigKey(user(config()).options)

    expect(key?.format).toBe('ssh')
    expect((await textOf(key))?.trim().split(' ')[1]).toBe(folder.read('id_ed25519.pub').split(' ')[1])
  })

  test.each([
    ['a fingerprint', () => fingerprint],
    ['an address', () => 'forge@example.com'],
    ['a key id with !', () => `${fingerprint.slice(-16)}!`],
  ])('by OpenPGP is found by %s', async (_form, id) => {
    const key = await openGitConfigKey(user(`[user]\nsigningKey = ${id()}\n`).options)

    expect(key && (await describeKey(key))).toMatchObject({ format: 'openpgp', fingerprint })
  })

  test('by OpenPGP is found by the committer, as gpg does where no key is named', async () => {
    const key = await openGitConfigKey(user('[user]\nname = Forge Signer\nemail = forge@example.com\n').options)

    expect(key && (await describeKey(key))).toMatchObject({ fingerprint })
  })

  test.each([
    ['nothing', ''],
    ['another committer', '[user]\nname = Nobody\nemail = nobody@example.com\n'],
    ['the format alone', ssh],
  ])('is undefined where git knows %s', async (_what, config) => {
    expect(await openGitConfigKey(user(config, { GIT_CONFIG_NOSYSTEM: '1' }).options)).toBeUndefined()
  })

  test.each([
    ['a file that is missing', `[user]\nsigningKey = ~/missing.pub\n${ssh}`, 'does not exist'],
    ['a key that gpg does not have', '[user]\nsigningKey = 0123456789ABCDEF\n', 'gpg has no secret key'],
    ['an option of gpg', '[user]\nsigningKey = --version\n', 'gpg has no secret key'],
    ['a format of another kind', '[gpg]\nformat = x509\n', 'neither openpgp nor ssh'],
    ['a command that prints no key', `[gpg "ssh"]\ndefaultKeyCommand = echo no\n${ssh}`, 'prints no key'],
    ['a program that is missing', '[user]\nsigningKey = A\n[gpg]\nprogram = /missing/gpg\n', 'cannot be started'],
    ['a configuration that is broken', '[user\n', 'cannot read its configuration'],
  ])('is an error where git has %s', async (_what, config, reason) => {
    await expect(openGitConfigKey(user(config).options)).rejects.toThrow(reason)
  })

  test('names no private byte in an error, of a command that prints them and of a key in place of its path', async () => {
    const secret = folder.read('id_ed25519')
    const file = `'${folder.path}/id_ed25519'`
    const command = `[gpg "ssh"]\ndefaultKeyCommand = "cat ${file}; cat ${file} >&2; kill -9 $$"\n${ssh}`
    const literal = `[user]\nsigningKey = "${secret.replaceAll('\n', '\\n')}"\n${ssh}`
    for (const config of [command, literal]) {
      const error = await openGitConfigKey(user(config).options).catch((thrown: unknown) => thrown)

      expect(error).toMatchObject({ code: 'SIGNING_KEY_UNREADABLE' })
      expect(inspect(error, { depth: 9 })).not.toContain('Buffer')
      for (const line of secret.split('\n').slice(1, -2)) {
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(line)
      }
    }
  })

  test('in a folder of a repository is that of the repository, from whose root its paths lead, and followed', async () => {
    const { options, cwd } = user(ssh)
    const config = join(cwd, '.git', 'config')
    const below = join(cwd, 'some', 'folder')
    mkdirSync(below, { recursive: true })
    appendFileSync(config, '[user]\nsigningKey = ../id_ed25519.pub\n')
    const key = await openGitConfigKey({ ...options, cwd: below })
    expect(await textOf(key)).toBe(folder.read('id_ed25519.pub'))
    await delay(2300)
    await key?.publicKey()
    await delay(1000)
    appendFileSync(config, '[user]\nsigningKey = ../second.pub\n')

    await expect.poll(() => textOf(key), { timeout: 5000, interval: 260 }).toBe(folder.read('second.pub'))
  })

  test('takes five seconds of a program that hangs', async () => {
    const { options, cwd } = user('[user]\nsigningKey = A\n')
    const program = join(cwd, 'hanging')
    writeFileSync(program, '#!/bin/sh\nexec sleep 60\n')
    chmodSync(program, 0o700)
    appendFileSync(join(cwd, '.gitconfig'), `[gpg]\nprogram = ${program}\n`)
    const began = performance.now()

    await expect(openGitConfigKey(options)).rejects.toThrow('more than five seconds')
    expect(performance.now() - began).toBeLessThan(8000)
  })

  /** The environment in which each start of git and gpg leaves a line. */
  function counted(): { readonly environment: Readonly<Record<string, string>>; starts(): number } {
    const bin = join(folder.path, `bin-${count}`)
    const log = folder.write(`starts-${count}`, '')
    mkdirSync(bin)
    for (const name of ['git', 'gpg']) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> ${log}\nexec ${programPath(name)} "$@"\n`)
      chmodSync(join(bin, name), 0o700)
    }
    return {
      environment: { PATH: `${bin}:${process.env['PATH']}` },
      starts: () => readFileSync(log, 'utf8').split('\n').length - 1,
    }
  }

  test('is looked for again when a file changes, and no request starts a program', async () => {
    const { environment, starts } = counted()
    const { options, home } = user(`[user]\nsigningKey = ~/../id_ed25519.pub\n${ssh}`, environment)
    const key = await openGitConfigKey(options)
    await delay(300)
    await key?.publicKey()
    await delay(2300)
    await key?.publicKey()
    const before = starts()
    for (let times = 0; times < 100; times += 1) await Promise.all([key?.publicKey(), delay(10)])
    expect(starts()).toBe(before)

    writeFileSync(home, `[user]\nsigningKey = ${fingerprint}\n`)
    await delay(300)
    await key?.publicKey()
    await delay(1000)
    expect(key?.format).toBe('openpgp')
    expect(await textOf(key)).toContain('BEGIN PGP')
    expect(starts()).toBeGreaterThan(before)
    expect(starts()).toBeLessThan(before + 8)
  })

  test('follows its file', async () => {
    const other = await generateKey({ format: 'ssh', ...who })
    const path = folder.write('followed.pub', folder.read('id_ed25519.pub'))
    const key = await openGitConfigKey(user(`[user]\nsigningKey = ${path}\n${ssh}`).options)
    folder.write('followed.pub', other.publicKey)
    await delay(260)
    await key?.publicKey()
    await delay(500)

    expect(await textOf(key)).toBe(other.publicKey)
  })
})

describe('openGitConfigKey', () => {
  test('is a TypeError without a folder or an environment', async () => {
    // @ts-expect-error an option is missing
    await expect(openGitConfigKey({ env: {} })).rejects.toThrow('openGitConfigKey needs cwd')
    // @ts-expect-error an option is missing
    await expect(openGitConfigKey({ cwd: '.' })).rejects.toThrow('openGitConfigKey needs env')
  })
})
