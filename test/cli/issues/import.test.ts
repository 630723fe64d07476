import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import { openStandalone } from '../../../app/standalone/standalone.ts'
import type { IssueRecord } from '../../../src/exchange/exchange.ts'
import { textOf } from '../../core/exchange/records.ts'
import { githubIssue, gitlabIssue } from '../../exchange/forges/samples.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'
import { newFolder, runForgelet } from '../../start-forgelet.ts'

// "forgelet issues import" and "export" in this process, on SQLite. import-kills.servers.test.ts kills the program.

let folder: string

beforeEach(async () => {
  folder = await newFolder()
  const fixture = {
    users: [{ username: 'acme' }, { username: 'mia' }],
    repositories: [{ owner: 'acme', name: 'rocket' }],
  }
  await (await openStandalone({ db: join(folder, 'forge.sqlite'), fixture })).close()
})

/** Runs "forgelet issues" on the repository. */
function issues(...args: readonly string[]) {
  return issuesWith({}, ...args)
}

function issuesWith(io: { stop?: AbortSignal; showStatus?(line: string): void }, ...args: readonly string[]) {
  return runForgelet(['issues', ...args, '--repo=acme/rocket', '--db=forge.sqlite'], { folder, ...io })
}

async function put(name: string, content: unknown): Promise<void> {
  await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
}

const many = (count: number): readonly IssueRecord[] =>
  Array.from({ length: count }, (_, at) => ({ ...fullIssue, number: at + 1, title: `Issue ${at + 1}` }))

const exported = async (): Promise<string> => (await issues('export')).out
const NONE = { created: 0, updated: 0, unchanged: 0, skipped: 0 }

