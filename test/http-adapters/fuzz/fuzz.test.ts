import { describe } from 'vitest'
import { hosts } from '../hosts/hosts.ts'
import { fuzz } from './fuzz-suite.ts'

describe.each(hosts.slice(0, 1))('whatever is asked of $name', fuzz)
