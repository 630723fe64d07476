/** A request that a case sends. */
export interface RawRequest {
  /** Default GET. */
  readonly method?: string | undefined
  /** Relative to the mount point. */
  readonly path: string
  /** Replaces the mount point and the path, unchanged. */
  readonly target?: string | undefined
  /**
   * `Host` replaces the default host. A list stands for a header with several lines; an empty list omits the header.
   */
  readonly headers?: { readonly [name: string]: string | readonly string[] } | undefined
  readonly body?: string | Uint8Array | undefined
  /** The framing of the body. Default: its length. 'never': announces a million bytes and sends none of them. */
  readonly framing?: 'length' | 'chunked' | 'never' | undefined
}

/** The announced length of a body that is never sent. */
const NEVER = '1000000'
const CHUNK = 65_536

/** Returns the bytes of a request. */
export function requestBytes(host: string, prefix: string, request: RawRequest): Uint8Array {
  const { method = 'GET', body } = request
  const all: NonNullable<RawRequest['headers']> = { Host: host, ...framingOf(request), ...request.headers }
  const lines = Object.entries(all).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
  const first = `${method} ${request.target ?? `${prefix}${request.path}`} HTTP/1.1\r\n`
  const head = Buffer.from(`${first}${lines.join('')}\r\n`)
  return body === undefined ? head : Buffer.concat([head, ...framed(Buffer.from(body), request)])
}

/** Returns the description of a request for an error message. */
export function requestLine(prefix: string, request: RawRequest): string {
  const { method = 'GET', headers = {}, body, framing = 'length' } = request
  const shown = Object.entries(headers).map(([name, value]) => `${name}: ${printable(name, value)}`)
  const sized = body === undefined ? [] : [`${Buffer.byteLength(body)} bytes of body (${framing})`]
  const never = framing === 'never' ? ['a body that never arrives'] : []
  const more = [...shown, ...sized, ...never]
  const target = request.target ?? `${prefix}${request.path}`
  return `${method} ${short(target)}${more.length === 0 ? '' : ` with ${more.join(', ')}`}`
}

function framingOf({ body, framing = 'length' }: RawRequest): NonNullable<RawRequest['headers']> {
  if (framing === 'never') return { 'Content-Length': NEVER }
  if (body === undefined) return {}
  return framing === 'chunked'
    ? { 'Transfer-Encoding': 'chunked' }
    : { 'Content-Length': String(Buffer.byteLength(body)) }
}

function framed(body: Uint8Array, { framing }: RawRequest): readonly Uint8Array[] {
  if (framing !== 'chunked') return [body]

  const pieces: Uint8Array[] = []
  for (let at = 0; at < body.length; at += CHUNK) {
    const piece = body.subarray(at, at + CHUNK)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return [...pieces, Buffer.from('0\r\n\r\n')]
}

/** Hides credentials, so that they do not appear in the reports of test runners. */
function printable(name: string, value: string | readonly string[]): string {
  if (name.toLowerCase() === 'authorization') return '(the known one)'
  return JSON.stringify(value)
}

function short(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 120)}... (${text.length} characters)`
}
