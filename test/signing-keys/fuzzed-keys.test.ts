import type { KeyPairKeyObjectResult } from 'node:crypto'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { generateKey } from 'openpgp'
import { beforeAll, expect, test } from 'vitest'
import type { SigningKeySource } from '../../src/index.ts'
import * as keys from '../../src/signing-keys/signing-keys.ts'
import type { KeyPacket } from './key-bytes.ts'
import { field, openssh, packet, packetsOf, pem, VERSION_5 } from './key-bytes.ts'

// Key files in which bytes of the private half are where others belong: under other labels, cut, swapped, repeated, in public
// and private files. The quick run makes the same changes each time.

const LONG = process.env['LONG'] === '1'
const run = (files: number) => (LONG ? { numRuns: 100 * files } : { numRuns: files, seed: 1 })
const TIMEOUT = { timeout: 3_600_000 }

/** So many private bytes in a row are a leak. */
const RUN = 12

/** Returns a function that finds what must be hidden in a text. It searches a text once: most are alike. */
function searchFor(hidden: readonly Uint8Array[], open: Uint8Array): (text: string) => boolean {
  const known = new Set(runs(open))
  const secret = new Set(hidden.flatMap(runs).filter((run) => !known.has(run)))
  const searched = new Set<string>()
  return (text) => {
    if (searched.has(text)) return false
    searched.add(text)
    return [Buffer.from(text, 'latin1'), ...spoken(text)].some((bytes) => runs(bytes).some((run) => secret.has(run)))
  }
}

/** Every run of bytes of that length, in hexadecimal. */
function runs(bytes: Uint8Array): readonly string[] {
  const hex = Buffer.from(bytes).toString('hex')
  return Array.from({ length: Math.max(bytes.length - RUN + 1, 0) }, (_, at) => hex.slice(2 * at, 2 * (at + RUN)))
}

/** What a text says in base64 and in hexadecimal, decoded. */
function spoken(text: string): readonly Buffer[] {
  const unbroken = text.replaceAll(/(?<=[\w+/])\n(?=[\w+/])/g, '')
  return [...unbroken.matchAll(/[A-Za-z0-9+/]{16,}/g)].flatMap(([run]) => {
    const shifted = [0, 1, 2, 3].map((shift) => Buffer.from(run.slice(shift), 'base64'))
    return /^[0-9a-f]+$/i.test(run) ? [...shifted, Buffer.from(run, 'hex')] : shifted
  })
}

/** What a key answers: its text, or the error in full. */
async function answer(source: SigningKeySource): Promise<string> {
  try {
    return (await source.publicKey()).text
  } catch (error) {
    return error instanceof Error ? `${error.message}\n${error.stack}\n${String(error.cause)}` : String(error)
  }
}

/** An OpenPGP key: its packets, public and private, and what is private in these. */
interface Halves {
  readonly title: string
  readonly open: readonly KeyPacket[]
  readonly whole: readonly KeyPacket[]
  readonly isLeak: (text: string) => boolean
}

function halvesOf(title: string, secretKey: Uint8Array, publicKey: Uint8Array): Halves {
  const [whole, open] = [secretKey, publicKey].map(packetsOf) as [KeyPacket[], KeyPacket[]]
  const hidden = whole
    .filter(({ tag }) => tag === 5 || tag === 7)
    .map(({ body }) => body.subarray(open.find((other) => body.indexOf(other.body) === 0)?.body.length ?? 0))
  return { title, open, whole, isLeak: searchFor(hidden, publicKey) }
}

let openpgp: readonly Halves[] = []
beforeAll(async () => {
  const userIDs = [{ name: 'Forge', email: 'forge@example.com' }, { name: 'Old' }]
  const made = [false, true].map(async (v6Keys) => {
    const subkeys = [{ sign: true }, {}]
    const { privateKey, publicKey } = await generateKey({ userIDs, subkeys, format: 'binary', config: { v6Keys } })
    return halvesOf(`version ${v6Keys ? 6 : 4}`, privateKey, publicKey)
  })
  const [four, six] = (await Promise.all(made)) as [Halves, Halves]
  openpgp = [{ ...four, title: 'version 5 subkey', open: packetsOf(VERSION_5) }, four, six]
})

