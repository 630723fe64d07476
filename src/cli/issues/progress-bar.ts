import type { CommandIO } from '../command.ts'
import { counted } from '../command.ts'

const WIDTH = 20

/** A line on the terminal that shows how far a command is. */
export interface ProgressBar {
  /** Shows how far it is. Bytes are those of the source. */
  update(issues: number, bytes: number): void
  /** Clears the line, so that messages do not follow it. */
  clear(): void
}

/**
 * Creates a bar that also shows the issues, the speed and the time left.
 *
 * @param show - shows a line; undefined = nothing is shown
 * @param size - the bytes of the whole source; undefined = unknown, then there is neither a bar nor a time left
 */
export function progressBar(show: CommandIO['showStatus'], label: string, size: number | undefined): ProgressBar {
  const beganAt = performance.now()
  let isShown = false
  return {
    update: (issues, bytes) => {
      if (show === undefined) return

      const seconds = (performance.now() - beganAt) / 1000
      const share = size ? Math.min(1, bytes / size) : undefined
      const bar = '#'.repeat(Math.floor((share ?? 0) * WIDTH)).padEnd(WIDTH, '.')
      const parts = [
        ...(share === undefined ? [] : [`[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`]),
        counted(issues, 'issue'),
        `${(bytes / 1e6 / seconds).toFixed(1)} MB/s`,
        ...(share ? [`${duration((1 / share - 1) * seconds)} left`] : []),
      ]
      show(`${label} ${parts.join('  ')}`)
      isShown = true
    },
    clear: () => {
      if (isShown) show?.('')
      isShown = false
    },
  }
}

function duration(seconds: number): string {
  return seconds < 60 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}
