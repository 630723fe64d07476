import type { ExchangeRecord, IssueRecord, RecordLocator } from '../../schema/issue-record.ts'
import type { ByteSource } from './byte-source.ts'
import { readExchange, readParsed } from './read-exchange.ts'
import type { ReadOptions } from './read-options.ts'
import { writeIssues } from './write-issues.ts'

/** Options of `IssueDocuments.read`. */
export interface DocumentReadOptions extends ReadOptions {
  /** The media type of the body. YAML is `application/yaml` and its older names; anything else is read as JSON. */
  readonly contentType: string | undefined
}

/** An item of YAML blocks the event loop while it is parsed: half a second to a second for each MiB. */
const MAX_YAML_ITEM_BYTES = 1024 * 1024

/** Reads and writes the bodies of the routes that import and export issues. */
export interface IssueDocuments {
  /**
   * Reads the records of a body: bytes, or the list that a body parser made of them. A violation in a list has no position.
   * An item of YAML has 1 MiB at most, also if a record may have more.
   * @throws ForgeError `INVALID_DOCUMENT` while it is iterated; TypeError at once when the body or an option is not valid
   */
  read(
    body: ByteSource | readonly unknown[],
    options: DocumentReadOptions,
  ): AsyncIterable<ExchangeRecord> & Partial<RecordLocator>
  /** Writes the canonical document, as `writeIssues` does. */
  write(issues: AsyncIterable<IssueRecord>): AsyncIterable<Uint8Array>
}

/** What `createApi` needs to import and export issues: without this option it does not have those routes. */
export const issueDocuments: IssueDocuments = {
  read(body, { contentType, ...options }) {
    if (isList(body)) return readParsed(body, options)
    if (!YAML.test(contentType?.trim() ?? '')) return readExchange({ json: body }, options)

    const { maxRecordBytes = MAX_YAML_ITEM_BYTES } = options.limits ?? {}
    const limits = { ...options.limits, maxRecordBytes: Math.min(maxRecordBytes, MAX_YAML_ITEM_BYTES) }
    return readExchange({ yaml: body }, { ...options, limits })
  },
  write: (issues) => writeIssues(issues),
}

function isList(body: ByteSource | readonly unknown[]): body is readonly unknown[] {
  return Array.isArray(body)
}

const YAML = /^(?:application|text)\/(?:x-)?(?:[a-z.-]+\+)?yaml\s*(?:;|$)/i
