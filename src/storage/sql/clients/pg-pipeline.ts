import type { PgClient } from './pg-pool.ts'

// pg 8.23 and newer. Source: https://node-postgres.com/features/pipelining

/** A client that sends queries without waiting for the answers to those before. */
interface PipeliningClient {
  pipeline: boolean
}

/** Returns whether a client sends queries without waiting for the answers to those before. */
export function isPipelining(client: PgClient): client is PgClient & PipeliningClient {
  return 'pipeline' in client && client.pipeline === true
}

/**
 * Waits for the answers to queries that were sent together. After one that has failed, those behind it in a transaction
 * are refused with 25P02.
 *
 * @param failed - throws the error of the first that failed, when all are answered
 */
export async function inOrder<T>(
  answers: readonly Promise<T>[],
  failed: (error: unknown, index: number) => never,
): Promise<readonly T[]> {
  try {
    return await Promise.all(answers)
  } catch (error) {
    const settled = await Promise.allSettled(answers)
    const index = settled.findIndex(({ status }) => status === 'rejected')
    const first = settled[index]
    return failed(first?.status === 'rejected' ? first.reason : error, index)
  }
}

/**
 * Runs the host's code with a client that answers one query after the other: cursors and streams of pg do not work on a
 * client that is pipelining.
 */
export async function withoutPipeline<T>(client: PgClient, work: () => Promise<T>): Promise<T> {
  if (!isPipelining(client)) return work()

  client.pipeline = false
  try {
    return await work()
  } finally {
    setPipelining(client)
  }
}

/** Newer versions of pg refuse this while a query of the host is unanswered. Then the client stays without. */
function setPipelining(client: PipeliningClient): void {
  try {
    client.pipeline = true
  } catch {
    // slower, and otherwise the same
  }
}
