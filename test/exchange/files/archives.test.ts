import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { UnpackOptions } from '../../../src/exchange/files.ts'
import { openIssueSource } from '../../../src/exchange/files.ts'
import { describeWith } from '../../programs.ts'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import { newFolder, startProgram } from '../../start-forgelet.ts'
import type { Files } from '../forges/samples.ts'
import { FOLDERS, optionsOf } from '../forges/samples.ts'
import type { Outcome } from '../reading.ts'
import { folderOf, readSource } from '../reading.ts'

// Archives that tar and zip made, and bytes of which they would make none.

let folder = ''
/** Where archives are unpacked. */
let temporary = ''

beforeEach(async () => {
  folder = await newFolder()
  temporary = await newFolder()
  vi.stubEnv('TMPDIR', temporary)
})

afterEach(() => {
  vi.unstubAllEnvs()
})

function put(files: Files, below = ''): string {
  const root = join(folder, 'source', below)
  rmSync(root, { recursive: true, force: true })
  mkdirSync(root, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return join(folder, 'source')
}

/** How an archive is made. */
const PROGRAMS: { readonly [kind: string]: readonly string[] } = {
  tar: ['tar', '-cf'],
  'tar.gz': ['tar', '-czf'],
  'tar of pax': ['tar', '--format=pax', '-cf'],
  zip: ['zip', '-qr'],
  'zip with links': ['zip', '-qry'],
  'stored zip': ['zip', '-qr0'],
  'encrypted zip': ['zip', '-qrP', 'secret'],
}

/** Makes an archive of what is in a folder. Its name says nothing of what it is. */
function packed(kind: string, root: string, ...what: readonly string[]): string {
  const [program = '', ...options] = PROGRAMS[kind] ?? []
  const archive = join(folder, 'archive.zip')
  rmSync(archive, { force: true })
  execFileSync(program, [...options, archive, ...(what.length > 0 ? what : ['.'])], { cwd: root })
  renameSync(archive, join(folder, 'archive'))
  return join(folder, 'archive')
}

async function outcomeOf(path: string, forge = ''): Promise<Outcome> {
  const source = await openIssueSource(path)
  try {
    return await readSource(source, optionsOf(forge))
  } finally {
    await source.close()
  }
}

/** What went wrong, if nothing was yielded, and nothing of it stays. */
async function refusalOf(path: string, options: UnpackOptions = {}): Promise<unknown> {
  const refusal = await openIssueSource(path, options).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(readdirSync(temporary)).toEqual([])
  return refusal
}

function refused(message: RegExp | string, code = 'archive') {
  const violation = { pointer: '', code, message: expect.stringMatching(message) }
  return expect.objectContaining({ code: 'INVALID_DOCUMENT', details: { violations: [violation], total: 1 } })
}

const KINDS = ['tar', 'tar.gz', 'zip']
const ALL_KINDS = [...KINDS, 'tar of pax', 'stored zip']
/** An archive of one file is that file. */
const SEVERAL_FILES = Object.entries(FOLDERS).filter(([, files]) => Object.keys(files).length > 1)
const ISSUE = JSON.stringify([fullIssue])

describeWith(['tar', 'zip', 'mkfifo', 'python3'], 'an archive', () => {
  test.each(SEVERAL_FILES.map(([forge, files], at) => ({ kind: KINDS[at % KINDS.length] ?? '', forge, files })))(
    '$kind of a folder $forge is read as the folder',
    async ({ kind, forge, files }) => {
      const folderInIt = `acme-${'backup'.repeat(20)}`
      const root = put(files, folderInIt)
      const expected = await outcomeOf(root, forge)
      const { records, ...rest } = await readSource(folderOf(files), optionsOf(forge))

      expect(await outcomeOf(packed(kind, root), forge)).toEqual(expected)
      expect(await outcomeOf(packed(kind, join(root, folderInIt)), forge)).toMatchObject({ records, ...rest })
      expect(expected.records).toEqual(records)
      expect(readdirSync(temporary)).toEqual([])
    },
  )

  test.each(ALL_KINDS)('%s of one file is that file', async (kind) => {
    const archive = packed(kind, put({ 'ours/acme.json': ISSUE }), 'ours')
    const source = await openIssueSource(archive)

    expect(source.size).toBe(ISSUE.length)
    expect(await readSource(source)).toEqual(await readSource({ json: ISSUE }))
    await source.close()
    await source.close()
    expect(readdirSync(temporary)).toEqual([])
  })

  test.each(KINDS)('%s leaves what is not read empty, and reports it', async (kind) => {
    const archive = packed(kind, put({ ...FOLDERS['gitea-dump'], 'git/objects/pack': 'x'.repeat(5000) }))
    const source = await openIssueSource(archive, { maxUnpackedBytes: 4000 })
    const { notCarried } = await readSource(source)

    expect(notCarried).toContainEqual({ what: 'file', count: 2, pointer: '', file: 'git/objects/pack' })
    await source.close()
  })

  test.each(KINDS)('%s of one file is that file, whatever else is beside it', async (kind) => {
    const beside = { '__MACOSX/._acme.json': '\0', 'acme/.DS_Store': '\0', 'acme/README.md': 'a', LICENSE: 'b' }
    for (const name of ['acme.json', 'issues.json']) {
      const archive = packed(kind, put({ [`acme/${name}`]: ISSUE, ...beside }))
      expect(await outcomeOf(archive)).toEqual(await readSource({ json: ISSUE }))
    }
  })

  test.each(KINDS)('%s of an export of GitLab without issues is a folder', async (kind) => {
    const archive = packed(kind, put({ VERSION: '0.2.4', 'tree/project.json': '{}' }))
    expect(await outcomeOf(archive)).toMatchObject({ records: [], violations: [] })
  })

  test('of what zip had from a pipe is that', async () => {
    put({ 'acme.json': ISSUE })
    execFileSync('bash', ['-c', 'cat source/acme.json | zip -q archive.zip -'], { cwd: folder })
    expect(await outcomeOf(join(folder, 'archive.zip'))).toEqual(await readSource({ json: ISSUE }))
  })

  test.each(['gnu', 'pax'])(
    'of tar in the format %s leaves out names that are too long, unless they matter',
    async (format) => {
      const script = `
import io, tarfile
with tarfile.open('archive', 'w', format=tarfile.${format.toUpperCase()}_FORMAT) as archive:
  for name in ('x' * 300 + '.png', 'y/' * 3000 + 'z.png', 'issues.json'):
    info = tarfile.TarInfo(name)
    info.size = 2
    archive.addfile(info, io.BytesIO(b'[]'))`
      execFileSync('python3', ['-c', script], { cwd: folder })
      expect(await outcomeOf(join(folder, 'archive'))).toMatchObject({ records: [], violations: [] })
    },
  )

  test.each([
    ['zip that was filled up', (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.alloc(1000)]), 'zip', /into a file/],
    ['tar with a time before 1970', (bytes: Uint8Array) => withTimeBefore1970(bytes), 'tar', /pack it as zip/],
  ] as const)('of %s is refused with what to do', async (_what, change, kind, message) => {
    const archive = packed(kind, put({ 'acme.json': ISSUE }), 'acme.json')
    writeFileSync(archive, change(readFileSync(archive)))
    expect(await refusalOf(archive)).toEqual(refused(message))
  })

  test('is an empty one of zip, and a folder that no forge wrote', async () => {
    const archive = join(folder, 'empty')
    writeFileSync(archive, `PK\u0005\u0006${'\0'.repeat(18)}`)
    expect((await outcomeOf(archive)).violations).toMatchObject([{ code: 'folder' }])
  })

  test.each(KINDS)('%s is read no further than it is unpacked, and tells how far', async (kind) => {
    const content = (): string => randomBytes(1500).toString('base64')
    const many = Array.from({ length: 3000 }, (_, number) => ({ ...fullIssue, number, content: content() }))
    const archive = packed(kind, put({ 'issues.json': JSON.stringify(many) }))
    const told: number[] = []
    const { size } = statSync(archive)
    const onUnpack: UnpackOptions['onUnpack'] = ({ bytes, total }) => {
      expect(total).toBe(size)
      told.push(bytes)
    }
    await (await openIssueSource(archive, { onUnpack })).close()

    expect(told.length).toBeGreaterThan(5)
    expect(told.filter((bytes, at) => bytes > (size * at) / told.length + 2_000_000)).toEqual([])
    expect(told).toEqual([...told].sort((one, other) => one - other))
    expect(told.at(-1)).toBeGreaterThan(size / 2)
    expect(told.at(-1)).toBeLessThanOrEqual(size)
  })

  test.each(['tar', 'zip'])('%s is given up when the signal aborts', async (kind) => {
    const archive = packed(kind, put({ 'issues.json': ISSUE.padEnd(1_000_000) }))
    const stop = new AbortController()
    const reason = new Error('enough')
    const onUnpack = (): void => stop.abort(reason)
    expect(await refusalOf(archive, { signal: stop.signal, onUnpack })).toBe(reason)
    expect(await refusalOf(archive, { signal: stop.signal })).toBe(reason)
  })

  test.each(KINDS)('%s is no fault of the archive if onUnpack throws', async (kind) => {
    const archive = packed(kind, put({ 'issues.json': ISSUE, 'labels.json': '[]' }))
    const bug = new TypeError('a bug of the host')
    const onUnpack = (): void => {
      throw bug
    }
    expect(await refusalOf(archive, { onUnpack })).toBe(bug)
  })

  test.each(KINDS)('%s that is too large is refused', async (kind) => {
    const archive = packed(kind, put({ 'issues.json': ISSUE, 'labels.json': ISSUE }))
    const refusal = await refusalOf(archive, { maxUnpackedBytes: 2 * ISSUE.length - 1 })
    expect(refusal).toEqual(refused(/ together: \d+ bytes$/, 'too_large'))
    await (await openIssueSource(archive, { maxUnpackedBytes: 2 * ISSUE.length })).close()
  })

  test.each(ALL_KINDS)('%s that is cut off is refused', async (kind) => {
    const archive = packed(kind, put({ ...FOLDERS.gitlab, 'z/issues.json': ISSUE.repeat(100) }))
    const whole = readFileSync(archive)
    const end = kind.includes('tar') && kind !== 'tar.gz' ? whole.lastIndexOf(']') : whole.length
    for (const length of [end - 1, end - 40, Math.floor(end / 2), 600]) {
      writeFileSync(archive, whole.subarray(0, length))
      expect(await refusalOf(archive)).toEqual(refused('expected an archive that is neither damaged nor cut off'))
    }
  })

  test.each([
    ['tar', 512 + 148],
    ['tar.gz', 3000],
    ['zip', 3000],
  ])('%s that is damaged is refused', async (kind, at) => {
    const texts = Array.from({ length: 500 }, (_, index) => createHash('sha256').update(String(index)).digest('hex'))
    const archive = packed(kind, put({ 'issues.json': JSON.stringify(texts) }))
    const bytes = readFileSync(archive)
    bytes.fill(0xff, at, at + 8)
    writeFileSync(archive, bytes)
    expect(await refusalOf(archive)).toEqual(refused('expected an archive that is neither damaged nor cut off'))
  })

  test('of zip that is encrypted is refused', async () => {
    const archive = packed('encrypted zip', put({ 'issues.json': ISSUE }))
    expect(await refusalOf(archive)).toEqual(refused('issues.json is a file that is encrypted'))
  })

  test('of zip is no fault if yauzl is not installed, for the command neither', async () => {
    const root = join(import.meta.dirname, '../../..')
    for (const name of ['package.json', 'dist']) cpSync(join(root, name), join(folder, name), { recursive: true })
    mkdirSync(join(folder, 'node_modules/@humanwhocodes'), { recursive: true })
    const momoa = 'node_modules/@humanwhocodes/momoa'
    symlinkSync(join(root, momoa), join(folder, momoa))
    const archive = packed('zip', put({ 'issues.json': ISSUE }))
    const { err } = await startProgram([join(folder, 'dist/cli.js'), 'issues', 'validate', archive]).ended

    expect(err).toContain("[ERR_MODULE_NOT_FOUND]: Cannot find package 'yauzl'")
    expect(err).not.toContain('cannot be read')
  })

  test('goes with the process, if nobody closes it', async () => {
    const files = pathToFileURL(join(import.meta.dirname, '../../../dist/exchange/files.js')).href
    const archive = packed('tar', put({ 'issues.json': ISSUE, 'labels.json': '[]' }))
    const script = `
      import { readdirSync } from 'node:fs'
      import { openIssueSource } from '${files}'
      await openIssueSource(${JSON.stringify(archive)})
      console.log(readdirSync(process.env.TMPDIR).length)
      process.exit(3)`
    const { code, out } = await startProgram(['--input-type=module', '-e', script], {
      environment: { TMPDIR: temporary },
    }).ended

    expect([code, out]).toEqual([3, '1\n'])
    expect(readdirSync(temporary)).toEqual([])
  })

  test('rejects with the error of the file system if there is no place for it', async () => {
    vi.stubEnv('TMPDIR', join(folder, 'missing'))
    const archive = packed('tar', put({ 'issues.json': ISSUE }))
    await expect(openIssueSource(archive)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describeWith(['tar', 'zip', 'mkfifo'], 'a name in an archive', () => {
  /** Replaces names of the same length: no program writes these. */
  const renamed = (kind: string, from: string, to: string): string => {
    const archive = packed(kind, put({ [from]: ISSUE }), from)
    const bytes = readFileSync(archive)
    const text = bytes.toString('latin1').replaceAll(from, to)
    writeFileSync(archive, kind === 'tar' ? withChecksum(Buffer.from(text, 'latin1')) : Buffer.from(text, 'latin1'))
    return archive
  }

  test.each([
    '../evil.json',
    'a/../../b.json',
    'a/b/c/..',
    '/etc/x.json',
    'C:\\evil.json',
    'C:evil.json',
    '..\\evil.json',
    'a\\..\\..\\b.json',
    '\\\\evil\\x.json',
  ])('%s is refused, and nothing is written', async (name) => {
    for (const kind of ['tar', 'zip']) {
      const refusal = await refusalOf(renamed(kind, 'x'.repeat(name.length), name))
      expect(refusal).toEqual(refused(/^expected names of files in the archive's folder, and not /))
    }
    expect(readdirSync(dirname(temporary))).not.toContain('evil.json')
  })

  test.each([['issues.json'], ['./issues.json']])('%s is refused if it occurs twice', async (again) => {
    const archive = packed('tar', put({ 'issues.json': ISSUE }), 'issues.json')
    execFileSync('tar', ['-rf', archive, again], { cwd: join(folder, 'source') })
    expect(await refusalOf(archive)).toEqual(
      refused(/^expected each name once in the archive; .*issues\.json occurs twice$/),
    )
  })

  test.each(['a..json', '..a/b.json', 'ab:c.json', 'ä.json'])('%s is none that leads out', async (name) => {
    for (const kind of KINDS) {
      const outcome = await outcomeOf(packed(kind, put({ [name]: ISSUE, 'b.json': ISSUE })))
      expect(outcome.violations).toMatchObject([{ code: 'folder' }])
    }
  })

  test.each([
    ['tar', 'symlink'],
    ['tar.gz', 'symlink'],
    ['zip with links', 'link or a device'],
  ])('of %s that is a link is refused', async (kind, what) => {
    const root = put({ 'issues.json': ISSUE })
    symlinkSync('/etc/hostname', join(root, 'labels.json'))
    expect(await refusalOf(packed(kind, root, 'labels.json', 'issues.json'))).toEqual(
      refused(`expected files and folders; labels.json is a ${what}`),
    )
  })

  test('that is another name of a file, a pipe or a device is refused', async () => {
    const root = put({ 'issues.json': ISSUE })
    linkSync(join(root, 'issues.json'), join(root, 'labels.json'))
    execFileSync('mkfifo', [join(root, 'pipe.json')])
    for (const [parent, name, what] of [
      [root, 'labels.json', 'link'],
      [root, 'pipe.json', 'fifo'],
      ['/dev', 'null', 'character-device'],
    ] as const) {
      const archive = packed('tar', parent, ...(what === 'link' ? ['issues.json', name] : [name]))
      expect(await refusalOf(archive)).toEqual(refused(`expected files and folders; ${name} is a ${what}`))
    }
  })
})

/** Writes a time as GNU tar does: in binary, if it is negative. */
function withTimeBefore1970(tar: Uint8Array): Buffer {
  return withChecksum(Buffer.from(tar).fill(0xff, 136, 148))
}

/** Only what stands in the first header of a tar is checked. */
function withChecksum(tar: Buffer): Buffer {
  tar.fill(' ', 148, 156)
  const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return tar
}
