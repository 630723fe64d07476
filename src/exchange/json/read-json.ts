import { invalidDocument } from '../../schema/invalid-document.ts'
import type { Bytes } from '../documents/byte-source.ts'
import type { RecordBatch } from '../documents/record-batch.ts'
import { BatchParser } from './json-batch.ts'
import type { ScanFault, ScanLimits } from './json-scanner.ts'
import { JsonScanner } from './json-scanner.ts'

/**
 * Reads the records of a JSON source: the elements of an array, of several arrays one after the other, and of arrays in
 * an array, and objects one after the other.
 *
 * @param file - the name of the file in violations, if the source has several
 * @throws ForgeError `INVALID_DOCUMENT` at the first byte that cannot be read, after all records before it
 */
export async function* readJson(
  bytes: Bytes,
  limits: ScanLimits,
  file: string | undefined,
): AsyncGenerator<RecordBatch, void, void> {
  const [scanner, parser] = [new JsonScanner(limits), new BatchParser()]
  try {
    for (let piece = await bytes.next(); ; piece = await bytes.next()) {
      if (piece.done === true) {
        if (piece.value === undefined) scanner.end()
        else scanner.interrupt(piece.value.code, piece.value.message)
        if (scanner.fault !== undefined) throw unreadable(scanner.fault, file)
        return
      }
      for (const raw of scanner.scan(piece.value)) {
        const { batch, fault } = parser.parse(raw)
        yield batch
        if (fault !== undefined) throw unreadable(fault, file)
      }
      if (scanner.fault !== undefined) throw unreadable(scanner.fault, file)
    }
  } finally {
    await bytes.return(undefined)
  }
}

function unreadable({ record, code, message, offset, line }: ScanFault, file: string | undefined): Error {
  const pointer = record === undefined ? '' : `/${record}`
  return invalidDocument([{ pointer, code, message, offset, line, ...(file !== undefined && { file }) }])
}
