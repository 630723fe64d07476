import type { Face } from '../face.ts'
import { face } from '../face.ts'
import type { Actor } from '../ports.ts'
import type { LifecycleService } from '../services.ts'
import type { LifecycleOperations } from './lifecycle-operations.ts'

/** The lifecycle service over its operations; it is always the host itself that calls. */
export function lifecycleService<A extends Actor, Tx>(
  lifecycle: LifecycleOperations<A, Tx>,
): Face<LifecycleService, A, Tx> {
  return face<LifecycleService, A, Tx>((open, perform) => ({
    userDeleted: (userId) => perform(lifecycle.userDeleted(open('system', undefined), userId)),
    organizationDeleted: (organizationId) =>
      perform(lifecycle.organizationDeleted(open('system', undefined), organizationId)),
    repositoryDeleted: (repositoryId) => perform(lifecycle.repositoryDeleted(open('system', undefined), repositoryId)),
    issueDeleted: (issue) => perform(lifecycle.issueDeleted(open('system', undefined), issue)),
    memberAdded: (member) => perform(lifecycle.memberAdded(open('system', undefined), member)),
  }))
}
