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
    caughtBy: 'texts are returned unchanged',
    plant: values.losesFourByteCharacters,
  },
  {
    fault: 'cuts texts',
    kinds: EVERY,
    caughtBy: 'the longest texts are stored completely, in characters of one byte and of four',
    plant: values.cutsTexts,
  },
  {
    fault: 'rounds ids',
    kinds: EVERY,
    caughtBy: '64-bit ids are returned unchanged by boards, blocks and events',
    plant: values.roundsIds,
  },
  {
    fault: 'compares ids as numbers',
    kinds: SQL,
    caughtBy: 'text ids are compared exactly',
    plant: values.comparesIdsAsNumbers,
  },
  {
    fault: 'keeps whole seconds',
    kinds: EVERY,
    caughtBy: 'times are returned to the millisecond',
    plant: values.keepsSeconds,
  },
  {
    fault: 'keeps who pinned an issue first',
    kinds: EVERY,
    caughtBy: 'a board stores the new author of a pin',
    plant: values.keepsWhoPinnedFirst,
  },
  {
    fault: 'keeps when an issue was pinned first',
    kinds: EVERY,
    caughtBy: 'a board stores the new time of a pin',
    plant: values.keepsWhenPinnedFirst,
  },
]
