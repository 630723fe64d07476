import { writeFile } from 'node:fs/promises'
import { issueDocuments } from '../exchange/exchange.ts'
import type { Api } from '../http-adapters/http.ts'
import { createApi } from '../http-adapters/http.ts'
import { createForge } from '../index.ts'
import { memoryStorage } from '../storage/memory.ts'
import type { CommandIO, ExitCode, ResultOptions } from './command.ts'
import { unwritable } from './file-failure.ts'
import { apiDocument } from './own-pages.ts'

/** The options of `forgelet openapi`. */
export interface OpenApiOptions extends ResultOptions {
  /** The output file; undefined = stdout. */
  readonly out?: string | undefined
  /** The URL of the API root for clients; undefined = the host that the document is fetched from. */
  readonly publicUrl?: string | undefined
}

/**
 * Writes the OpenAPI document that `forgelet serve` serves. It needs neither a server nor a database.
 * @throws CommandError (wrong usage) if the file cannot be written
 */
export async function openapi({ out, publicUrl, json }: OpenApiOptions, io: CommandIO): Promise<ExitCode> {
  const document = apiDocument(apiOfNobody(), publicUrl)
  const text = json ? JSON.stringify(document) : JSON.stringify(document, undefined, 2)
  try {
    if (out === undefined) io.out(text)
    else await writeFile(out, `${text}\n`)
    return 0
  } catch (error) {
    throw unwritable(out ?? '-', error)
  }
}

/** Creates an API that is only described and never called. */
function apiOfNobody(): Api<{ readonly id: string }> {
  const forge = createForge<{ readonly id: string }, undefined>({
    storage: memoryStorage(),
    policy: { authorize: () => ({ allow: false, reason: 'access is denied' }) },
    membership: { isMember: () => false },
    issues: { issues: () => [], comments: 'none', findUsers: () => [], write: () => undefined },
  })
  return createApi(forge, {
    directory: { findAccount: () => undefined, findRepository: () => undefined, findIssue: () => undefined },
    present: { users: () => [], issues: () => [], pullRequests: () => [] },
    documents: issueDocuments,
  })
}
