import type { ExchangeFormat, FolderFormat, ForgeFormat } from './forge-format.ts'
import { documentFormat } from './forge-format.ts'
import { giteaDumpFormat } from './gitea-dump.ts'
import { gitlabFormat } from './gitlab.ts'
import { gitlabRestFormat } from './gitlab-rest.ts'
import { giteaFormat, githubFormat } from './rest.ts'

/** The forms that can be read. The first one that recognizes a source reads it. */
const ALL_FORMATS: readonly ForgeFormat[] = [
  githubFormat,
  gitlabFormat,
  gitlabRestFormat,
  giteaFormat,
  giteaDumpFormat,
  documentFormat,
]

/** Returns the names of the forms. */
export function formatNames(): readonly ExchangeFormat[] {
  return ALL_FORMATS.map(({ name }) => name)
}

/** Returns the form of a list whose first record this is. */
export function formatOfRecord(record: unknown, name: ExchangeFormat | undefined): ForgeFormat {
  return (
    ALL_FORMATS.find((format) => format.name === name || (name === undefined && format.recognizes(record))) ??
    documentFormat
  )
}

/** A form that may be that of a folder, and the file with its issues. */
export interface FolderCandidate {
  readonly format: ForgeFormat
  readonly folder: FolderFormat
  readonly issuesFile: string
}

/** Returns the forms that a folder with these files may have. If they are several, the first issue decides. */
export function formatsOfFolder(
  names: readonly string[],
  name: ExchangeFormat | undefined,
): readonly FolderCandidate[] {
  return ALL_FORMATS.flatMap((format) => {
    const { folder } = format
    const issuesFile = name === undefined || format.name === name ? folder?.issuesFile(names) : undefined
    return folder === undefined || issuesFile === undefined ? [] : [{ format, folder, issuesFile }]
  })
}
