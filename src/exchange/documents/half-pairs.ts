import type { Finding, Path } from './record-batch.ts'

/** Yields a finding for each text and each property name of a value that has half of a surrogate pair. */
export function* halfPairs(value: unknown, path: Path): Generator<Finding, void, void> {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) yield halfPair(path)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (!name.isWellFormed()) yield halfPair([...path, name])
      yield* halfPairs(inner, [...path, name])
    }
  }
}

function halfPair(path: Path): Finding {
  return { path, code: 'surrogate', message: 'expected well-formed Unicode, without half of a surrogate pair' }
}
