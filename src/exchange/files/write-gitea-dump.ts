import { appendFile, mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, need } from '../../schema/arguments.ts'
import { invalidDocument } from '../../schema/invalid-document.ts'
import type {
  CommentRecord,
  ExchangeRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
} from '../../schema/issue-record.ts'
import type { AnyIterable } from '../../schema/iteration.ts'
import { isIterable } from '../../schema/iteration.ts'
import { NumberSet } from '../../schema/number-set.ts'
import { issueLine } from '../documents/write-issues.ts'
import { dumpComment, dumpIssue, dumpLabel, dumpMilestone } from '../forges/gitea-dump-records.ts'
import { yamlOf } from '../yaml/write-yaml.ts'
import { isMissing, pathOf, writeBeside } from './target.ts'

/** The repository that a dump is of. */
export interface DumpedRepository {
  readonly owner: string
  readonly name: string
}

const PIECE_CHARACTERS = 64 * 1024

/**
 * Writes a Gitea dump: a new folder, or one that is empty. It is written beside the target and renamed at the end.
 * Source: docs/exchange.md, Files
 *
 * @throws ForgeError `INVALID_DOCUMENT` when an issue is not valid; the error of the file system, such as ENOTEMPTY; what
 * `records` throws
 */
export async function writeGiteaDump(
  folder: string | URL,
  records: Iterable<ExchangeRecord> | AsyncIterable<ExchangeRecord>,
  repository: DumpedRepository,
): Promise<void> {
  need(isIterable(records), 'writeGiteaDump', 'records', 'what readExchange returns')
  const isNamed = isObject(repository) && Boolean(repository.owner) && Boolean(repository.name)
  need(isNamed, 'writeGiteaDump', 'repository', '{ owner, name }')
  const target = pathOf('writeGiteaDump', folder)
  await checkEmpty(target)

  await writeBeside(target, async (beside) => {
    await mkdir(join(beside, 'comments'), { recursive: true })
    await new DumpFolder(beside).write(records, repository)
  })
}

/** Fails before the records are read, not after. */
async function checkEmpty(target: string): Promise<void> {
  try {
    const [found] = await readdir(target)
    if (found === undefined) return
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  throw Object.assign(new Error(`the folder ${target} is not empty`), { code: 'ENOTEMPTY', path: target })
}

/** Gitea reads numbers and ids as integers. @throws ForgeError `INVALID_DOCUMENT` for one that is not exact */
function checkIntegers(record: IssueRecord | CommentRecord, pointer: string): void {
  const numbers: readonly (readonly [path: string, value: number])[] = [
    'number' in record ? ['/number', record.number] : ['/issue_number', record.issue_number],
    ['/poster_id', record.poster_id],
    ...(record.reactions ?? []).map(({ user_id }, at) => [`/reactions/${at}/user_id`, user_id] as const),
  ]
  const faults = numbers.filter(([, value]) => !Number.isSafeInteger(value))
  if (faults.length === 0) return
  throw invalidDocument(
    faults.map(([path]) => ({
      pointer: `${pointer}${path}`,
      code: 'integer',
      message: 'expected an integer from -9007199254740991 to 9007199254740991',
    })),
  )
}

/** The files of a dump. Labels and milestones are collected, because issues may name some that no record precedes. */
class DumpFolder {
  readonly #path: string
  readonly #labels = new Map<string, LabelRecord>()
  readonly #milestones = new Map<string, MilestoneRecord>()
  readonly #comments = new Map<number, string>()
  #commentCharacters = 0
  #issues = 0
  readonly #numbers = new NumberSet()

  constructor(path: string) {
    this.#path = path
  }

  async write(records: AnyIterable<ExchangeRecord>, { owner, name }: DumpedRepository): Promise<void> {
    const issues = await open(join(this.#path, 'issue.yml'), 'wx')
    try {
      await writeFile(issues, this.#issuePieces(records))
    } finally {
      await issues.close()
    }
    await this.#writeComments()
    await this.#writeList('label.yml', [...this.#labels.values()].map(dumpLabel))
    await this.#writeList('milestone.yml', [...this.#milestones.values()].map(dumpMilestone))
    const units = { issues: true, labels: true, milestones: true, comments: true, pulls: false, releases: false }
    const texts = { clone_addr: '', description: '', original_url: '' }
    const flags = { assets: false, is_private: false, wiki: false }
    const repository = yamlOf({ name, owner, ...texts, ...units, ...flags, service_type: 1 })
    await writeFile(join(this.#path, 'repo.yml'), repository, { flag: 'wx' })
  }

  async *#issuePieces(records: AnyIterable<ExchangeRecord>): AsyncGenerator<string, void, void> {
    let text = ''
    for await (const record of records) {
      if (record.kind === 'label') this.#add(this.#labels, record.label.name, record.label)
      else if (record.kind === 'milestone') this.#add(this.#milestones, record.milestone.title, record.milestone)
      else if (record.kind === 'comment') await this.#comment(record.comment)
      else text += this.#issue(record.issue)
      if (text.length < PIECE_CHARACTERS) continue
      yield text
      text = ''
    }
    yield this.#issues === 0 ? '[]\n' : text
  }

  #issue(issue: IssueRecord): string {
    issueLine(issue, this.#issues) // throws if the issue is not valid
    checkIntegers(issue, `/${this.#issues}`)
    if (this.#numbers.has(issue.number)) {
      const message = `expected a number that no other issue has; ${issue.number} occurs twice`
      throw invalidDocument([{ pointer: `/${this.#issues}/number`, code: 'duplicate_number', message }])
    }
    this.#numbers.add(issue.number)
    this.#issues += 1
    for (const label of issue.labels ?? []) this.#add(this.#labels, label.name, label)
    if (issue.milestone) {
      this.#add(this.#milestones, issue.milestone, { title: issue.milestone, state: 'open' })
    }
    return yamlOf([dumpIssue(issue)])
  }

  #add<T>(records: Map<string, T>, name: string, record: T): void {
    if (!records.has(name)) records.set(name, record)
  }

  async #comment(comment: CommentRecord): Promise<void> {
    checkIntegers(comment, '')
    const item = yamlOf([dumpComment(comment)])
    this.#comments.set(comment.issue_number, (this.#comments.get(comment.issue_number) ?? '') + item)
    this.#commentCharacters += item.length
    if (this.#commentCharacters >= PIECE_CHARACTERS) await this.#writeComments()
  }

  async #writeComments(): Promise<void> {
    for (const [number, text] of this.#comments) await appendFile(join(this.#path, 'comments', `${number}.yml`), text)
    this.#comments.clear()
    this.#commentCharacters = 0
  }

  async #writeList(name: string, items: readonly object[]): Promise<void> {
    await writeFile(join(this.#path, name), yamlOf(items), { flag: 'wx' })
  }
}
