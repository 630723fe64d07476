/** Whether a port gave nothing: undefined, or the null that hosts in JavaScript give, as their mappers of databases do. */
export function isNothing(given: unknown): given is undefined | null {
  return given === undefined || given === null
}
