import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import type { IssueRecord } from '../../../src/exchange/exchange.ts'
import { canonicalIssue } from '../../../src/exchange/exchange.ts'
import { openIssueSource, writeIssueFile } from '../../../src/exchange/files.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'
import { newFolder, startProgram } from '../../start-forgelet.ts'
import { readSource } from '../reading.ts'

let folder = ''

beforeEach(async () => {
  folder = await newFolder()
})

async function issuesIn(path: string | URL): Promise<readonly IssueRecord[]> {
  return (await readSource(await openIssueSource(path))).issues
}

describe('openIssueSource', () => {
  test('opens a file by its path or URL, compressed or not, and knows its size', async () => {
    const document = Array.from({ length: 500 }, (_, number) => ({ ...fullIssue, number }))
    const [plain, packed] = [join(folder, 'issues.json'), join(folder, 'issues.json.gz')]
    writeFileSync(plain, JSON.stringify(document))
    writeFileSync(packed, gzipSync(JSON.stringify(document)))

    expect(await issuesIn(plain)).toStrictEqual(document)
    expect(await issuesIn(pathToFileURL(packed))).toStrictEqual(document)
    expect((await openIssueSource(packed)).size).toBe(statSync(packed).size)
  })

  test('opens an empty .ndjson as a list without records, and no other', async () => {
    for (const name of ['a.ndjson', 'a.NDJSON', 'a.ndjson.gz', 'a.json']) writeFileSync(join(folder, name), '')
    writeFileSync(join(folder, 'b.ndjson.gz'), gzipSync('\n'))
    const codesOf = async (name: string) =>
      (await readSource(await openIssueSource(join(folder, name)))).violations.map(({ code }) => code)

    for (const name of ['a.ndjson', 'a.NDJSON', 'a.ndjson.gz', 'b.ndjson.gz']) expect(await codesOf(name)).toEqual([])
    expect(await codesOf('a.json')).toEqual(['truncated'])
  })

  test('opens a folder as its files, and follows no links', async () => {
    mkdirSync(join(folder, 'comments'))
    writeFileSync(join(folder, 'comments/7.json'), 'of 7')
    writeFileSync(join(folder, 'issue.json'), '[]')
    writeFileSync(join(folder, 'photo.png'), 'not read')
    symlinkSync('/etc/hostname', join(folder, 'link'))
    const source = await openIssueSource(folder)

    expect(source.size).toBe('of 7[]'.length)
    expect('folder' in source && (await source.folder.list())).toEqual(['comments/7.json', 'issue.json', 'photo.png'])
  })

  test('rejects with the error of the file system', async () => {
    await expect(openIssueSource(join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' })
    // @ts-expect-error: a caller without types
    await expect(openIssueSource(7)).rejects.toThrow(/^openIssueSource needs a path: /)
  })
})

describe('writeIssueFile', () => {
  test('writes the canonical document, and leaves nothing else', async () => {
    const path = join(folder, 'out.json')
    await writeIssueFile(path, [fullIssue, bareIssue])

    expect(await issuesIn(path)).toStrictEqual([fullIssue, bareIssue].map(canonicalIssue))
    expect(readdirSync(folder)).toEqual(['out.json'])
  })

  test('replaces the file that a link names, and keeps its mode', async () => {
    const [path, link] = [join(folder, 'out.json'), join(folder, 'link.json')]
    writeFileSync(path, 'before')
    chmodSync(path, 0o640)
    symlinkSync(path, link)
    await writeIssueFile(pathToFileURL(link), [bareIssue])

    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(await issuesIn(path)).toHaveLength(1)
    expect(readdirSync(folder).sort()).toEqual(['link.json', 'out.json'])
  })

  test('leaves the target as it was when the issues fail', async () => {
    const path = join(folder, 'out.json')
    writeFileSync(path, 'before')
    const fault = new Error('no more')
    async function* issues(): AsyncGenerator<IssueRecord, void, void> {
      for (let number = 0; number < 1000; number += 1) yield { ...fullIssue, number }
      throw fault
    }

    await expect(writeIssueFile(path, issues())).rejects.toBe(fault)
    expect(readFileSync(path, 'utf8')).toBe('before')
    expect(readdirSync(folder)).toEqual(['out.json'])
  })

  test('writes to a device directly', async () => {
    await writeIssueFile('/dev/null', [bareIssue])

    expect(statSync('/dev/null').isFile()).toBe(false)
  })

  test('a process that is killed while it writes leaves the target as it was', async () => {
    const path = join(folder, 'out.json')
    writeFileSync(path, 'before')
    const script = `
      import { writeIssueFile } from '${pathToFileURL(join(import.meta.dirname, '../../../dist/exchange/files.js')).href}'
      const issue = ${JSON.stringify(fullIssue)}
      async function* issues() { for (let number = 0; ; number += 1) { yield { ...issue, number }; if (number === 1000) console.log('x') } }
      await writeIssueFile(${JSON.stringify(path)}, issues())`
    const program = startProgram(['--input-type=module', '-e', script])
    await program.line()
    await program.stop('SIGKILL')

    expect(readFileSync(path, 'utf8')).toBe('before')
    expect(readdirSync(folder).some((name) => name.endsWith('.part'))).toBe(true)
  })
})
