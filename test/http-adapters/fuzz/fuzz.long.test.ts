import { describe } from 'vitest'
import { hosts } from '../hosts/hosts.ts'
import { fuzz } from './fuzz-suite.ts'

// The first is in fuzz.test.ts.
describe.each(hosts.slice(1))('whatever is asked of $name', fuzz)
