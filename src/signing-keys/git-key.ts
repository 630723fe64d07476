import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { SigningKeySource } from '../core/ports.ts'
import { isObject, need } from '../schema/arguments.ts'
import { refuseUnknown } from '../schema/options.ts'
import type { PublicKey } from '../schema/records.ts'
import { keyFileAt, opened, stateIn } from './key-file.ts'
import { unreadableKey } from './key-text.ts'
import { keyIn } from './parsed-key.ts'
import type { KeyPlace, PlaceState } from './watched-key.ts'
import { watchKey } from './watched-key.ts'

/** How long each of git, gpg and a command of the configuration may take. */
const PROGRAM_TIMEOUT_MS = 5000
const start = promisify(execFile)

/** Where git would commit, and with which environment. */
export interface GitKeyOptions {
  /** The folder in which git would run: a repository, or any other for the configuration of the user. */
  readonly cwd: string
  /** The environment in which git would run, such as `process.env`: with `PATH`, `HOME` and `GNUPGHOME`. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The key that git signs with, which depends on the files that git and gpg read. */
class GitKeyPlace implements KeyPlace {
  readonly name: string
  readonly #options: GitKeyOptions
  /** What the key depended on when it was last looked at. Some of it may not exist. */
  #files: readonly string[] | undefined
  /** What it depends on since it was last read. */
  #nextFiles: readonly string[] = []

  constructor(options: GitKeyOptions) {
    this.#options = options
    this.name = `git signs in ${options.cwd}`
  }

  /** A look compares the same files before it reads the key and after; the next look has those that were found. */
  async state(): Promise<PlaceState> {
    const files = this.#files ?? this.#nextFiles
    this.#files = this.#nextFiles
    return stateIn(await Promise.all(files.map((file) => stat(file, { bigint: true }).catch(() => undefined))))
  }

  async read(): Promise<PublicKey> {
    const key = await this.find()
    if (key === undefined) throw unreadableKey('git has no signing key there; set user.signingKey')
    return key
  }

  /** The key, if one is configured. @throws ForgeError `SIGNING_KEY_UNREADABLE` */
  async find(): Promise<PublicKey | undefined> {
    const listed = await this.#run('git', ['config', '--null', '--list', '--show-origin'])
    if (listed === undefined) throw unreadableKey('git cannot read its configuration there')
    const entries = [...listed.toString().matchAll(ENTRY)]
    const config = new Map(entries.map(([, , name = '', value = '']) => [name, value]))
    this.#nextFiles = [...this.#usualFiles(), ...entries.flatMap(([, file]) => (file ? this.#absolute(file) : []))]

    const name = config.get('user.signingkey') ?? ''
    const format = config.get('gpg.format') ?? 'openpgp'
    if (format === 'ssh') return this.#sshKey(name, config.get('gpg.ssh.defaultkeycommand'))
    if (format !== 'openpgp') throw unreadableKey('gpg.format of git is neither openpgp nor ssh')
    return this.#openpgpKey(name, config.get('gpg.openpgp.program') ?? config.get('gpg.program') ?? 'gpg')
  }

  async #sshKey(name: string, command: string | undefined): Promise<PublicKey | undefined> {
    if (name === '' && command === undefined) return undefined

    const printed = name === '' ? await this.#run('sh', ['-c', '--', command ?? '']) : undefined
    const literal = printed?.toString().split('\n', 1)[0] ?? name
    if (/^(?:key::|ssh-)/.test(literal)) return keyIn(literal).publicKey()
    if (name === '') throw unreadableKey('gpg.ssh.defaultKeyCommand of git prints no key')

    const path = await this.#run('git', ['config', '--null', '--type=path', '--get', 'user.signingkey'])
    const file = this.#absolute(String(path ?? name).replace('\0', ''))
    this.#nextFiles = [...this.#nextFiles, file, `${file}.pub`]
    return keyFileAt(file).read()
  }

  async #openpgpKey(name: string, gpg: string): Promise<PublicKey | undefined> {
    const committer = name === '' ? await this.#run('git', ['var', 'GIT_COMMITTER_IDENT']) : undefined
    const id = name === '' ? String(committer ?? '').replace(/ \d+ [+-]\d{4}\n$/, '') : name
    if (id === '') return undefined

