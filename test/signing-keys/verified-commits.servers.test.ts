import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { allowedSigners, describeKey, openKeyFile, rotatingKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { GpgHome } from './gpg-home.ts'
import { field, pem as pemBlock } from './key-bytes.ts'
import { SshFolder } from './ssh-folder.ts'

// A key of each form signs a commit with git. What is served of its file is imported where nothing else is known, and verifies
// the commit. Every algorithm: openpgp-key.test.ts and ssh-key.test.ts.

const PASSPHRASE = 'secret words'
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

  function newRepository(): string {
    count += 1
    const path = join(folder.path, `repository-${count}`)
    git(folder.path, home, [], ['init', '-q', path])
    return path
  }

  /** A repository with one commit that a key signed. */
  function signedCommit(config: readonly string[]): string {
    const path = newRepository()
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
    'OpenPGP ECDSA on Brainpool': { algorithm: 'brainpoolP384r1' },
    'an OpenPGP subkey': { algorithm: 'rsa2048', before },
    'an OpenPGP subkey whose primary key is offline': {
      algorithm: 'ed25519',
      before,
      exported: '--export-secret-subkeys',
    },
    'an OpenPGP public key': { algorithm: 'ed25519', exported: '--export' },
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

  /** A security key, which is touched for each signature. Source: OpenSSH's PROTOCOL.u2f and PROTOCOL.sshsig */
  function newToken() {
    const [type, application, touched] = ['sk-ssh-ed25519@openssh.com', 'ssh:', Buffer.of(1, 0, 0, 0, 7)]
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const { x = '' } = publicKey.export({ format: 'jwk' })
    const blob = Buffer.concat([type, Buffer.from(x, 'base64url'), application].map(field))
    const signature = (message: Uint8Array) => {
      const asked = Buffer.concat([digest('sha256', application), touched, digest('sha256', message)])
      return field(Buffer.concat([field(type), field(sign(null, asked, privateKey)), touched]))
    }
    return { blob, signature, line: `${type} ${blob.toString('base64')} ${WHO}\n` }
  }

  function digest(algorithm: string, of: string | Uint8Array): Buffer {
    return createHash(algorithm).update(of).digest()
  }

  test('SSH Ed25519 on a security key', async () => {
    const token = newToken()
    const key = await openKeyFile(folder.write('token.pub', token.line))
    const [tree, who] = ['4b825dc642cb6eb9a060e54bf8d69288fbee4904', `Forge Signer <${WHO}> 0 +0000`] // without files
    const head = `tree ${tree}\nauthor ${who}\ncommitter ${who}`
    const [magic, settings] = [Buffer.from('SSHSIG'), Buffer.concat(['git', '', 'sha512'].map(field))]
    const message = Buffer.concat([magic, settings, field(digest('sha512', `${head}\n\nsigned\n`))])
    const parts = [magic, Buffer.of(0, 0, 0, 1), field(token.blob), settings, token.signature(message)]
    const header = `gpgsig ${pemBlock('SSH SIGNATURE', Buffer.concat(parts)).trim().replaceAll('\n', '\n ')}`
    const commit = folder.write('commit', `${head}\n${header}\n\nsigned\n`)
    const repository = newRepository()
    const { stdout } = git(repository, home, [], ['hash-object', '-t', 'commit', '-w', commit])
    git(repository, home, [], ['update-ref', 'HEAD', stdout.trim()])

    const verified = verifySsh(repository, await allowedSigners(key, [WHO]))
    expect(verified).toMatchObject({ status: 0, said: expect.stringContaining('with ED25519-SK key SHA256:') })
  })

  test('an SSH certificate by an authority on a security key', async () => {
    const token = newToken()
    folder.generate('by-token', ['-t', 'ed25519', '-N', ''])
    const open = Buffer.from(folder.read('by-token.pub').split(' ')[1] ?? '', 'base64').subarray(15)
    const type = 'ssh-ed25519-cert-v01@openssh.com'
    const numbers = [Buffer.alloc(8), Buffer.of(0, 0, 0, 1)]
    const limits = [Buffer.alloc(8), Buffer.alloc(8, 0xff)]
    const [key, names] = [Buffer.concat([field(type), field('nonce'), open]), [field('forge'), field(field(WHO))]]
    const signed = Buffer.concat([key, ...numbers, ...names, ...limits, ...['', '', '', token.blob].map(field)])
    const certificate = Buffer.concat([signed, token.signature(signed)]).toString('base64')
    const file = folder.write('by-token-cert.pub', `${type} ${certificate} ${WHO}\n`)
    folder.write('by-token-cert', folder.read('by-token'))
    const repository = signedCommit(['gpg.format=ssh', `user.signingKey=${file}`])
    const verified = verifySsh(repository, await allowedSigners(await openKeyFile(file), [WHO]))

    expect(verified).toMatchObject({ status: 0, said: expect.stringContaining('Good "git" signature') })
  })

  test('three OpenPGP keys in rotation, each its own', async () => {
    const made = ['one', 'two', 'three'].map((name) => {
      const fingerprint = home.generate(`${name}@rotation.example.com`, 'ed25519')
      const repository = signedCommit([`user.signingKey=${fingerprint}`])
      return { repository, fingerprint, file: folder.write(name, home.run(['--export-secret-keys', fingerprint])) }
    })
    const [current, ...former] = await Promise.all(made.map(({ file }) => openKeyFile(file)))
    if (current === undefined) throw new Error('no key was made')
    const { text } = await rotatingKey({ current, former }).publicKey()
    const client = newClient(text)

    expect(text.match(/-----BEGIN/g)).toHaveLength(1)
    expect(client.fingerprints()).toEqual(made.map(({ fingerprint }) => fingerprint))
    for (const { repository, fingerprint } of made) {
      expect(verify(repository, client)).toMatchObject({ status: 0, said: expect.stringContaining(fingerprint) })
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
    const signers = await allowedSigners(rotatingKey({ current, former }), [WHO])

    expect(made.map(({ repository }) => verifySsh(repository, signers).status)).toEqual([0, 0, 0, 1])
  })
})
