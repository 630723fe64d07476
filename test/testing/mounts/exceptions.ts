import type { Host, Mounting } from '../../http-adapters/hosts/host.ts'

/** A case that cannot be so, since something of the framework is before us. */
export interface Exception {
  readonly name: string
  readonly reason: string
  /** Whether it fails by coming to no end: that takes long to see. */
  readonly hangs?: true
}

const FASTIFY = "Fastify's router answers a malformed % itself, with 400"
const READS_FIRST = 'a parser reads the body before any check'
const OWN_LIMIT = 'a parser answers what is too long for it itself, and takes what is not'

const MALFORMED = ['%', '%zz', '%C3%28'].map(
  (name) => `a path with the malformed ${name} is 404, and no error is thrown`,
)
const TOO_LONG = ['length', 'chunked'].flatMap((framing) =>
  ['at once', 'late'].map(
    (reading) => `a body over the limit (${framing}) is 413, also to a client that reads ${reading}`,
  ),
)
const AT_LIMIT = ['length', 'chunked'].map(
  (framing) => `a body at the limit is accepted, and one byte more is 413 (${framing})`,
)
const LONG_IMPORTS = ['length', 'chunked'].map((framing) => `an import over the limit (${framing}) is 413`)
const COMPRESSED = [
  'an import that is compressed with gzip is read, also if no header says so',
  'an import over the limit is 413, also if it is compressed',
]
const NOT_DECOMPRESSED = "Fastify's parser does not decompress"
const WITHOUT_BODY = [
  'a refusal does not wait for the body',
  'a request without credentials is refused before its body is read',
]
const AFTER_BODY = [
  'a wrong method with a body',
  'an unread body',
  'an unread chunked body',
  'missing credentials',
  'wrong credentials',
].map((what) => `a connection stays usable after ${what}`)

/** What a framework makes impossible. Each is tested to be still so. */
export function exceptions({ name, refusesMalformed }: Host, { before }: Mounting): readonly Exception[] {
  return [
    ...(refusesMalformed ? because(FASTIFY, MALFORMED) : []),
    ...(name === 'Fastify (route behind its JSON parser)' ? fastifyParser() : []),
    ...(before === 'json' ? because(OWN_LIMIT, [...TOO_LONG, ...AT_LIMIT, ...LONG_IMPORTS, ...COMPRESSED]) : []),
    ...(before === 'raw' ? rawParser() : []),
  ]
}

function fastifyParser(): readonly Exception[] {
  const declared = 'an import that is compressed with gzip is read'
  return [
    ...because(OWN_LIMIT, [...TOO_LONG, ...AT_LIMIT, ...LONG_IMPORTS]),
    ...because(NOT_DECOMPRESSED, [declared, ...COMPRESSED]),
  ]
}

/** It takes every body, of whatever type. */
function rawParser(): readonly Exception[] {
  return [
    ...because(OWN_LIMIT, [...TOO_LONG, ...LONG_IMPORTS, ...AFTER_BODY, 'a connection stays usable after a failure']),
    ...WITHOUT_BODY.map((name) => ({ name, reason: READS_FIRST, hangs: true as const })),
  ]
}

function because(reason: string, names: readonly string[]): readonly Exception[] {
  return names.map((name) => ({ name, reason }))
}
