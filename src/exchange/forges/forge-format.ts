import type { ExchangeRecord, SourcePosition } from '../../schema/issue-record.ts'
import type { Path } from '../documents/source-record.ts'

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

/** An object that another forge wrote. */
export type Foreign = { readonly [property: string]: unknown }

/** Receives what a conversion finds in one record. Paths begin at the record. */
export interface Findings {
  /** Reports a value for which exchange records have no property: by its name, or a word such as `pull_request`. */
  notCarried(what: string, path: Path, count?: number): void
  /** Remembers the number of a pull request or an issue that is left out. */
  leftOut(number: unknown): void
  /** Reports a user of whom the source has only the id. @param name - what the user is called in its place */
  nameless(name: string, path: Path): void
  /** Notes the displayed name of a user, and what the user is called if nothing else is known. */
  displayed(name: string, displayed: unknown): void
}

/** Findings for which there is no use. */
export const NO_FINDINGS: Findings = {
  notCarried: () => undefined,
  nameless: () => undefined,
  displayed: () => undefined,
  leftOut: () => undefined,
}

/** What is left out of a source, unless it is kept. */
export interface ConversionOptions {
  /** Records that not every reader of their forge may see. Default 'leave-out': they are reported as not carried. */
  readonly confidential?: 'leave-out' | 'keep' | undefined
  /** Comments that GitHub folds away, such as spam. Default 'leave-out'. They are reported as not carried in any case. */
  readonly minimized?: 'leave-out' | 'keep' | undefined
  /** The repository to read, as `owner/name`, if the source has several. Default: the only one. */
  readonly sourceRepository?: string | undefined
}

/** What a conversion makes of a record, before its schema has checked it. */
export type Made =
  | { readonly kind: 'label'; readonly label: unknown }
  | { readonly kind: 'milestone'; readonly milestone: unknown }
  | { readonly kind: 'issue'; readonly issue: unknown }
  | { readonly kind: 'comment'; readonly comment: unknown }

/** A part of a record, and its path in it. */
export type Part = readonly [path: Path, part: unknown]

/** Converts the records of one list, in their order. It may remember what it has seen, but not whole records. */
export interface Conversion {
  /** The property with the number of an issue, if an issue may occur several times: its list was fetched page by page. */
  readonly repeatsBy?: 'number' | 'iid' | 'id'
  /**
   * Returns what a record becomes, or a part of it. It is ignored if something in it is not valid.
   * @param path - of the part in its record
   */
  convert(record: Foreign, findings: Findings, path: Path): readonly Made[]
  /** Returns the parts of a record that has many issues: one that is not valid does not take the others with it. */
  partsOf?(record: Foreign): readonly Part[]
  /** Learns the exchange records of each valid record. */
  readonly state?: { carried(records: readonly ExchangeRecord[]): void }
}

/** Exchange records, several at once, and for each the position of the record in the source that it came from. */
export type LocatedRecords = AsyncGenerator<
  readonly { readonly record: ExchangeRecord; readonly position: SourcePosition }[],
  void,
  void
>

/** A folder of files that is being read. The names of files begin at the folder of the issues. */
export interface FolderReading {
  readonly options: ConversionOptions
  /** Their names, in order. */
  readonly files: readonly string[]
  /**
   * Reads the records of one file, JSON or YAML by its name, and yields what the conversion makes of them. Yields nothing
   * if there is no such file, or if it was read before.
   *
   * @param conversionOf - returns the conversion of a list whose first record this is. Undefined: no forge wrote it
   */
  read(file: string, conversionOf: (first: unknown) => Conversion | undefined): LocatedRecords
}

/** The conversion of a list of issues, and of what is beside it in its folder. */
export interface ListConversion {
  readonly issues: Conversion
  readonly comments?: Conversion
  /** Returns the files with one issue each that are read behind the list. */
  ownFiles?(): Iterable<string>
}

/** A form of a source: recognizes it, converts it, and reports what is not carried. */
export interface ForgeFormat {
  readonly name: ExchangeFormat
  /** Returns whether a record of a list has this form. The first record decides for all. */
  recognizes(record: unknown): boolean
  /** Returns why a list with this first record cannot be read, if the record has the form. */
  refusal?(record: unknown): string | undefined
  /** Begins to convert a list of issues. @param files - the names of the files in its folder */
  open(options: ConversionOptions, files: readonly string[]): ListConversion
  /** The file with the comments, beside `issues.json`. */
  readonly commentsFile?: string
  /** A folder of other files. */
  readonly folder?: FolderFormat
}

/** The folders of a form. */
export interface FolderFormat {
  /** Returns the folder with the issues: empty, or with a slash at its end. Undefined: the files do not have this form. */
  rootIn(files: readonly string[]): string | undefined
  /** Reads a folder. Labels and milestones precede the issues that name them, and the comments of an issue follow it. */
  read(folder: FolderReading): LocatedRecords
  /** Whether Gitea wrote its YAML. */
  readonly isDump?: true
  /** Returns the word for a file that is not read; undefined: nothing is lost with it. Default: `file`. */
  wordOf?(file: string): string | undefined
}

/** Returns findings of a part of a record. */
export function within(findings: Findings, part: Path): Findings {
  const { nameless, displayed, leftOut } = NO_FINDINGS
  const notCarried: Findings['notCarried'] = (what, path, count) => findings.notCarried(what, [...part, ...path], count)
  return { notCarried, nameless, displayed, leftOut }
}

/** Reports the attachments that a text links to. The links stay in the text, the files are not in the source. */
export function reportLinks(attachment: RegExp, text: unknown, path: Path, findings: Findings): void {
  const count = typeof text === 'string' ? (text.match(attachment)?.length ?? 0) : 0
  if (count > 0) findings.notCarried('attachment', path, count)
}

/** Whether not every reader may see a record. It is reported also where it is kept: exchange records do not say so. */
export function isLeftOut(
  isConfidential: boolean,
  number: unknown,
  options: ConversionOptions,
  findings: Findings,
): boolean {
  if (!isConfidential) return false
  findings.notCarried('confidential', [])
  if (options.confidential === 'keep') return false
  findings.leftOut(number)
  return true
}

/** Reports a record, or a part of one, that is left out. */
export function leave(findings: Findings, what: string, path: Path = []): readonly Made[] {
  findings.notCarried(what, path)
  return []
}

/** Returns how many things a counter of the source stands for. */
export function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 1
}

/** Returns the folder of the only file with this name. Undefined: it is missing, or there are several. */
export function rootOf(files: readonly string[], name: string): string | undefined {
  const found = filesNamed(files, name)
  return found.length === 1 ? found[0]?.slice(0, -name.length) : undefined
}

/** Returns the files with this name, in the folder itself or deeper in it. */
export function filesNamed(files: readonly string[], name: string): readonly string[] {
  return files.filter((file) => file === name || file.endsWith(`/${name}`))
}

/** Returns the files that have one issue each, `issues/812.json`, by their numbers. */
export function ownFilesIn(files: readonly string[]): readonly string[] {
  const { compare } = new Intl.Collator('en', { numeric: true })
  return files.filter((file) => /^issues\/\d+\.json$/.test(file)).sort(compare)
}

/** Returns the only folder that has such files. */
export function rootOfOwnFiles(files: readonly string[]): string | undefined {
  const roots = new Set(files.flatMap((file) => /^(|.*\/)issues\/\d+\.json$/.exec(file)?.[1] ?? []))
  return roots.size === 1 ? [...roots][0] : undefined
}
