import { connectHost } from './connect-host.ts'
import { expressHosts } from './express-hosts.ts'
import { fastifyHosts } from './fastify-hosts.ts'
import { fetchHosts } from './fetch-hosts.ts'
import type { Host } from './host.ts'
import { nodeHost } from './node-host.ts'

/** Every way in which an API is mounted: each with the real framework, on a real server. */
export const hosts: readonly Host[] = [nodeHost, connectHost, ...expressHosts, ...fastifyHosts, ...fetchHosts]
