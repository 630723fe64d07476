import type { Asking } from '../asking.ts'

export const asking: readonly Asking[] = [
  {
    about: { repositoryId: '10' },
    concealed: 'REPOSITORY_NOT_FOUND',
    methods: [
      [
        'signingKeys.publicKey',
        'signing-keys.read',
        ({ signingKeys }, who) => signingKeys.publicKey(who, { format: 'ssh', repositoryId: 10 }),
      ],
    ],
  },
]
