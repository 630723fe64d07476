import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SigningKeySource } from '../../src/index.ts'
import { describeKey, openGitConfigKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith, programPath } from '../programs.ts'
import { GpgHome } from './gpg-home.ts'
import { SshFolder } from './ssh-folder.ts'

describeWith(['git', 'gpg', 'gpgconf', 'ssh-keygen'], 'the key that git signs with', () => {
  const folder = new SshFolder()
  const gpg = new GpgHome()
  let fingerprint: string
  let count = 0
  beforeAll(() => {
    fingerprint = gpg.generate('forge@example.com', 'ed25519')
    folder.generate('id_ed25519', ['-t', 'ed25519', '-N', ''])
    folder.generate('second', ['-t', 'ed25519', '-N', ''])
    folder.write('agent.pub', folder.read('id_ed25519.pub'))
  })
  afterAll(() => {
    gpg.close()
    folder.remove()
  })

  /** A user with a home and a repository, and what the configuration of the user says. */
  function user(config: string, environment: Readonly<Record<string, string>> = {}) {
    count += 1
    const cwd = join(folder.path, `user-${count}`)
    const env = { PATH: process.env['PATH'], HOME: cwd, GNUPGHOME: gpg.path, GIT_CONFIG_NOSYSTEM: '1', ...environment }
    execFileSync('git', ['init', '-q', cwd], { env, stdio: 'pipe' })
    writeFileSync(join(cwd, '.gitconfig'), config)
    return { options: { cwd, env }, cwd }
  }

  /** A program that only its owner may start. */
  function program(path: string, script: string): string {
    writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 })
    return path
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
    ['a path whose private key is in an agent alone', () => `[user]\nsigningKey = ${folder.path}/agent\n${ssh}`],
    ['what a command prints', () => `[gpg "ssh"]\ndefaultKeyCommand = cat '${folder.path}/id_ed25519.pub'\n${ssh}`],
    [
      'an included file',
      () => `[include]\npath = ${folder.write('more', `[user]\nsigningKey = ~/../id_ed25519.pub\n${ssh}`)}\n`,
    ],
  ]
  test.each(forms)('by SSH is found by %s', async (_form, config) => {
    expect(await textOf(await openGitConfigKey(user(config()).options))).toBe(folder.read('id_ed25519.pub'))
  })

  test.each([
    ['a fingerprint', () => `signingKey = ${fingerprint}`],
    ['an address', () => 'signingKey = forge@example.com'],
    ['a key id with !', () => `signingKey = ${fingerprint.slice(-16)}!`],
    ['the committer, as gpg does where no key is named', () => 'name = Forge Signer\nemail = forge@example.com'],
  ])('by OpenPGP is found by %s', async (_form, config) => {
    const key = await openGitConfigKey(user(`[user]\n${config()}\n`).options)

    expect(key && (await describeKey(key))).toMatchObject({ format: 'openpgp', fingerprint })
  })

  test.each([
    ['nothing', ''],
    ['another committer', '[user]\nname = Nobody\nemail = nobody@example.com\n'],
    ['the format alone', ssh],
  ])('is undefined where git knows %s', async (_what, config) => {
    expect(await openGitConfigKey(user(config).options)).toBeUndefined()
  })

  test.each([
    ['a file that is missing', `[user]\nsigningKey = ~/missing.pub\n${ssh}`, 'does not exist'],
    ['a key that gpg does not have', '[user]\nsigningKey = 0123456789ABCDEF\n', 'gpg has no secret key'],
    ['an option of gpg', '[user]\nsigningKey = --version\n', 'gpg has no secret key'],
    ['a format of another kind', '[gpg]\nformat = x509\n', 'neither openpgp nor ssh'],
    ['a command that prints no key', `[gpg "ssh"]\ndefaultKeyCommand = echo no\n${ssh}`, 'prints no key'],
    ['a program that is missing', '[user]\nsigningKey = A\n[gpg]\nprogram = /missing/gpg\n', 'cannot be started'],
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
      const shown = inspect(error, { depth: 9, showHidden: true })

      expect(error).toMatchObject({ code: 'SIGNING_KEY_UNREADABLE' })
      expect(shown).not.toContain('Buffer')
      for (const line of secret.split('\n').slice(1, -2)) expect(shown).not.toContain(line)
    }
  })

  test('in a folder of a repository is that of the repository, from whose root its paths lead', async () => {
    const { options, cwd } = user(ssh)
    const below = join(cwd, 'some', 'folder')
    mkdirSync(below, { recursive: true })
    appendFileSync(join(cwd, '.git', 'config'), '[user]\nsigningKey = ../id_ed25519.pub\n')
    const key = await openGitConfigKey({ ...options, cwd: below })
    expect(await textOf(key)).toBe(folder.read('id_ed25519.pub'))
    appendFileSync(join(cwd, '.git', 'config'), '[user]\nsigningKey = ../second.pub\n')

    await expect.poll(() => textOf(key), { timeout: 5000, interval: 260 }).toBe(folder.read('second.pub'))
  })

  test('takes five seconds of a program that hangs', async () => {
    const { options, cwd } = user('[user]\nsigningKey = A\n')
    const hanging = program(join(cwd, 'hanging'), 'exec sleep 60')
    appendFileSync(join(cwd, '.gitconfig'), `[gpg]\nprogram = ${hanging}\n`)
    const began = performance.now()

    await expect(openGitConfigKey(options)).rejects.toThrow('more than five seconds')
    expect(performance.now() - began).toBeLessThan(8000)
  })

  test('is looked for again when a file changes, and no request starts a program', async () => {
    const bin = join(folder.path, 'bin')
    const log = folder.write('starts', '')
    mkdirSync(bin)
    for (const name of ['git', 'gpg'])
      program(join(bin, name), `echo ${name} >> ${log}\nexec ${programPath(name)} "$@"`)
    const starts = () => readFileSync(log, 'utf8').split('\n').length - 1
    const path = folder.write('followed.pub', folder.read('id_ed25519.pub'))
    const config = `[user]\nsigningKey = ${path}\n${ssh}`
    const { options, cwd } = user(config, { PATH: `${bin}:${process.env['PATH']}` })
    const key = await openGitConfigKey(options)
    const before = starts()
    for (let times = 0; times < 100; times += 1) await Promise.all([key?.publicKey(), delay(10)])
    expect(starts()).toBe(before)

    folder.write('followed.pub', folder.read('second.pub'))
    await expect.poll(() => textOf(key), { timeout: 5000, interval: 260 }).toBe(folder.read('second.pub'))

    writeFileSync(join(cwd, '.gitconfig'), `[user]\nsigningKey = ${fingerprint}\n`)
    await expect.poll(() => textOf(key), { timeout: 5000, interval: 260 }).toContain('BEGIN PGP')
    expect(key?.format).toBe('openpgp')
    expect(starts()).toBeLessThan(before + 12)
  })

  test('has a subkey that was added at the next request, although gpg takes its time', async () => {
    const gpgProgram = program(join(folder.path, 'slow-gpg'), `sleep 0.2\nexec ${programPath('gpg')} "$@"`)
    const { options } = user(`[user]\nsigningKey = ${fingerprint}\n[gpg]\nprogram = ${gpgProgram}\n`)
    const key = await openGitConfigKey(options)
    const before = await textOf(key)
    gpg.run(['--passphrase', '', '--quick-add-key', fingerprint, 'ed25519', 'sign', 'never'])
    await delay(260)
    const [first, second] = await Promise.all([textOf(key), textOf(key)])

    expect(first?.length).toBeGreaterThan(before?.length ?? 0)
    expect(second).toBe(first)
  })
})
