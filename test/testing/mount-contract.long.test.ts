import { ADAPTER_HOSTS, hosts } from '../http-adapters/hosts/hosts.ts'
import { mountedContract } from './mounted-contract.ts'

// Those of each adapter are in mount-contract.test.ts.

for (const host of hosts) {
  mountedContract(host, { prefix: '' })
  if (!ADAPTER_HOSTS.includes(host)) mountedContract(host, { prefix: '/a/b' })
}

// Among parsers of bodies, which read a body before the API does, or after it.

const PREFIXES = process.env['FORGELET_TEST_LONG'] === '1' ? ['', '/a/b'] : ['']

for (const host of hosts.filter(({ hasParsers }) => hasParsers)) {
  for (const prefix of PREFIXES) {
    for (const parser of ['json', 'raw', 'urlencoded'] as const) {
      mountedContract(host, { prefix, before: parser })
      mountedContract(host, { prefix, behind: parser })
    }
  }
}