describe('forgelet issues import', () => {
  test('imports what export then writes, and nothing the second time', async () => {
    await put('issues.json', many(450))
    const first = await issues('import', 'issues.json', '--json')
    const second = await issues('import', 'issues.json', '--json')

    expect([first.code, first.err]).toEqual([0, ''])
    expect(JSON.parse(first.out)).toMatchObject({ issues: { ...NONE, created: 450 }, comments: NONE, notCarried: [] })
    expect(JSON.parse(second.out)).toMatchObject({ issues: { ...NONE, unchanged: 450 } })
    expect(await exported()).toBe(await textOf(many(450)))
  })

  test('reports the result first, then what is not carried, and who has no account; with --quiet the result', async () => {
    await put('issues.json', [
      { ...githubIssue, comments: 0, pull_request: { url: 'x' } },
      githubIssue,
      { ...githubIssue, number: 8 },
    ])
    const counts = [
      'issues: 2 created, 0 updated, 0 unchanged, 0 skipped',
      'comments: 0 created, 0 updated, 0 unchanged, 0 skipped',
    ]
    const args = ['import', 'issues.json', '--attribution=accounts']
    const { out } = await issues(...args, '--dry-run')
    expect(out.split('\n').slice(0, 3)).toEqual(['nothing was written; an import would report:', ...counts])
    expect(out).toContain('\nnot carried: pull_request (1), first at issues.json /0\n')
    expect(out).toMatch(/\nnot carried: comments \(\d+\), first at issues\.json \/1\/comments\n/)
    expect(out).toMatch(/\nno account here, kept as names: [^\n]+\n$/)
    expect(await issues(...args, '--quiet')).toEqual({ code: 0, out: `${counts.join('\n')}\n`, err: '' })
  })

  test('writes nothing with --dry-run, and reports what the import then does', async () => {
    await put('issues.json', many(3))
    const { conflicts, ...dry } = JSON.parse((await issues('import', 'issues.json', '--json', '--dry-run')).out)

    expect(await exported()).toBe('[\n]\n')
    expect(conflicts).toEqual({ total: 0, first: [] })
    expect(JSON.parse((await issues('import', 'issues.json', '--json')).out)).toEqual(dry)
  })

  test.each([
    ['cannot be imported', { title: 'a\0b' }, '/300/title: expected a string without NUL'],
    ['is not valid', { state: 'opened' }, '/300/state: '],
  ])('writes nothing if a later record %s, and lists it with its line', async (what, wrong, line) => {
    await put('issues.json', [...many(300), { ...bareIssue, number: 301, ...wrong }])
    const { code, err } = await issues('import', 'issues.json')

    expect([code, err.split('\n')]).toEqual([
      1,
      [`forgelet: issues.json ${what}: 1 violation`, expect.stringContaining(`  issues.json:1: ${line}`), ''],
    ])
    expect(await exported()).toBe('[\n]\n')
  })

  test('leaves out what is not valid with --on-invalid skip, and lists it', async () => {
    const wrong = [
      { ...bareIssue, number: 301, title: 'a\0b' },
      { ...bareIssue, number: 302, state: 'opened' },
      { ...bareIssue, number: 1 },
    ]
    await put('issues.json', [...wrong.slice(0, 2), ...many(300), ...wrong.slice(2)])
    const dry = await issues('import', 'issues.json', '--on-invalid=skip', '--dry-run', '--quiet')
    expect(await exported()).toBe('[\n]\n')
    const { code, out, err } = await issues('import', 'issues.json', '--on-invalid', 'skip')

    expect([code, err, out.split('\n')]).toEqual([
      0,
      '',
      [
        'issues: 300 created, 0 updated, 0 unchanged, 0 skipped',
        'comments: 0 created, 0 updated, 0 unchanged, 0 skipped',
        'not valid, and left out: 3 violations',
        'left out: issues.json:1: /0/title: expected a string without NUL, which some databases cannot store',
        expect.stringMatching(/^left out: issues\.json:1: \/1\/state: /),
        expect.stringMatching(/^left out: issues\.json:1: \/302\/number: [^\n]+; 1 occurs twice$/),
        '',
      ],
    ])
    expect(dry.out).toBe(`nothing was written; an import would report:\n${out}`)
    expect(await exported()).toBe(await textOf(many(300)))
    const again = JSON.parse((await issues('import', 'issues.json', '--on-invalid=skip', '--json')).out)
    expect(again).toMatchObject({ issues: { unchanged: 300 }, total: 3, violations: [{ code: 'nul' }, {}, {}] })
  })

  test('does not leave out bytes that cannot be read', async () => {
    await put('issues.json', `${JSON.stringify(many(300)).slice(0, -1)},{@}]`)
    const { code, err } = await issues('import', 'issues.json', '--on-invalid', 'skip')

    expect([code, err]).toEqual([1, expect.stringContaining('  issues.json:1: /300: expected JSON\n')])
    expect(await exported()).toBe('[\n]\n')
  })

  test('writes U+FFFD for NUL with --replace-nul, and says so', async () => {
    const issue = { ...fullIssue, title: 'a\0b\0', content: '\\u0000', labels: [{ name: '\0', color: '' }] }
    await put('issues.json', [{ ...bareIssue, number: 1 }, issue, { ...bareIssue, number: 9, content: '\0' }])
    const { code, out } = await issues('import', 'issues.json', '--replace-nul')

    expect([code, out]).toEqual([0, expect.stringContaining('\nnot carried: nul (3), first at issues.json /1\n')])
    expect(JSON.parse(await exported())).toMatchObject([
      { number: 1 },
      { title: 'a\ufffdb\ufffd', content: '\\u0000', labels: [{ name: '\ufffd' }] },
      { content: '\ufffd' },
    ])
    expect((await issues('import', 'issues.json')).code).toBe(1)
  })

  test('lists in a dry run who is meant by an id, as far as an export of GitLab says it', async () => {
    await mkdir(join(folder, 'export'))
    const note = { note: 'a', author_id: 62, author: { name: 'Mia\nMoreau' }, created_at: bareIssue.created }
    await put('export/issues.ndjson', { ...gitlabIssue, notes: [{ ...note, updated_at: bareIssue.updated }] })
    const line = '\nuser-62 is "Mia\\nMoreau"\n'

    expect((await issues('import', 'export', '--dry-run')).out).toContain(line)
    expect((await issues('import', 'export', '--dry-run', '--quiet')).out).not.toContain('Moreau')
    expect((await issues('import', 'export')).out).not.toContain(line)
  })

  test('imports what a pipe gives, which can be read only once', async () => {
    await promisify(execFile)('mkfifo', [join(folder, 'pipe')])
    const [ended] = await Promise.all([issues('import', 'pipe', '--json'), put('pipe', many(3))])

    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(ended.out)).toMatchObject({ issues: { created: 3 } })
  })

  test('refuses a file that is cut off between the check and the import', async () => {
    await put('issues.json', many(450))
    const text = JSON.stringify(many(450))
    const showStatus = (line: string): void => {
      if (line === '') writeFileSync(join(folder, 'issues.json'), text.slice(0, -10)) // the check is over
    }
    const ended = await issuesWith({ showStatus }, 'import', 'issues.json')

    expect(ended.code).toBe(1)
    expect(ended.err).toContain('issues.json is not valid')
  })

  test('imports issues that are larger than those over HTTP may be', async () => {
    const content = 'x'.repeat(3 * 1024 * 1024)
    const large = many(4).map((issue) => ({ ...issue, content }))
    await put('large.json', large)

    expect(await issues('import', 'large.json', '--quiet')).toMatchObject({ code: 0 })
    expect((await exported()) === (await textOf(large))).toBe(true)
  })

  test('refuses, skips or updates an issue that exists and differs', async () => {
    await put('issues.json', many(2))
    const changed = many(2).map((issue) => (issue.number === 1 ? issue : { ...issue, title: 'Changed' }))
    await put('changed.json', changed)
    await issues('import', 'issues.json')
    const conflict = 'changed.json:1: /1: issue 2 exists and differs in title\n'
    const fix = 'give --on-conflict skip or update, or remove the issue from the source'
    const counts = async (how: string) =>
      JSON.parse((await issues('import', 'changed.json', `--on-conflict=${how}`, '--json')).out).issues

    const err = `forgelet: 1 conflict, nothing was imported: ${fix}\n  ${conflict}`
    expect(await issues('import', 'changed.json')).toEqual({ code: 1, out: '', err })
    const out = expect.stringContaining(`conflict: ${conflict}`)
    expect(await issues('import', 'changed.json', '--dry-run')).toMatchObject({ code: 1, out })
    expect(await counts('skip')).toEqual({ ...NONE, unchanged: 1, skipped: 1 })
    expect(await exported()).toBe(await textOf(many(2)))
    expect(await counts('update')).toEqual({ ...NONE, unchanged: 1, updated: 1 })
    expect(await exported()).toBe(await textOf(changed))
  })

  test('names the people without an account, and finds those whom a file maps', async () => {
    await put('issues.json', [{ ...bareIssue, poster_name: 'mia.o' }])
    await put('users.yaml', 'mia.o: mia\n')
    const args = ['import', 'issues.json', '--attribution=accounts', '--dry-run', '--json']

    expect(JSON.parse((await issues(...args)).out).unknownUsers).toEqual({
      total: 1,
      first: [{ name: 'mia.o', count: 1 }],
    })
    expect(JSON.parse((await issues(...args, '--users', 'users.yaml')).out).unknownUsers.total).toBe(0)
  })

  test('that is stopped says what stays and how to go on', async () => {
    await put('issues.json', many(300))
    const { code, out, err } = await issuesWith({ stop: AbortSignal.abort() }, 'import', 'issues.json')

    expect([code, out]).toEqual([3, ''])
    expect(err).toBe('forgelet: stopped: nothing was imported; run the same command again\n')
    expect(await exported()).toBe('[\n]\n')
  })
})

