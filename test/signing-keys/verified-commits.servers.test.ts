import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { allowedSigners, describeKey, openKeyFile } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { GpgHome } from './gpg-home.ts'
import { PASSPHRASE, SshFolder } from './ssh-folder.ts'

// A key signs a commit with git. What is served of its file is imported where nothing else is known, and verifies the commit.
// Every algorithm and form: openpgp-key.test.ts and ssh-key.test.ts, which compare what is served with what gpg and ssh-keygen say.

const WHO = 'forge@example.com'

describeWith(['git', 'gpg', 'gpgconf', 'ssh-keygen'], 'a commit is verified by what is served of', () => {
  const folder = new SshFolder()
  const home = new GpgHome()
  let count = 0
  afterAll(() => {
    home.close()
    folder.remove()
  })

  function git(cwd: string, gpg: GpgHome, config: readonly string[], options: readonly string[]) {
    const env = { PATH: process.env['PATH'], HOME: folder.path, GNUPGHOME: gpg.path, GIT_CONFIG_NOSYSTEM: '1' }
    const settings = config.flatMap((entry) => ['-c', entry])
    return spawnSync('git', [...settings, ...options], { cwd, env, encoding: 'utf8' })
  }

  /** A repository with one commit that a key signed. */
  function signedCommit(config: readonly string[]): string {
    count += 1
    const path = join(folder.path, `repository-${count}`)
    git(folder.path, home, [], ['init', '-q', path])
    const identity = ['user.name=Forge Signer', `user.email=${WHO}`]
    const made = git(path, home, [...identity, ...config], ['commit', '-q', '--allow-empty', '-S', '-m', 'signed'])
    expect(made).toMatchObject({ status: 0 })
    return path
  }

  /** What `git verify-commit` says. */
  function verify(repository: string, gpg: GpgHome, config: readonly string[] = []) {
    const { status, stderr } = git(repository, gpg, config, ['verify-commit', '--raw', 'HEAD'])
    return { status, said: stderr }
  }

  /** A gpg that knows these keys alone, until the test ends. */
  function newClient(keys: string): GpgHome {
    const client = new GpgHome()
    onTestFinished(() => client.close())
    client.run(['--import'], keys)
    return client
  }

  /** What git says where these signers are known. */
  function verifySsh(repository: string, signers: string) {
    const allowed = `gpg.ssh.allowedSignersFile=${folder.write('signers', signers)}`
    return verify(repository, home, ['gpg.format=ssh', allowed])
  }

  /** A gpg that signs without questions. */
  function unattended(): string {
    const options = `--batch --pinentry-mode loopback --passphrase '${PASSPHRASE}'`
    const path = folder.write('gpg', `#!/bin/sh\nexec gpg ${options} "$@"\n`)
    chmodSync(path, 0o700)
    return path
  }

  interface GpgForm {
    readonly algorithm: string
    /** What is done to the key before it signs. */
    readonly before?: (fingerprint: string) => unknown
    /** What is done to the key after it has signed. */
    readonly after?: (fingerprint: string) => unknown
    readonly exported?: string
    /** What gpg says of the signature. */
    readonly says?: string
  }

  const unlock = ['--passphrase', PASSPHRASE]
  const before = (fingerprint: string) =>
    home.run([...unlock, '--quick-add-key', fingerprint, 'ed25519', 'sign', 'never'])
  const revoke = (fingerprint: string) => {
    const certificate = execFileSync('sed', ['s/^:---/---/', `${home.path}/openpgp-revocs.d/${fingerprint}.rev`])
    home.run(['--import'], certificate)
  }
  const expire = async (fingerprint: string) => {
    home.run([...unlock, '--quick-set-expire', fingerprint, 'seconds=1'])
    await delay(2000)
  }
  const gpgForms: Readonly<Record<string, GpgForm>> = {
    'an OpenPGP subkey whose primary key is offline': {
      algorithm: 'ed25519',
      before,
      exported: '--export-secret-subkeys',
    },
    'a revoked OpenPGP key': { algorithm: 'ed25519', after: revoke, says: 'REVKEYSIG' },
    'an expired OpenPGP key': { algorithm: 'ed25519', after: expire, says: 'EXPKEYSIG' },
  }
  test.each(Object.entries(gpgForms))('%s under a passphrase', async (title, form) => {
    const { algorithm, exported = '--export-secret-keys', says = 'GOODSIG' } = form
    const fingerprint = home.generate(`${title.replaceAll(' ', '-')}@example.com`, algorithm, PASSPHRASE)
    form.before?.(fingerprint)
    const repository = signedCommit([`user.signingKey=${fingerprint}`, `gpg.program=${unattended()}`])
    await form.after?.(fingerprint)
    const key = await openKeyFile(folder.write('key', home.run([...unlock, exported, fingerprint])))
    const client = newClient((await key.publicKey()).text)
    const { said } = verify(repository, client)
    const { expires, ...described } = await describeKey(key)

    expect(client.fingerprints()[0]).toBe(fingerprint)
    expect(described).toMatchObject({ fingerprint, isRevoked: says === 'REVKEYSIG' })
    expect(expires !== undefined).toBe(says === 'EXPKEYSIG')
    expect(said).toContain(`[GNUPG:] ${says} `)
    expect(said).toMatch(new RegExp(`VALIDSIG .*${fingerprint}`))
  })

  const sshForms: Readonly<Record<string, readonly [type: readonly string[], encrypt?: readonly string[]]>> = {
    'SSH RSA in PEM': [['-t', 'rsa', '-b', '2048', '-m', 'PEM']],
    'SSH Ed25519 with a passphrase': [['-t', 'ed25519'], []],
    'SSH ECDSA in PKCS#8 with a passphrase, and its .pub': [
      ['-t', 'ecdsa'],
      ['-m', 'PKCS8'],
    ],
  }

  /** Certifies a key. The private half gets the name of the certificate: ssh-keygen finds it by that. */
  function certificateOf(name: string): string {
    const path = join(folder.path, name)
    folder.generate(`${name}-authority`, ['-t', 'ed25519', '-N', ''])
    folder.keygen(['-q', '-s', `${path}-authority`, '-I', 'forge', '-n', WHO, `${path}.pub`])
    folder.write(`${name}-cert`, folder.read(name))
    return `${path}-cert.pub`
  }

  test.each(Object.entries(sshForms))('%s', async (title, [options, encrypt]) => {
    const name = title.replaceAll(/[ ,.#]/g, '-')
    folder.generate(name, [...options, '-N', ''])
    const file = join(folder.path, name)
    const repository = signedCommit(['gpg.format=ssh', `user.signingKey=${file}`])
    if (encrypt !== undefined) folder.keygen(['-q', '-p', '-P', '', '-N', PASSPHRASE, ...encrypt, '-f', file])
    const key = await openKeyFile(file)
    const { status, said } = verifySsh(repository, await allowedSigners(key, [WHO]))

    expect((await describeKey(key)).fingerprint).toBe(folder.described(folder.read(`${name}.pub`)).fingerprint)
    expect(said).toContain(`Good "git" signature for ${WHO}`)
    expect(status).toBe(0)
  })

  test('an SSH certificate, and of the next one by its authority', async () => {
    folder.generate('renewed', ['-t', 'ed25519', '-N', ''])
    const file = certificateOf('renewed')
    const config = ['gpg.format=ssh', `user.signingKey=${file}`]
    const before = signedCommit(config)
    const signers = await allowedSigners(await openKeyFile(file), [WHO])
    const certify = ['-I', 'forge', '-n', WHO, '-V', '+1w', join(folder.path, 'renewed.pub')]
    folder.keygen(['-q', '-s', join(folder.path, 'renewed-authority'), ...certify])
    const after = signedCommit(config)
    folder.generate('other-authority', ['-t', 'ed25519', '-N', ''])
    folder.keygen(['-q', '-s', join(folder.path, 'other-authority'), ...certify])
    const foreign = signedCommit(config)
    const verified = [before, after, foreign].map((repository) => verifySsh(repository, signers).status)

    expect(verified).toEqual([0, 0, 1])
  })
})
