import type { MaybePromise } from '../../../../schema/sync-or-async.ts'
import { isLost } from '../errors.ts'
import type { Connection, Runner } from '../server.ts'

/**
 * Returns the connection of a library that cannot destroy one: what a call that is over has left on it is rolled back, once
 * its server answers, before it is used again. Nothing is sent on one that is lost: postgres.js 3.4.9 would end the process
 * (https://github.com/porsager/postgres/issues/1208).
 *
 * @param transaction - what ports and `beforeCommit` receive
 * @param release - returns it to its pool; receives whether it was lost
 */
export function borrowed(
  runner: Runner,
  transaction: object,
  release: (isLost: boolean) => MaybePromise<void>,
): Connection {
  let loss: unknown
  const run: Runner['run'] = (sql, parameters) => {
    if (loss !== undefined) return Promise.reject(loss)
    return runner.run(sql, parameters).catch((error) => {
      if (isLost(error)) loss = error
      throw error
    })
  }
  return {
    identity: runner.identity,
    pipelined: runner.pipelined,
    run,
    transaction,
    release(isSound) {
      if (isSound) return release(false)
      return run('rollback', []).then(
        () => release(false),
        () => release(true),
      )
    },
  }
}