const position = fc.nat({ max: 40 })
const RARE = [6, 5, 7, 1, 3, 4, 8, 9, 10, 11, 12, 18, 19, 20, 21, 22, 39, 40, 60, 61, 62, 63]
/** Those of a public key more often than others. */
const TAGS = [...Array.from({ length: 8 }, () => [2, 13, 14, 17]), RARE].flat()
/** A packet of either half, or a piece of it, and where it goes: between others, instead of one, behind or in one. */
const step = fc.record({
  way: fc.constantFrom('between', 'instead', 'behind', 'unhashed', 'swapped', 'left out'),
  isPrivate: fc.constantFrom(true, true, false),
  from: position,
  start: fc.oneof(fc.constant(0), fc.nat({ max: 80 })),
  end: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat({ max: 200 })),
  tag: fc.constantFrom(undefined, ...TAGS),
  at: position,
  subpacket: fc.constantFrom(2, 9, 16, 20, 24, 26, 28, 32, 33, 100),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A signature with one more subpacket that it does not cover. */
function withUnhashed({ tag, body }: KeyPacket, type: number, content: Uint8Array): KeyPacket {
  const width = body[0] === 6 ? 4 : 2
  const at = 4 + width + (body.length > 8 ? body.readUIntBE(4, width) : 0)
  const end = at + width < body.length ? at + width + body.readUIntBE(at, width) : body.length
  if (tag !== 2 || end >= body.length) return { tag, body }
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length + 1)
  const area = Buffer.concat([body.subarray(at + width, end), Buffer.of(255), length, Buffer.of(type), content])
  const size = Buffer.alloc(width)
  size.writeUIntBE(area.length, 0, width)
  return { tag, body: Buffer.concat([body.subarray(0, at), size, area, body.subarray(end)]) }
}

function changed(packets: readonly KeyPacket[], { open, whole }: Halves, each: Step): readonly KeyPacket[] {
  const source = each.isPrivate ? whole : open
  const from = source[each.from % source.length]
  const at = each.at % packets.length
  const old = packets[at]
  if (from === undefined || old === undefined) return packets
  const body = from.body.subarray(each.start, each.end)
  const piece = { tag: each.tag ?? from.tag, body }
  const other = packets[each.from % packets.length] ?? old
  switch (each.way) {
    case 'between':
      return packets.toSpliced(at, 0, piece)
    case 'instead':
      return packets.toSpliced(at, 1, piece)
    case 'behind':
      return packets.with(at, { tag: old.tag, body: Buffer.concat([old.body, body]) })
    case 'unhashed':
      return packets.with(at, withUnhashed(old, each.subpacket, body))
    case 'swapped':
      return packets.with(at, other).with(each.from % packets.length, old)
    case 'left out':
      return packets.length > 1 ? packets.toSpliced(at, 1) : packets
  }
}

const openpgpFile = fc.record({
  key: position,
  isPrivate: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  isNew: fc.boolean(),
  label: fc.constantFrom(undefined, 'PUBLIC', 'PRIVATE'),
})

test(`of OpenPGP packets in any order, no ${RUN} private bytes in a row are served or named`, TIMEOUT, async () => {
  let served = 0
  const property = fc.asyncProperty(openpgpFile, async ({ key, isPrivate, steps, isNew, label }) => {
    const halves = openpgp[key % openpgp.length] as Halves
    const packets = steps.reduce((all, each) => changed(all, halves, each), isPrivate ? halves.whole : halves.open)
    const bytes = Buffer.concat(packets.map((each) => packet(each, isNew)))
    const file = label === undefined ? bytes : pem(`PGP ${label} KEY BLOCK`, bytes).replace('\n', '\n\n')
    const text = await answer(keys.openpgpKey(file))
    if (text.startsWith('-----BEGIN PGP PUBLIC')) served += 1
    if (halves.isLeak(text)) throw new Error(`${halves.title}: ${bytes.toString('base64')}`)
  })
  await fc.assert(property, run(400))

  expect(served).toBeGreaterThan(100) // what is refused whole says nothing of the rest
})

