import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { readExchange } from '../../../src/exchange/exchange.ts'
import { openIssueSource } from '../../../src/exchange/files.ts'
import { giteaDump, githubComment, githubIssue, gitlabIssue, gitlabMembers } from '../../exchange/forges/samples.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'
import { textOf } from '../../standalone/open-host.ts'
import { runForgelet } from '../../start-forgelet.ts'

// "forgelet issues validate" and "convert" in this process. issues-streams.test.ts runs the program.

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-issues-'))
  return () => rm(folder, { recursive: true })
})

const issues = (...args: readonly string[]) => runForgelet(['issues', ...args], { folder })

async function put(name: string, content: unknown): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
}

async function putAll(name: string, files: { readonly [name: string]: string }): Promise<void> {
  for (const [file, text] of Object.entries(files)) await put(join(name, file), text)
}

const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')

describe('forgelet issues validate', () => {
  test('says that a document is valid', async () => {
    await put('issues.json', [bareIssue, fullIssue])

    expect(await issues('validate', 'issues.json')).toEqual({
      code: 0,
      out: 'issues.json is valid; 2 records\n',
      err: '',
    })
    expect(await issues('validate', 'issues.json', '--json')).toEqual({
      code: 0,
      out: '{"valid":true,"records":2,"violations":[],"total":0,"notCarried":[]}\n',
      err: '',
    })
  })

  test('lists each violation with its file, line and pointer, and what was expected', async () => {
    const lines = [bareIssue, { ...bareIssue, state: 'opened' }, { ...bareIssue, title: 7, created: 'now' }]
    await put('issues.json', lines.map((line) => JSON.stringify(line)).join('\n'))
    const { code, out, err } = await issues('validate', 'issues.json')

    expect([code, err]).toEqual([1, ''])
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^issues\.json:2: \/1\/state: expected .+$/),
      expect.stringMatching(/^issues\.json:3: \/2\/title: expected .+$/),
      expect.stringMatching(/^issues\.json:3: \/2\/created: expected .+$/),
      'issues.json is not valid: 3 violations; 3 records',
      '',
    ])
  })

  test('lists the first 100 violations and their number', async () => {
    await put('issues.json', Array(250).fill({ ...bareIssue, state: 'opened' }))
    const { code, out } = await issues('validate', 'issues.json')
    const { out: json } = await issues('validate', 'issues.json', '--json')

    expect([code, out.split('\n').length]).toEqual([1, 102])
    expect(out).toContain('issues.json is not valid: 250 violations, of which the first 100 are listed; 250 records\n')
    expect(JSON.parse(json)).toMatchObject({ valid: false, records: 250, total: 250 })
    expect(JSON.parse(json).violations).toHaveLength(100)
    expect(JSON.parse(json).violations[99]).toEqual({
      pointer: '/99/state',
      code: 'choice',
      message: expect.any(String),
      offset: expect.any(Number),
      line: 1,
      file: 'issues.json',
    })
  })

  test('lists what precedes bytes that cannot be read', async () => {
    await put('issues.json', `[${JSON.stringify({ ...bareIssue, number: 'seven' })},\n${JSON.stringify(bareIssue)}`)
    const { code, out } = await issues('validate', 'issues.json')

    expect(code).toBe(1)
    expect(out).toMatch(/^issues\.json:1: \/0\/number: [^\n]+\nissues\.json:2: [^\n]+\n[^\n]+: 2 violations;/)
  })

  test('names the file in a folder', async () => {
    await putAll('dump', { ...giteaDump, 'comments/7.yml': '- issue_index: 7\n  poster_id: x\n' })
    const { code, out } = await issues('validate', 'dump')

    expect(code).toBe(1)
    expect(out).toMatch(/^dump\/comments\/7\.yml:\d+: \/0\/\w+: [^\n]+\n/)
  })

  test('lists what is not carried, with the number and the first place', async () => {
    await put('issues.json', [{ ...githubIssue, pull_request: { url: 'x' } }, githubIssue])
    const { code, out } = await issues('validate', 'issues.json')

    expect(code).toBe(0)
    expect(out).toMatch(/^issues\.json is valid; 2 records\n/)
    expect(out).toContain('\nnot carried: pull_request (1), first at issues.json /0\n')
    expect((await issues('validate', 'issues.json', '--quiet')).out).toBe('issues.json is valid; 2 records\n')
  })

  test('reads a source as the form that --from names', async () => {
    await put('issues.json', [{ ...bareIssue, foreignindex: 7 }])

    expect((await issues('validate', 'issues.json')).code).toBe(0)
    expect(await issues('validate', 'issues.json', '--from', 'document')).toMatchObject({
      code: 1,
      out: expect.stringContaining('/0/foreignindex: '),
    })
  })
})

