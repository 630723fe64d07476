const A_WHILE = 150

/** Something to wait for until it is opened. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

/** Makes a closed gate. */
export function gate(): Gate {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/**
 * Settles when the work has, or a while later: then it waits for something, a lock say. A storage in which it needs longer
 * to come there passes all the same; the order that the case is about did not arise then.
 */
export async function whileWaiting(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, A_WHILE)
  })
  await Promise.race([patience, work.then(ignore, ignore)])
  clearTimeout(timer)
}

/** Lets others run for so many turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

function ignore(): void {}
