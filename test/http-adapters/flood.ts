import { once } from 'node:events'
import { connect } from 'node:net'

/** What came of a body without mercy. */
interface Flooded {
  /** All that was answered. */
  readonly answer: string
  /** Bytes that could be sent of the body. */
  readonly sent: number
}

/** Sends the beginning of a request and so many bytes of a body, piece by piece; ends early when the server cuts it off. */
export async function flood(
  port: number,
  begin: string,
  { piece, end = '', size }: { readonly piece: string; readonly end?: string; readonly size: number },
): Promise<Flooded> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes.toString()
  })
  let isCut = false
  const isOver = new Promise<void>((resolve) => {
    for (const event of ['end', 'error', 'close']) socket.on(event, () => resolve())
  }).then(() => {
    isCut = true
  })
  socket.write(begin)
  let sent = 0
  while (!isCut && sent < size) {
    sent += piece.length
    // What is written at once is reported at once: without the turn nothing would be read before the server cuts the connection.
    await Promise.race([isOver, new Promise<void>((resolve) => socket.write(piece, () => setImmediate(resolve)))])
  }
  if (!isCut) socket.write(end)
  while (!isCut && !answer.includes('\r\n\r\n')) await Promise.race([isOver, once(socket, 'data')])
  socket.destroy()
  return { answer, sent }
}
