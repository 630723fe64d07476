import { BEGINNING, Unreadable } from '../documents/source-record.ts'
import { bitbucketFormat } from './bitbucket.ts'
import type { Conversion, ExchangeFormat, FolderFormat, ForgeFormat } from './forge-format.ts'
import { depthOf, ownFilesIn, rootOf } from './forge-format.ts'
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

function formatsOf(name: ExchangeFormat | undefined): readonly ForgeFormat[] {
  return name === undefined ? Object.values(FORMATS) : [FORMATS[name]]
}

/** Returns the form of a list whose first record this is. @throws Unreadable if it cannot be read */
export function formatOfRecord(record: unknown, name: ExchangeFormat | undefined): ForgeFormat {
  const format = formatsOf(name).find(({ recognizes }) => name !== undefined || recognizes(record)) ?? documentFormat
  const refusal = format.refusal?.(record)
  if (refusal !== undefined) throw new Unreadable('format', refusal, BEGINNING, false)
  return format
}

/** Returns the least deep folder of a form that these files have, and its place. Undefined: no forge wrote them. */
export function formatOfFolder(
  names: readonly string[],
  name: ExchangeFormat | undefined,
): readonly [format: FolderFormat, root: string] | undefined {
  const formats = formatsOf(name)
  const folders = formats.flatMap(({ folder }) => folder ?? [])
  const lists = formats.some(isList) ? [listFolder(name)] : []
  return [...folders, ...lists]
    .flatMap((format) => {
      const root = format.rootIn(names)
      return root === undefined ? [] : [[format, root] as const]
    })
    .sort(([, one], [, other]) => depthOf(one) - depthOf(other))[0]
}

function isList(format: ForgeFormat): boolean {
  return format !== documentFormat && format.folder === undefined
}

/** What a backup of GitHub has beside its issues. */
const BESIDE = /^(?:labels|milestones|pulls)\//
const LABELS: Conversion = { convert: (label, at) => [{ kind: 'label', label: restLabel(label, at) }] }
const MILESTONES: Conversion = { convert: restMilestone }
const PULLS: Conversion = { convert: ({ number }, at) => at.leavePull(number) }

/**
 * A list of issues, or a file for each, and a list of comments. The first issue determines their form. A backup of GitHub has files of
 * labels, milestones and pull requests too.
 */
function listFolder(name: ExchangeFormat | undefined): FolderFormat {
  return {
    rootIn: (files) => rootOf(files, 'issues\\.json|issues/\\d+\\.json'),
    async *read({ state: { files, known }, read }) {
      const isBackup = !files.has('issues.json') && [...files].some((file) => BESIDE.test(file))
      let format: ForgeFormat | undefined = isBackup ? githubBackupFormat : undefined
      const choose = (first: unknown): Conversion | undefined => {
        format ??= formatOfRecord(first, name)
        return isList(format) ? format : undefined
      }
      yield* read('labels/labels.json', LABELS)
      for (const file of ownFilesIn(files, 'milestones')) yield* read(file, MILESTONES)
      yield* read('issues.json', choose)
      if (files.has('issues.json')) format ??= githubFormat // it has no issues
      yield* read(format?.comments?.file ?? 'comments.json', () => format?.comments)
      // A page of Redmine names the files in its order.
      const ofPages = format === redmineFormat ? [...known.keys()].map(String) : []
      if (files.has('issues.json') && format !== redmineFormat) return
      for (const file of new Set([...ofPages, ...ownFilesIn(files, 'issues')])) yield* read(file, choose)
      for (const file of ownFilesIn(files, 'pulls')) yield* read(file, PULLS)
    },
  }
}
