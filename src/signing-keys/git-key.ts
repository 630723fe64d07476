import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { SigningKeySource } from '../core/ports.ts'
import { isObject } from '../schema/arguments.ts'
import { checkOptions } from '../schema/options.ts'
import type { PublicKey } from '../schema/records.ts'
import { keyFileAt } from './key-file.ts'
import { unreadableKey } from './key-text.ts'
import { parseKey } from './parsed-key.ts'
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

/**
 * Finds the key that git signs with, if it has one.
 *
 * @param files - receives the files on which the key depends. Some of them may not exist
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
async function findKey(where: GitKeyOptions, files: Set<string>): Promise<PublicKey | undefined> {
  const config = new Map<string, string>()
  const listed = await run(where, 'git', ['config', '--null', '--list', '--show-origin'])
  for (const [, file = '', name = '', value = ''] of listed.matchAll(ENTRY)) {
    files.add(resolve(where.cwd, file))
    config.set(name, value)
  }
  const format = config.get('gpg.format') ?? 'openpgp'
  if (format === 'ssh') return sshKeyOf(config, where, files)
  if (format !== 'openpgp') throw unreadableKey('gpg.format of git is neither openpgp nor ssh')
  return openpgpKeyOf(config, where)
}

type Config = ReadonlyMap<string, string>

async function sshKeyOf(config: Config, where: GitKeyOptions, files: Set<string>): Promise<PublicKey | undefined> {
  const [name, command] = [config.get('user.signingkey'), config.get('gpg.ssh.defaultkeycommand')]
  if (name === undefined && command === undefined) return undefined

  const literal = name ?? (await run(where, 'sh', ['-c', '--', command ?? ''])).split('\n', 1).join('')
  if (/^(?:key::|ssh-)/.test(literal)) return parseKey(literal)
  if (name === undefined) throw unreadableKey('gpg.ssh.defaultKeyCommand of git prints no key')

  const path = await run(where, 'git', ['config', '--null', '--type=path', '--get', 'user.signingkey'])
  const file = resolve(where.cwd, path.replace('\0', ''))
  files.add(file).add(`${file}.pub`)
  // The private half may be in an agent alone.
  const { read } = await keyFileAt(file)().catch((error: unknown) =>
    keyFileAt(`${file}.pub`)().catch(() => {
      throw error
    }),
  )
  return read()
}

async function openpgpKeyOf(config: Config, where: GitKeyOptions): Promise<PublicKey | undefined> {
  const gpg = config.get('gpg.openpgp.program') ?? config.get('gpg.program') ?? 'gpg'
  const name = config.get('user.signingkey')
  const id = name ?? (await run(where, 'git', ['var', 'GIT_COMMITTER_IDENT'])).replace(/ \d+ [+-]\d{4}\n$/, '')
  if (id === '') return undefined

  const quiet = ['--batch', '--no-tty', '--no-auto-check-trustdb']
  const listed = await run(where, gpg, [...quiet, '--with-colons', '--list-secret-keys', '--', id])
  const keys = [...listed.matchAll(SECRET_KEY)]
  const [, , fingerprint] = keys.find(([, validity = '']) => !'eidnr'.includes(validity)) ?? keys[0] ?? []
  if (fingerprint === undefined && name === undefined) return undefined
  if (fingerprint === undefined) throw unreadableKey('gpg has no secret key for user.signingKey of git')

  return parseKey(
    await run(where, gpg, [...quiet, '--armor', '--export-options', 'export-minimal', '--export', fingerprint]),
  )
}

/** Files that change the key once they exist. */
function usualFiles({ HOME = homedir(), GNUPGHOME = join(HOME, '.gnupg') }: GitKeyOptions['env']): readonly string[] {
  const keyrings = ['pubring.kbx', 'pubring.gpg', 'public-keys.d', 'private-keys-v1.d']
  return [join(HOME, '.gitconfig'), ...keyrings.map((name) => join(GNUPGHOME, name))]
}

/** The state of a file, which may not exist. */
async function stateOf(file: string): Promise<string> {
  const stats = await stat(file).catch(() => undefined)
  return `${stats?.ino} ${stats?.size} ${stats?.mtimeMs} ${stats?.ctimeMs}`
}

/** Returns what a program prints; nothing if it fails. @throws ForgeError `SIGNING_KEY_UNREADABLE` when it cannot run */
async function run(where: GitKeyOptions, program: string, options: readonly string[]): Promise<string> {
  const limits = { timeout: PROGRAM_TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 1_048_576 } as const
  try {
    return (await start(program, options, { ...where, ...limits })).stdout
  } catch (error) {
    const { code, signal }: { readonly code?: unknown; readonly signal?: unknown } = isObject(error) ? error : {}
    if (typeof code === 'number') return ''
    // The error itself repeats what the program printed, which may be a private key.
    const cause = new Error(`${program} ended with ${String(code ?? signal)}`)
    throw unreadableKey('a program that git signs with cannot be started, or takes more than five seconds', cause)
  }
}

/** An entry of the configuration: the file it is from, its name and its value. */
const ENTRY = /(?:file:)?([^\0]*)\0([^\0\n]*)\n?([^\0]*)\0/g
/** The validity and the fingerprint of a primary key in a listing of gpg. */
const SECRET_KEY = /^sec:([^:]*):.*\nfpr:(?:[^:]*:){8}([0-9A-F]+):/gm

/**
 * Opens the key that `git commit -S` uses in a folder: by `gpg.format`, `user.signingKey`, the committer, or
 * `gpg.ssh.defaultKeyCommand`. git reads its own configuration, and `gpg --export` gives OpenPGP keys. The programs run now,
 * and when a file that they read has changed; a request waits as with `openKeyFile`. Each may take five seconds.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @returns undefined if git would have no key there
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when there is a key that cannot be read, or a program cannot be started
 */
export async function openGitConfigKey(options: GitKeyOptions): Promise<SigningKeySource | undefined> {
  checkOptions<GitKeyOptions>('openGitConfigKey', options, {
    cwd: [(value) => typeof value === 'string' && value !== '', 'the path of a folder'],
    env: [isObject, 'the environment of git, such as process.env'],
  })
  const { cwd, env } = options
  const where = {
    cwd: (await run({ cwd, env }, 'git', ['rev-parse', '--show-toplevel'])).trimEnd() || resolve(cwd),
    env,
  }
  const files = new Set(usualFiles(env))
  const find = () => findKey(where, files)
  if ((await find()) === undefined) return undefined

  return watchKey(`git signs in ${cwd}`, async () => ({
    stamp: (await Promise.all([...files].map(stateOf))).join(),
    async read() {
      const key = await find()
      if (key === undefined) throw unreadableKey('git has no signing key there; set user.signingKey')
      return key
    },
  }))
}
