import type { ExchangeRecord, IssueRecord } from '../../schema/issue-record.ts'
import type { ConvertedBatch } from '../documents/converted-batch.ts'
import type { Path } from '../documents/record-batch.ts'

/** The forms of a source: our own documents, and what other forges write. */
export type ExchangeFormat = 'document' | 'github' | 'gitlab' | 'gitea' | 'gitea-dump'

/** Receives what a conversion finds in one record. Paths begin at the record. */
export interface Findings {
  /** Reports a value that is not valid. The record is then left out, or ends the reading. */
  invalid(path: Path, code: string, message: string): void
  /** Reports a value for which exchange records have no property. `what` is a word such as `pull_request`. */
  notCarried(what: string, path: Path, count?: number): void
}

/** Options of a conversion. */
export interface ConversionOptions {
  /** What happens to records that not every reader of their forge may see. */
  readonly confidential: 'leave-out' | 'keep'
}

/** Converts the records of one list, in their order. It may remember what it has seen, but not whole records. */
export interface Conversion {
  /** Returns the exchange records that a record becomes. They are ignored if the record is not valid. */
  convert(record: unknown, findings: Findings): readonly ExchangeRecord[]
  /** Called with the exchange records of a valid record. */
  carried?(records: readonly ExchangeRecord[]): void
}

/** A folder of files that is being read. */
export interface FolderReading {
  readonly names: readonly string[]
  readonly options: ConversionOptions
  /** Reads the records of one file, JSON or YAML by its name, and yields what the conversion makes of them. */
  read(name: string, conversion: Conversion): AsyncGenerator<ConvertedBatch, void, void>
  /** Reports a file that is not read. */
  leave(what: string, name: string): void
}

/** A form of a source: recognizes it, converts it, and reports what is not carried. One file for each. */
export interface ForgeFormat {
  readonly name: ExchangeFormat
  /** Returns whether a record of a list has this form. The first record decides for all. */
  recognizes(record: unknown): boolean
  /** Begins to convert a list. */
  open(options: ConversionOptions): Conversion
  /** Absent: the form has no folders. */
  readonly folder?: FolderFormat
}

/** The folders of a form. */
export interface FolderFormat {
  /** Returns the file with the issues. Undefined: a folder with these files does not have this form. */
  issuesFile(names: readonly string[]): string | undefined
  /** Reads a folder. Labels and milestones precede the issues that name them, and the comments of an issue follow it. */
  read(folder: FolderReading): AsyncGenerator<ConvertedBatch, void, void>
}

/** The states of issues and milestones in most forms. */
export const STATES: ReadonlyMap<string, IssueRecord['state']> = new Map([
  ['open', 'open'],
  ['closed', 'closed'],
])

/** Reports the attachments that a text links to. The links stay in the text, the files are not in the source. */
export function reportLinks(attachment: RegExp, text: string, path: Path, findings: Findings): void {
  const count = text.match(attachment)?.length ?? 0
  if (count > 0) findings.notCarried('attachment', path, count)
}

/** Returns the only file with this name, in the folder itself or deeper in it. Undefined: it is missing, or there are several. */
export function fileNamed(names: readonly string[], file: string): string | undefined {
  const found = names.filter((name) => name === file || name.endsWith(`/${file}`))
  return found.length === 1 ? found[0] : undefined
}
