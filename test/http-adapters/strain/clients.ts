import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { ask } from '../node/serve.ts'

const ROOT = { Authorization: 'token root' }
const BADGES = '/a/b/admin/users/stan/badges'
const LIST = ask('GET /a/b/repos/acme/rocket/issues/pinned')
const MEGABYTE = 'x'.repeat(1_000_000)
/** More than is taken of a body. */
const TOO_MUCH = 'x'.repeat(100_000)

/** A way to leave a server alone. */
interface Leaving {
  readonly when: string
  readonly sends: string
  /** Whether it waits for a first piece of the answer. */
  readonly reads: boolean
}

/** When clients vanish: the moments of a request, and what they leave unread. */
const LEAVINGS: readonly Leaving[] = [
  { when: 'in the middle of the headers', sends: LIST.slice(0, 60), reads: false },
  { when: 'as soon as they have asked', sends: LIST, reads: false },
  { when: 'before the answer', sends: ask('GET /a/b/repos/waiting/it/issues/pinned'), reads: false },
  { when: 'after a part of the answer', sends: LIST.repeat(5), reads: true },
  { when: 'having read none of many answers', sends: LIST.repeat(20), reads: false },
  {
    when: 'in the middle of a body that is read',
    sends: ask(`POST ${BADGES}`, { ...ROOT, 'Content-Length': '1000' }, '{"badge_slugs":["'),
    reads: false,
  },
  {
    when: 'in the middle of an unread body',
    sends: ask(`POST ${BADGES}`, { 'Content-Length': '1000000' }, 'x'.repeat(1000)),
    reads: true,
  },
  {
    when: 'in the middle of chunks that are too many',
    sends: `${ask(`POST ${BADGES}`, { ...ROOT, 'Transfer-Encoding': 'chunked' })}200000\r\n${TOO_MUCH}`,
    reads: false,
  },
]

/** Lets so many clients come, some at once, and vanish each in another way. */
export async function vanish(port: number, count: number): Promise<void> {
  let next = 0
  const one = async (): Promise<void> => {
    while (next < count) {
      const leaving = LEAVINGS[next % LEAVINGS.length]
      next += 1
      if (leaving !== undefined) await leave(port, leaving)
    }
  }
  await Promise.all(Array.from({ length: 50 }, one))
}

async function leave(port: number, { sends, reads }: Leaving): Promise<void> {
  const socket = dialPaused(port)
  await new Promise<void>((resolve) => {
    socket.once('error', () => resolve())
    if (reads) socket.once('data', () => resolve()).resume()
    socket.write(sends, () => !reads && resolve())
  })
  socket.destroy()
}

/** What came of a body without end. */
export interface Flooded {
  /** All that was answered. */
  readonly answer: string
  /** Bytes that could be sent. */
  readonly sent: number
}

/** Sends the headers of a request, and so many bytes of a body, in chunks; ends early when the server cuts it off. */
export async function flood(port: number, headers: Readonly<Record<string, string>>, size: number): Promise<Flooded> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk.toString()
  })
  const isOver = new Promise<'cut'>((resolve) => {
    for (const event of ['error', 'close']) socket.on(event, () => resolve('cut'))
  })
  socket.write(ask(`POST ${BADGES}`, { ...headers, 'Transfer-Encoding': 'chunked' }))

  const piece = `${MEGABYTE.length.toString(16)}\r\n${MEGABYTE}\r\n`
  let sent = 0
  // What is written at once is reported at once: without the pause nothing would be read before the server cuts the connection.
  const write = (text: string): Promise<void> =>
    new Promise((resolve) => socket.write(text, () => setImmediate(resolve)))
  while (sent < size && (await Promise.race([isOver, write(piece)])) !== 'cut') sent += MEGABYTE.length
  if (sent >= size) {
    socket.write('0\r\n\r\n')
    while (!answer.includes('\r\n\r\n') && !socket.destroyed) await Promise.race([isOver, nextData(socket)])
  }
  socket.destroy()
  return { answer, sent }
}

function nextData(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('data', () => resolve()))
}

function dialPaused(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  return socket.pause()
}