test(`of OpenSSH fields in any order, no ${RUN} private bytes in a row are served or named`, TIMEOUT, async () => {
  const { publicKey } = await keys.generateKey({ format: 'ssh', name: 'Forge', email: 'a@example.com' })
  const blob = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')
  const [type, key] = [blob.subarray(4, 15), blob.subarray(19)]
  const seed = LONG ? randomBytes(32) : createHash('sha256').update('private').digest()
  const secret = [type, key, Buffer.concat([seed, key]), Buffer.from('forge')]
  const isLeak = searchFor([seed], blob)
  const TYPES = 'ssh-ed25519 sk-ssh-ed25519@openssh.com sk-ecdsa-sha2-nistp256@openssh.com ssh-rsa ssh-dss'.split(' ')
  const file = fc.record({
    form: fc.constantFrom('line', 'comment', 'hexadecimal comment', 'private', 'both'),
    name: fc.constantFrom(type, ...TYPES),
    fields: fc.array(fc.constantFrom(0, 1, 2, 2, 2, 3, 4), { maxLength: 3 }),
    at: fc.nat({ max: 4 }),
    tail: fc.constantFrom(0, 0, 0, 16, 32),
  })
  let served = 0
  const property = fc.asyncProperty(file, async ({ form, name, fields, at, tail }) => {
    const more = fields.map((each) => secret[each] ?? Buffer.from('ssh:'))
    // The key itself stays: nothing distinguishes 32 private bytes there from a key.
    const half = [Buffer.from(name), ...[key].toSpliced(at, 0, ...more)].map(field)
    const words = Buffer.concat([...half, seed.subarray(0, tail)])
    const line = `${name} ${(form === 'line' ? words : blob).toString('base64')}`
    const check = Buffer.alloc(8, 7)
    const clear = [field('none'), field('none'), field(''), Buffer.of(0, 0, 0, 1)]
    const inner = Buffer.concat([check, ...[Buffer.from(name), ...secret.slice(1)].map(field), Buffer.of(1, 2, 3)])
    const files: Readonly<Record<typeof form, string>> = {
      line: `${line}\n`,
      comment: `${line} forge ${seed.toString('base64')}\n`,
      'hexadecimal comment': `${line} ${seed.toString('hex')} forge\n`,
      private: openssh(...clear, field(words), field(inner)),
      both: openssh(...clear, field(inner), field(words)),
    }
    const text = await answer(keys.sshKey(files[form]))
    if (/^(?:ssh|sk)-/.test(text)) served += 1
    if (isLeak(text)) throw new Error(files[form])
  })
  await fc.assert(property, run(600))

  expect(served).toBeGreaterThan(20)
})

const under = { cipher: 'aes-256-cbc', passphrase: 'secret words' } as const
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-521' })
const edwards = generateKeyPairSync('ed25519')
const EXPORTED: readonly (readonly [KeyPairKeyObjectResult, text: string | Buffer])[] = [
  [rsa, rsa.privateKey.export({ type: 'pkcs1', format: 'pem' })],
  [rsa, rsa.privateKey.export({ type: 'pkcs8', format: 'pem' })],
  [rsa, rsa.privateKey.export({ type: 'pkcs8', format: 'pem', ...under })],
  [ec, ec.privateKey.export({ type: 'sec1', format: 'pem' })],
  [edwards, edwards.privateKey.export({ type: 'pkcs8', format: 'pem' })],
]
const PEM_FILES = EXPORTED.map(([{ publicKey }, exported]) => {
  const text = String(exported)
  const bytes = Buffer.from(text.replaceAll(/-----.*-----/g, ''), 'base64')
  return { text, bytes, isLeak: searchFor([bytes], publicKey.export({ type: 'spki', format: 'der' })) }
})

test(
  `of PEM that is damaged or has another label, no ${RUN} private bytes in a row are served or named`,
  TIMEOUT,
  async () => {
    const change = fc.record({
      file: fc.constantFrom(...PEM_FILES),
      label: fc.constantFrom('PRIVATE', 'PUBLIC', 'RSA PUBLIC', 'DSA PRIVATE', undefined),
      at: fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 1200 })),
      gone: fc.constantFrom(0, 0, 1, 1, 4, 100),
      put: fc.uint8Array({ maxLength: 4 }),
    })
    let served = 0
    const property = fc.asyncProperty(change, async ({ file: { text, bytes, isLeak }, label, at, gone, put }) => {
      const start = at % bytes.length
      const damaged = Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + gone)])
      const kind = /BEGIN (.*)-----/.exec(text)?.[1] ?? ''
      const file = pem(label === undefined ? kind : kind.replace(/(RSA |EC )?PRIVATE/, label), damaged)
      const said = await answer(keys.sshKey(file))
      if (/^(?:ssh|ecdsa)-/.test(said)) served += 1
      if (isLeak(said)) throw new Error(file)
    })
    await fc.assert(property, run(200))

    for (const { text, isLeak } of PEM_FILES) expect(isLeak(text)).toBe(true)
    expect(served).toBeGreaterThan(5)
  },
)
