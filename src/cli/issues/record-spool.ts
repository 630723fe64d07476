import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExchangeRecord } from '../../exchange/exchange.ts'

const PIECE_BYTES = 64 * 1024

/**
 * Records in a temporary file, one on each line. A source that can be read only once is kept in it while it is checked,
 * and so is one that is imported in a transaction that cannot wait.
 */
export class RecordSpool implements Iterable<ExchangeRecord> {
  readonly #folder: string
  readonly #path: string
  #text = ''

  /** @param folder - a folder of its own, which it removes at the end */
  constructor(folder: string) {
    this.#folder = folder
    this.#path = join(folder, 'records')
  }

  /** Yields records as they are, and keeps them. */
  async *keep(records: AsyncIterable<ExchangeRecord>): AsyncGenerator<ExchangeRecord, void, void> {
    const file = openSync(this.#path, 'wx', 0o600)
    try {
      for await (const record of records) {
        this.#text += `${JSON.stringify(record)}\n`
        if (this.#text.length >= PIECE_BYTES) this.#flush(file)
        yield record
      }
      this.#flush(file)
    } finally {
      closeSync(file)
    }
  }

  /** Yields the records that were kept, at once. */
  *[Symbol.iterator](): Generator<ExchangeRecord, void, void> {
    const file = openSync(this.#path, 'r')
    try {
      const memory = Buffer.alloc(PIECE_BYTES)
      let begun: Buffer[] = []
      for (let length = readSync(file, memory); length > 0; length = readSync(file, memory)) {
        let from = 0
        for (let end = memory.indexOf('\n'); end !== -1 && end < length; end = memory.indexOf('\n', from)) {
          yield parsed([...begun, memory.subarray(from, end)])
          begun = []
          from = end + 1
        }
        begun.push(Buffer.from(memory.subarray(from, length))) // the memory is used again
      }
    } finally {
      closeSync(file)
    }
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }

  #flush(file: number): void {
    const bytes = Buffer.from(this.#text)
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
    this.#text = ''
  }
}

/** Creates a spool in a new temporary folder. */
export async function createRecordSpool(): Promise<RecordSpool> {
  return new RecordSpool(await mkdtemp(join(tmpdir(), 'forgelet-import-')))
}

function parsed(pieces: readonly Buffer[]): ExchangeRecord {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: this process wrote it
  return JSON.parse(Buffer.concat(pieces).toString()) as ExchangeRecord
}
