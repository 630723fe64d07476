import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { textOf } from '../../core/exchange/records.ts'
import { giteaDump, githubComment, githubIssue, gitlabIssue, gitlabMembers } from '../../exchange/forges/samples.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'
import { newFolder, runForgelet } from '../../start-forgelet.ts'

// "forgelet issues validate" and "convert" in this process. issues-streams.test.ts runs the program.

let folder: string

beforeEach(async () => {
  folder = await newFolder()
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
    await put('issues.json', [bareIssue, { ...fullIssue, number: 8 }])

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
    expect(JSON.parse(json).violations[99]).toMatchObject({ pointer: '/99/state', line: 1, file: 'issues.json' })
  })

  test('lists what an import refuses, among the other violations', async () => {
    const lines = [
      { ...bareIssue, number: 1, title: 'a\0b' },
      { ...bareIssue, number: 2 },
      { ...bareIssue, number: 3, state: 'opened' },
      { ...bareIssue, number: 2, title: 'again' },
      { ...bareIssue, number: 2 ** 53 },
      { ...bareIssue, number: 5, poster_id: 2 ** 60 },
    ]
    await put('issues.json', lines.map((line) => JSON.stringify(line)).join('\n'))
    const { code, out } = await issues('validate', 'issues.json')

    expect([code, out.split('\n')]).toEqual([
      1,
      [
        'issues.json:1: /0/title: expected a string without NUL, which some databases cannot store',
        expect.stringMatching(/^issues\.json:3: \/2\/state: /),
        'issues.json:4: /3/number: expected a number that no other issue of the document has; 2 occurs twice',
        expect.stringMatching(/^issues\.json:5: \/4\/number: expected an integer from 1 to /),
        expect.stringMatching(/^issues\.json:6: \/5\/poster_id: expected an integer from /),
        'issues.json is not valid: 5 violations; 6 records',
        '',
      ],
    ])
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
    const document = [fullIssue, { ...bareIssue, number: 8 }]
    await put('issues.json', document)

    expect(await issues('convert', 'issues.json', '-o', 'out.json')).toEqual({
      code: 0,
      out: '',
      err: 'forgelet: 2 issues written to out.json\n',
    })
    expect(await read('out.json')).toBe(await textOf(document))
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
    await putAll('dump', { 'issue.yml': '[]\n', 'label.yml': '- name: bug\n  color: d73a4a\n  description: ""\n' })
    const lost = async (source: string) =>
      JSON.parse((await issues('convert', source, '-o', 'out.json', '--json')).out).notCarried

    expect(await lost('list')).toEqual(
      expect.arrayContaining(['comments', 'milestone'].map((what) => ({ what, count: 1, pointer: '' }))),
    )
    expect(await lost('dump')).toEqual([{ what: 'label', count: 1, pointer: '' }]) // no issue has it
  })

  test('writes into a dump the address of the repository where the authors have accounts', async () => {
    const original = ['--original-url', 'https://git.example.com/acme/rocket']
    await put('issues.json', JSON.stringify([githubIssue]))
    const { code } = await issues(
      'convert',
      'issues.json',
      '-o',
      'new',
      '--to',
      'gitea-dump',
      '--repo',
      'acme/rocket',
      ...original,
    )

    expect([code, await read('new/repo.yml')]).toEqual([0, expect.stringContaining(`original_url: "${original[1]}"`)])
  })

  test('refuses a document in which a number occurs twice', async () => {
    await put('issues.json', [bareIssue, { ...bareIssue, number: 8 }, bareIssue])
    const { code, err } = await issues('convert', 'issues.json', '-o', 'out')

    expect([code, err.split('\n')]).toEqual([
      1,
      [
        'forgelet: issues.json is not valid: 1 violation',
        '  issues.json:1: /2/number: expected a number that no other issue of the document has; 7 occurs twice',
        '',
      ],
    ])
    expect(await readdir(folder)).toEqual(['issues.json'])
  })

  test('writes CSV', async () => {
    await put('issues.json', [{ ...fullIssue, title: '=1+1' }])
    const { code } = await issues('convert', 'issues.json', '-o', 'out.csv', '--to', 'csv', '--json')

    expect(code).toBe(0)
    expect(await read('out.csv')).toMatch(/^\ufeffnumber,title,state,[^\n]*\r\n7,'=1\+1,closed,/)
    const toStdout = ['convert', 'issues.json', '-o', '-', '--to']
    expect((await issues(...toStdout, 'csv')).out).toBe(await read('out.csv'))
    const bare = (await read('out.csv')).slice(1)
    expect((await issues(...toStdout, 'csv', '--no-bom')).out).toBe(bare)
    await issues('convert', 'issues.json', '-o', 'bare.csv', '--to', 'csv', '--no-bom')
    expect(await read('bare.csv')).toBe(bare)
    expect((await issues(...toStdout, 'document', '--no-bom')).code).toBe(2)
  })

  test('writes a dump, with the comments that it reports', async () => {
    await putAll('dump', giteaDump)
    const to = ['--to', 'gitea-dump', '--repo', 'acme/rocket']
    const { code, out } = await issues('convert', 'dump', '-o', 'copy', ...to, '--json')

    expect([code, JSON.parse(out)]).toMatchObject([0, { records: 2, comments: 1 }])
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
    expect(JSON.parse((await issues(...args, '--json')).err)).toMatchObject({
      error: { exitCode: 1, violations: [{ pointer: '/1/state' }, { pointer: '/2/title' }] },
    })
  })

  test('writes nothing behind the first violation to standard output, and does not end the list', async () => {
    await put('issues.json', [bareIssue, { ...bareIssue, state: 'opened' }, bareIssue])
    const { code, out } = await issues('convert', 'issues.json', '-o', '-')

    expect(code).toBe(1)
    expect(out).not.toContain(']\n')
  })
})
