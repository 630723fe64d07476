import { SQLITE } from '../databases.ts'
import { worldSuite } from './world-suite.ts'

worldSuite([SQLITE])
