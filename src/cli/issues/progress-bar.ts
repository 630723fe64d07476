import type { CommandIO } from '../command.ts'

const WIDTH = 20

/** How far a command is. Bytes are those of the source. */
export interface Progress {
  readonly issues: number
  readonly bytes: number
}

/** A line on the terminal that shows how far a command is: a bar, the issues, the speed and the time left. */
export class ProgressBar {
  readonly #show: CommandIO['showStatus']
  readonly #label: string
  readonly #size: number | undefined
  readonly #beganAt = performance.now()
  #isShown = false

  /** @param size - the bytes of the whole source; undefined = unknown, then there is neither a bar nor a time left */
  constructor(show: CommandIO['showStatus'], label: string, size: number | undefined) {
    this.#show = show
    this.#label = label
    this.#size = size
  }

  update({ issues, bytes }: Progress): void {
    if (this.#show === undefined) return

    const seconds = (performance.now() - this.#beganAt) / 1000
    const parts = [
      ...this.#share(bytes),
      `${issues.toLocaleString('en')} ${issues === 1 ? 'issue' : 'issues'}`,
      `${(bytes / 1e6 / seconds).toFixed(1)} MB/s`,
      ...this.#left(bytes, seconds),
    ]
    this.#show(`${this.#label} ${parts.join('  ')}`)
    this.#isShown = true
  }

  /** Clears the line, so that messages do not follow it. */
  clear(): void {
    if (this.#isShown) this.#show?.('')
    this.#isShown = false
  }

  #share(bytes: number): readonly string[] {
    if (!this.#size) return []

    const share = Math.min(1, bytes / this.#size)
    const bar = '#'.repeat(Math.floor(share * WIDTH)).padEnd(WIDTH, '.')
    return [`[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`]
  }

  #left(bytes: number, seconds: number): readonly string[] {
    if (!this.#size || bytes === 0) return []
    return [`${duration((Math.max(0, this.#size - bytes) / bytes) * seconds)} left`]
  }
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
