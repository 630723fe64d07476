import { randomInt } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fetchHandler } from '../../src/http-adapters/fetch.ts'
import type { SigningKeySource } from '../../src/index.ts'
import { openpgpKey, sshKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { openWorld } from '../world.ts'
import { GpgHome } from './gpg-home.ts'
import type { PrivateForm } from './private-forms.ts'
import { gpgForms, openpgpjsForms, opensshForms, pemForms } from './private-forms.ts'
import { SshFolder } from './ssh-folder.ts'

/** So many private bytes in a row are a leak. */
const RUN = 12
/** Changes to each form; there are 42 forms. */
const CHANGES = process.env['LONG'] === '1' ? 6000 : 120

type Change = (bytes: Buffer) => Uint8Array

function random(below: number): number {
  return randomInt(Math.max(below, 1))
}

const CHANGES_OF_BYTES: Readonly<Record<string, Change>> = {
  'a bit': (bytes) => flipped(bytes, random(8 * bytes.length)),
  'two bits': (bytes) => flipped(flipped(bytes, random(8 * bytes.length)), random(8 * bytes.length)),
  'a bit near the beginning': (bytes) => flipped(bytes, random(8 * Math.min(bytes.length, 64))),
  'a byte': (bytes) => replaced(bytes, random(bytes.length), Buffer.of(random(256))),
  'a length': (bytes) => {
    const at = random(bytes.length - 1)
    const changed = Buffer.from(bytes)
    changed.writeUInt16BE((bytes.readUInt16BE(at) + random(600)) & 0xffff, at)
    return changed
  },
  'two lengths by the same amount': (bytes) => {
    const [one, two, amount] = [random(bytes.length), random(bytes.length), random(255) + 1]
    const once = replaced(bytes, one, Buffer.of((bytes[one] ?? 0) + amount))
    return replaced(once, two, Buffer.of((once[two] ?? 0) + amount))
  },
  'a piece taken out': (bytes) => {
    const at = random(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(40))])
  },
  'a piece put in twice': (bytes) => {
    const at = random(bytes.length)
    return Buffer.concat([bytes.subarray(0, at + 1 + random(40)), bytes.subarray(at)])
  },
  'the end cut off': (bytes) => bytes.subarray(0, random(bytes.length)),
  'the beginning cut off': (bytes) => bytes.subarray(random(bytes.length)),
}

/** Moves bytes of one part over another. Nothing distinguishes a public half from its copy where it is not bound to anything. */
const COPY: Change = (bytes) => {
  const [from, to] = [random(bytes.length), random(bytes.length)]
  return replaced(bytes, to, bytes.subarray(from, from + RUN + random(40)).subarray(0, bytes.length - to))
}

const CHANGES_OF_TEXT: Readonly<Record<string, (text: string) => string>> = {
  'a letter': (text) => {
    const at = random(text.length)
    return text.slice(0, at) + String.fromCharCode(32 + random(95)) + text.slice(at + 1)
  },
  'a line taken out': (text) =>
    text
      .split('\n')
      .toSpliced(random(text.split('\n').length), 1)
      .join('\n'),
  'a line put elsewhere': (text) => {
    const lines = text.split('\n')
    const [line = ''] = lines.splice(random(lines.length), 1)
    return lines.toSpliced(random(lines.length), 0, line).join('\n')
  },
  'two lines joined': (text) => {
    const lines = text.split('\n')
    const at = random(lines.length - 1)
    return lines.toSpliced(at, 2, `${lines[at]} ${lines[at + 1]}`).join('\n')
  },
  'the label of a public key': (text) => text.replaceAll('PRIVATE', 'PUBLIC'),
  'the label of a DSA key': (text) => text.replaceAll(/(?:RSA |EC |OPENSSH )?PRIVATE/g, 'DSA PRIVATE'),
  'the label of an RSA public key': (text) => text.replaceAll(/(?:RSA |EC |OPENSSH )?PRIVATE/g, 'RSA PUBLIC'),
  'one line': (text) => text.replaceAll('\n', ' '),
}

function flipped(bytes: Buffer, bit: number): Buffer {
  return replaced(bytes, bit >> 3, Buffer.of((bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))))
}

function replaced(bytes: Buffer, at: number, piece: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + piece.length)])
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

/** Finds what a form must hide. */
class Secret {
  readonly #private: ReadonlySet<string>
  readonly #searched = new Set<string>()

  constructor(form: PrivateForm) {
    const open = new Set(runs(form.open))
    this.#private = new Set(runs(form.bytes).filter((run) => !open.has(run)))
  }

