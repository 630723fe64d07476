import type { OpenCall } from '../call.ts'
import type { Perform, PerformLater, PerformNow } from '../face.ts'
import type { Actor } from '../ports.ts'
import type { LifecycleService, Prompt, Synchronous } from '../services.ts'
import type { LifecycleOperations } from './lifecycle-operations.ts'

/** The lifecycle service over its operations, as promises, at once, or whichever comes. */
export function lifecycleService<A extends Actor, Tx>(
  lifecycle: LifecycleOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: PerformLater,
): LifecycleService
export function lifecycleService<A extends Actor, Tx>(
  lifecycle: LifecycleOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: PerformNow,
): Synchronous<LifecycleService>
export function lifecycleService<A extends Actor, Tx>(
  lifecycle: LifecycleOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: Perform,
): Prompt<LifecycleService>
export function lifecycleService<A extends Actor, Tx>(
  lifecycle: LifecycleOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: Perform,
): Prompt<LifecycleService> {
  return {
    userDeleted: (userId) => perform(lifecycle.userDeleted(open('system', undefined), userId)),
    organizationDeleted: (organizationId) =>
      perform(lifecycle.organizationDeleted(open('system', undefined), organizationId)),
    repositoryDeleted: (repositoryId) => perform(lifecycle.repositoryDeleted(open('system', undefined), repositoryId)),
    issueDeleted: (issue) => perform(lifecycle.issueDeleted(open('system', undefined), issue)),
    memberAdded: (member) => perform(lifecycle.memberAdded(open('system', undefined), member)),
  }
}
