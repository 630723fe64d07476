import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { SigningKeySource } from '../../src/core/ports.ts'
import { generateKey } from '../../src/signing-keys/generate-key.ts'
import { splitKeyText } from '../../src/signing-keys/key-blocks.ts'
import { openpgpKey } from '../../src/signing-keys/openpgp-key.ts'
import { sshKey } from '../../src/signing-keys/ssh-key.ts'

const RUN = 12

/** Every run of bytes of that length, in hexadecimal. */
function runs(bytes: Uint8Array): ReadonlySet<string> {
  const hex = Buffer.from(bytes).toString('hex')
  return new Set(
    Array.from({ length: Math.max(bytes.length - RUN + 1, 0) }, (_, at) => hex.slice(2 * at, 2 * (at + RUN))),
  )
}

function decoded(text: string): Buffer {
  const lines = splitKeyText(text).blocks.flatMap((block) => block.body.filter((line) => !/^=|:|^$/.test(line)))
  return Buffer.from(lines.length > 0 ? lines.join('') : (text.split(' ')[1] ?? ''), 'base64')
}

/** What the private file holds and the public one does not. */
function privateRuns(pair: { readonly privateKey: string; readonly publicKey: string }): ReadonlySet<string> {
  const open = runs(decoded(pair.publicKey))
  return new Set([...runs(decoded(pair.privateKey))].filter((run) => !open.has(run)))
}

async function outcome(source: SigningKeySource): Promise<{ readonly text: string; readonly error: string }> {
  try {
    return { text: (await source.publicKey()).text, error: '' }
  } catch (error) {
    return { text: '', error: inspect(error, { depth: 20, showHidden: true }) }
  }
}

type Change = (key: { readonly privateKey: string; readonly publicKey: string }) => string

const position = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const changes: fc.Arbitrary<Change> = fc.oneof(
  position.map(
    (at): Change =>
      ({ privateKey }) =>
        privateKey.slice(0, at * privateKey.length),
  ),
  position.map(
    (at): Change =>
      ({ privateKey }) =>
        privateKey.slice(at * privateKey.length),
  ),
  fc.tuple(position, fc.string({ maxLength: 3 })).map(
    ([at, piece]): Change =>
      ({ privateKey }) => {
        const place = Math.floor(at * privateKey.length)
        return privateKey.slice(0, place) + piece + privateKey.slice(place + piece.length)
      },
  ),
  position.map(
    (at): Change =>
      ({ privateKey, publicKey }) => {
        const lines = publicKey.split('\n')
        return lines.toSpliced(at * lines.length, 0, privateKey).join('\n')
      },
  ),
  fc.constantFrom<Change>(
    ({ privateKey }) => privateKey.replaceAll('PRIVATE', 'PUBLIC'),
    ({ privateKey }) => privateKey.replaceAll('\n', ' '),
    ({ privateKey, publicKey }) => `${publicKey.trimEnd()} ${privateKey.replaceAll('\n', ' ')}`,
    ({ privateKey, publicKey }) => `${publicKey.trimEnd()} ${privateKey.split('\n').slice(1, -2).join('')}`,
    ({ privateKey, publicKey }) => publicKey + privateKey,
    ({ privateKey, publicKey }) => privateKey + publicKey,
    ({ privateKey, publicKey }) => publicKey.replace('\n\n', `\nComment: ${privateKey.replaceAll('\n', ' ')}\n\n`),
    ({ privateKey, publicKey }) =>
      publicKey.replace('\n\n', `\nComment: ${privateKey.split('\n').slice(2, -3).join('')}\n\n`),
  ),
)

describe.each([
  ['OpenPGP', 'openpgp'],
  ['OpenSSH', 'ssh'],
  ['PKCS#8', 'pem'],
] as const)('%s', (_title, kind) => {
  let pair = { privateKey: '', publicKey: '' }
  let secrets: ReadonlySet<string> = new Set()
  const source = (key: string) => (kind === 'openpgp' ? openpgpKey(key) : sshKey(key))
  beforeAll(async () => {
    pair =
      kind === 'pem' ? await pemPair() : await generateKey({ format: kind, name: 'Forge', email: 'forge@example.com' })
    secrets = privateRuns(pair)
  })

  test('the private file has something to hide', () => {
    expect(secrets.size).toBeGreaterThan(RUN)
  })

  test('however a private key is mangled, neither the text nor the error holds a part of it', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async (change) => {
        const { text, error } = await outcome(source(change(pair)))
        const secretLines = pair.privateKey.split('\n').filter((line) => line.length > RUN && !line.startsWith('-'))
        const told = secretLines
          .flatMap((line) => [line.slice(0, RUN), line.slice(-RUN)])
          .filter((piece) => !pair.publicKey.includes(piece))

        expect([...runs(decoded(text))].filter((run) => secrets.has(run))).toEqual([])
        expect(text).not.toMatch(/PRIVATE KEY/)
        expect(told.filter((piece) => text.includes(piece) || error.includes(piece))).toEqual([])
      }),
      { numRuns: 150 },
    )
  })
})

async function pemPair() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { privateKey: pem, publicKey: (await sshKey(pem).publicKey()).text }
}
