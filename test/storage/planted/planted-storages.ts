import type { PlantedStorage } from './planted-storage.ts'
import { ATOMICITY_ROWS } from './rows/atomicity-rows.ts'
import { EVENT_ROWS } from './rows/event-rows.ts'
import { FENCE_ROWS } from './rows/fence-rows.ts'
import { LIFE_ROWS } from './rows/life-rows.ts'
import { LOCK_ROWS } from './rows/lock-rows.ts'
import { ORDER_ROWS } from './rows/order-rows.ts'
import { OWNERSHIP_ROWS } from './rows/ownership-rows.ts'
import { PREPARE_ROWS } from './rows/prepare-rows.ts'
import { TRANSACTION_ROWS } from './rows/transaction-rows.ts'
import { VALUE_ROWS } from './rows/value-rows.ts'

/** One broken storage, or more, for each rule of docs/storage.md that can be seen from outside. */
export const PLANTED_STORAGES: readonly PlantedStorage[] = [
  ...LOCK_ROWS,
  ...FENCE_ROWS,
  ...PREPARE_ROWS,
  ...ATOMICITY_ROWS,
  ...EVENT_ROWS,
  ...VALUE_ROWS,
  ...OWNERSHIP_ROWS,
  ...ORDER_ROWS,
  ...TRANSACTION_ROWS,
  ...LIFE_ROWS,
]
