import { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import type { OwnHandle, SqliteHandle } from './handle.ts'
import { asHosts, fileOf } from './handle.ts'

/** A database in a file: a writer and a reader of our own, so that no reader waits for a writer. */
export class FileConnections<H extends SqliteHandle> implements Connections<H> {
  readonly reader: Connection
  readonly shared = false
  readonly #open: () => OwnHandle
  readonly #handles: OwnHandle[] = []
  readonly #file: string
  #writer: { readonly handle: OwnHandle; readonly connection: Connection } | undefined
  #writesAhead = false

  /** @param open - opens one more handle on the file */
  constructor(open: () => OwnHandle) {
    this.#open = open
    const handle = this.#opened()
    this.reader = new Connection(handle, 'call')
    this.#prepare(this.reader, 'pragma busy_timeout = 0; pragma query_only = on')
    this.#file = fileOf(handle)
  }

  get writer(): Connection {
    const { connection } = this.#ownWriter()
    // asked again until it succeeds: while others read in the old mode, the file cannot leave it
    if (!this.#writesAhead) connection.exec('pragma journal_mode = wal')
    this.#writesAhead = true
    return connection
  }

  get writerHandle(): H {
    return asHosts(this.#ownWriter().handle)
  }

  includes(handle: SqliteHandle): boolean {
    return fileOf(handle) === this.#file
  }

  replaceWriter(): void {
    const spoilt = this.#writer?.handle
    this.#writer = undefined
    if (spoilt === undefined) return

    this.#handles.splice(this.#handles.indexOf(spoilt), 1)
    closeIfPossible(spoilt)
  }

  close(): void {
    for (const handle of this.#handles.splice(0)) handle.close()
  }

  #ownWriter(): { readonly handle: OwnHandle; readonly connection: Connection } {
    if (this.#writer !== undefined) return this.#writer

    const handle = this.#opened()
    const connection = new Connection(handle, 'call')
    this.#prepare(connection, 'pragma busy_timeout = 0; pragma foreign_keys = on; pragma synchronous = full')
    this.#writer = { handle, connection }
    return this.#writer
  }

  #opened(): OwnHandle {
    const handle = this.#open()
    this.#handles.push(handle)
    return handle
  }

  /** Sets a new connection up; one that cannot be is closed again. */
  #prepare(connection: Connection, pragmas: string): void {
    try {
      connection.exec(pragmas)
    } catch (error) {
      this.#handles.pop()?.close()
      throw error
    }
  }
}

/** A handle with a statement of the host's open on it cannot be closed: it goes with that statement. */
function closeIfPossible(handle: OwnHandle): void {
  try {
    handle.close()
  } catch {
    // what matters is done: its transaction has ended
  }
}
