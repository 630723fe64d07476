import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyDescription } from '../../src/signing-keys/signing-keys.ts'

/** The numbers of algorithms. Source: RFC 9580, section 9.1 */
const ALGORITHMS: Readonly<Record<string, string>> = { 1: 'rsa', 17: 'dsa', 19: 'ecdsa', 22: 'ed25519' }

/** A GnuPG of its own, in a folder of its own. Its passphrases are weak, and fast. */
export class GpgHome {
  readonly path: string = mkdtempSync(join(tmpdir(), 'fgl-gpg-'))

  constructor() {
    writeFileSync(join(this.path, 'gpg-agent.conf'), 's2k-count 65536\n')
  }

  /** Makes a key and returns its fingerprint. */
  generate(email: string, algorithm: string, passphrase = '', usage = 'sign'): string {
    this.run(['--passphrase', passphrase, '--quick-gen-key', `Forge Signer <${email}>`, algorithm, usage, 'never'])
    return this.fingerprints(email)[0] ?? ''
  }

  /** Every fingerprint, of primary keys and subkeys. */
  fingerprints(...names: readonly string[]): readonly string[] {
    return this.#listed('fpr', names).map((fields) => fields[9] ?? '')
  }

  /** What gpg says of a primary key. */
  described(name: string): KeyDescription {
    const [[, , bits = '', algorithm = '', , created, expires] = []] = this.#listed('pub', [name])
    return {
      format: 'openpgp',
      algorithm: ALGORITHMS[algorithm] ?? algorithm,
      bits: algorithm === '22' ? 256 : Number(bits), // gpg says 255 of Ed25519
      fingerprint: this.fingerprints(name)[0] ?? '',
      userIds: this.#listed('uid', [name]).map((fields) => fields[9] ?? ''),
      created: new Date(1000 * Number(created)),
      expires: expires ? new Date(1000 * Number(expires)) : undefined,
      isRevoked: false,
    }
  }

  /** The lines of one kind in the listing for programs, each as its fields. */
  #listed(kind: string, names: readonly string[]): readonly (readonly string[])[] {
    const listing = this.run(['--list-keys', '--with-colons', '--with-subkey-fingerprint', ...names]).toString()
    return listing.split('\n').flatMap((line) => (line.startsWith(`${kind}:`) ? [line.split(':')] : []))
  }

  /** Runs gpg without any question. */
  run(options: readonly string[], input?: string | Uint8Array): Buffer {
    const quiet = ['--batch', '--quiet', '--no-tty', '--pinentry-mode', 'loopback']
    return execFileSync('gpg', [...quiet, ...options], { env: this.#environment, input, stdio: 'pipe' })
  }

  /** Stops the agent and removes the folder. */
  close(): void {
    execFileSync('gpgconf', ['--kill', 'all'], { env: this.#environment, stdio: 'pipe' })
    rmSync(this.path, { recursive: true, force: true })
  }

  get #environment(): NodeJS.ProcessEnv {
    return { ...process.env, GNUPGHOME: this.path }
  }
}

/**
 * Imports a key into a fresh GnuPG, which must take it, and returns the fingerprints it found; secret keys are an error.
 *
 * @param complaint - what gpg says when it stops before the end, if it does
 */
export function importedFingerprints(key: string, complaint?: string): readonly string[] {
  const home = new GpgHome()
  try {
    try {
      home.run(['--import'], key)
    } catch (error) {
      if (complaint === undefined || !String(error).includes(complaint)) throw error
    }
    if (home.run(['--list-secret-keys', '--with-colons']).length > 0) throw new Error('a secret key was imported')
    return home.fingerprints()
  } finally {
    home.close()
  }
}
