import type { ForgeErrorCode } from '../../src/index.ts'
import { isForgeError } from '../../src/index.ts'

/** How a step ended, in a form that can be compared: a value, or a code and what came with it. */
export type Answer = { readonly value: unknown } | { readonly code: ForgeErrorCode; readonly details: unknown }

/** What a model throws to refuse a step. */
export class Refusal extends Error {
  readonly code: ForgeErrorCode
  readonly details: unknown

  constructor(code: ForgeErrorCode, details?: unknown) {
    super(code)
    this.code = code
    this.details = details
  }
}

/** The answer of a model's step. */
export function answerOf(step: () => unknown): Answer {
  try {
    return { value: step() }
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, details: error.details }
    throw error
  }
}

/** The answer of a forge's step. Of invalid input only the pointers are kept. */
export async function forgeAnswerOf(step: () => unknown): Promise<Answer> {
  try {
    return { value: await step() }
  } catch (error) {
    if (isForgeError(error, 'INVALID_INPUT')) {
      return { code: error.code, details: error.details.violations.map(({ pointer }) => pointer) }
    }
    if (isForgeError(error, 'FORBIDDEN')) return { code: error.code, details: undefined }
    if (isForgeError(error)) return { code: error.code, details: error.details }
    throw error
  }
}
