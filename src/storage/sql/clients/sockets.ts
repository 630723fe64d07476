/** How long the server has to close the connections of an ended pool, in milliseconds. */
const MAX_FAREWELL_MS = 1000

/**
 * Destroys the socket of a driver: drivers end connections with a message, which a silent server never answers.
 *
 * @param error - what the driver's unanswered commands are rejected with; some drivers need one
 */
export function destroySocket(socket: unknown, error?: Error): void {
  if (typeof socket !== 'object' || socket === null || !('destroy' in socket)) return
  if (typeof socket.destroy === 'function') socket.destroy(error)
}

/** Sends what work writes to a socket in one piece: each write is a call to the system, and often a packet. */
export function inOneWrite<T>(socket: unknown, work: () => T): T {
  if (!isCorkable(socket)) return work()

  socket.cork()
  try {
    return work()
  } finally {
    socket.uncork()
  }
}

function isCorkable(socket: unknown): socket is { cork(): void; uncork(): void } {
  if (typeof socket !== 'object' || socket === null || !('cork' in socket && 'uncork' in socket)) return false
  return typeof socket.cork === 'function' && typeof socket.uncork === 'function'
}

/**
 * The sockets of a pool that the storage opened. It ensures that none keeps the process alive after the pool was ended.
 */
export class OwnSockets {
  readonly #sockets = new Set<object>()

  /** Keeps the socket of a new connection until it is closed. */
  add(socket: unknown): void {
    if (typeof socket !== 'object' || socket === null || !('once' in socket)) return
    if (typeof socket.once !== 'function') return

    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Destroys, after one second, the sockets that the server has not closed by then. */
  destroyLater(): void {
    if (this.#sockets.size === 0) return
    setTimeout(() => {
      for (const socket of this.#sockets) destroySocket(socket)
    }, MAX_FAREWELL_MS).unref()
  }
}
