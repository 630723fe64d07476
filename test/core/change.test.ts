import { expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { aForge, olga } from './a-forge.ts'

test('blocks.block asks the policy and the membership again when a lifecycle call came in between', async () => {
  const asked: string[] = []
  const forge = aForge({
    storage: overtakenStorage(),
    policy: {
      authorize() {
        asked.push('policy')
        return { allow: true }
      },
    },
    membership: {
      isMember() {
        asked.push('membership')
        return false
      },
    },
  })
  await forge.blocks.block(olga, { organizationId: 5, account: { kind: 'user', id: '9' } })

  expect(asked).toEqual(['policy', 'membership', 'policy', 'membership'])
})

/** A storage whose first epoch of blocks is older than the one that the change finds. */
function overtakenStorage(): ReturnType<typeof memoryStorage> {
  const storage = memoryStorage()
  let isOvertaken = true
  const epoch: typeof storage.blocks.epoch = async (key) => {
    const read = await storage.blocks.epoch(key)
    const known = isOvertaken ? read - 1 : read
    isOvertaken = false
    return known
  }
  return { ...storage, blocks: { ...storage.blocks, epoch } }
}
