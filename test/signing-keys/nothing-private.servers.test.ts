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

function oneOf<T>(...values: readonly [T, ...T[]]): T {
  return values[random(values.length)] ?? values[0]
}

/**
 * A piece replaced, taken out or put in: a bit, a length, a few bytes, either end. It may be a copy of another piece, unless nothing
 * distinguishes a public half from such a copy.
 */
function damagedBytes(bytes: Buffer, mayCopy: boolean): Buffer {
  const from = random(bytes.length)
  const at = oneOf(random(bytes.length), random(64) % bytes.length)
  const own = oneOf(
    Buffer.of((bytes[at] ?? 0) ^ (1 << random(8))),
    Buffer.from([bytes[at] ?? 0, bytes[at + 1] ?? 0].map((byte) => (byte + random(256)) & 0xff)),
    bytes.subarray(at, at + 1 + random(40)),
    Buffer.of(),
  )
  const piece = mayCopy ? oneOf(own, bytes.subarray(from, from + RUN + random(40))) : own
  const gone = oneOf(piece.length, piece.length, 0, 1 + random(40), oneOf(bytes.length, 0))
  const damaged = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + gone)])
  return random(20) === 0 ? damaged.subarray(at) : damaged
}

const LABELS = ['PUBLIC', 'DSA PRIVATE', 'RSA PUBLIC', 'PRIVATE'] as const

/** A letter, a line put elsewhere or joined with the next, another label. */
function damagedText(text: string): string {
  const lines = text.split('\n')
  const [at, to] = [random(lines.length), random(lines.length)]
  const letter = random(text.length)
  return oneOf(
    text.slice(0, letter) + String.fromCharCode(32 + random(95)) + text.slice(letter + 1),
    lines
      .toSpliced(at, 1)
      .toSpliced(to, random(2), lines[at] ?? '')
      .join('\n'),
    lines.toSpliced(at, 2, lines.slice(at, at + 2).join(' ')).join('\n'),
    text.replaceAll(/(?:RSA |EC |OPENSSH )?PRIVATE/g, oneOf(...LABELS)),
    text.replaceAll('\n', ' '),
  )
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

/** A damaged file of a form. */
function damaged(form: PrivateForm): string | Uint8Array {
  const text = form.write(form.bytes)
  if (typeof text === 'string' && random(3) === 0) return damagedText(text)

  const changed = damagedBytes(form.bytes, form.isUnbound !== true)
  return form.write(random(3) === 0 ? damagedBytes(changed, form.isUnbound !== true) : changed)
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
      const key = damaged(form)
      const isLeak = isTold(await said(sourceOf(form, key)))
      if (isLeak) found.push(`${form.title}: ${Buffer.from(key).toString('base64')}`)
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