describe('forgelet issues convert', () => {
  test('writes the canonical document', async () => {
    await put('issues.json', [fullIssue, bareIssue])

    expect(await issues('convert', 'issues.json', '-o', 'out.json')).toEqual({
      code: 0,
      out: '',
      err: 'forgelet: 2 issues written to out.json\n',
    })
    expect(await read('out.json')).toBe(await textOf([fullIssue, bareIssue]))
    expect(await issues('convert', 'issues.json', '-o', 'out.json', '--json')).toEqual({
      code: 0,
      out: '{"records":2,"comments":0,"notCarried":[]}\n',
      err: '',
    })
  })

  test('writes to standard output, and its report to stderr', async () => {
    await put('issues.json', [bareIssue])
    const document = await textOf([bareIssue])

    expect(await issues('convert', 'issues.json', '--out', '-')).toEqual({
      code: 0,
      out: document,
      err: 'forgelet: 1 issue written to standard output\n',
    })
    expect(await issues('convert', 'issues.json', '-o-', '--json')).toEqual({
      code: 0,
      out: document,
      err: '{"records":1,"comments":0,"notCarried":[]}\n',
    })
  })

  test('names the comments, milestones and labels that a document has no place for', async () => {
    await putAll('list', {
      'issues.json': JSON.stringify([githubIssue]),
      'comments.json': JSON.stringify([githubComment]),
    })
    const { code, out } = await issues('convert', 'list', '-o', 'out.json', '--json')

    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ records: 1, comments: 0 })
    expect(JSON.parse(out).notCarried).toEqual(
      expect.arrayContaining([
        { what: 'comments', count: 1, pointer: '' },
        { what: 'milestone', count: 1, pointer: '' },
      ]),
    )
  })

  test('names the labels that no issue has', async () => {
    await putAll('dump', { 'issue.yml': '[]\n', 'label.yml': '- name: bug\n  color: d73a4a\n  description: ""\n' })
    const { out } = await issues('convert', 'dump', '-o', 'out.json', '--json')

    expect(JSON.parse(out).notCarried).toEqual([{ what: 'label', count: 1, pointer: '' }])
  })

  test('writes CSV', async () => {
    await put('issues.json', [{ ...fullIssue, title: '=1+1' }])
    const { code } = await issues('convert', 'issues.json', '-o', 'out.csv', '--to', 'csv', '--json')

    expect(code).toBe(0)
    expect(await read('out.csv')).toMatch(/^number,title,state,[^\n]*\r\n7,'=1\+1,closed,/)
    expect((await issues('convert', 'issues.json', '-o', '-', '--to', 'csv')).out).toBe(await read('out.csv'))
  })

  test('writes a dump, which reads as its source did', async () => {
    await putAll('dump', giteaDump)
    const converted = await issues(
      ...['convert', 'dump', '-o', 'copy', '--to', 'gitea-dump', '--repo', 'acme/rocket', '--json'],
    )
    const { records, comments } = JSON.parse(converted.out)
    const all = async (name: string) => {
      const found = []
      for await (const record of readExchange(await openIssueSource(join(folder, name)))) found.push(record)
      return found
    }

    expect(converted.code).toBe(0)
    expect([records, comments]).toEqual([
      (await all('dump')).filter(({ kind }) => kind === 'issue').length,
      (await all('dump')).filter(({ kind }) => kind === 'comment').length,
    ])
    expect(comments).toBeGreaterThan(0)
    expect(await all('copy')).toEqual(await all('dump'))
    expect(await read('copy/repo.yml')).toMatch(/name: "rocket"\nowner: "acme"\n/)
  })

  test('leaves confidential issues out, or keeps them', async () => {
    await putAll('export/tree/project', {
      'issues.ndjson': JSON.stringify({ ...gitlabIssue, confidential: true }),
      'project_members.ndjson': gitlabMembers.map((member) => JSON.stringify(member)).join('\n'),
    })
    const kept = async (...options: readonly string[]) =>
      JSON.parse((await issues('convert', 'export', '-o', 'out.json', '--json', ...options)).out).records

    expect(await kept()).toBe(0)
    expect(await kept('--confidential', 'keep')).toBe(1)
  })

  test.each([
    ['document', []],
    ['dump', ['--to', 'gitea-dump', '--repo', 'acme/rocket']],
  ])('leaves the target as it was if the source is not valid: %s', async (name, options) => {
    await put('issues.json', [bareIssue, { ...bareIssue, state: 'opened' }, { ...bareIssue, title: 7 }])
    if (name === 'document') await put('document', 'as it was')
    const before = await readdir(folder)
    const args = ['convert', 'issues.json', '-o', `${name}`, ...options]
    const { code, out, err } = await issues(...args)

    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(
      /^forgelet: issues\.json is not valid: 2 violations\n {2}issues\.json:1: \/1\/state: [^\n]+\n {2}issues\.json:1: \/2\/title: [^\n]+\n$/,
    )
    expect(await readdir(folder)).toEqual(before)
    if (name === 'document') expect(await read(name)).toBe('as it was')
    expect(JSON.parse((await issues(...args, '--json')).err)).toEqual({
      error: {
        message: expect.stringContaining('is not valid: 2 violations'),
        exitCode: 1,
        violations: [
          expect.objectContaining({ pointer: '/1/state', line: 1 }),
          expect.objectContaining({ pointer: '/2/title', line: 1 }),
        ],
      },
    })
  })

  test('writes nothing behind the first violation to standard output, and does not end the list', async () => {
    await put('issues.json', [bareIssue, { ...bareIssue, state: 'opened' }, bareIssue])
    const { code, out } = await issues('convert', 'issues.json', '-o', '-')

    expect(code).toBe(1)
    expect(out).not.toContain(']\n')
  })
})

test('a folder that no forge wrote is a source that is not valid', async () => {
  await put('empty/notes.txt', '')

  expect(await issues('validate', 'empty')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^empty: the document: expected a folder that a forge wrote\n/),
  })
})
