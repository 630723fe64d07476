import { invalidInput } from '../../../schema/errors.ts'
import { parseInteger } from '../integer-text.ts'
import type { Input } from '../route.ts'

/** The 1-based position in the path. Source: docs/behaviour.md, Pins */
export const positionInPath: Input<number> = {
  parameters: [
    {
      name: 'position',
      in: 'path',
      schema: { type: 'integer', format: 'int64', minimum: 1 },
      description: 'position on the board, starting at 1',
    },
  ],
  errors: ['INVALID_INPUT'],
  read: (requestContext) => toPosition(requestContext.match.parameter('position')),
}

function toPosition(text: string): number {
  const position = parseInteger(text)
  if (position === undefined || position < 1 || position === Number.POSITIVE_INFINITY) {
    throw invalidInput('/position', 'range', 'position must be an integer, 1 or greater')
  }

  return position
}
