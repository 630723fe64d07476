import type { MaybePromise } from '../../schema/steps.ts'

/** A request, as every adapter hands it in: plain values, so that no runtime's own request is ever built. */
export interface NeutralRequest {
  /** In capitals, as sent. */
  readonly method: string
  /** Below the mount point, still percent-encoded, beginning with `/`, without the query: `/orgs/acme/blocks`. */
  readonly path: string
  /** Without the question mark; `""` when there is none. */
  readonly query: string
  /** The value of a header, undefined when it was not sent. The name is in lower case. */
  header(name: string): string | undefined
  /**
   * Reads the body; called at most once, and only for routes that take one, after the caller was authorised.
   * Gives text or bytes as sent, or what a body parser of the host's made of them; undefined when there is none.
   *
   * @param limit - most bytes to take
   * @throws WireError `BODY_TOO_LARGE`
   */
  body(limit: number): MaybePromise<unknown>
  /** Aborted when the client goes away before it is answered. */
  readonly signal?: AbortSignal | undefined
}

/** One header of a reply. */
export type HeaderLine = readonly [name: string, value: string]

/** A reply, as every adapter writes it out. Without a body there is no content type either; a HEAD reply has its `Content-Length`. */
export interface NeutralReply {
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: string | undefined
}
