import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CommandError } from './command-error.ts'

/**
 * Starts listening; gives back the port, which the system chose when 0 was asked for.
 * @throws CommandError (wrong usage) when the port is taken or the address is none of this machine
 */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refusal(error, host, port)))
    server.listen({ host, port }, resolve)
  })
  return portOf(server.address())
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('the server does not listen on a port')
  return address.port
}

function refusal(error: Error, host: string, port: number): CommandError {
  const code = 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return new CommandError(
      2,
      `port ${port} on ${host} is in use: stop the other program, or choose another with --port`,
    )
  }
  if (code === 'EACCES') {
    return new CommandError(2, `port ${port} on ${host} is not permitted: choose one above 1023 with --port`)
  }
  return new CommandError(2, `--host ${host}: cannot listen there (${String(code ?? error.message)}); try 127.0.0.1`)
}
