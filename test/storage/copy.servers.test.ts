import { MARIADB, POSTGRES, SQLITE } from '../databases.ts'
import { copySuite } from './copy-suite.ts'

copySuite([POSTGRES, MARIADB], [SQLITE, POSTGRES, MARIADB])
copySuite([SQLITE], [POSTGRES, MARIADB])
