import { MARIADB, POSTGRES, SQLITE } from '../databases.ts'
import { copySuite } from './copy-suite.ts'

copySuite([SQLITE], [MARIADB])
copySuite([POSTGRES], [SQLITE, POSTGRES])
copySuite([MARIADB], [POSTGRES, MARIADB])
