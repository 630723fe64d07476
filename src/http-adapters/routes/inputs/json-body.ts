import { invalidInput } from '../../../schema/errors.ts'
import type { Steps } from '../../../schema/steps.ts'
import { wait } from '../../../schema/steps.ts'
import type { NeutralRequest } from '../neutral.ts'
import { bodyTooLarge } from '../wire-error.ts'

/**
 * Reads a body as JSON, whatever its content type. What a body parser of the host's made of it is taken as it is.
 *
 * @throws ForgeError `INVALID_INPUT` naming the whole body: missing, not UTF-8, not JSON; WireError `BODY_TOO_LARGE`
 */
export function* readJson(request: NeutralRequest, limit: number): Steps<unknown> {
  const body = yield* wait(request.body(limit))
  if (body === undefined) throw missing()
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return body
  if (body.length > limit) throw bodyTooLarge(limit)

  const text = typeof body === 'string' ? body : decode(body)
  if (text.trim() === '') throw missing()
  return parse(text)
}

function missing(): Error {
  return invalidInput('', 'required', 'a JSON body is required')
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidInput('', 'json', 'the body must be UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidInput('', 'json', 'the body must be JSON')
  }
}
