// What each proof does with its cases: one line for each failure, and a last line with the counts; the exit code is 1 when
// something failed, or nothing was there to pass.

import { inspect } from 'node:util'

/** Milliseconds that a case may take: some race hundreds of writers. */
const PATIENCE = 60_000

/** Runs cases one after another, and counts them. */
export class Report {
  #passed = 0
  #failed = 0

  async run(cases) {
    for (const one of cases) await this.#prove(one)
  }

  async #prove({ name, run }) {
    let timer
    const late = new Promise((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`not done after ${PATIENCE} ms`)), PATIENCE)
    })
    try {
      await Promise.race([run(), late])
      this.#passed += 1
    } catch (error) {
      this.#failed += 1
      say(`FAIL  ${name}: ${error instanceof Error ? inspect(error) : String(error)}`)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Does not end the process: a handle or a timer that a storage forgot keeps it here, and is a failure of its own. */
  end() {
    say(`${this.#passed} passed, ${this.#failed} failed`)
    process.exitCode = this.#failed === 0 && this.#passed > 0 ? 0 : 1
  }
}

function say(line) {
  process.stdout.write(`${line}\n`)
}
