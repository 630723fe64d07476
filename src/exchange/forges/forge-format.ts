import type { ExchangeRecord, SourcePosition } from '../../schema/issue-record.ts'
import type { Path } from '../documents/source-record.ts'
import type { ConversionState, Findings } from './findings.ts'
import type { Foreign, Made } from './foreign.ts'

/** The forms of a source: our own documents, and what other forges write. */
export type ExchangeFormat =
  | 'document'
  | 'github'
  | 'github-cli'
  | 'github-archive'
  | 'github-backup'
  | 'gitlab'
  | 'gitlab-rest'
  | 'gitea'
  | 'gitea-dump'
  | 'bitbucket'
  | 'redmine'

/** Returns what a record becomes. It is ignored if something in it is not valid. */
export type Convert = (record: Foreign, at: Findings) => readonly Made[]

/** A part of a record: its path, and what converts it. */
export type Part = readonly [path: Path, part: unknown, convert: Convert]

/** How the records of one list are converted, in their order. */
export interface Conversion {
  readonly convert: Convert
  /** Returns the parts of a record that has many issues: one that is not valid does not take the others with it. The last one is the rest of the record. */
  partsOf?(record: Foreign): readonly Part[]
  /** The property with the number of an issue, if an issue may occur several times: its list was fetched page by page. */
  readonly repeatsBy?: 'number' | 'iid' | 'id'
}

/** A form of a source, and how its issues are converted. */
export interface ForgeFormat extends Conversion {
  /** Returns whether a record of a list has this form. The first record decides for all. */
  recognizes(record: unknown): boolean
  /** Returns why a list with this first record cannot be read, if the record has the form. */
  refusal?(record: unknown): string | undefined
  /** The file with the comments, beside `issues.json`. */
  readonly comments?: Conversion & { readonly file: string }
  /** A folder of other files. */
  readonly folder?: FolderFormat
}

/** Exchange records, several at once, and for each the position of the record in the source that it came from. */
export type LocatedRecords = AsyncGenerator<
  readonly { readonly record: ExchangeRecord; readonly position: SourcePosition }[],
  void,
  void
>

/** A folder of files that is being read. The names of files begin at the folder of the issues. */
export interface FolderReading {
  /** The names of its files, in order, and what is known of them. */
  readonly state: ConversionState
  /**
   * Reads the records of one file, JSON or YAML by its name, and yields what the conversion makes of them. Yields nothing
   * if there is no such file, or if it was read before.
   *
   * @param conversion - or a function that returns that of a list whose first record this is. Undefined: no forge wrote it
   */
  read(file: string, conversion: Conversion | ((first: unknown) => Conversion | undefined)): LocatedRecords
}

/** The folders of a form. */
export interface FolderFormat {
  /** Returns the folders with issues: empty, or with a slash at their ends. None: the files do not have this form. */
  rootsIn(files: readonly string[]): readonly string[]
  /** Reads a folder. Labels and milestones precede the issues that name them, and the comments of an issue follow it. */
  read(folder: FolderReading): LocatedRecords
  /** Whether Gitea wrote its YAML. */
  readonly isDump?: true
  /** What its files have, if none is a list that may be empty. */
  readonly expected?: string
  /** Returns the word for a file that is not read; undefined: nothing is lost with it. Default: `file`. */
  wordOf?(file: string): string | undefined
}

/** Returns the folders with a file of this form, a regular expression such as `issues\\.json`. */
export function rootsOf(files: readonly string[], form: string): readonly string[] {
  const pattern = new RegExp(`^(.*/)?(?:${form})$`, 's')
  return [...new Set(files.map((file) => pattern.exec(file)).flatMap((found) => (found ? [found[1] ?? ''] : [])))]
}

/** Returns the files that have one record each, such as `issues/812.json`, by their numbers. */
export function ownFilesIn(files: Iterable<string>, folder: string): readonly string[] {
  const form = new RegExp(`^${folder}/\\d+\\.json$`)
  return [...files].filter((file) => form.test(file)).sort(new Intl.Collator('en', { numeric: true }).compare)
}
