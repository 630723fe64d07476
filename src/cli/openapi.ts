import { writeFile } from 'node:fs/promises'
import type { Api } from '../http-adapters/http.ts'
import { createApi } from '../http-adapters/http.ts'
import { createForge } from '../index.ts'
import { memoryStorage } from '../storage/memory.ts'
import { apiDocument } from './api-document.ts'
import type { ExitCode } from './command-error.ts'
import { CommandError } from './command-error.ts'
import type { OpenApiOptions } from './openapi-options.ts'
import type { Terminal } from './terminal.ts'

/**
 * Writes the OpenAPI document that `forgelet serve` serves, without a server and without a database.
 * @throws CommandError (wrong usage) when the file cannot be written
 */
export async function openapi({ file, publicUrl, json }: OpenApiOptions, terminal: Terminal): Promise<ExitCode> {
  const document = apiDocument(apiOfNobody(), publicUrl)
  const text = json ? JSON.stringify(document) : JSON.stringify(document, undefined, 2)
  if (file === undefined) terminal.out(text)
  else await write(file, `${text}\n`)
  return 0
}

/** An API that is described, and never asked. */
function apiOfNobody(): Api<{ readonly id: string }> {
  const forge = createForge<{ readonly id: string }, undefined>({
    storage: memoryStorage(),
    policy: { authorize: () => ({ allow: false, reason: 'nobody is let in' }) },
    membership: { isMember: () => false },
  })
  return createApi(forge, {
    directory: { findAccount: () => undefined, findRepository: () => undefined, findIssue: () => undefined },
    present: { users: () => [], issues: () => [], pullRequests: () => [] },
  })
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new CommandError(2, `--out ${file} cannot be written: ${writeFailure(error)}`)
  }
}

function writeFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'there is no such folder; make it, or correct the path'
  if (code === 'EISDIR') return 'it is a folder; name a file in it'
  if (code === 'EACCES') return 'writing there is not permitted; choose another place'
  return String(code ?? error)
}
