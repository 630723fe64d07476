// The forge that every child process of these tests runs: the built package on one SQLite file, for one owner who may
// do everything, and with the host's own tables beside ours when it is given a handle.
import { createForge } from '../../dist/index.js'
import { sqliteStorage } from '../../dist/storage/sqlite.js'

export const owner = { id: '1' }

export async function openForge(fileOrHandle, ports = {}) {
  const storage = sqliteStorage(fileOrHandle)
  await storage.migrate()
  return createForge({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
    limits: { maxPins: { issue: 3, pullRequest: 2 } },
    ...ports,
  })
}
