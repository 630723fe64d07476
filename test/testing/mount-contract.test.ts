import { routeTable } from '../../src/http-adapters/routes/route-table.ts'
import { ADAPTER_HOSTS } from '../http-adapters/hosts/hosts.ts'
import { nodeHost } from '../http-adapters/hosts/node-host.ts'
import { mountedContract } from './mounted-contract.ts'

// Over every other framework, at the root, and beside parsers of bodies: mount-contract.long.test.ts.

for (const host of ADAPTER_HOSTS) mountedContract(host, { prefix: '/a/b' })

for (const service of new Set(routeTable.map((row) => row.service)))
  mountedContract(nodeHost, { prefix: '' }, [service])
