import { connectHost } from './connect-host.ts'
import { expressHosts } from './express-hosts.ts'
import { fastifyHosts } from './fastify-hosts.ts'
import { fetchHosts } from './fetch-hosts.ts'
import type { Host } from './host.ts'
import { nodeHost } from './node-host.ts'

/** Every way in which an API is mounted: each with the real framework, on a real server. */
export const hosts: readonly Host[] = [nodeHost, connectHost, ...expressHosts, ...fastifyHosts, ...fetchHosts]

/** One of each kind of server that the package has an adapter for. The others mount one of these adapters. */
export const ADAPTER_HOSTS: readonly Host[] = hosts.filter(({ name }) =>
  ['node:http', 'Express 5', 'Fetch'].includes(name),
)
