import { fork } from 'node:child_process'
import { once } from 'node:events'

const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130))
process.on('exit', () => running.forEach(kill))

/** Runs some tests in a process of its own, with one fault after the other. */
export class Tester {
  #tests
  #child
  /** In milliseconds, until it is known how long the tests take. */
  #limit = 300_000

  constructor(tests) {
    this.#tests = tests
    this.#start()
  }

  /** Runs the tests on the sources as they are. */
  async expectSound() {
    const from = performance.now()
    const { count, failed } = await this.#test({})
    if (count === 0 || failed) {
      console.error(
        count === 0 ? `no tests in ${this.#tests.join(', ')}` : `${this.#tests.join(', ')} fail without a fault`,
      )
      process.exit(2)
    }
    this.#limit = 20_000 + 10 * (performance.now() - from)
  }

  async finds(fault) {
    return (await this.#test({ fault })).failed
  }

  end() {
    running.delete(this.#child)
    kill(this.#child)
  }

  #start() {
    this.#child = fork(new URL('test-process.mjs', import.meta.url), this.#tests, {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { ...process.env, FORGELET_TEST_NO_BUILD: '1' },
      detached: true, // its workers end with it
    })
    running.add(this.#child)
  }

  /** When the process does not answer in time, the fault is found, and another process is started. */
  async #test(message) {
    const child = this.#child
    const answered = new AbortController()
    const late = setTimeout(() => kill(child), this.#limit)
    child.send(message)
    const { signal } = answered
    const [answer] = await Promise.race([once(child, 'message', { signal }), once(child, 'exit', { signal })])
    clearTimeout(late)
    answered.abort()
    if (typeof answer === 'object' && answer !== null) return answer

    running.delete(child)
    this.#start()
    return { count: 1, failed: true }
  }
}

function kill(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {} // it has ended
}
