import { command } from '../../dialect.ts'
import type { Connection, Runner } from '../server.ts'

const ROLL_BACK = command('rollback')

/**
 * Returns the connection of a library that cannot destroy one: what a call that is over has left on it is rolled back, once
 * its server answers, before it is used again.
 *
 * @param transaction - what ports and `beforeCommit` receive
 * @param release - returns it to its pool; receives whether it was lost
 */
export function borrowed(runner: Runner, transaction: object, release: (isLost: boolean) => void): Connection {
  return {
    identity: runner.identity,
    pipelined: runner.pipelined,
    run: (statement) => runner.run(statement),
    transaction,
    release(isSound) {
      if (isSound) {
        release(false)
        return undefined
      }
      return runner.run(ROLL_BACK).then(
        () => release(false),
        () => release(true),
      )
    },
  }
}
