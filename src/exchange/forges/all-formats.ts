import type { ExchangeFormat, FolderFormat, ForgeFormat } from './forge-format.ts'
import { documentFormat, rootOf } from './forge-format.ts'
import { giteaDumpFormat } from './gitea-dump.ts'
import { githubArchiveFormat } from './github-archive.ts'
import { githubBackupFormat } from './github-backup.ts'
import { gitlabFormat } from './gitlab.ts'
import { gitlabRestFormat } from './gitlab-rest.ts'
import { giteaFormat, githubFormat } from './rest.ts'

/** The forms that can be read. The first one that recognizes a source reads it. */
const ALL_FORMATS: readonly ForgeFormat[] = [
  githubBackupFormat,
  githubArchiveFormat,
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
  const isIt = (format: ForgeFormat) => (name === undefined ? format.recognizes(record) : format.name === name)
  return ALL_FORMATS.find(isIt) ?? documentFormat
}

/** Returns the form of a folder with these files. Undefined: no forge wrote it. */
export function formatOfFolder(names: readonly string[], name: ExchangeFormat | undefined): FolderFormat | undefined {
  const formats = ALL_FORMATS.filter((format) => name === undefined || format.name === name)
  const lists = formats.filter(({ commentsFile }) => commentsFile !== undefined)
  const folders = [...formats.flatMap(({ folder }) => folder ?? []), ...(lists.length > 0 ? [listFolder(lists)] : [])]
  return folders.find((folder) => folder.rootIn(names) !== undefined)
}

/** Two lists, of issues and of comments. The first issue determines their form. Comments follow all issues. */
function listFolder(formats: readonly ForgeFormat[]): FolderFormat {
  return {
    rootIn: (files) => rootOf(files, 'issues.json'),
    async *read(folder) {
      const has = ({ commentsFile = '' }: ForgeFormat): boolean => folder.files.includes(commentsFile)
      let [format] = formats
      let lists = format?.open(folder.options, has(format))
      yield* folder.read('issues.json', (first) => {
        if (formats.length > 1) format = formats.find(({ recognizes }) => recognizes(first))
        lists = format?.open(folder.options, has(format))
        return lists?.issues
      })
      yield* folder.read(format?.commentsFile ?? '', () => lists?.comments)
    },
  }
}
