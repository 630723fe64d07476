import { afterAll, describe, expect, test } from 'vitest'
import { allowedSigners, describeKey, generateKey, openpgpKey, sshKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { GpgHome } from './gpg-home.ts'
import { SshFolder } from './ssh-folder.ts'

describeWith(['gpg', 'gpgconf'], 'describeKey says of an OpenPGP key what gpg says', () => {
  const home = new GpgHome()
  afterAll(() => home.close())

  test.each([
    ['ed25519', 'ed25519', 256],
    ['rsa2048', 'rsa', 2048],
    ['nistp384', 'ecdsa', 384],
    ['dsa2048', 'dsa', 2048],
    ['secp256k1', 'ecdsa', 256],
  ])('%s', async (name, algorithm, bits) => {
    const fingerprint = home.generate(`${name}@example.com`, name)

    expect(await describeKey(openpgpKey(home.run(['--export', fingerprint])))).toMatchObject({
      ...{ format: 'openpgp', algorithm, bits, fingerprint, isRevoked: false, expires: undefined },
      userIds: [`Forge Signer <${name}@example.com>`],
      created: new Date(1000 * Number(field(home, fingerprint, 5))),
    })
  })

  test('when it expires: the primary key, or its newest subkey that signs, whichever is earlier', async () => {
    const fingerprint = home.generate('expiring@example.com', 'ed25519')
    home.run(['--passphrase', '', '--quick-set-expire', fingerprint, '2y'])
    const primary = (await describeKey(openpgpKey(home.run(['--export', fingerprint])))).expires
    home.run(['--passphrase', '', '--quick-add-key', fingerprint, 'ed25519', 'sign', '1y'])
    const subkey = (await describeKey(openpgpKey(home.run(['--export-secret-keys', fingerprint])))).expires

    expect(primary).toEqual(new Date(1000 * Number(field(home, fingerprint, 6))))
    expect((subkey?.getTime() ?? 0) - Date.now()).toBeLessThan(366 * 86_400_000)
  })
})

/** A field of the primary key in the listing for programs. */
function field(home: GpgHome, name: string, at: number): string {
  const listing = home.run(['--list-keys', '--with-colons', name]).toString()
  return /^pub:.*/m.exec(listing)?.[0].split(':')[at] ?? ''
}

describeWith(['ssh-keygen'], 'describeKey says of an SSH key what ssh-keygen says', () => {
  const folder = new SshFolder()
  afterAll(() => folder.remove())

  test.each([
    ['ed25519', ['-t', 'ed25519'], 'ed25519', 256],
    ['rsa', ['-t', 'rsa', '-b', '2048'], 'rsa', 2048],
    ['ecdsa', ['-t', 'ecdsa', '-b', '521'], 'ecdsa', 521],
  ] as const)('%s, and a certificate for it', async (name, options, algorithm, bits) => {
    folder.generate(name, [...options, '-N', ''])
    const line = folder.read(`${name}.pub`)
    const path = `${folder.path}/${name}`
    const description = await describeKey(sshKey(line))
    folder.keygen(['-q', '-s', path, '-I', 'forge', '-V', '20200101:20300101', `${path}.pub`])
    const certificate = await describeKey(sshKey(folder.read(`${name}-cert.pub`)))

    expect(description).toMatchObject({ format: 'ssh', algorithm, bits, comment: 'forge@example.com' })
    expect(description.fingerprint).toBe(folder.fingerprint(line))
    expect(certificate).toMatchObject({ algorithm: `${algorithm}-cert`, fingerprint: description.fingerprint })
    expect(certificate.expires?.getFullYear()).toBeGreaterThanOrEqual(2029)
  })
})

describe('allowedSigners', () => {
  const who = { name: 'Forge', email: 'forge@example.com' }

  test('has a line for each key, for the principals and git alone', async () => {
    const { publicKey } = await generateKey({ format: 'ssh', ...who })
    const key = await sshKey(publicKey).publicKey()

    expect(
      await allowedSigners({ ...key, text: `${key.text}${key.text}` }, ['forge@example.com', '*@example.org']),
    ).toBe(`forge@example.com,*@example.org namespaces="git" ${publicKey}`.repeat(2))
  })

  test('refuses an OpenPGP key, and principals that would be read as something else', async () => {
    const { publicKey } = await generateKey({ format: 'openpgp', ...who })

    await expect(allowedSigners(openpgpKey(publicKey), ['forge@example.com'])).rejects.toThrow('format is openpgp')
    for (const principals of [[], ['a b'], ['a,b'], ['a"'], ['#a'], ['a\n']]) {
      await expect(allowedSigners(sshKey(publicKey), principals)).rejects.toThrow('allowedSigners needs principals')
    }
  })
})