describe('forgelet issues export', () => {
  test('writes a file whole, and reports the number of issues', async () => {
    await put('issues.json', many(2))
    await issues('import', 'issues.json')

    expect(await issues('export', '-o', 'out.json')).toEqual({
      code: 0,
      out: '',
      err: 'forgelet: 2 issues exported\n',
    })
    expect(await issues('export', '-o', 'out.json', '--json')).toEqual({ code: 0, out: '{"records":2}\n', err: '' })
    expect(await readFile(join(folder, 'out.json'), 'utf8')).toBe(await textOf(many(2)))
    const stopped = await issuesWith({ stop: AbortSignal.abort() }, 'export', '-o', 'stopped.json')
    expect(stopped).toEqual({ code: 3, out: '', err: 'forgelet: stopped before the end\n' })
    expect((await readdir(folder)).filter((name) => /stopped|\.part$/.test(name))).toEqual([])
  })
})

describe('forgelet issues reattribute', () => {
  test('gives accounts to names, says so, and changes nothing the second time', async () => {
    await put('issues.json', [{ ...bareIssue, poster_name: 'mia.o', assignees: ['mia.o', 'zoe'] }])
    await issues('import', 'issues.json')
    await put('users.json', { 'mia.o': 'mia', zoe: 'unknown', eve: 'mia' })
    const before = await exported()

    expect(await issues('reattribute', '--users', 'users.json')).toEqual({
      code: 0,
      out: `now with an account: 1 issues, 1 assignees, 0 comments, 0 reactions
mia.o: 1 issues, 1 assignees, 0 comments, 0 reactions
zoe: no account here
eve: named nowhere
no account here, kept as names: zoe (1)
`,
      err: '',
    })
    const again = await issues('reattribute', '--users', 'users.json')
    expect(again.out.split('\n').slice(0, 2)).toEqual(['nothing was changed', 'mia.o: has an account already'])
    expect(JSON.parse((await issues('reattribute', '--users', 'users.json', '--json')).out)).toEqual({
      people: [
        { name: 'mia.o', named: 2, remains: false, issues: 0, assignees: 0, comments: 0, reactions: 0 },
        { name: 'zoe', named: 1, remains: true, issues: 0, assignees: 0, comments: 0, reactions: 0 },
        { name: 'eve', named: 0, remains: false, issues: 0, assignees: 0, comments: 0, reactions: 0 },
      ],
      remaining: { total: 1, first: [{ name: 'zoe', count: 1 }] },
    })
    expect(await exported()).toBe(before)
  })

  test('refuses a map that is none, and says when it was stopped', async () => {
    await put('users.json', ['mia'])
    expect(await issues('reattribute', '--users', 'users.json')).toMatchObject({ code: 1, out: '' })
    await put('users.json', { mia: 'mia' })
    const stopped = await issuesWith({ stop: AbortSignal.abort() }, 'reattribute', '--users', 'users.json')
    expect([stopped.code, stopped.out]).toEqual([3, ''])
    expect(stopped.err).toContain('run the same command again')
  })
})
