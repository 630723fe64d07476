/** The width of the progress bar. */
const WIDTH = 20

/**
 * Returns a bar, what is done, the speed and the time left.
 *
 * @param done - what was counted, such as `7 issues`; empty: nothing but bytes
 * @param size - the bytes of the whole source; undefined = unknown, then there is neither a bar nor a time left
 */
export function progress(done: string, bytes: number, milliseconds: number, size: number | undefined): string {
  const speed = `${(bytes / 1e3 / milliseconds).toFixed(1)} MB/s`
  const soFar = done === '' ? speed : `${done}  ${speed}`
  if (!size) return soFar

  const share = Math.min(1, bytes / size)
  const bar = '#'.repeat(share * WIDTH).padEnd(WIDTH, '.')
  const left = ((1 / share - 1) * milliseconds) / 1000
  const time = left < 60 ? `${Math.ceil(left)} s` : `${Math.ceil(left / 60)} min`
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${soFar}  ${time} left`
}
