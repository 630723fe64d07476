/** Whole numbers come as bigint from a driver whose host asked for them; ids are text, so none of ours is large. */
export function plainRows<Row>(rows: readonly unknown[]): readonly Row[] {
  const plain = hasBigint(rows[0]) ? rows.map(withNumbers) : rows
  return plain as readonly Row[] // unknown data: the shape of a row was inferred from the query that asked for it
}

function hasBigint(row: unknown): boolean {
  return typeof row === 'object' && row !== null && Object.values(row).some((value) => typeof value === 'bigint')
}

function withNumbers(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row

  const entries: readonly (readonly [string, unknown])[] = Object.entries(row)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]))
}
