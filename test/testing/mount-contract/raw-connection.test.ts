import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RawConnection } from '../../../src/testing/mount-contract/cases/raw-connection.ts'
import { connect } from '../../../src/testing/mount-contract/cases/raw-connection.ts'

const OK = 'HTTP/1.1 200 OK\r\n'

/** A connection to a server that says this, byte by byte, and ends it. */
async function lineSaying(text: string): Promise<RawConnection> {
  const server = createServer(async (socket) => {
    socket.setNoDelay()
    for (const byte of Buffer.from(text)) await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve))
    socket.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a server that listens on a port has such an address
  const line = await connect(`http://127.0.0.1:${port}`)
  onTestFinished(() => {
    line.destroy()
    server.close()
  })
  return line
}

describe('a reply', () => {
  test.each([
    ['of a length', `${OK}Content-Length: 5\r\n\r\nhello`, 'hello'],
    [
      'in chunks, with trailers',
      `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=1\r\nlo\r\n0\r\nX-Sum: 1\r\n\r\n`,
      'hello',
    ],
    ['without an end of its own', `${OK}\r\nhello`, 'hello'],
    ['in more than ASCII', `${OK}Content-Length: 6\r\n\r\nh\u00e9llo`, 'h\u00e9llo'],
    ['behind an interim one', `HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 5\r\n\r\nhello`, 'hello'],
    ['without content', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
  ])('%s is read whole', async (_how, text, body) => {
    const line = await lineSaying(text)

    expect(await line.reply('GET')).toMatchObject({ body })
  })

  test('to HEAD has no body, whatever its length says', async () => {
    const line = await lineSaying(`${OK}Content-Length: 5\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`)
    await line.reply('HEAD')

    expect(await line.reply('GET')).toMatchObject({ body: 'hi' })
  })

  test('keeps every line of a header', async () => {
    const line = await lineSaying(`${OK}Set-Cookie: a=1\r\nset-cookie: b=2, c\r\nContent-Length: 0\r\n\r\n`)

    expect((await line.reply('GET')).headers).toEqual([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2, c'],
      ['content-length', '0'],
    ])
  })

  test.each([
    ['nothing', '', 'the server closed the connection'],
    ['no reply', 'hello\r\n\r\n', 'the bytes received are not an HTTP response: "hello"'],
    ['less than it says', `${OK}Content-Length: 5\r\n\r\nhell`, 'the server closed the connection'],
  ])('that is %s is reported', async (_what, text, message) => {
    const line = await lineSaying(text)

    await expect(line.reply('GET')).rejects.toThrow(message)
  })
})

test('a server is spoken to in plain HTTP', async () => {
  await expect(connect('https://127.0.0.1:1')).rejects.toThrow(
    new TypeError('origin must be http://host:port, as the application listens: https://127.0.0.1:1'),
  )
})
