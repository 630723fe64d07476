import { documentFormat } from './document.ts'
import type { ExchangeFormat, ForgeFormat } from './forge-format.ts'

/** The forms that can be read. The first one that recognizes a source reads it. */
const ALL_FORMATS: readonly ForgeFormat[] = [documentFormat]

/** Returns the names of the forms. */
export function formatNames(): readonly ExchangeFormat[] {
  return ALL_FORMATS.map(({ name }) => name)
}

/** Returns the form of a list whose first record this is. */
export function formatOfRecord(record: unknown, name: ExchangeFormat | undefined): ForgeFormat {
  return (
    ALL_FORMATS.find((format) => format.name === name || (name === undefined && format.recognizes(record))) ??
    documentFormat
  )
}

/** Returns the form of a folder with these files. Undefined: no form has such folders. */
export function formatOfFolder(names: readonly string[], name: ExchangeFormat | undefined): ForgeFormat | undefined {
  return ALL_FORMATS.find(
    ({ name: own, folder }) =>
      folder !== undefined && (own === name || (name === undefined && folder.recognizes(names))),
  )
}
