import type { Violation } from '../../schema/errors.ts'

/** The path of a value: property names and array indexes. */
export type Path = readonly PropertyKey[]

/** Where a value begins in a source. */
export type Place = Required<Pick<Violation, 'offset' | 'line'>>

/** Something in a record that is not valid. */
export interface Finding {
  readonly path: Path
  readonly code: string
  readonly message: string
}

/** Records that were parsed together. */
export interface RecordBatch {
  /** How many records of the source precede the batch. */
  readonly first: number
  readonly records: readonly unknown[]
  /** Returns the faults of a record that its parsed value does not show, such as a property that occurs twice. */
  faults(index: number): readonly Finding[]
  /** Returns where the values at these paths of a record begin, or the innermost value around one that does not exist. */
  places(index: number, paths: readonly Path[]): readonly Place[]
}
