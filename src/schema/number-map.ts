/** Values in one list: those of numbers that follow each other need 12 bytes each, where a Map needs forty. */
const PAGE = 16

/** A map from integers from 0 to 2^53 - 1, such as the numbers of a million issues, to numbers. */
export class NumberMap {
  readonly #pages = new Map<number, (number | undefined)[]>()

  get(number: number): number | undefined {
    return this.#pages.get(Math.floor(number / PAGE))?.[number % PAGE]
  }

  set(number: number, value: number): void {
    const index = Math.floor(number / PAGE)
    const page = this.#pages.get(index) ?? new Array<number | undefined>(PAGE)
    page[number % PAGE] = value
    this.#pages.set(index, page)
  }
}
