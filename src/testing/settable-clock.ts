/** A clock that changes only when it is set or advanced. */
export class SettableClock {
  #now: Date

  /** @throws TypeError if the date is invalid */
  constructor(now: Date) {
    this.#now = valid(now)
  }

  now(): Date {
    return new Date(this.#now)
  }

  /** @throws TypeError if the date is invalid */
  set(at: Date): void {
    this.#now = valid(at)
  }

  /** @throws TypeError if the result is not a valid date */
  advance(milliseconds: number): void {
    this.#now = valid(new Date(this.#now.getTime() + milliseconds))
  }
}

function valid(at: Date): Date {
  if (!(at instanceof Date) || Number.isNaN(at.getTime())) throw new TypeError('the clock needs a valid Date')
  return new Date(at)
}
