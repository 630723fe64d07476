import { refusal, Unreadable } from '../documents/source-record.ts'
import { bitbucketFormat } from './bitbucket.ts'
import type { Conversion, ExchangeFormat, FolderFormat, ForgeFormat } from './forge-format.ts'
import { ownFilesIn, rootsOf } from './forge-format.ts'
import { giteaDumpFormat } from './gitea-dump.ts'
import { githubArchiveFormat } from './github-archive.ts'
import { githubCliFormat } from './github-cli.ts'
import { gitlabFormat } from './gitlab.ts'
import { gitlabRestFormat } from './gitlab-rest.ts'
import { refusalOfRecord } from './not-read.ts'
import { redmineFormat } from './redmine.ts'
import { giteaFormat, githubBackupFormat, githubFormat, restLabel, restMilestone } from './rest.ts'

/** Our own documents. Everything in them is carried. */
export const documentFormat: ForgeFormat = {
  // Also any list that no other form recognizes: its violations are those of a document.
  recognizes: () => true,
  refusal: refusalOfRecord,
  convert: (issue) => [{ kind: 'issue', issue }],
}

/** The forms that can be read. The first one that recognizes a source reads it. */
const FORMATS: { readonly [Name in ExchangeFormat]: ForgeFormat } = {
  'github-backup': githubBackupFormat,
  'github-archive': githubArchiveFormat,
  github: githubFormat,
  gitlab: gitlabFormat,
  'gitlab-rest': gitlabRestFormat,
  gitea: giteaFormat,
  'gitea-dump': giteaDumpFormat,
  'github-cli': githubCliFormat,
  redmine: redmineFormat,
  bitbucket: bitbucketFormat,
  document: documentFormat,
}

/** The names of the forms. */
export const FORMAT_NAMES: readonly string[] = Object.keys(FORMATS)

export const NO_FORGE =
  'expected a folder that a forge wrote, or its lists as issues.json and comments.json (docs/exchange.md, Sources)'

function formatsOf(name: ExchangeFormat | undefined): readonly ForgeFormat[] {
  return name === undefined ? Object.values(FORMATS) : [FORMATS[name]]
}

/** Returns the form of a list whose first record this is. @throws Unreadable if it cannot be read */
export function formatOfRecord(record: unknown, name: ExchangeFormat | undefined): ForgeFormat {
  const format = formatsOf(name).find(({ recognizes }) => name !== undefined || recognizes(record)) ?? documentFormat
  const reason = name === 'document' ? undefined : format.refusal?.(record)
  if (reason !== undefined) throw new Unreadable('format', reason)
  return format
}

/**
 * Returns the least deep folder of a form that these files have, and its place.
 * @throws ForgeError `INVALID_DOCUMENT` if no forge wrote them, or if they have the issues of several repositories
 */
export function formatOfFolder(
  names: readonly string[],
  name: ExchangeFormat | undefined,
): readonly [format: FolderFormat, root: string] {
  const formats = formatsOf(name)
  const folders = formats.flatMap(({ folder }) => folder ?? [])
  const lists = formats.some(isList) ? [listFolder(name)] : []
  // A source may contain older exports in its folders.
  const [first, ...others] = [...folders, ...lists]
    .flatMap((format) => format.rootsIn(names).map((root) => ({ format, root, depth: root.split('/').length })))
    .sort((one, other) => one.depth - other.depth)
  if (first === undefined) throw refusal('folder', NO_FORGE)
  const equal = others.filter(({ format, depth }) => format === first.format && depth === first.depth)
  if (equal.length === 0) return [first.format, first.root]
  const roots = [first, ...equal].map(({ root }) => root).join(', ')
  throw refusal('folder', `expected the issues of one repository: give one of the folders ${roots}`)
}

function isList(format: ForgeFormat): boolean {
  return format !== documentFormat && format.folder === undefined
}

/** What a backup of GitHub has beside its issues. */
const BESIDE = /^(?:labels|milestones|pulls)\//

/**
 * A list of issues, or a file for each, and a list of comments. The first issue determines their form. A backup of GitHub has files of
 * labels, milestones and pull requests too.
 */
function listFolder(name: ExchangeFormat | undefined): FolderFormat {
  return {
    rootsIn: (files) => rootsOf(files, 'issues\\.json|issues/\\d+\\.json'),
    async *read({ state: { files, known }, read }) {
      const isBackup = !files.has('issues.json') && [...files].some((file) => BESIDE.test(file))
      let format: ForgeFormat | undefined = isBackup ? githubBackupFormat : undefined
      const choose = (first: unknown): Conversion | undefined => {
        format ??= formatOfRecord(first, name)
        return isList(format) ? format : undefined
      }
      yield* read('labels/labels.json', { convert: (label, at) => [{ kind: 'label', label: restLabel(label, at) }] })
      for (const file of ownFilesIn(files, 'milestones')) yield* read(file, { convert: restMilestone })
      yield* read('issues.json', choose)
      if (files.has('issues.json')) format ??= githubFormat // it has no issues
      yield* read(format?.comments?.file ?? 'comments.json', () => format?.comments)
      // A page of Redmine names the files in its order.
      const ofPages = format === redmineFormat ? [...known.keys()].map(String) : []
      if (files.has('issues.json') && format !== redmineFormat) return
      for (const file of new Set([...ofPages, ...ownFilesIn(files, 'issues')])) yield* read(file, choose)
      for (const file of ownFilesIn(files, 'pulls')) yield* read(file, { convert: (pull, at) => at.leavePull(pull) })
    },
  }
}
