import { describe } from 'vitest'
import { adapterCases } from './adapter-cases-suite.ts'
import { ADAPTER_HOSTS, hosts } from './hosts/hosts.ts'

// One host of each adapter is in adapter-cases.test.ts.

describe.each(hosts.filter((host) => !ADAPTER_HOSTS.includes(host)))('$name', adapterCases)
