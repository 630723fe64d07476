import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CommandIO } from '../../../src/cli/command.ts'
import { runCli } from '../../../src/cli/run-cli.ts'
import type { IssueRecord } from '../../../src/exchange/exchange.ts'
import { writeIssues } from '../../../src/exchange/exchange.ts'
import { openStandalone } from '../../../src/standalone/standalone.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'

// "forgelet issues import" and "export" in this process, on SQLite. import-kills.long.test.ts kills the program.

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-import-test-'))
  const fixture = {
    users: [{ username: 'acme' }, { username: 'mia' }],
    repositories: [{ owner: 'acme', name: 'rocket' }],
  }
  await (await openStandalone({ db: join(folder, 'forge.sqlite'), fixture })).close()
})

afterEach(() => rm(folder, { recursive: true }))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs "forgelet issues" on the repository. A word that begins with `@/` is a path in the folder. */
async function issues(...args: readonly string[]): Promise<Ended> {
  return issuesWith({}, ...args)
}

async function issuesUntil(stop: AbortSignal, ...args: readonly string[]): Promise<Ended> {
  return issuesWith({ stop }, ...args)
}

async function issuesWith(io: Partial<CommandIO>, ...args: readonly string[]): Promise<Ended> {
  const printed = { out: '', err: '' }
  const all = ['issues', ...args, '--repo=acme/rocket', '--db=@/forge.sqlite']
  const code = await runCli(
    all.map((arg) => arg.replace(/^(--db=)?@/, `$1${folder}`)),
    {
      out: (line) => {
        printed.out += `${line}\n`
      },
      err: (line) => {
        printed.err += `${line}\n`
      },
      async write(bytes) {
        printed.out += Buffer.from(bytes).toString()
      },
      showStatus: undefined,
      stop: new AbortController().signal,
      environment: {},
      ...io,
    },
  )
  return { code, out: printed.out.replaceAll(folder, '@'), err: printed.err.replaceAll(folder, '@') }
}

async function put(name: string, content: unknown): Promise<void> {
  await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
}

async function canonical(all: readonly IssueRecord[]): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of writeIssues(all)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const many = (count: number): readonly IssueRecord[] =>
  Array.from({ length: count }, (_, at) => ({ ...fullIssue, number: at + 1, title: `Issue ${at + 1}` }))

const exported = async (): Promise<string> => (await issues('export')).out
const NONE = { created: 0, updated: 0, unchanged: 0, skipped: 0 }

describe('forgelet issues import', () => {
  test.each([[[]], [['--atomic']]])(
    'imports what export then writes, and nothing the second time, with %j',
    async (options) => {
      await put('issues.json', many(450))
      const first = await issues('import', '@/issues.json', '--json', ...options)
      const second = await issues('import', '@/issues.json', '--json', ...options)

      expect([first.code, first.err]).toEqual([0, ''])
      expect(JSON.parse(first.out)).toMatchObject({ issues: { ...NONE, created: 450 }, comments: NONE, notCarried: [] })
      expect(JSON.parse(second.out)).toMatchObject({ issues: { ...NONE, unchanged: 450 } })
      expect(await exported()).toBe(await canonical(many(450)))
    },
  )

  test('reports in lines what it did', async () => {
    await put('issues.json', [bareIssue])

    expect(await issues('import', '@/issues.json')).toEqual({
      code: 0,
      out: 'issues: 1 created, 0 updated, 0 unchanged, 0 skipped\ncomments: 0 created, 0 updated, 0 unchanged, 0 skipped\n',
      err: '',
    })
  })

  test('writes nothing with --dry-run, and reports what the import then does', async () => {
    await put('issues.json', many(3))
    const { conflicts, ...dry } = JSON.parse((await issues('import', '@/issues.json', '--json', '--dry-run')).out)

    expect(await exported()).toBe('[\n]\n')
    expect(conflicts).toEqual({ total: 0, first: [] })
    expect(JSON.parse((await issues('import', '@/issues.json', '--json')).out)).toEqual(dry)
  })

  test.each([[[]], [['--atomic']]])('writes nothing if a later record cannot be imported, with %j', async (options) => {
    await put('issues.json', [...many(300), { ...bareIssue, number: 301, title: 'a\0b' }])
    const { code, err } = await issues('import', '@/issues.json', ...options)

    expect([code, err]).toEqual([
      1,
      'forgelet: @/issues.json cannot be imported: 1 violation\n  @/issues.json:1: /300/title: expected a string without NUL, which some databases cannot store\n',
    ])
    expect(await exported()).toBe('[\n]\n')
  })

  test('lists the violations of a source that is not valid with their lines, and writes nothing', async () => {
    await put('issues.json', [...many(300), { ...bareIssue, state: 'opened' }])
    const { code, err } = await issues('import', '@/issues.json')

    expect(code).toBe(1)
    expect(err).toMatch(
      /^forgelet: @\/issues\.json is not valid: 1 violation\n {2}@\/issues\.json:1: \/300\/state: [^\n]+\n$/,
    )
    expect(await exported()).toBe('[\n]\n')
  })

  test('imports what a pipe gives, which can be read only once', async () => {
    await promisify(execFile)('mkfifo', [join(folder, 'pipe')])
    const [ended] = await Promise.all([issues('import', '@/pipe', '--json'), put('pipe', many(3))])

    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(ended.out)).toMatchObject({ issues: { created: 3 } })
  })

  test('refuses a file that is cut off between the check and the import', async () => {
    await put('issues.json', many(450))
    const text = JSON.stringify(many(450))
    const showStatus = (line: string): void => {
      if (line === '') writeFileSync(join(folder, 'issues.json'), text.slice(0, -10)) // the check is over
    }
    const ended = await issuesWith({ showStatus }, 'import', '@/issues.json')

    expect(ended.code).toBe(1)
    expect(ended.err).toContain('@/issues.json is not valid')
  })

  test('refuses, skips or updates an issue that exists and differs', async () => {
    await put('issues.json', many(2))
    const [first = bareIssue] = many(1)
    const changed = [first, { ...first, number: 2, title: 'Changed' }]
    await put('changed.json', changed)
    await issues('import', '@/issues.json')

    expect(await issues('import', '@/changed.json')).toEqual({
      code: 1,
      out: '',
      err: 'forgelet: 1 conflict, nothing was imported: give --on-conflict skip or update, or remove the issue from the source\n  /1: issue 2 exists and differs in title\n',
    })
    expect((await issues('import', '@/changed.json', '--dry-run')).code).toBe(1)
    expect(JSON.parse((await issues('import', '@/changed.json', '--on-conflict=skip', '--json')).out)).toMatchObject({
      issues: { ...NONE, unchanged: 1, skipped: 1 },
    })
    expect(await exported()).toBe(await canonical(many(2)))
    expect(JSON.parse((await issues('import', '@/changed.json', '--on-conflict=update', '--json')).out)).toMatchObject({
      issues: { ...NONE, unchanged: 1, updated: 1 },
    })
    expect(await exported()).toBe(await canonical(changed))
  })

  test('names the people without an account, and finds those whom a file maps', async () => {
    await put('issues.json', [{ ...bareIssue, poster_name: 'mia.o' }])
    await put('users.yaml', 'mia.o: mia\n')
    const args = ['import', '@/issues.json', '--attribution=accounts', '--dry-run', '--json']

    expect(JSON.parse((await issues(...args)).out).unknownUsers).toEqual({
      total: 1,
      first: [{ name: 'mia.o', count: 1 }],
    })
    expect(JSON.parse((await issues(...args, '--users', `${folder}/users.yaml`)).out).unknownUsers.total).toBe(0)
  })

  test.each([[[]], [['--atomic']]])('that is stopped says what stays and how to go on, with %j', async (options) => {
    await put('issues.json', many(300))
    const { code, out, err } = await issuesUntil(AbortSignal.abort(), 'import', '@/issues.json', ...options)

    expect([code, out]).toEqual([3, ''])
    expect(err).toBe('forgelet: stopped: nothing was imported; run the same command again\n')
    expect(await exported()).toBe('[\n]\n')
  })
})

