import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, need } from '../../schema/arguments.ts'
import { canonicalIssue, canonicalMilestone } from '../../schema/canonical-issue.ts'
import { canonicalDateTime } from '../../schema/date-time.ts'
import { jsonPointer } from '../../schema/documents/check.ts'
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
import type { Path } from '../documents/source-record.ts'
import { encodedPieces, issueLine } from '../documents/write-issues.ts'
import { NO_TIME } from '../forges/gitea-dump.ts'
import { yamlOf } from '../yaml/write-yaml.ts'
import { ifMissing, pathOf, writeBeside, writePieces } from './target.ts'

/** The repository that a dump is of. */
export interface DumpedRepository {
  readonly owner: string
  readonly name: string
  /**
   * The address of the repository in the Gitea that restores the dump, if people have the accounts there that the records name: it
   * gives them what they wrote. Without it, the user who restores the dump is the author in the API of Gitea.
   */
  readonly originalUrl?: string | undefined
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
  // It would fail behind the records, too.
  const found = await readdir(target).catch(ifMissing([]))
  if (found.length > 0)
    throw Object.assign(new Error(`the folder ${target} is not empty`), { code: 'ENOTEMPTY', path: target })

  const { owner, name, originalUrl: original_url = '' } = repository
  const units = { issues: true, labels: true, milestones: true, comments: true, pulls: false, releases: false }
  const others = { clone_addr: '', description: '', original_url, assets: false, is_private: false, wiki: false }
  await writeBeside(target, async (beside) => {
    const file = (named: string, content: object) => writeFile(join(beside, named), yamlOf(content))
    await mkdir(join(beside, 'comments'), { recursive: true })
    const dump = new DumpFolder(beside)
    await dump.write(records)
    await file('label.yml', [...dump.labels.values()])
    await file('milestone.yml', [...dump.milestones.values()])
    await file('repo.yml', { name, owner, ...units, ...others, service_type: 1 })
  })
}

/** The issues and comments of a dump. Labels and milestones are collected, because issues may name some that no record precedes. */
class DumpFolder {
  readonly labels = new Map<string, object>()
  readonly milestones = new Map<string, object>()
  readonly #path: string
  readonly #comments = new Map<number, string>()
  #commentCharacters = 0
  #issues = 0
  readonly #numbers = new NumberSet()

  constructor(path: string) {
    this.#path = path
  }

  async write(records: AnyIterable<ExchangeRecord>): Promise<void> {
    await writePieces(join(this.#path, 'issue.yml'), encodedPieces(this.#issueTexts(records)))
    await this.#writeComments()
  }

  async *#issueTexts(records: AnyIterable<ExchangeRecord>): AsyncGenerator<string, void, void> {
    for await (const record of records) {
      if (record.kind === 'label') addFirst(this.labels, record.label.name, dumpLabel(record.label))
      else if (record.kind === 'milestone') this.#milestone(canonicalMilestone(record.milestone))
      else if (record.kind === 'comment') await this.#comment(record.comment)
      else yield this.#issue(record.issue)
    }
    if (this.#issues === 0) yield '[]\n'
  }

  #issue(issue: IssueRecord): string {
    issueLine(issue, this.#issues) // throws if the issue is not valid
    checkIntegers(issue, [this.#issues])
    if (this.#numbers.has(issue.number)) {
      const message = `expected a number that no other issue has; ${issue.number} occurs twice`
      throw invalidDocument([{ pointer: `/${this.#issues}/number`, code: 'duplicate_number', message }])
    }
    this.#numbers.add(issue.number)
    this.#issues += 1
    for (const label of issue.labels ?? []) addFirst(this.labels, label.name, dumpLabel(label))
    if (issue.milestone) this.#milestone({ title: issue.milestone, state: 'open' })
    return yamlOf([dumpIssue(issue)])
  }

  #milestone(milestone: MilestoneRecord): void {
    addFirst(this.milestones, milestone.title, { ...EMPTY_MILESTONE, ...milestone })
  }

  async #comment(comment: CommentRecord): Promise<void> {
    checkIntegers(comment, [])
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
}

function addFirst(records: Map<string, object>, name: string, record: object): void {
  if (!records.has(name)) records.set(name, record)
}

/** Gitea reads numbers and ids, and a record has no other numbers. @throws ForgeError `INVALID_DOCUMENT` for one that is not exact */
function checkIntegers(value: unknown, path: Path): void {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    const message = 'expected an integer from -9007199254740991 to 9007199254740991'
    throw invalidDocument([{ pointer: jsonPointer(path), code: 'integer', message }])
  }
  if (isObject(value)) for (const [name, inner] of Object.entries(value)) checkIntegers(inner, [...path, name])
}

// Records as a dump has them: with every property, also where it is empty.

function dumpIssue(issue: IssueRecord): object {
  const { number, labels = [], reactions, ...canonical } = canonicalIssue(issue)
  const lists = {
    labels: unlike(labels, ({ name }) => name).map(dumpLabel),
    reactions: dumpReactions(reactions),
    foreignindex: number,
  }
  return { number, poster_email: '', ref: '', milestone: '', closed: null, assignees: [], ...canonical, ...lists }
}

const EMPTY_MILESTONE = { title: '', description: '', deadline: null, created: NO_TIME, updated: null, closed: null }

function dumpLabel({ name, color = '', description = '' }: LabelRecord): object {
  return { name, color, description, exclusive: false }
}

function dumpComment(comment: CommentRecord): object {
  const { issue_number: issue_index, poster_id, poster_name, poster_email = '', content, reactions } = comment
  const of = { issue_index, index: 0, comment_type: '', poster_id, poster_name, poster_email }
  const [created, updated] = [canonicalDateTime(comment.created), canonicalDateTime(comment.updated)]
  return { ...of, created, updated, content, reactions: dumpReactions(reactions) }
}

function dumpReactions(reactions: CommentRecord['reactions'] = []): readonly object[] {
  const all = reactions.map(({ user_id, user_name = '', content }) => ({ user_id, user_name, content }))
  return unlike(all, (reaction) => Object.values(reaction).join())
}

/** Returns the first element with each key. Gitea refuses a dump with a label or a reaction that an issue has twice. */
function unlike<T>(list: readonly T[], keyOf: (element: T) => string): readonly T[] {
  const keys = new Set<string>()
  return list.filter((element) => keys.size < keys.add(keyOf(element)).size)
}
