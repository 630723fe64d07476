import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowedSigners, describeKey, openKeyFile, rotatingKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { GpgHome } from './gpg-home.ts'
import { SshFolder } from './ssh-folder.ts'

// A key of each usual form signs a commit with git. What is served of its file is imported where nothing else is known, and
// verifies the commit.

const PASSPHRASE = 'secret words'
const WHO = 'forge@example.com'

describeWith(['git', 'gpg', 'gpgconf', 'ssh-keygen'], 'a commit is verified by what is served of', () => {
  const folder = new SshFolder()
  let home: GpgHome
  let count = 0
  beforeAll(() => {
    home = new GpgHome()
  })
  afterAll(() => {
    home.close()
    folder.remove()
  })

  /** A repository with one commit that a key signed. */
  function signedCommit(config: readonly string[]): string {
    count += 1
    const path = join(folder.path, `repository-${count}`)
    mkdirSync(path)
    git(path, home, ['init', '-q'])
    const identity = ['user.name=Forge Signer', `user.email=${WHO}`]
    const options = [...identity, ...config].flatMap((entry) => ['-c', entry])
    git(path, home, [...options, 'commit', '-q', '--allow-empty', '-S', '-m', 'signed'])
    return path
  }

  function git(cwd: string, gpg: GpgHome, options: readonly string[]): string {
    return execFileSync('git', options, { cwd, env: environment(gpg), stdio: 'pipe' }).toString()
  }

  function environment(gpg: GpgHome) {
    return { PATH: process.env['PATH'], HOME: folder.path, GNUPGHOME: gpg.path, GIT_CONFIG_NOSYSTEM: '1' }
  }

  /** What `git verify-commit` says. */
  function verify(repository: string, gpg: GpgHome, config: readonly string[] = []) {
    const options = [...config.flatMap((entry) => ['-c', entry]), 'verify-commit', '--raw', 'HEAD']
    const { status, stderr } = spawnSync('git', options, { cwd: repository, env: environment(gpg), encoding: 'utf8' })
    return { status, said: stderr }
  }

  /** A gpg that signs without questions. */
  function unattended(): string {
    const path = folder.write(
      'gpg',
      `#!/bin/sh\nexec gpg --batch --pinentry-mode loopback --passphrase '${PASSPHRASE}' "$@"\n`,
    )
    chmodSync(path, 0o700)
    return path
  }

  interface GpgForm {
    readonly algorithm: string
    readonly passphrase?: string
    /** What is done to the key before it signs. */
    readonly before?: (fingerprint: string) => unknown
    /** What is done to the key after it has signed. */
    readonly after?: (fingerprint: string) => unknown
    readonly exported?: string
    /** What gpg says of the signature. */
    readonly says?: string
  }

  const addSigner = (fingerprint: string) =>
    home.run(['--passphrase', PASSPHRASE, '--quick-add-key', fingerprint, 'ed25519', 'sign', 'never'])
  const revoke = (fingerprint: string) => {
    const certificate = execFileSync('sed', ['s/^:---/---/', `${home.path}/openpgp-revocs.d/${fingerprint}.rev`])
    home.run(['--import'], certificate)
  }
  const expire = async (fingerprint: string) => {
    home.run(['--passphrase', PASSPHRASE, '--quick-set-expire', fingerprint, 'seconds=1'])
    await delay(2000)
  }
  const gpgForms: Readonly<Record<string, GpgForm>> = {
    'OpenPGP RSA': { algorithm: 'rsa2048' },
    'OpenPGP Ed25519': { algorithm: 'ed25519' },
    'OpenPGP ECDSA': { algorithm: 'nistp256' },
    'OpenPGP with a passphrase': { algorithm: 'ed25519', passphrase: PASSPHRASE },
    'an OpenPGP subkey': { algorithm: 'rsa2048', before: addSigner },
    'an OpenPGP subkey whose primary key is offline': {
      algorithm: 'ed25519',
      before: addSigner,
      exported: '--export-secret-subkeys',
    },
    'an OpenPGP public key': { algorithm: 'ed25519', exported: '--export' },
    'a revoked OpenPGP key': { algorithm: 'ed25519', after: revoke, says: 'REVKEYSIG' },
    'an expired OpenPGP key': { algorithm: 'ed25519', after: expire, says: 'EXPKEYSIG' },
  }
  test.each(Object.entries(gpgForms))('%s', async (title, form) => {
    const { algorithm, passphrase = '', before, after, exported = '--export-secret-keys', says = 'GOODSIG' } = form
    const fingerprint = home.generate(`${title.replaceAll(' ', '-')}@example.com`, algorithm, passphrase || PASSPHRASE)
    before?.(fingerprint)
    const repository = signedCommit([`user.signingKey=${fingerprint}`, `gpg.program=${unattended()}`])
    await after?.(fingerprint)
    const file = folder.write('key', home.run(['--passphrase', passphrase || PASSPHRASE, exported, fingerprint]))
    const key = await openKeyFile(file)
    const client = new GpgHome()
    try {
      client.run(['--import'], (await key.publicKey()).text)
      const { said } = verify(repository, client)

      expect(client.fingerprints()[0]).toBe(fingerprint)
      expect((await describeKey(key)).fingerprint).toBe(fingerprint)
      expect((await describeKey(key)).isRevoked).toBe(says === 'REVKEYSIG')
      expect((await describeKey(key)).expires !== undefined).toBe(says === 'EXPKEYSIG')
      expect(said).toContain(`[GNUPG:] ${says} `)
      expect(said).toMatch(new RegExp(`VALIDSIG .*${fingerprint}`))
    } finally {
      client.close()
    }
  })

  const pem = ['-m', 'PEM']
  const sshForms: Readonly<Record<string, readonly [type: readonly string[], encrypt: readonly string[] | undefined]>> =
    {
      'SSH RSA': [['-t', 'rsa', '-b', '2048'], undefined],
      'SSH Ed25519': [['-t', 'ed25519'], undefined],
      'SSH ECDSA': [['-t', 'ecdsa', '-b', '384'], undefined],
      'SSH RSA in PEM': [['-t', 'rsa', '-b', '2048', ...pem], undefined],
      'SSH Ed25519 with a passphrase': [['-t', 'ed25519'], []],
      'SSH RSA in PEM with a passphrase, and its .pub': [['-t', 'rsa', '-b', '2048'], pem],
      'SSH ECDSA in PKCS#8 with a passphrase, and its .pub': [
        ['-t', 'ecdsa'],
        ['-m', 'PKCS8'],
      ],
    }
  test.each(Object.entries(sshForms))('%s', async (title, [options, encrypt]) => {
    const name = title.replaceAll(/[ ,.#]/g, '-')
    folder.generate(name, [...options, '-N', ''])
    const file = join(folder.path, name)
    const repository = signedCommit(['gpg.format=ssh', `user.signingKey=${file}`])
    if (encrypt !== undefined) folder.keygen(['-q', '-p', '-P', '', '-N', PASSPHRASE, ...encrypt, '-f', file])
    const key = await openKeyFile(file)
    const signers = folder.write('signers', await allowedSigners(key, [WHO]))
    const { status, said } = verify(repository, home, ['gpg.format=ssh', `gpg.ssh.allowedSignersFile=${signers}`])

    expect((await describeKey(key)).fingerprint).toBe(folder.fingerprint(folder.read(`${name}.pub`)))
    expect(said).toContain(`Good "git" signature for ${WHO}`)
    expect(status).toBe(0)
  })

  test('three OpenPGP keys in rotation, each its own', async () => {
    const made = ['one', 'two', 'three'].map((name) => {
      const fingerprint = home.generate(`${name}@rotation.example.com`, 'ed25519')
      const repository = signedCommit([`user.signingKey=${fingerprint}`])
      return { repository, fingerprint, file: folder.write(name, home.run(['--export-secret-keys', fingerprint])) }
    })
    const [current, ...former] = await Promise.all(made.map(({ file }) => openKeyFile(file)))
    if (current === undefined) throw new Error('no key was made')
    const client = new GpgHome()
    try {
      client.run(['--import'], (await rotatingKey({ current, former }).publicKey()).text)

      expect(client.fingerprints()).toEqual(made.map(({ fingerprint }) => fingerprint))
      for (const { repository, fingerprint } of made) {
        expect(verify(repository, client)).toMatchObject({ status: 0, said: expect.stringContaining(fingerprint) })
      }
    } finally {
      client.close()
    }
  })

  test('three SSH keys in rotation, each its own, and not one that was left out', async () => {
    const made = ['first', 'second', 'third', 'foreign'].map((name) => {
      folder.generate(name, ['-t', 'ed25519', '-N', ''])
      const file = join(folder.path, name)
      return { repository: signedCommit(['gpg.format=ssh', `user.signingKey=${file}`]), file }
    })
    const [current, ...former] = await Promise.all(made.slice(0, 3).map(({ file }) => openKeyFile(file)))
    if (current === undefined) throw new Error('no key was made')
    const signers = folder.write('rotated', await allowedSigners(rotatingKey({ current, former }), [WHO]))
    const config = ['gpg.format=ssh', `gpg.ssh.allowedSignersFile=${signers}`]

    expect(made.map(({ repository }) => verify(repository, home, config).status)).toEqual([0, 0, 0, 1])
  })
})
