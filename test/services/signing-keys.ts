import type { AskingMethod } from '../core/asking.ts'
import { methodsAbout } from '../core/asking.ts'
import type { RouteRules } from '../http-adapters/access-rules.ts'
import type { Case } from '../http-adapters/cases/case.ts'
import { refusal, served } from '../http-adapters/cases/case.ts'
import type { ServiceSection } from '../services.ts'
import { openpgpKey, sshKey, unreadableKey } from '../world.ts'

const ROCKET = '/repos/acme/rocket'

/** Signing keys. */
const cases: readonly Case[] = [
  ...['', ROCKET].flatMap((prefix): readonly Case[] => [
    served(
      `${prefix}/signing-key.pub is the SSH key as plain text`,
      ['anonymous', 'GET', `${prefix}/signing-key.pub`],
      200,
      {
        world: { signingKey: sshKey },
        expected: {
          text: 'ssh-ed25519 AAAA demo\n',
          headers: { 'content-type': 'text/plain; charset=utf-8', etag: '"abc"' },
        },
      },
    ),
    served(`${prefix}/signing-key.gpg is the OpenPGP key`, ['anonymous', 'GET', `${prefix}/signing-key.gpg`], 200, {
      world: { signingKey: openpgpKey },
      expected: { text: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n' },
    }),
    ...['pub', 'gpg'].map(
      (format): Case =>
        refusal(
          `${prefix}/signing-key.${format} is 404 without a key`,
          ['anonymous', 'GET', `${prefix}/signing-key.${format}`],
          404,
          { code: 'NO_SIGNING_KEY', message: 'no signing key' },
        ),
    ),
    refusal(
      `${prefix}/signing-key.gpg names the format of an SSH key, which is not touched`,
      ['anonymous', 'GET', `${prefix}/signing-key.gpg`],
      404,
      { code: 'SIGNING_KEY_FORMAT_MISMATCH', message: 'signing key format is ssh' },
      { world: { signingKey: unreadableKey } },
    ),
    refusal(
      `${prefix}/signing-key.pub names the format of an OpenPGP key`,
      ['anonymous', 'GET', `${prefix}/signing-key.pub`],
      404,
      { code: 'SIGNING_KEY_FORMAT_MISMATCH', message: 'signing key format is openpgp' },
      { world: { signingKey: openpgpKey } },
    ),
  ]),
  {
    fact: 'a key that cannot be read is a bare 500',
    world: { signingKey: unreadableKey },
    ask: ['anonymous', 'GET', '/signing-key.pub'],
    status: 500,
    expected: { json: { message: 'internal error', url: '', code: 'INTERNAL', requestId: 'request-1' } },
  },
  ...['"abc"', 'W/"abc"', '"x", "abc"', '"a,b" , W/"abc"', '*'].map(
    (header): Case => ({
      fact: `If-None-Match ${header} is 304`,
      world: { signingKey: sshKey },
      ask: ['anonymous', 'GET', '/signing-key.pub'],
      headers: { 'if-none-match': header },
      status: 304,
      expected: { text: '', headers: { etag: '"abc"', 'content-type': null } },
    }),
  ),
  ...['"abcd"', 'abc', '"x"', '"*"'].map(
    (header): Case =>
      served(`If-None-Match ${header} is 200`, ['anonymous', 'GET', '/signing-key.pub'], 200, {
        world: { signingKey: sshKey },
        headers: { 'if-none-match': header },
      }),
  ),
  served('HEAD of a key returns its length and tag', ['anonymous', 'HEAD', '/signing-key.pub'], 200, {
    world: { signingKey: sshKey },
    expected: { text: '', headers: { 'content-length': '22', etag: '"abc"' } },
  }),
]

/** Who may do what. */
const rules: RouteRules = {
  getSigningKey: { asks: undefined, needs: 'nothing', statements: 1 },
  getSigningKeySSH: { asks: undefined, needs: 'nothing', statements: 1 },
  repoSigningKey: { asks: 'signing-keys.read', needs: 'repository reader', statements: 3 },
  repoSigningKeySSH: { asks: 'signing-keys.read', needs: 'repository reader', statements: 3 },
}

const key = { format: 'ssh', repositoryId: 10 } as const

const methods: readonly AskingMethod[] = [
  ...methodsAbout({ repositoryId: '10' }, 'REPOSITORY_NOT_FOUND', [
    ['signingKeys.publicKey', 'signing-keys.read', ({ signingKeys }, who) => signingKeys.publicKey(who, key)],
  ]),
]

export const section: ServiceSection = { cases, rules, methods }
