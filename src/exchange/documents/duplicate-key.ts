/** A property that occurs a second time in its object. */
export const DUPLICATE_KEY = { code: 'duplicate_key', message: 'expected each property once' } as const
