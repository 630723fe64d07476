import { describe } from 'vitest'
import { adapterCases } from './adapter-cases-suite.ts'
import { ADAPTER_HOSTS } from './hosts/hosts.ts'
import { untouchedNodeHost } from './hosts/node-host.ts'

// The other frameworks: adapter-cases.long.test.ts.

describe.each([...ADAPTER_HOSTS, untouchedNodeHost])('$name', adapterCases)
