/** So many private bytes in a row are a leak. */
export const RUN = 12

/** Returns a function that finds what must be hidden in a text. It searches a text once: most are alike. */
export function searchFor(hidden: readonly Uint8Array[], open: Uint8Array): (text: string) => boolean {
  const known = new Set(runs(open))
  const secret = new Set(hidden.flatMap(runs).filter((run) => !known.has(run)))
  const searched = new Set<string>()
  return (text) => {
    if (searched.has(text)) return false
    searched.add(text)
    return [Buffer.from(text, 'latin1'), ...spoken(text)].some((bytes) => runs(bytes).some((run) => secret.has(run)))
  }
}

/** Every run of bytes of that length, in hexadecimal. */
function runs(bytes: Uint8Array): readonly string[] {
  const hex = Buffer.from(bytes).toString('hex')
  return Array.from({ length: Math.max(bytes.length - RUN + 1, 0) }, (_, at) => hex.slice(2 * at, 2 * (at + RUN)))
}

/** What a text says in base64 and in hexadecimal, decoded. */
function spoken(text: string): readonly Buffer[] {
  const unbroken = text.replaceAll(/(?<=[\w+/])\n(?=[\w+/])/g, '')
  return [...unbroken.matchAll(/[A-Za-z0-9+/]{16,}/g)].flatMap(([run]) => {
    const shifted = [0, 1, 2, 3].map((shift) => Buffer.from(run.slice(shift), 'base64'))
    return /^[0-9a-f]+$/i.test(run) ? [...shifted, Buffer.from(run, 'hex')] : shifted
  })
}
