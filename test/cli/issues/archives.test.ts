import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { openStandalone } from '../../../app/standalone/standalone.ts'
import type { IssueRecord } from '../../../src/exchange/exchange.ts'
import { describeWith } from '../../programs.ts'
import { bareIssue } from '../../schema/documents/sample-issue.ts'
import { newFolder, runForgelet, startCommand } from '../../start-forgelet.ts'

// "forgelet issues" with archives that tar and zip made. test/exchange/files/archives.test.ts has the hostile ones.

const SAMPLES = resolve(import.meta.dirname, '../../exchange/forges/samples')

let folder = ''
/** Where archives are unpacked. */
let temporary = ''

beforeEach(async () => {
  folder = await newFolder()
  temporary = await newFolder()
})

const PACKED: { readonly [name: string]: readonly string[] } = {
  'source.tar': ['tar', '-cf', 'source.tar', 'source'],
  'source.tgz': ['tar', '-czf', 'source.tgz', 'source'],
  'source.zip': ['zip', '-qr', 'source.zip', 'source'],
}
const SOURCES = ['source', ...Object.keys(PACKED)]

function pack(): void {
  for (const [program = '', ...args] of Object.values(PACKED)) execFileSync(program, args, { cwd: folder })
}

async function issues(...args: readonly string[]) {
  process.env['TMPDIR'] = temporary
  try {
    return await runForgelet(['issues', ...args], { folder })
  } finally {
    delete process.env['TMPDIR']
    expect(readdirSync(temporary)).toEqual([])
  }
}

/** The folder or the archive, and the folder in it. */
const PLACE = /"file":"source[.\w]*\/(?:source\/)?/g

const numbersIn = (document: string): readonly number[] =>
  JSON.parse(document).map(({ number }: IssueRecord): number => number)

describeWith(['tar', 'zip'], 'forgelet issues on archives', () => {
  test('are checked, converted and imported as the folder is', async () => {
    const fixture = { users: [{ username: 'acme' }], repositories: SOURCES.map((name) => ({ owner: 'acme', name })) }
    await (await openStandalone({ db: join(folder, 'forge.sqlite'), fixture })).close()
    await cp(join(SAMPLES, 'github-archive'), join(folder, 'source'), { recursive: true })
    pack()
    const results: string[][] = []
    for (const source of SOURCES) {
      const options = ['--source-repo', 'Acme/Rocket']
      const checked = await issues('validate', source, ...options, '--json')
      const converted = await issues('convert', source, ...options, '-o', '-')
      const to = ['--repo', `acme/${source}`, '--db', 'forge.sqlite']
      const imported = await issues('import', source, ...options, ...to, '--json')
      const exported = await issues('export', ...to)
      expect([checked, imported].map(({ code, err }) => [code, err])).toEqual([
        [0, ''],
        [0, ''],
      ])
      expect(numbersIn(exported.out)).toEqual([1, 3])
      expect(exported.out).toBe(converted.out)
      results.push([checked.out, imported.out].map((out) => out.replaceAll(PLACE, '"file":"')))
    }
    expect(results.map(String)).toEqual(SOURCES.map(() => String(results[0])))
    expect(JSON.parse(results[0]?.[0] ?? '')).toMatchObject({ valid: true, records: 20, total: 0 })
    expect(JSON.parse(results[0]?.[1] ?? '').comments).toMatchObject({ created: 2 })
  })

  test('refuses an archive with one error, and writes nothing', async () => {
    await cp(join(SAMPLES, 'github-backup'), join(folder, 'source'), { recursive: true })
    pack()
    const before = readdirSync(folder)
    const zip = readFileSync(join(folder, 'source.zip'))
    writeFileSync(join(folder, 'source.zip'), zip.subarray(0, -30))
    symlinkSync('/etc/hostname', join(folder, 'source/issues/3.json'))
    execFileSync('tar', ['-cf', 'source.tar', 'source'], { cwd: folder })
    const of = 'the document: expected'
    for (const [source, message, ...options] of [
      [
        'source.zip',
        `${of} an archive that is neither damaged nor cut off: End of central directory record signature not found. Either not a zip file, or file is truncated.`,
      ],
      ['source.tar', `${of} files and folders; source/issues/3.json is a symlink`],
      [
        'source.tgz',
        `${of} files in the archive that have at most maxUnpackedBytes (--max-unpacked-bytes) together: 99 bytes`,
        '--max-unpacked-bytes=99',
      ],
    ] as const) {
      const ended = await issues('convert', source, ...options, '-o', 'out.json')
      const err = `forgelet: ${source} is not valid: 1 violation\n  ${source}: ${message}\n`
      expect(ended).toEqual({ code: 1, out: '', err })
      const { error } = JSON.parse((await issues('validate', source, ...options, '--json')).err)
      expect(error).toMatchObject({ exitCode: 1, violations: [{ file: source, pointer: '' }] })
    }
    expect(readdirSync(folder)).toEqual(before)
  })

  test('reads an archive on standard input, within the same limit', async () => {
    await cp(join(SAMPLES, 'github-backup'), join(folder, 'source'), { recursive: true })
    pack()
    const onInput = async (source: string, ...args: readonly string[]) => {
      const { stdin, ended } = startCommand(['issues', ...args], { environment: { TMPDIR: temporary } })
      stdin.on('error', () => undefined) // it is closed before all is written
      const bytes = readFileSync(join(folder, source))
      // A program may write the first bytes alone.
      stdin.write(bytes.subarray(0, 10))
      await pause(100)
      stdin.end(bytes.subarray(10))
      return ended
    }
    const { out: document } = await issues('convert', 'source', '-o', '-')
    for (const source of Object.keys(PACKED)) {
      expect(await onInput(source, 'convert', '-', '-o', '-')).toMatchObject({ code: 0, out: document })
    }
    const checked = await onInput('source.zip', 'validate', '-')
    expect([checked.code, checked.out.split('\n')[0]]).toEqual([0, 'standard input is valid; 5 records'])
    const refused = await onInput('source.zip', 'convert', '-', '-o', '-', '--max-unpacked-bytes', '99')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('the document: expected files in the archive that have at most maxUnpackedBytes')
    expect(readdirSync(temporary)).toEqual([])
  })

  test('removes what it has unpacked when a signal stops it', async () => {
    const content = 'x'.repeat(100_000)
    const document = Array.from({ length: 300 }, (_, number) => ({ ...bareIssue, number, content }))
    writeFileSync(join(folder, 'source.json'), JSON.stringify(document))
    execFileSync('tar', ['-cf', 'source.tar', 'source.json'], { cwd: folder })
    const environment = { TMPDIR: temporary }
    const { stop } = startCommand(['issues', 'validate', 'source.tar'], { folder, environment })
    while (readdirSync(temporary, { recursive: true }).length < 2) await pause(1) // the folder, and a file in it

    expect(await stop('SIGTERM')).toMatchObject({ code: 3, err: 'forgelet: stopped before the end\n' })
    expect(readdirSync(temporary)).toEqual([])
  })
})
