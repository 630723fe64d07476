import type { Asking } from '../asking.ts'

const block = { organizationId: 5, account: { kind: 'user', id: '9' } } as const

export const asking: readonly Asking[] = [
  {
    about: { organizationId: '5' },
    concealed: 'ORGANIZATION_NOT_FOUND',
    methods: [
      ['blocks.block', 'blocks.write', ({ blocks }, who) => blocks.block(who, block)],
      ['blocks.unblock', 'blocks.write', ({ blocks }, who) => blocks.unblock(who, block)],
      ['blocks.find', 'blocks.read', ({ blocks }, who) => blocks.find(who, { organizationId: 5, userId: 9 })],
      ['blocks.list', 'blocks.read', ({ blocks }, who) => blocks.list(who, { organizationId: 5 })],
    ],
  },
]
