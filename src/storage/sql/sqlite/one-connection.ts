import { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import type { SqliteHandle } from './handle.ts'

/** A database in memory, or a temporary one: nobody else can reach it, so there is one connection for everything. */
export class OneConnection<H extends SqliteHandle> implements Connections<H> {
  readonly reader: Connection
  readonly writer: Connection
  readonly writerHandle: H
  readonly shared = true
  readonly #end: () => void

  /** @param end - closes the handle, when it is ours */
  constructor(handle: H, end: () => void) {
    this.writerHandle = handle
    this.writer = new Connection(handle, 'call', 'host')
    this.reader = this.writer
    this.#end = end
  }

  includes(handle: SqliteHandle): boolean {
    return handle === this.writerHandle
  }

  replaceWriter(): void {
    // there is no other connection to this database: it can be used again when the host has ended its statement
  }

  close(): void {
    this.writer.end()
    this.#end()
  }
}
