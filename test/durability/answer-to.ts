/** What a server answered. */
export interface ServerAnswer {
  readonly status: number
  /** The code of a refusal. */
  readonly code: string | undefined
  readonly body: unknown
  /** What `X-Total-Count` says. */
  readonly total: number | undefined
}

/** Asks a server something, with a credential, and reads the answer whole. */
export async function answerTo(url: string, method: string, path: string): Promise<ServerAnswer> {
  const response = await fetch(`${url}${path}`, { method, headers: { authorization: 'Bearer token' } })
  const text = await response.text()
  const body = text === '' ? undefined : JSON.parse(text)
  const total = response.headers.get('x-total-count')
  return { status: response.status, code: body?.code, body, total: total === null ? undefined : Number(total) }
}
