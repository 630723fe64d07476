import type { AskingMethod } from '../asking.ts'
import { methodsAbout } from '../asking.ts'

const block = { organizationId: 5, account: { kind: 'user', id: '9' } } as const
const userBlock = { blockerId: 9, account: { kind: 'user', id: '8' } } as const

/** The methods of blocks. */
export const blockMethods: readonly AskingMethod[] = [
  ...methodsAbout({ organizationId: '5' }, 'ORGANIZATION_NOT_FOUND', [
    ['blocks.block', 'blocks.write', ({ blocks }, who) => blocks.block(who, block)],
    ['blocks.unblock', 'blocks.write', ({ blocks }, who) => blocks.unblock(who, block)],
    ['blocks.find', 'blocks.read', ({ blocks }, who) => blocks.find(who, { organizationId: 5, userId: 9 })],
    ['blocks.list', 'blocks.read', ({ blocks }, who) => blocks.list(who, { organizationId: 5 })],
  ]),
  ...methodsAbout({ userId: '9' }, 'USER_NOT_FOUND', [
    ['blocks.block', 'user-blocks.write', ({ blocks }, who) => blocks.block(who, userBlock)],
    ['blocks.unblock', 'user-blocks.write', ({ blocks }, who) => blocks.unblock(who, userBlock)],
    ['blocks.find', 'user-blocks.read', ({ blocks }, who) => blocks.find(who, { blockerId: 9, userId: 8 })],
    ['blocks.list', 'user-blocks.read', ({ blocks }, who) => blocks.list(who, { blockerId: 9 })],
  ]),
]
