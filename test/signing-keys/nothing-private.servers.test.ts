import { randomInt } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchHandler } from '../../src/http-adapters/fetch.ts'
import type { SigningKeySource } from '../../src/index.ts'
import { openpgpKey, sshKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { openWorld } from '../world.ts'
import { GpgHome } from './gpg-home.ts'
import { RUN, searchFor } from './private-bytes.ts'
import type { PrivateForm } from './private-forms.ts'
import { gpgForms, openpgpjsForms, opensshForms, pemForms } from './private-forms.ts'
import { SshFolder } from './ssh-folder.ts'

/** Changes to each of about 40 forms. */
const CHANGES = process.env['LONG'] === '1' ? 6000 : 120

function random(below: number): number {
  return randomInt(Math.max(below, 1))
}

function replaced(bytes: Buffer, at: number, piece: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + piece.length)])
}

function flipped(bytes: Buffer, below = bytes.length): Buffer {
  const bit = random(8 * below)
  return replaced(bytes, bit >> 3, Buffer.of((bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))))
}

function added(bytes: Buffer, amount: number): Buffer {
  const at = random(bytes.length)
  return replaced(bytes, at, Buffer.of(((bytes[at] ?? 0) + amount) & 0xff))
}

const CHANGES_OF_BYTES: Readonly<Record<string, (bytes: Buffer) => Uint8Array>> = {
  'a bit': (bytes) => flipped(bytes),
  'two bits': (bytes) => flipped(flipped(bytes)),
  'a bit near the beginning': (bytes) => flipped(bytes, Math.min(bytes.length, 64)),
  'a byte': (bytes) => added(bytes, random(256)),
  'a length': (bytes) => {
    const at = random(bytes.length - 1)
    const length = Buffer.alloc(2)
    length.writeUInt16BE((bytes.readUInt16BE(at) + random(600)) & 0xffff)
    return replaced(bytes, at, length)
  },
  'two lengths by the same amount': (bytes) => {
    const amount = random(256)
    return added(added(bytes, amount), amount)
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
function copied(bytes: Buffer): Buffer {
  const [from, to] = [random(bytes.length), random(bytes.length)]
  return replaced(bytes, to, bytes.subarray(from, from + RUN + random(40)).subarray(0, bytes.length - to))
}

const CHANGES_OF_TEXT: Readonly<Record<string, (text: string) => string>> = {
  'a letter': (text) => {
    const at = random(text.length)
    return text.slice(0, at) + String.fromCharCode(32 + random(95)) + text.slice(at + 1)
  },
  'a line put elsewhere': (text) => {
    const lines = text.split('\n')
    const [line = ''] = lines.splice(random(lines.length), 1)
    return lines.toSpliced(random(lines.length), random(2), line).join('\n')
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

async function outcome(source: SigningKeySource): Promise<string> {
  try {
    return (await source.publicKey()).text
  } catch (error) {
    return described(error)
  }
}

/** The error without its stack, which names files only and takes long to write. */
function described(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error)
  return [error.name, error.message, JSON.stringify(error), error.cause && described(error.cause)].join('\n')
}

/** What a client and the log get of a key: every header, the body, every line with its error. */
async function answer(source: SigningKeySource): Promise<string> {
  const { api, logged } = openWorld({ signingKey: source })
  const handler = fetchHandler(api, { authenticate: () => null })
  const response = await handler(new Request(`http://localhost/signing-key.${source.format === 'ssh' ? 'pub' : 'gpg'}`))
  expect([200, 500]).toContain(response.status)
  const headers = [...response.headers].flat().join(' ')
  return `${headers}\n${await response.text()}\n${inspect(logged, { depth: 20, showHidden: true })}`
}

function sourceOf(form: PrivateForm, key: string | Uint8Array): SigningKeySource {
  return form.format === 'ssh' ? sshKey(key.toString()) : openpgpKey(key)
}

/** A damaged file of a form: what was done, and the file. */
function damaged(form: PrivateForm): readonly [change: string, key: string | Uint8Array] {
  const text = form.write(form.bytes)
  const ofBytes = Object.entries({ ...CHANGES_OF_BYTES, ...(form.isUnbound ? {} : { 'a copied piece': copied }) })
  const ofText = typeof text === 'string' ? Object.entries(CHANGES_OF_TEXT) : []
  const [title, change] = ofBytes[random(ofBytes.length + Math.ceil(ofText.length / 2))] ?? []
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
    const isTold = searchFor([form.bytes], form.open)
    for (let done = 0; done < count; done += 1) {
      const [change, key] = damaged(form)
      const isLeak = isTold(await said(sourceOf(form, key)))
      if (isLeak) found.push(`${form.title}, ${change}: ${Buffer.from(key).toString('base64')}`)
    }
  }
  return found
}

const folder = new SshFolder()
afterAll(() => folder.remove())
const gpg = async () => {
  const home = new GpgHome()
  try {
    return gpgForms(home)
  } finally {
    home.close()
  }
}

const FAMILIES: readonly (readonly [string, readonly string[], () => Promise<readonly PrivateForm[]>])[] = [
  ['OpenSSH', ['ssh-keygen'], async () => opensshForms(folder)],
  ['PEM', [], async () => pemForms()],
  ['OpenPGP of openpgp.js', [], openpgpjsForms],
  ['OpenPGP of gpg', ['gpg', 'gpgconf'], gpg],
]
for (const [title, programs, make] of FAMILIES) {
  describeWith(programs, `Private key files: ${title}`, () => {
    let forms: readonly PrivateForm[] = []
    beforeAll(async () => {
      forms = await make()
    })

    test('a file that is whole is served, or refused with a reason, and what it must hide is found in it', async () => {
      const refused = []
      for (const form of forms) {
        const text = await outcome(sourceOf(form, form.write(form.bytes)))
        if (!text.includes('PUBLIC KEY') && !/^(?:ssh|ecdsa|sk)-/.test(text)) refused.push(form.title)
        expect(searchFor([form.bytes], form.open)(text)).toBe(false)
        for (const spelling of ['base64', 'hex', 'latin1'] as const) {
          expect(searchFor([form.bytes], form.open)(form.bytes.subarray(1).toString(spelling))).toBe(true)
        }
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
