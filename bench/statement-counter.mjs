// A way to a database server that counts the statements that clients send over it, whatever driver sends them.
import { connect, createServer } from 'node:net'

/** The messages that execute a prepared statement, and those that contain the text of one or several. */
const EXECUTES = { postgres: 0x45, mariadb: 0x17 }
const QUERIES = { postgres: 0x51, mariadb: 0x03 }

/** Opens a proxy in front of a server. `count(work)` returns how many statements the work sends. */
export async function statementCounter(target, kind) {
  const { hostname, port } = new URL(target)
  const sockets = new Set()
  let statements = 0

  const server = createServer((client) => {
    const upstream = connect({ port: Number(port), host: hostname, noDelay: true })
    const see = messages(kind, (code, content) => {
      if (code === EXECUTES[kind]) statements += 1
      if (code === QUERIES[kind]) statements += statementsIn(content)
    })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy()).on('close', () => sockets.delete(socket))
    }
    client.on('data', see)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(server.address().port) })

  return {
    url: url.href,
    async count(work) {
      const before = statements
      await work()
      return statements - before
    },
    end() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Cuts what one client sends into messages, and passes on the code and the content of each. */
function messages(kind, see) {
  const cut = kind === 'postgres' ? postgresMessages(see) : mariadbPackets(see)
  let rest = Buffer.alloc(0)
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    for (let length = cut(rest); length > 0 && length <= rest.length; length = cut(rest)) rest = rest.subarray(length)
  }
}

/** A code and a length; the first message has no code. Returns the length of a whole message, else 0 or more than there is. */
function postgresMessages(see) {
  let isFirst = true
  return (bytes) => {
    const start = isFirst ? 0 : 1
    if (bytes.length < start + 4) return 0
    const length = start + bytes.readUInt32BE(start)
    if (bytes.length < length) return 0
    if (!isFirst) see(bytes[0], bytes.subarray(5, length - 1))
    isFirst = false
    return length
  }
}

/** A length of three bytes, a number, and the code. Numbers of the messages of a login go on from those of the server. */
function mariadbPackets(see) {
  return (bytes) => {
    if (bytes.length < 5) return 0
    const length = 4 + bytes.readUIntLE(0, 3)
    if (bytes.length < length) return 0
    if (bytes[3] === 0) see(bytes[4], bytes.subarray(5, length))
    return length
  }
}

/** The values in the statements of the benchmarks contain no semicolon. */
function statementsIn(text) {
  return text
    .utf8Slice()
    .split(';')
    .filter((statement) => statement.trim() !== '').length
}