  /** A part of it. */
  get sample(): Buffer {
    const [run = ''] = [...this.#private].slice(-RUN)
    return Buffer.from(run, 'hex')
  }

  /** Whether a text shows a part of it. A text is searched once: most are alike. */
  isIn(text: string): boolean {
    if (this.#searched.has(text)) return false

    this.#searched.add(text)
    const said = [Buffer.from(text, 'latin1'), ...spoken(text)]
    return said.some((bytes) => runs(bytes).some((run) => this.#private.has(run)))
  }
}

async function outcome(source: SigningKeySource): Promise<string> {
  try {
    return (await source.publicKey()).text
  } catch (error) {
    return described(error)
  }
}

/** What a client and the log get of a key: every header, the body, every line with its error. */
async function answer(source: SigningKeySource): Promise<string> {
  const { api, logged } = openWorld({ signingKey: source })
  const path = source.format === 'ssh' ? '/signing-key.pub' : '/signing-key.gpg'
  const handler = fetchHandler(api, { basePath: '/api/v1', authenticate: () => null })
  const response = await handler(new Request(`http://localhost/api/v1${path}`))
  expect([200, 500]).toContain(response.status)
  const headers = [...response.headers].flat().join(' ')
  return `${headers}\n${await response.text()}\n${inspect(logged, { depth: 20, showHidden: true })}`
}

/** The error without its stack, which names files only and takes long to write. */
function described(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error)
  return [error.name, error.message, JSON.stringify(error), error.cause && described(error.cause)].join('\n')
}

function sourceOf(form: PrivateForm, key: string | Uint8Array): SigningKeySource {
  return form.format === 'ssh' ? sshKey(key.toString()) : openpgpKey(key)
}

/** A damaged file of a form: what was done, and the file. */
function damaged(form: PrivateForm): readonly [change: string, key: string | Uint8Array] {
  const ofBytes = Object.entries({ ...CHANGES_OF_BYTES, ...(form.isUnbound ? {} : { 'a copied piece': COPY }) })
  const text = form.write(form.bytes)
  const ofText = typeof text === 'string' ? Object.entries(CHANGES_OF_TEXT) : []
  const [title, change] = ofBytes[random(ofBytes.length + ofText.length / 2)] ?? []
  if (title !== undefined && change !== undefined) return [title, form.write(change(form.bytes))]

  const [name = '', changeText = String] = ofText[random(ofText.length)] ?? []
  return [name, changeText(text.toString())]
}

/** The files, of so many damaged ones of each form, of which `said` tells something private. */
async function leaks(
  forms: readonly PrivateForm[],
  count: number,
  said: (source: SigningKeySource) => Promise<string>,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const form of forms) {
    const secret = new Secret(form)
    for (let done = 0; done < count; done += 1) {
      const [change, key] = damaged(form)
      const isTold = secret.isIn(await said(sourceOf(form, key)))
      if (isTold) found.push(`${form.title}, ${change}: ${Buffer.from(key).toString('base64')}`)
    }
  }
  return found
}

function describeForms(title: string, programs: readonly string[], make: () => Promise<readonly PrivateForm[]>): void {
  describeWith(programs, title, () => {
    let forms: readonly PrivateForm[] = []
    beforeAll(async () => {
      forms = await make()
    })

    test('what each form must hide is found in base64 and in hexadecimal, wherever it begins', () => {
      const missed = forms.filter((form) => {
        const hidden = new Secret(form).sample
        const spellings = [0, 1, 2].flatMap((shift) => [
          Buffer.concat([Buffer.alloc(shift), hidden, Buffer.alloc(3)]).toString('base64'),
          Buffer.concat([Buffer.alloc(shift), hidden]).toString('hex'),
        ])
        return !spellings.every((text) => new Secret(form).isIn(`key ${text}\n`))
      })

      expect(forms.length).toBeGreaterThan(0)
      expect(missed.map((form) => form.title)).toEqual([])
    })

    test('a file that is whole is served, or refused with a reason', async () => {
      const refused = []
      for (const form of forms) {
        const text = await outcome(sourceOf(form, form.write(form.bytes)))
        if (!text.includes('PUBLIC KEY') && !/^(?:ssh|ecdsa|sk)-/.test(text)) refused.push(form.title)
      }

      expect(refused).toEqual(forms.filter((form) => form.isRefused).map((form) => form.title))
    })

    test(`however a file is damaged, neither the key nor an error holds ${RUN} private bytes in a row`, async () => {
      expect(await leaks(forms, CHANGES, outcome)).toEqual([])
    }, 3_600_000)

    test('neither does a reply or a line of the log', async () => {
      expect(await leaks(forms, 10, answer)).toEqual([])
    })
  })
}

const folder = new SshFolder()
afterAll(() => folder.remove())

describe('Private key files', () => {
  describeForms('OpenSSH', ['ssh-keygen'], async () => opensshForms(folder))
  describeForms('PEM', [], async () => pemForms())
  describeForms('OpenPGP of openpgp.js', [], openpgpjsForms)
  describeForms('OpenPGP of gpg', ['gpg', 'gpgconf'], async () => {
    const home = new GpgHome()
    try {
      return gpgForms(home)
    } finally {
      home.close()
    }
  })
})
