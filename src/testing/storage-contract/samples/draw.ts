/** One choice or more. */
export type Choices<T> = readonly [T, ...T[]]

/** Texts that a storage may store wrongly. */
export const TEXTS: Choices<string> = ['', ' ', 'naïve 🦉 e\u0301', '0042', `quotes ' " \\ and\nlines`, 'null']

/** Choices from a pseudo-random generator (mulberry32): the same for the same seed. */
export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** Draws an integer from 0 to less than `count`. */
  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    const mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    const again = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61))
    return ((again ^ (again >>> 14)) >>> 0) % count
  }

  /** Draws one of the choices. */
  one<T>(choices: Choices<T>): T {
    const drawn = choices[this.below(choices.length)]
    return drawn === undefined ? choices[0] : drawn
  }

  /** Draws some of the choices, or none. */
  some<T>(choices: readonly T[]): readonly T[] {
    return choices.filter(() => this.below(2) === 0)
  }
}
