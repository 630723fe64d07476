import { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import type { OwnHandle, SqliteHandle } from './handle.ts'
import { asHosts, fileOf } from './handle.ts'

/** A database in a file: a writer and a reader of our own, so that no reader waits for a writer. */
export class FileConnections<H extends SqliteHandle> implements Connections<H> {
  readonly reader: Connection
  readonly shared = false
  readonly #open: () => OwnHandle
  readonly #reader: OwnConnection
  readonly #file: string
  #writer: OwnConnection | undefined
  #writesAhead = false

  /** @param open - opens one more handle on the file */
  constructor(open: () => OwnHandle) {
    this.#open = open
    this.#reader = connect(open(), 'pragma busy_timeout = 0; pragma query_only = on')
    this.reader = this.#reader.connection
    this.#file = fileOf(this.#reader.handle)
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
    const spoilt = this.#writer
    this.#writer = undefined
    if (spoilt !== undefined) closeIfPossible(spoilt)
  }

  close(): void {
    const writer = this.#writer
    this.#writer = undefined
    close(this.#reader)
    if (writer !== undefined) close(writer)
  }

  #ownWriter(): OwnConnection {
    this.#writer ??= connect(
      this.#open(),
      'pragma busy_timeout = 0; pragma foreign_keys = on; pragma synchronous = full',
    )
    return this.#writer
  }
}

interface OwnConnection {
  readonly handle: OwnHandle
  readonly connection: Connection
}

/** Sets a new connection up; one that cannot be is closed again. */
function connect(handle: OwnHandle, pragmas: string): OwnConnection {
  const connection = new Connection(handle, 'call', 'us')
  try {
    connection.exec(pragmas)
    return { handle, connection }
  } catch (error) {
    handle.close()
    throw error
  }
}

function close({ handle, connection }: OwnConnection): void {
  connection.end()
  handle.close()
}

/** A handle with a statement of the host's open on it cannot be closed: it goes with that statement. */
function closeIfPossible(spoilt: OwnConnection): void {
  try {
    close(spoilt)
  } catch {
    // what matters is done: its transaction has ended
  }
}
