import { rm, writeFile } from 'node:fs/promises'
import type { SigningKeySource } from '../index.ts'
import { isForgeError } from '../index.ts'
import type { KeyDescription } from '../signing-keys/signing-keys.ts'
import type { Standalone } from '../standalone/standalone.ts'
import type { CommandIO, ExitCode, ResultOptions } from './command.ts'
import { CommandError, printable, printResult } from './command.ts'
import { unwritable } from './files.ts'

/** The code that reads keys is loaded only when there is one. */
const signingKeys = () => import('../signing-keys/signing-keys.ts')

/**
 * Opens signing keys: the first is the current one, the others are former ones.
 *
 * @param names - paths of key files, or `git` for the key that git signs with in this folder
 * @throws CommandError (invalid input) if one of them cannot be read
 */
export async function openSigningKeys(names: readonly string[]): Promise<SigningKeySource | undefined> {
  const [current, ...former] = await Promise.all(names.map(openSigningKey))
  if (current === undefined || former.length === 0) return current
  return (await signingKeys()).rotatingKey({ current, former })
}

async function openSigningKey(name: string): Promise<SigningKeySource> {
  const { openGitConfigKey, openKeyFile } = await signingKeys()
  try {
    const isGit = name === 'git'
    const key = await (isGit ? openGitConfigKey({ cwd: process.cwd(), env: process.env }) : openKeyFile(name))
    if (key !== undefined) return key
  } catch (error) {
    if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) throw error
    const [path] = name.split(/\n|-----BEGIN/, 1) // a key in place of a path is not repeated
    throw new CommandError(1, `signing key ${path}: ${error.message}`)
  }
  const hint = 'git has no signing key in this folder; set it with: git config user.signingKey'
  throw new CommandError(1, `signing key git: ${hint}`)
}

const HOUR_MS = 3_600_000

/**
 * Reads the key of a host now, and every hour, so that its expiry is logged although no client requests the key.
 *
 * @returns what to log about the key, and a function that ends the checks
 */
export async function followSigningKey(
  host: Standalone,
  key: SigningKeySource,
): Promise<{ readonly line: string; end(): void }> {
  const { format, fingerprint } = await (await signingKeys()).describeKey(key)
  const check = () => void host.forge.signingKeys.publicKey('system', { format: key.format }).catch(() => undefined)
  check()
  const timer = setInterval(check, HOUR_MS).unref()
  return { line: `signing key: ${format} ${fingerprint}`, end: () => clearInterval(timer) }
}

/** Describes a signing key. @throws CommandError with the exit code */
export async function showKey(name: string, options: ResultOptions, io: CommandIO): Promise<ExitCode> {
  const { describeKey } = await signingKeys()
  const description = await describeKey(await openSigningKey(name))
  printResult(io, options, description, linesOf(description))
  return 0
}

function linesOf({ userIds = [], comment, created, expires, isRevoked, ...key }: KeyDescription): readonly string[] {
  const rows: readonly (readonly [name: string, value: unknown])[] = [
    ...Object.entries(key),
    ...userIds.map((userId) => ['user id', userId] as const),
    ['comment', comment],
    ['created', created?.toISOString()],
    ['expires', expires?.toISOString() ?? 'never'],
    ['revoked', isRevoked ? 'yes' : 'no'],
  ]
  const known = rows.filter(([, value]) => value !== undefined)
  return known.map(([name, value]) => `${name.padEnd(13)}${printable(String(value))}`)
}

/** The options of `forgelet keys generate`. */
export interface GenerateKeyOptions extends ResultOptions {
  readonly format: 'openpgp' | 'ssh'
  readonly name: string
  readonly email: string
  /** The file of the private key. The public key is in the same place with `.pub`. */
  readonly out: string
}

/** Generates a signing key without a passphrase into two new files. @throws CommandError with the exit code */
export async function generateKeyFiles(options: GenerateKeyOptions, io: CommandIO): Promise<ExitCode> {
  const { format, name, email, out } = options
  const { describeKey, generateKey, openKeyFile } = await signingKeys()
  const { privateKey, publicKey } = await generateKey({ format, name, email }).catch((error: unknown) => {
    throw error instanceof TypeError
      ? new CommandError(2, error.message.replace(/^generateKey needs /, 'give '))
      : error
  })
  await writeNew(out, privateKey)
  await writeNew(`${out}.pub`, publicKey).catch(async (error: unknown) => {
    await rm(out)
    throw error
  })
  const { fingerprint } = await describeKey(await openKeyFile(out))
  printResult(io, options, { format, fingerprint, privateKey: out, publicKey: `${out}.pub` }, [fingerprint])
  const file = printable(out)
  io.err(`forgelet: the private key is in ${file}, without a passphrase; keep it, and give others ${file}.pub`)
  return 0
}

/** Writes a file that only its owner may read, and that did not exist. */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw unwritable(file, error)
  }
}
