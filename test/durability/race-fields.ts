import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Actor } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { startTalkingChild } from './child-process.ts'
import type { Action } from './host-tables.mjs'
import { actions, dawdle, linger, makeHostTables, slowPorts } from './host-tables.mjs'

/** Where races are run: what the host and its users do there, and what is found afterwards. */
export interface RaceField {
  readonly join: Action
  readonly block: Action
  readonly delete: Action
  readonly pin: Action
  /** Puts an issue into the host's table. */
  addIssue(repositoryId: string, id: string): void
  /** The host's members of an organization. */
  members(organizationId: string): readonly string[]
  blocked(organizationId: string): Promise<readonly string[]>
  pinned(repositoryId: string): Promise<readonly string[]>
  close(): Promise<void>
}

const OWNER: Actor = { id: '1' }
const LIMITS = { maxPins: { issue: 1000 } }

/** Makes a field; `folder` is for its files. */
export type OpenField = (folder: string) => Promise<RaceField>

/** The host keeps its tables in memory, as we do, and calls us after it wrote, as it must without a transaction to share. */
export const memoryField: OpenField = async () => {
  const members = new Set<string>()
  const issues = new Set<string>()
  const forge = createForge<Actor, undefined>({
    storage: memoryStorage(),
    limits: LIMITS,
    policy: { authorize: async () => dawdle().then(() => ({ allow: true })) },
    membership: {
      async isMember({ organizationId, userId }) {
        const found = members.has(`${organizationId}/${userId}`)
        await linger()
        return found
      },
    },
  })

  return {
    join: async (organizationId, userId) => {
      await dawdle()
      members.add(`${organizationId}/${userId}`)
      const outcome = await codeOf(forge.lifecycle.memberAdded({ organizationId, userId }))
      if (outcome !== 'done') members.delete(`${organizationId}/${userId}`)
      return outcome
    },
    block: async (organizationId, userId) => {
      await dawdle()
      return codeOf(forge.blocks.block(OWNER, { organizationId, account: { kind: 'user', id: userId } }))
    },
    delete: async (repositoryId, id) => {
      await dawdle()
      issues.delete(id)
      return codeOf(forge.lifecycle.issueDeleted({ id, repositoryId, kind: 'issue' }))
    },
    pin: async (repositoryId, id) => {
      await dawdle()
      if (!issues.has(id)) return 'ISSUE_NOT_FOUND'
      await linger()
      return codeOf(forge.pins.pin(OWNER, { id, repositoryId, kind: 'issue' }))
    },
    addIssue: (_repositoryId, id) => issues.add(id),
    members: (organizationId) => [...members].filter((one) => one.startsWith(`${organizationId}/`)).map(lastPart),
    ...whatIsFound(forge),
  }
}

/** The host's tables and ours share a file; the host writes on its own handle and passes us its transaction. */
export const sqliteField: OpenField = async (folder) => {
  const handle = new Database(join(folder, 'races.sqlite'))
  makeHostTables(handle)
  const storage = sqliteStorage(handle)
  await storage.migrate()
  const forge = createForge({ storage, limits: LIMITS, ...slowPorts(handle) })

  return {
    ...actions(handle, forge, OWNER),
    addIssue: (repositoryId, id) => handle.prepare('insert into issues values (?, ?)').run(id, repositoryId),
    members: (organizationId) => {
      const rows = handle.prepare<[string], { user_id: string }>(
        'select user_id from members where organization_id = ?',
      )
      return rows.all(organizationId).map((row) => row.user_id)
    },
    ...whatIsFound(forge),
    close: async () => {
      await forge.close()
      handle.close()
    },
  }
}

/** As `sqliteField`, but each side of a race is a process of its own. */
export const twoProcessField: OpenField = async (folder) => {
  const field = await sqliteField(folder)
  const file = join(folder, 'races.sqlite')
  const [host, user] = await Promise.all([
    startTalkingChild('race-side.mjs', file),
    startTalkingChild('race-side.mjs', file),
  ])

  return {
    ...field,
    join: (organizationId, userId) => host.ask(`join ${organizationId} ${userId}`),
    block: (organizationId, userId) => user.ask(`block ${organizationId} ${userId}`),
    delete: (repositoryId, id) => host.ask(`delete ${repositoryId} ${id}`),
    pin: (repositoryId, id) => user.ask(`pin ${repositoryId} ${id}`),
    close: async () => {
      await Promise.all([host.end(), user.end()])
      await field.close()
    },
  }
}

function whatIsFound(forge: ReturnType<typeof createForge>): Pick<RaceField, 'blocked' | 'pinned' | 'close'> {
  return {
    blocked: async (organizationId) => {
      const { items } = await forge.blocks.list('system', { organizationId, limit: 1000 })
      return items.map((block) => block.userId)
    },
    pinned: async (repositoryId) => {
      const pins = await forge.pins.list('system', { repositoryId, kind: 'issue' })
      return pins.map((pin) => pin.issueId)
    },
    close: () => forge.close(),
  }
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'done'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

function lastPart(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}
