/** Numbers in one word: those that follow each other need a bit each, where a Set needs forty bytes and more. */
const NUMBERS_PER_WORD = 32

/**
 * A set of integers from 0 to 2^53 - 1, such as the numbers of a million issues. With a Set in its place, an import of
 * them has 257 MB at most.
 */
export class NumberSet {
  readonly #words = new Map<number, number>()

  has(number: number): boolean {
    const word = this.#words.get(Math.floor(number / NUMBERS_PER_WORD)) ?? 0
    return ((word >>> (number % NUMBERS_PER_WORD)) & 1) === 1
  }

  add(number: number): void {
    const index = Math.floor(number / NUMBERS_PER_WORD)
    this.#words.set(index, (this.#words.get(index) ?? 0) | (1 << (number % NUMBERS_PER_WORD)))
  }
}