    const quiet = ['--batch', '--no-tty', '--no-auto-check-trustdb']
    const listed = await this.#run(gpg, [...quiet, '--with-colons', '--list-secret-keys', '--', id])
    const keys = [...String(listed ?? '').matchAll(SECRET_KEY)]
    const [, , fingerprint] = keys.find(([, validity = '']) => !'eidnr'.includes(validity)) ?? keys[0] ?? []
    if (fingerprint === undefined && name === '') return undefined
    if (fingerprint === undefined) throw unreadableKey('gpg has no secret key for user.signingKey of git')

    const exported = await this.#run(gpg, [...quiet, '--export-options', 'export-minimal', '--export', fingerprint])
    return keyIn(exported ?? '').publicKey()
  }

  /** Files that change the key once they exist. */
  #usualFiles(): readonly string[] {
    const {
      HOME = homedir(),
      XDG_CONFIG_HOME = join(HOME, '.config'),
      GNUPGHOME = join(HOME, '.gnupg'),
    } = this.#options.env
    const configs = [join(HOME, '.gitconfig'), join(XDG_CONFIG_HOME, 'git', 'config'), this.#absolute('.git/config')]
    return [
      ...configs,
      ...['pubring.kbx', 'pubring.gpg', 'public-keys.d', 'private-keys-v1.d'].map((name) => join(GNUPGHOME, name)),
    ]
  }

  #absolute(path: string): string {
    return resolve(this.#options.cwd, path)
  }

  #run(program: string, options: readonly string[]): Promise<Buffer | undefined> {
    return run(this.#options, program, options)
  }
}

/** Returns what a program prints; undefined if it fails. @throws ForgeError `SIGNING_KEY_UNREADABLE` when it cannot run */
async function run(where: GitKeyOptions, program: string, options: readonly string[]): Promise<Buffer | undefined> {
  const limits = {
    timeout: PROGRAM_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 1_048_576,
    encoding: 'buffer',
  } as const
  try {
    return (await start(program, options, { ...where, ...limits })).stdout
  } catch (error) {
    const { code, signal } = endOf(error)
    if (typeof code === 'number') return undefined
    // The error itself repeats what the program printed, which may be a private key.
    const cause = new Error(`${program} ended with ${String(code ?? signal)}`)
    throw unreadableKey('a program that git signs with cannot be started, or takes more than five seconds', cause)
  }
}

function endOf(error: unknown): { readonly code?: unknown; readonly signal?: unknown } {
  return isObject(error) ? error : {}
}

/** An entry of the configuration: the file it is from, its name and its value. */
const ENTRY = /(?:file:)?([^\0]*)\0([^\0\n]*)\n?([^\0]*)\0/g
/** The validity and the fingerprint of a primary key in a listing of gpg. */
const SECRET_KEY = /^sec:([^:]*):.*\nfpr:(?:[^:]*:){8}([0-9A-F]+):/gm

/**
 * Opens the key that `git commit -S` uses in a folder: by `gpg.format`, `user.signingKey`, the committer, or
 * `gpg.ssh.defaultKeyCommand`. git reads its own configuration, and `gpg --export` gives OpenPGP keys. The programs run now,
 * and when one of the files has changed that they read; a request does as with `openKeyFile`. Each may take five seconds.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @returns undefined if git would have no key there
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when there is a key that cannot be read, or a program cannot be started
 */
export async function openGitConfigKey(options: GitKeyOptions): Promise<SigningKeySource | undefined> {
  need(isObject(options), 'openGitConfigKey', 'options', 'an object with cwd and env')
  refuseUnknown('openGitConfigKey', options, { cwd: true, env: true })
  const { cwd, env } = options
  need(typeof cwd === 'string' && cwd !== '', 'openGitConfigKey', 'cwd', 'the path of a folder')
  need(isObject(env), 'openGitConfigKey', 'env', 'the environment of git, such as process.env')
  return opened(`git signs in ${cwd}`, async () => {
    const top = await run({ cwd: resolve(cwd), env }, 'git', ['rev-parse', '--show-toplevel'])
    const place = new GitKeyPlace({ cwd: String(top ?? resolve(cwd)).replace(/\n$/, ''), env })
    const key = await place.find()
    return key && watchKey(place, key, await place.state())
  })
}
