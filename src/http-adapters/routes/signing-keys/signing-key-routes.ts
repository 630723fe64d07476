import { repositoryFor } from '../path-inputs.ts'
import type { Route, ServiceRoutes } from '../route.ts'
import { route } from '../route.ts'
import { keyText } from './signing-key-replies.ts'

const routes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/signing-key.gpg',
    operationId: 'getSigningKey',
    service: 'signing-keys',
    summary: "Get the instance's OpenPGP signing key",
    inputs: {},
    call: ({ operations, actor, context }) => operations.signingKeys.publicKey(actor, { format: 'openpgp' }, context),
    reply: keyText,
    errors: ['NO_SIGNING_KEY', 'SIGNING_KEY_FORMAT_MISMATCH'],
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/signing-key.gpg',
    operationId: 'repoSigningKey',
    service: 'signing-keys',
    summary: 'Get the OpenPGP signing key of a repository',
    inputs: { repositoryId: repositoryFor('signing-keys.read') },
    call: ({ operations, actor, context }, { repositoryId }) =>
      operations.signingKeys.publicKey(actor, { format: 'openpgp', repositoryId }, context),
    reply: keyText,
    errors: ['NO_SIGNING_KEY', 'SIGNING_KEY_FORMAT_MISMATCH'],
  }),
  route({
    method: 'GET',
    path: '/signing-key.pub',
    operationId: 'getSigningKeySSH',
    service: 'signing-keys',
    summary: "Get the instance's SSH signing key",
    inputs: {},
    call: ({ operations, actor, context }) => operations.signingKeys.publicKey(actor, { format: 'ssh' }, context),
    reply: keyText,
    errors: ['NO_SIGNING_KEY', 'SIGNING_KEY_FORMAT_MISMATCH'],
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/signing-key.pub',
    operationId: 'repoSigningKeySSH',
    service: 'signing-keys',
    summary: 'Get the SSH signing key of a repository',
    inputs: { repositoryId: repositoryFor('signing-keys.read') },
    call: ({ operations, actor, context }, { repositoryId }) =>
      operations.signingKeys.publicKey(actor, { format: 'ssh', repositoryId }, context),
    reply: keyText,
    errors: ['NO_SIGNING_KEY', 'SIGNING_KEY_FORMAT_MISMATCH'],
  }),
]

/**
 * Signing keys: rows 1 to 4 of the specified interface. The instance's key is public; the policy guards a repository's
 * key.
 */
export const signingKeyRoutes: ServiceRoutes<'findRepository', never> = {
  description: 'The public key that verifies the signatures of the server',
  needs: { directory: ['findRepository'], present: [] },
  schemas: {},
  routes,
}
