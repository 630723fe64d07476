import type { Host } from '../http-adapters/hosts/host.ts'
import { hosts } from '../http-adapters/hosts/hosts.ts'
import { giteaJsSuite } from './gitea-js-suite.ts'
import type { Keeping } from './served.ts'
import { serve } from './served.ts'

// The real program, dist/cli.js, a server in memory, and the API in every framework.

const SERVERS: readonly (readonly [string, Keeping | Host])[] = [
  ['forgelet serve on :memory:', ':memory:'],
  ['forgelet serve on a file', 'file'],
  ['a server without SQLite', 'memory'],
  ...hosts.map((host) => [host.name, host] as const),
]

for (const [name, where] of SERVERS) giteaJsSuite(name, (options) => serve(where, options), typeof where !== 'object')
