import { CommandError } from './command-error.ts'
import type { OptionValues } from './options.ts'
import { parsePublicUrl } from './public-url.ts'

/** What `forgelet openapi` is told, checked. */
export interface OpenApiOptions {
  /** Undefined: to stdout. */
  readonly file: string | undefined
  /** Where clients see the API root; undefined = wherever the document is fetched from. */
  readonly publicUrl: string | undefined
  readonly json: boolean
}

/**
 * Checks the options of `forgelet openapi`.
 * @throws CommandError (wrong usage)
 */
export function openApiOptions(words: readonly string[], values: OptionValues): OpenApiOptions {
  if (words.length > 0) throw new CommandError(2, `unexpected argument "${words[0]}": name the file with --out`)

  return {
    file: values.out,
    publicUrl: values['public-url'] === undefined ? undefined : parsePublicUrl(values['public-url']),
    json: values.json === true,
  }
}
