import { cancel, started } from './byte-stream.ts'
import type { ErrorMore } from './error-json.ts'
import { errorJson } from './error-json.ts'
import type { ErrorCode } from './error-status.ts'
import { errorStatus } from './error-status.ts'
import type { ApiResponse, HeaderLine, StreamedResponse, TextResponse } from './messages.ts'
import { isStreamed } from './messages.ts'
import type { Reply } from './route.ts'

/** The headers of every response. */
const ALWAYS: readonly HeaderLine[] = [
  ['Cache-Control', 'max-age=0, private, must-revalidate'],
  ['X-Content-Type-Options', 'nosniff'],
]

/** The content type of every JSON text, as Gitea spells it. */
export const jsonType = 'application/json;charset=utf-8'
/** The content type of plain text, as Gitea spells it. */
export const textType = 'text/plain; charset=utf-8'

const JSON_TYPE: HeaderLine = ['Content-Type', jsonType]
const TEXT_TYPE: HeaderLine = ['Content-Type', textType]
const NO_CONTENT: TextResponse = { status: 204, headers: ALWAYS, body: undefined }

/** 204: done, without a body. */
export function emptyReply(): TextResponse {
  return NO_CONTENT
}

/** 204 to OPTIONS: lists the methods of the path. */
export function optionsReply(allow: string): TextResponse {
  return { status: 204, headers: [...ALWAYS, ['Allow', allow]], body: undefined }
}

/** 304: the client already has this text. */
export function notModifiedReply(headers: readonly HeaderLine[]): TextResponse {
  return { status: 304, headers: [...ALWAYS, ...headers], body: undefined }
}

/** 200 with JSON. */
export function jsonReply(value: unknown, headers: readonly HeaderLine[] = []): TextResponse {
  return { status: 200, headers: [...ALWAYS, JSON_TYPE, ...headers], body: JSON.stringify(value) }
}

/** 200 with plain text. */
export function textReply(text: string, headers: readonly HeaderLine[] = []): TextResponse {
  return { status: 200, headers: [...ALWAYS, TEXT_TYPE, ...headers], body: text }
}

/** 200 with JSON that is produced while it is sent. Rejects with an error before its first piece. */
export async function jsonStreamReply(bytes: AsyncIterable<Uint8Array>): Promise<StreamedResponse> {
  return { status: 200, headers: [...ALWAYS, JSON_TYPE], body: await started(bytes) }
}

/** Options of an error response, besides its code and message. */
export interface ErrorReplyOptions extends ErrorMore {
  /** The address of the API's documentation; `""` if unknown. */
  readonly docsUrl: string
  /** Default: the status of the code. */
  readonly status?: number | undefined
  readonly headers?: readonly HeaderLine[] | undefined
}

/** An error response with a JSON body. */
export function errorReply(code: ErrorCode, message: string, options: ErrorReplyOptions): TextResponse {
  const { status = errorStatus[code], headers = [], docsUrl, ...more } = options
  return {
    status,
    headers: [...ALWAYS, JSON_TYPE, ...headers],
    body: JSON.stringify(errorJson(code, message, docsUrl, more)),
  }
}

/** The response to HEAD: the same headers, and a `Content-Length` if the length is known, without a body. */
export function withoutBody(reply: ApiResponse): TextResponse {
  const { status, headers } = reply
  if (isStreamed(reply)) {
    cancel(reply.body[Symbol.asyncIterator]())
    return { status, headers, body: undefined }
  }
  if (reply.body === undefined) return reply

  const length = new TextEncoder().encode(reply.body).length
  return { status, headers: [...headers, ['Content-Length', String(length)]], body: undefined }
}

/** 204, whatever the result. */
export const noContent: Reply<unknown> = {
  status: 204,
  description: 'done',
  headers: [],
  write: () => emptyReply(),
}
