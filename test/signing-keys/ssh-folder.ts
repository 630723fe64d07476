import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyDescription } from '../../src/signing-keys/signing-keys.ts'

export const PASSPHRASE = 'secret words'
const HIDDEN = ['-N', PASSPHRASE, '-a', '1']
/** The options that make each kind of private key file in the form of OpenSSH. A passphrase has a cipher, behind a blank. */
export const OPENSSH_KINDS: Readonly<Record<string, readonly string[]>> = {
  ed25519: ['-t', 'ed25519', '-N', ''],
  'ecdsa-256': ['-t', 'ecdsa', '-b', '256', '-N', ''],
  'ecdsa-384': ['-t', 'ecdsa', '-b', '384', '-N', ''],
  'ecdsa-521': ['-t', 'ecdsa', '-b', '521', '-N', ''],
  rsa: ['-t', 'rsa', '-b', '2048', '-N', ''],
  dsa: ['-t', 'dsa', '-N', ''],
  'ed25519 aes256-ctr': ['-t', 'ed25519', ...HIDDEN],
  'rsa aes128-cbc': ['-t', 'rsa', '-b', '2048', ...HIDDEN, '-Z', 'aes128-cbc'],
  'ecdsa aes256-gcm': ['-t', 'ecdsa', ...HIDDEN, '-Z', 'aes256-gcm@openssh.com'],
  'ed25519 chacha20': ['-t', 'ed25519', ...HIDDEN, '-Z', 'chacha20-poly1305@openssh.com'],
}

/** A folder for keys that ssh-keygen makes and judges. */
export class SshFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'fgl-ssh-'))

  /** Makes a key pair `name`, `name.pub` with ssh-keygen. */
  generate(name: string, options: readonly string[]): void {
    this.keygen(['-q', '-f', join(this.path, name), '-C', 'forge@example.com', ...options])
  }

  keygen(options: readonly string[]): string {
    return execFileSync('ssh-keygen', options, { stdio: 'pipe' }).toString()
  }

  /** What `ssh-keygen -l` says of a key text. */
  described(key: string): KeyDescription {
    const listed = this.keygen(['-lf', this.write('described', key)])
    const [, bits, fingerprint = '', comment, algorithm = ''] = /^(\d+) (\S+) (.*) \((.+)\)$/m.exec(listed) ?? []
    return {
      format: 'ssh',
      algorithm: algorithm.toLowerCase(),
      bits: Number(bits),
      fingerprint,
      comment,
      isRevoked: false,
    }
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), 'utf8')
  }

  /** Writes a file that only its owner may read; returns its path. */
  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name)
    writeFileSync(path, content)
    chmodSync(path, 0o600)
    return path
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
