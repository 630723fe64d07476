import { userFor } from '../path-inputs.ts'
import { noContent } from '../reply.ts'
import type { Route, ServiceRoutes } from '../route.ts'
import { route } from '../route.ts'
import { badgeSlugsInBody, badgeSlugsSchema } from './badge-inputs.ts'
import { badgeList, badgeSchema } from './badge-replies.ts'

const routes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/admin/users/{username}/badges',
    operationId: 'adminListUserBadges',
    service: 'badges',
    summary: "List a user's badges",
    inputs: { userId: userFor('badges.read') },
    call: ({ operations, actor, context }, { userId }) => operations.badges.heldBy(actor, userId, context),
    reply: badgeList,
    errors: [],
  }),
  route({
    method: 'POST',
    path: '/admin/users/{username}/badges',
    operationId: 'adminAddUserBadges',
    service: 'badges',
    summary: 'Add badges to a user',
    inputs: { userId: userFor('badges.grant'), slugs: badgeSlugsInBody },
    call: ({ operations, actor, context }, request) => operations.badges.grant(actor, request, context),
    reply: noContent,
    errors: ['UNKNOWN_BADGE'],
  }),
  route({
    method: 'DELETE',
    path: '/admin/users/{username}/badges',
    operationId: 'adminDeleteUserBadges',
    service: 'badges',
    summary: 'Remove badges from a user',
    inputs: { userId: userFor('badges.grant'), slugs: badgeSlugsInBody },
    call: ({ operations, actor, context }, request) => operations.badges.revoke(actor, request, context),
    reply: noContent,
    errors: ['UNKNOWN_BADGE'],
  }),
]

/** Badges: rows 15 to 17 of the specified interface. */
export const badgeRoutes: ServiceRoutes<'findAccount', never> = {
  description: 'Badges that users hold',
  needs: { directory: ['findAccount'], present: [] },
  schemas: { Badge: badgeSchema, BadgeSlugs: badgeSlugsSchema },
  routes,
}
