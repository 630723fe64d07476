import { auditCases } from './cases/audit-cases.ts'
import { badgeCases } from './cases/badge-cases.ts'
import { badgeCatalogueCases } from './cases/badge-catalogue-cases.ts'
import { blockCases } from './cases/block-cases.ts'
import { blockPageCases } from './cases/block-page-cases.ts'
import { changeCases } from './cases/change-cases.ts'
import { epochCases } from './cases/epoch-cases.ts'
import { eventCases } from './cases/event-cases.ts'
import { lifeCases } from './cases/life-cases.ts'
import { ownershipCases } from './cases/ownership-cases.ts'
import { pinBoardCases } from './cases/pin-board-cases.ts'
import { retiredThingCases } from './cases/retired-thing-cases.ts'
import { retirementCases } from './cases/retirement-cases.ts'
import type { StorageCase } from './cases/storage-case.ts'
import { valueCases } from './cases/value-cases.ts'

/** What every storage must do, as plain cases without a test runner. */
export const storageCases: readonly StorageCase[] = [
  ...lifeCases,
  ...changeCases,
  ...epochCases,
  ...pinBoardCases,
  ...blockCases,
  ...blockPageCases,
  ...badgeCases,
  ...badgeCatalogueCases,
  ...eventCases,
  ...auditCases,
  ...retirementCases,
  ...retiredThingCases,
  ...ownershipCases,
  ...valueCases,
]