describe('forgelet issues export', () => {
  test('writes a file whole, and reports the number of issues', async () => {
    await put('issues.json', many(2))
    await issues('import', '@/issues.json')

    expect(await issues('export', '-o', '@/out.json')).toEqual({
      code: 0,
      out: '',
      err: 'forgelet: 2 issues exported\n',
    })
    expect(await issues('export', '-o', '@/out.json', '--json')).toEqual({ code: 0, out: '{"records":2}\n', err: '' })
    expect(await readFile(join(folder, 'out.json'), 'utf8')).toBe(await canonical(many(2)))
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
  })
})

describe('forgelet issues refuses', () => {
  test.each([
    ['no repository', ['import', 'x.json', '--repo='], 2, '--repo needs a value'],
    [
      'a repository that is not there',
      ['import', '@/issues.json', '--repo=acme/none'],
      1,
      'has no repository acme/none',
    ],
    ['a repository that is not there', ['export', '--repo=acme/none'], 1, 'has no repository acme/none'],
    ['a database that is not there', ['export', '--db=@/none.sqlite'], 3, 'the file does not exist'],
    ['a database in memory', ['export', '--db=:memory:'], 2, '--db :memory: has no repositories'],
    ['a URL without a database', ['export', '--db=mysql://u:secret@h'], 2, 'the URL mysql://h names no database'],
    ['a source that is not there', ['import', '@/none.json'], 2, 'cannot be read: the file does not exist'],
    ['another word for a conflict', ['import', 'x', '--on-conflict=merge'], 2, 'give refuse, skip or update'],
    ['another attribution', ['import', 'x', '--attribution=mail'], 2, '--attribution mail: give names or accounts'],
    ['users that are not there', ['import', '@/issues.json', '--users=none.json'], 2, 'users none.json cannot be read'],
    ['a server that is not there', ['export', '--db=postgres://u:secret@127.0.0.1:1/forge'], 3, 'refuses connections'],
  ] as const)('%s: %j', async (_, args, code, line) => {
    await put('issues.json', [bareIssue])
    const [action, ...rest] = args
    // The last of two equal options counts.
    const ended = await (rest.some((arg) => /^--(repo|db)=/.test(arg)) ? plainly(args) : issues(action, ...rest))

    expect([ended.code, ended.out]).toEqual([code, ''])
    expect(ended.err).toContain(line)
    expect(ended.err).not.toContain('secret')
    expect(await readdir(folder)).not.toContain('none.sqlite')
  })

  async function plainly(args: readonly string[]): Promise<Ended> {
    const given = args.some((arg) => arg.startsWith('--db=')) ? ['--repo=acme/rocket'] : ['--db=@/forge.sqlite']
    const lines: string[] = []
    const code = await runCli(
      ['issues', ...args, ...given].map((arg) => arg.replace(/^(--db=)?@/, `$1${folder}`)),
      {
        out: () => undefined,
        err: (line) => void lines.push(line),
        write: async () => undefined,
        showStatus: undefined,
        stop: new AbortController().signal,
        environment: {},
      },
    )
    return { code, out: '', err: lines.join('\n') }
  }
})
