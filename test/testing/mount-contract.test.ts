import { routeTable } from '../../src/http-adapters/routes/route-table.ts'
import { hosts } from '../http-adapters/hosts/hosts.ts'
import { nodeHost } from '../http-adapters/hosts/node-host.ts'
import { mountedContract } from './mounted-contract.ts'

// Beside parsers of bodies: mount-contract.long.test.ts.

for (const host of hosts) for (const prefix of ['', '/a/b']) mountedContract(host, { prefix })

for (const service of new Set(routeTable.map((row) => row.service)))
  mountedContract(nodeHost, { prefix: '' }, [service])
