import { rm, writeFile } from 'node:fs/promises'
import type { Command } from '@commander-js/extra-typings'
import { Option } from '@commander-js/extra-typings'
import type { SigningKeySource } from 'forgelet'
import { isForgeError } from 'forgelet'
import type { KeyDescription } from 'forgelet/signing-keys'
import type { Standalone } from '../standalone/standalone.ts'
import type { CommandIO } from './command.ts'
import { CommandError, newCommand, printable, printResult } from './command.ts'
import { unwritable } from './files.ts'
import type { ServerLog } from './server-log.ts'

/** The code that reads keys is loaded only when there is one. */
const signingKeys = () => import('forgelet/signing-keys')

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
 * Logs which key a host has, and reads it now, and every hour until the command is stopped, so that its expiry is logged
 * although no client requests the key.
 */
export async function followSigningKey(
  { forge }: Standalone,
  key: SigningKeySource,
  { stop }: CommandIO,
  log: ServerLog,
): Promise<void> {
  const { format, fingerprint } = await (await signingKeys()).describeKey(key)
  const check = () => void forge.signingKeys.publicKey('system', { format: key.format }).catch(() => undefined)
  check()
  const timer = setInterval(check, HOUR_MS).unref()
  stop.addEventListener('abort', () => clearInterval(timer))
  log.info(`signing key: ${format} ${fingerprint}`)
}

const SHOW = `
  forgelet keys show key.asc
  forgelet keys show git --json

It shows the public half alone. A file named git is ./git.`

const GENERATE = `
  forgelet keys generate --name "Example Forge" --email forge@example.com --out signing-key
  forgelet keys generate --format openpgp --name Forge --email forge@example.com --out key.asc

The fingerprint goes to standard output. The key is Ed25519, and neither file may exist before.`

/** Adds what works on signing keys. */
export function addKeys(keys: Command, io: CommandIO): void {
  newCommand(keys, 'show', 'show format, fingerprint, owner and times of a key', SHOW)
    .argument('<key>', 'a key file, or git for the key that git signs with in this folder')
    .action(async (name, options) => {
      const { describeKey } = await signingKeys()
      const description = await describeKey(await openSigningKey(name))
      printResult(io, options, description, linesOf(description))
    })
  newCommand(keys, 'generate', 'make a signing key without a passphrase', GENERATE)
    .addOption(new Option('--format <format>', 'format of the key').choices(['ssh', 'openpgp']).default('ssh'))
    .requiredOption('--name <name>', 'name of the signer, such as that of the instance')
    .requiredOption('--email <address>', 'e-mail address of the signer')
    .requiredOption('-o, --out <file>', 'new file for the private key; the public key is in FILE.pub')
    .action(async (options) => {
      const { format, name, email, out } = options
      const { describeKey, generateKey, openKeyFile } = await signingKeys()
      const { privateKey, publicKey } = await generateKey({ format, name, email }).catch((error: unknown) => {
        if (!(error instanceof TypeError)) throw error
        throw new CommandError(2, error.message.replace(/^generateKey needs /, 'give '))
      })
      await writeNew(out, privateKey, 0o600)
      await writeNew(`${out}.pub`, publicKey, 0o644).catch(async (error: unknown) => {
        await rm(out)
        throw error
      })
      const { fingerprint } = await describeKey(await openKeyFile(out))
      printResult(io, options, { format, fingerprint, privateKey: out, publicKey: `${out}.pub` }, [fingerprint])
      const file = printable(out)
      io.err(`forgelet: the private key is in ${file}, without a passphrase; keep it, and give others ${file}.pub`)
    })
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

/** Writes a file that did not exist, with these permissions. */
async function writeNew(file: string, text: string, mode: number): Promise<void> {
  await writeFile(file, text, { flag: 'wx', mode }).catch((error: unknown) => {
    throw unwritable(`--out ${file}`, error)
  })
}
