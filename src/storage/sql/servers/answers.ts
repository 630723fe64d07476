import { isForgeError } from '../../../schema/errors.ts'

/** The properties in which libraries keep the error of the driver: the first is standard, the others are Prisma's. */
const BENEATH = ['cause', 'meta', 'driverAdapterError', 'originalError'] as const

/** Returns an error and those that it wraps, from the outside to the inside. A ForgeError ends the list. */
export function layersOf(error: unknown): readonly object[] {
  const layers: object[] = typeof error === 'object' && error !== null ? [error] : []
  for (const layer of layers) {
    if (isForgeError(layer)) continue
    for (const name of BENEATH) {
      const inner: unknown = Reflect.get(layer, name)
      if (typeof inner === 'object' && inner !== null && !layers.includes(inner)) layers.push(inner)
    }
  }
  return layers
}

/** Returns the code of Node for a failed connection, such as ECONNREFUSED, which says what is wrong. */
export function codeOf(error: unknown): string {
  const codes: readonly unknown[] = layersOf(error).map((layer) => Reflect.get(layer, 'code'))
  const code = codes.find((one) => typeof one === 'string' && /^(?!P\d)[A-Z][A-Z_0-9]+$/.test(one))
  return code === undefined ? '' : ` (${String(code)})`
}

/** Returns a column of a row. */
export function columnOf(row: unknown, column: string): unknown {
  return typeof row === 'object' && row !== null ? Reflect.get(row, column) : undefined
}
