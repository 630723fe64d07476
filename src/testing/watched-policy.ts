import type { AccessRequest, Action, Policy } from '../index.ts'
import type { StandaloneUser } from '../standalone/host-ports.ts'

/** Wraps a policy. The wrapper records each request, and refuses the denied actions without calling the policy. */
export function watchedPolicy(
  policy: Policy<StandaloneUser>,
  watch: { readonly asked: AccessRequest[]; readonly deny: readonly Action[] },
): Policy<StandaloneUser> {
  return {
    authorize(request, context) {
      watch.asked.push(request)
      if (watch.deny.includes(request.action))
        return { allow: false, reason: `${request.action} is denied in this test` }

      return policy.authorize(request, context)
    },
  }
}
