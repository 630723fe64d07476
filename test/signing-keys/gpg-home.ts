import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A GnuPG of its own, in a folder of its own. Its passphrases are weak, and fast. */
export class GpgHome {
  readonly path: string = mkdtempSync(join(tmpdir(), 'fgl-gpg-'))

  constructor() {
    writeFileSync(join(this.path, 'gpg-agent.conf'), 's2k-count 65536\n')
  }

  /** Makes a key and returns its fingerprint. */
  generate(email: string, algorithm: string, passphrase = ''): string {
    this.run(['--passphrase', passphrase, '--quick-gen-key', `Forge Signer <${email}>`, algorithm, 'sign', 'never'])
    return this.fingerprints(email)[0] ?? ''
  }

  /** Every fingerprint, of primary keys and subkeys. */
  fingerprints(...names: readonly string[]): readonly string[] {
    const listing = this.run(['--list-keys', '--with-colons', '--with-subkey-fingerprint', ...names]).toString()
    return listing.split('\n').flatMap((line) => (line.startsWith('fpr:') ? (line.split(':')[9] ?? []) : []))
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

/** Imports a key into a fresh GnuPG, which must take it, and returns the fingerprints it found; secret keys are an error. */
export function importedFingerprints(key: string): readonly string[] {
  const home = new GpgHome()
  try {
    home.run(['--import'], key)
    if (home.run(['--list-secret-keys', '--with-colons']).length > 0) throw new Error('a secret key was imported')
    return home.fingerprints()
  } finally {
    home.close()
  }
}
