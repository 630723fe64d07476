import { rolesSuite } from './roles-suite.ts'
import { serve } from './served.ts'

rolesSuite('forgelet serve on :memory:', (options) => serve(':memory:', options))
