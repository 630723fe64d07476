/** The source that a response is read from. */
export interface ReplySource {
  /** Reads the next line, without its line ending. */
  text(): Promise<string>
  bytes(size: number): Promise<Uint8Array>
  remainder(): Promise<Uint8Array>
}

/** A response as it was received. */
export interface RawReply {
  readonly status: number
  /** The header lines in order, with names in lower case. Repeated headers are not merged. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/**
 * Reads one response. Interim responses (100, 103) are skipped.
 *
 * @throws Error if the bytes are not a valid response
 */
export async function readReply(source: ReplySource, method: string): Promise<RawReply> {
  const line = await source.text()
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1])
  if (Number.isNaN(status)) throw new Error(`what came is no reply: ${JSON.stringify(line.slice(0, 80))}`)

  const headers = await readHeaders(source)
  if (status < 200) return readReply(source, method)
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304
  return { status, headers, body: hasBody ? new TextDecoder().decode(await readBody(source, headers)) : '' }
}

async function readHeaders(source: ReplySource): Promise<RawReply['headers']> {
  const headers: (readonly [string, string])[] = []
  for (let line = await source.text(); line !== ''; line = await source.text()) {
    const colon = line.indexOf(':')
    headers.push([line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()])
  }
  return headers
}

async function readBody(source: ReplySource, headers: RawReply['headers']): Promise<Uint8Array> {
  const sent = new Map(headers)
  if (sent.get('transfer-encoding')?.toLowerCase() === 'chunked') return readChunks(source)

  const length = sent.get('content-length')
  return length === undefined ? source.remainder() : source.bytes(Number(length))
}

async function readChunks(source: ReplySource): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for (let size = await readSize(source); size > 0; size = await readSize(source)) {
    chunks.push(await source.bytes(size))
    await source.text()
  }
  await readHeaders(source) // trailers
  return Buffer.concat(chunks)
}

async function readSize(source: ReplySource): Promise<number> {
  return Number.parseInt(await source.text(), 16)
}
