import * as values from '../faults/value-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, SQL, SQLITE } from '../planted-storage.ts'

const EXACT_SLUGS = 'slugs are compared exactly'

/** Storages that do not keep values as they are. Source: docs/storage.md, sections 6 and 7 */
export const VALUE_ROWS: readonly PlantedStorage[] = [
  { fault: 'folds case', kinds: EVERY, caughtBy: EXACT_SLUGS, plant: values.foldsCase },
  { fault: 'ignores trailing blanks', kinds: EVERY, caughtBy: EXACT_SLUGS, plant: values.ignoresTrailingBlanks },
  { fault: 'composes characters', kinds: EVERY, caughtBy: EXACT_SLUGS, plant: values.composesCharacters },
  { fault: 'has a column without case', kinds: SQLITE, caughtBy: EXACT_SLUGS, plant: values.collatesWithoutCase },
  {
    fault: 'has a column without trailing blanks',
    kinds: SQLITE,
    caughtBy: EXACT_SLUGS,
    plant: values.collatesWithoutBlanks,
  },
  {
    fault: 'has a column of the server’s default collation',
    kinds: ['MariaDB'],
    caughtBy: EXACT_SLUGS,
    plant: values.collatesByDefault,
  },
  {
    fault: 'has a column that pads with blanks',
    kinds: ['MariaDB'],
    caughtBy: EXACT_SLUGS,
    plant: values.collatesPadded,
  },
  {
    fault: 'loses characters of four bytes',
    kinds: EVERY,
    caughtBy: 'texts come out as they went in',
    plant: values.losesFourByteCharacters,
  },
  {
    fault: 'cuts texts',
    kinds: EVERY,
    caughtBy: 'the longest texts are kept whole, in characters of one byte and of four',
    plant: values.cutsTexts,
  },
  {
    fault: 'rounds ids',
    kinds: EVERY,
    caughtBy: 'ids of 64 bits come out of boards, blocks and events as they went in',
    plant: values.roundsIds,
  },
  {
    fault: 'compares ids as numbers',
    kinds: SQL,
    caughtBy: 'ids that are texts are compared exactly',
    plant: values.comparesIdsAsNumbers,
  },
  {
    fault: 'keeps whole seconds',
    kinds: EVERY,
    caughtBy: 'times come out to the millisecond',
    plant: values.keepsSeconds,
  },
]
