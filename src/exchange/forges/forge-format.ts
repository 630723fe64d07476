import type { ExchangeRecord } from '../../schema/issue-record.ts'
import type { ConvertedBatch } from '../documents/converted-batch.ts'
import type { Path } from '../documents/record-batch.ts'

/** The forms of a source: our own documents, and what other forges write. */
export type ExchangeFormat = 'document' | 'github' | 'gitlab' | 'gitlab-rest' | 'gitea' | 'gitea-dump'

/** An object that another forge wrote. */
export type Foreign = { readonly [property: string]: unknown }

/** Receives what a conversion finds in one record. Paths begin at the record. */
export interface Findings {
  /** Reports a value for which exchange records have no property: by its name, or a word such as `pull_request`. */
  notCarried(what: string, path: Path, count?: number): void
}

/** Options of a conversion. */
export interface ConversionOptions {
  /** What happens to records that not every reader of their forge may see. */
  readonly confidential: 'leave-out' | 'keep'
  /** What happens to comments that their forge folds away. */
  readonly minimized: 'leave-out' | 'keep'
}

/** What a conversion makes of a record, before its schema has checked it. */
export type Made =
  | { readonly kind: 'label'; readonly label: unknown }
  | { readonly kind: 'milestone'; readonly milestone: unknown }
  | { readonly kind: 'issue'; readonly issue: unknown }
  | { readonly kind: 'comment'; readonly comment: unknown }

/** Converts the records of one list, in their order. It may remember what it has seen, but not whole records. */
export interface Conversion {
  /** Returns what a record becomes. It is ignored if something in it is not valid. */
  convert(record: Foreign, findings: Findings): readonly Made[]
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

/** A form of a source: recognizes it, converts it, and reports what is not carried. */
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

/** Our own documents. Everything in them is carried. */
export const documentFormat: ForgeFormat = {
  name: 'document',
  // Also any list that no other form recognizes: its violations are those of a document.
  recognizes: () => true,
  open: () => ({ convert: (issue) => [{ kind: 'issue', issue }] }),
}

/** Reports the attachments that a text links to. The links stay in the text, the files are not in the source. */
export function reportLinks(attachment: RegExp, text: unknown, path: Path, findings: Findings): void {
  const count = typeof text === 'string' ? (text.match(attachment)?.length ?? 0) : 0
  if (count > 0) findings.notCarried('attachment', path, count)
}

/** Reports a record that is left out. */
export function leave(findings: Findings, what: string): readonly Made[] {
  findings.notCarried(what, [])
  return []
}

/** Returns how many things a counter of the source stands for. */
export function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 1
}

const ISSUES = 'issues.json'

/**
 * Returns a form of folders with two lists, `issues.json` and one of comments. Comments follow all issues.
 *
 * @param open - begins to convert both lists
 */
export function listFolder(
  commentsName: string,
  open: (hasComments: boolean, options: ConversionOptions) => { issues: Conversion; comments: Conversion },
): FolderFormat {
  return {
    issuesFile: (names) => fileNamed(names, ISSUES),
    async *read(folder) {
      const issuesFile = fileNamed(folder.names, ISSUES) ?? ISSUES
      const commentsFile = `${issuesFile.slice(0, -ISSUES.length)}${commentsName}`
      const hasComments = folder.names.includes(commentsFile)
      const { issues, comments } = open(hasComments, folder.options)
      yield* folder.read(issuesFile, issues)
      if (hasComments) yield* folder.read(commentsFile, comments)
      for (const name of folder.names) if (name !== issuesFile && name !== commentsFile) folder.leave('file', name)
    },
  }
}

/** Returns the only file with this name, in the folder itself or deeper in it. Undefined: it is missing, or there are several. */
export function fileNamed(names: readonly string[], file: string): string | undefined {
  const found = names.filter((name) => name === file || name.endsWith(`/${file}`))
  return found.length === 1 ? found[0] : undefined
}
