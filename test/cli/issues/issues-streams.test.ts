import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { openStandalone } from '../../../app/standalone/standalone.ts'
import { describeWith } from '../../programs.ts'
import { bareIssue } from '../../schema/documents/sample-issue.ts'
import { newFolder, startCommand } from '../../start-forgelet.ts'

// Real child processes of dist/cli.js: standard streams, a terminal, and signals.

const cli = resolve(import.meta.dirname, '../../../dist/cli.js')
let folder: string

beforeEach(async () => {
  folder = await newFolder()
})

/** A document of this many issues, each about 10 kB. */
const documentOf = (count: number): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, at) => ({ ...bareIssue, number: at + 1, content: 'x'.repeat(10_000) })),
  )

describe('forgelet issues', () => {
  test('converts standard input to standard output, and shows no progress in pipes', async () => {
    const { stdin, ended } = startCommand(['issues', 'convert', '-', '-o', '-'])
    stdin.end(documentOf(500))
    const { code, out, err } = await ended

    expect([code, err]).toEqual([0, 'forgelet: 500 issues written to standard output\n'])
    expect(JSON.parse(out)).toHaveLength(500)
  })

  test('imports standard input, and imports nothing if a record at its end is not valid', async () => {
    const fixture = { users: [{ username: 'acme' }], repositories: [{ owner: 'acme', name: 'rocket' }] }
    await (await openStandalone({ db: join(folder, 'forge.sqlite'), fixture })).close()
    const place = ['--repo=acme/rocket', '--db=forge.sqlite']
    const imported = (document: string) => {
      const { stdin, ended } = startCommand(['issues', 'import', '-', ...place], { folder })
      stdin.end(document)
      return ended
    }
    const broken = await imported(documentOf(300).replace(/"state":"open"(?!.*"state")/, '"state":"opened"'))
    expect([broken.code, broken.out]).toEqual([1, ''])
    expect(broken.err).toMatch(
      /^forgelet: standard input is not valid: 1 violation\n {2}line 1: \/299\/state: [^\n]+\n$/,
    )
    const counts = (issues: string): string =>
      `issues: ${issues}\ncomments: 0 created, 0 updated, 0 unchanged, 0 skipped\n`
    const first = await imported(documentOf(300))
    expect(first).toMatchObject({ code: 0, err: '', out: counts('300 created, 0 updated, 0 unchanged, 0 skipped') })
    const second = await imported(documentOf(300))
    expect(second).toMatchObject({ code: 0, out: counts('0 created, 0 updated, 300 unchanged, 0 skipped') })
    expect(await readdir(folder)).not.toContainEqual(expect.stringContaining('forgelet-import'))
  })

  test('names the temporary folder, and not the source, when it cannot be written', async () => {
    const fixture = { users: [{ username: 'acme' }], repositories: [{ owner: 'acme', name: 'rocket' }] }
    await (await openStandalone({ db: join(folder, 'forge.sqlite'), fixture })).close()
    await writeFile(join(folder, 'issues.json'), documentOf(1))
    execFileSync('tar', ['-cf', 'issues.tar', 'issues.json'], { cwd: folder })
    const missing = join(folder, 'missing')
    for (const words of [
      ['validate', 'issues.tar'],
      ['import', '-', '--repo=acme/rocket', '--db=forge.sqlite'],
    ]) {
      const { stdin, ended } = startCommand(['issues', ...words], { folder, environment: { TMPDIR: missing } })
      stdin.end(documentOf(1))
      expect(await ended).toEqual({
        code: 2,
        out: '',
        err: `forgelet: the temporary folder ${missing} cannot be written: the directory does not exist; create it, or correct the path\n`,
      })
    }
  })

  test('names standard input when it is not valid', async () => {
    const { stdin, ended } = startCommand(['issues', 'validate', '-'])
    stdin.end(`[\n${JSON.stringify({ ...bareIssue, state: 'opened' })}]`)
    const { code, out } = await ended

    expect(code).toBe(1)
    expect(out).toMatch(/^line 2: \/0\/state: [^\n]+\nstandard input is not valid: 1 violation; 1 record\n$/)
  })

  test('ends without an error when the reader of standard output has what it wants', async () => {
    const child = spawn(process.execPath, [cli, 'issues', 'convert', '-', '-o', '-'], { stdio: 'pipe' })
    const err = text(child.stderr)
    child.stdin.on('error', () => undefined) // it is closed before all is written
    child.stdin.write('[')
    let number = 0
    const issue = (): string => `${JSON.stringify({ ...bareIssue, number: ++number })},`
    const more = setInterval(() => child.stdin.write(Array.from({ length: 1000 }, issue).join('')), 5)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [code] = await once(child, 'close')
    clearInterval(more)

    expect([code, await err]).toEqual([0, ''])
  })

  test('stops on a signal with exit code 3, and leaves the target as it was', async () => {
    await writeFile(join(folder, 'out.json'), 'as it was')
    const { stdin, stop } = startCommand(['issues', 'convert', '-', '-o', 'out.json'], { folder })
    stdin.write(documentOf(10).slice(0, -1))
    while ((await readdir(folder)).length < 2) await pause(10) // until it has begun to write
    const { code, err } = await stop('SIGINT')

    expect([code, err]).toEqual([3, 'forgelet: stopped before the end\n'])
    expect(await readdir(folder)).toEqual(['out.json'])
    expect(await readFile(join(folder, 'out.json'), 'utf8')).toBe('as it was')
  })
})

describeWith(['script'], 'on a terminal', () => {
  test.each([
    [
      'shows a bar, the issues, the speed and the time left, and clears them',
      [],
      /checking \[[#.]{20}\] +\d+ % {2}[\d,]+ issues {2}[\d.]+ MB\/s {2}\d+ s left$/,
    ],
    ['shows no progress with --json', ['--json'], undefined],
  ])('forgelet issues %s', async (_, options, line) => {
    await writeFile(join(folder, 'issues.json'), documentOf(6000))
    const command = [process.execPath, cli, 'issues', 'validate', 'issues.json', ...options].join(' ')
    const shown = execFileSync('script', ['-qec', command, '/dev/null'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })

    if (line === undefined) expect(shown).toMatch(/^\{[^\r]+\}\r\n$/)
    else {
      const lines = shown.split('\u001b[K').map((status) => status.replace(/^\r/, ''))
      expect(lines[0]).toMatch(line)
      expect(lines.slice(-2)).toEqual(['', 'issues.json is valid; 6,000 records\r\n'])
    }
  })
})
