import { hosts } from '../http-adapters/hosts/hosts.ts'
import { mountedContract } from './mounted-contract.ts'

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
