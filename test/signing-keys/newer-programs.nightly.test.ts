import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKey } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SigningKeySource } from '../../src/index.ts'
import {
  allowedSigners,
  describeKey,
  openKeyFile,
  openpgpKey,
  rotatingKey,
} from '../../src/signing-keys/signing-keys.ts'
import { notRun } from '../programs.ts'

// The programs of Debian sid, in a folder of their own: a GnuPG, an OpenSSH and a git that are newer than those of the machine.
// They sign commits with keys of kinds that only they have, and verify these by what is served.

const ROOT = mkdtempSync(join(tmpdir(), 'fgl-sid-'))
const WHO = 'forge@example.com'

/** Fetches the programs. Returns why that is not possible. */
function fetchPrograms(): string | undefined {
  const packages = '--include=gnupg,gpg-agent,openssh-client,git'
  const aptopt = '--aptopt=Acquire::Check-Valid-Until "false"'
  const options = ['--quiet', aptopt, '--variant=apt', '--components=main', packages, 'sid', ROOT]
  const { status, error, stderr } = spawnSync('mmdebstrap', options, { encoding: 'utf8', timeout: 900_000 })
  if (error !== undefined) return `needs mmdebstrap: ${error.message}`
  return status === 0 ? undefined : `needs root and a mirror of Debian: ${stderr.split('\n').slice(-3).join(' ')}`
}

const missing = fetchPrograms()
afterAll(() => rmSync(ROOT, { recursive: true, force: true }))

/** Runs a script with the newer programs, whose home is /root. */
function inside(script: string, home = '/root'): string {
  const env = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: home,
    GIT_AUTHOR_NAME: 'Forge',
    GIT_COMMITTER_NAME: 'Forge',
    GIT_AUTHOR_EMAIL: WHO,
    GIT_COMMITTER_EMAIL: WHO,
  }
  const whole = `set -e\nmkdir -p -m 700 ${home}\ncd ${home}\n${script}`
  const { status, stdout, stderr } = spawnSync('chroot', [ROOT, 'sh', '-c', whole], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${script}\n${stdout}\n${stderr}`)
  return stdout + stderr
}

const pathOf = (file: string) => join(ROOT, 'root', file)
const open = (file: string) => openKeyFile(pathOf(file))
const textOf = async (key: SigningKeySource) => (await key.publicKey()).text

function suite(): void {
  beforeAll(() => inside('git init -q repository'))

  const gpg = "gpg --batch --quiet --pinentry-mode loopback --passphrase ''"
  const commit = 'git -C repository commit -q --allow-empty -S -m signed'

  /** What git says of the last commit where only what is served is known. */
  async function verified(key: SigningKeySource): Promise<string> {
    rmSync(join(ROOT, 'client'), { recursive: true, force: true })
    writeFileSync(pathOf('served.asc'), await textOf(key))
    return inside(
      `gpg --batch --quiet --import /root/served.asc || true
       git -c safe.directory='*' -C /root/repository verify-commit --raw HEAD
       gpgconf --kill all`,
      '/client',
    )
  }

  const kinds: Readonly<Record<string, string>> = {
    'Ed25519 with a subkey on Ed448 that signs, of version 5': `
      ${gpg} --quick-gen-key '1 <1@${WHO}>' ed25519 cert never
      f=$(gpg --list-keys --with-colons 1@${WHO} | grep -m1 ^fpr | cut -d: -f10)
      ${gpg} --compliance=gnupg --quick-add-key $f ed448 sign never
      ${gpg} --compliance=gnupg --quick-add-key $f cv448 encr never`,
    'the usual kind': `${gpg} --quick-gen-key '2 <2@${WHO}>' default default 2y`,
    Brainpool: `${gpg} --quick-gen-key '3 <3@${WHO}>' brainpoolP384r1 sign never`,
    'RSA that has expired and is extended': `
      ${gpg} --quick-gen-key '4 <4@${WHO}>' rsa2048 sign seconds=1
      sleep 2
      ${gpg} --quick-set-expire $(gpg --list-keys --with-colons 4@${WHO} | grep -m1 ^fpr | cut -d: -f10) 1y`,
  }
  test.each(Object.entries(kinds))('OpenPGP: %s', async (title, make) => {
    const name = `${1 + Object.keys(kinds).indexOf(title)}@${WHO}`
    inside(`${make}
      git config --global user.signingKey ${name}; git config --global gpg.format openpgp
      ${commit}
      gpg --export ${name} > public.gpg
      ${gpg} --export-secret-keys ${name} > secret.gpg
      gpgconf --kill all`)

    expect(await verified(await open('public.gpg'))).toContain('GOODSIG')
    if (title.includes('version 5')) {
      await expect(open('secret.gpg')).rejects.toThrow('a subkey that signs')
    } else {
      expect(await verified(await open('secret.gpg'))).toContain('GOODSIG')
    }
  })

  test('OpenPGP: of a key in rotation with one of version 6, wherever that is', async () => {
    const { publicKey } = await generateKey({ userIDs: { name: 'Six' }, config: { v6Keys: true } })
    const four = openpgpKey(readFileSync(pathOf('public.gpg')))
    for (const [current, former] of [
      [four, openpgpKey(publicKey)],
      [openpgpKey(publicKey), four],
    ] as const) {
      expect(await verified(rotatingKey({ current, former: [former] }))).toContain('GOODSIG')
    }
  })

  const sign = (file: string) =>
    inside(`git config --global gpg.format ssh; git config --global user.signingKey /root/${file}; ${commit}`)
  async function verifiedBy(key: SigningKeySource): Promise<string> {
    writeFileSync(pathOf('signers'), await allowedSigners(key, [WHO]))
    return inside('git -c gpg.ssh.allowedSignersFile=/root/signers -C repository verify-commit HEAD')
  }

  test('SSH: ML-DSA-44 with Ed25519, from each file, and as a certificate and its authority', async () => {
    inside(`ssh-keygen -q -t mldsa44-ed25519 -N '' -C ${WHO} -f quantum
      ssh-keygen -q -t ed25519 -N '' -C ${WHO} -f plain
      ssh-keygen -q -s plain -I forge -n ${WHO} quantum.pub
      ssh-keygen -q -s quantum -I forge -n ${WHO} plain.pub
      for key in quantum plain; do cp $key $key-cert; done`)
    for (const file of ['quantum', 'quantum-cert.pub', 'plain-cert.pub']) {
      sign(file)
      for (const each of [file, file.replace(/\.pub$|$/, '.pub')]) {
        const { algorithm, bits, fingerprint } = await describeKey(await open(each))

        expect(await verifiedBy(await open(each))).toContain(`Good "git" signature for ${WHO}`)
        expect(inside(`ssh-keygen -lf ${each}`)).toMatch(`${bits} ${fingerprint} `)
        expect(inside(`ssh-keygen -lf ${each}`).toLowerCase()).toContain(`(${algorithm})`)
        expect(await textOf(await open(each))).toBe(readFileSync(pathOf(file.replace(/\.pub$|$/, '.pub')), 'utf8'))
      }
    }
    sign('quantum')
    inside("ssh-keygen -q -p -P '' -N 'secret words' -f quantum; rm quantum.pub")
    expect(await verifiedBy(await open('quantum'))).toContain(`Good "git" signature for ${WHO}`)
  })
}

if (missing === undefined) describe('keys of newer programs verify what they signed', suite)
else notRun(`"keys of newer programs" ${missing}`)
