const NUMBERS_PER_WORD = 32
const FIRST_CAPACITY = 64

/**
 * A set of integers from 0 to 2^53 - 1, in a few bytes for each: an open hash table of words with one bit for each of 32
 * neighbors. A repository that numbers its issues one after the other needs less than one byte for each.
 */
export class NumberSet {
  /** The word that a slot is for, or -1. */
  #keys = new Float64Array(FIRST_CAPACITY).fill(-1)
  #words = new Uint32Array(FIRST_CAPACITY)
  #used = 0
  /** An odd random number. The author of a document must not know which of its numbers collide. */
  readonly #seed = (Math.random() * 2 ** 32) | 1

  /** The memory of the table. */
  get bytes(): number {
    return this.#keys.byteLength + this.#words.byteLength
  }

  has(number: number): boolean {
    return ((this.#words[this.#slotOf(wordOf(number))] ?? 0) & bitOf(number)) !== 0
  }

  add(number: number): void {
    const word = wordOf(number)
    let slot = this.#slotOf(word)
    if (this.#keys[slot] === -1) {
      if (this.#used * 3 >= this.#keys.length * 2) {
        this.#grow()
        slot = this.#slotOf(word)
      }
      this.#keys[slot] = word
      this.#used += 1
    }
    this.#words[slot] = (this.#words[slot] ?? 0) | bitOf(number)
  }

  /** Returns the slot of a word: the one that has it, or the free one that it would get. */
  #slotOf(word: number): number {
    const last = this.#keys.length - 1
    let slot = hashOf(word, this.#seed) & last
    while (this.#keys[slot] !== word && this.#keys[slot] !== -1) slot = (slot + 1) & last
    return slot
  }

  #grow(): void {
    const [keys, words] = [this.#keys, this.#words]
    this.#keys = new Float64Array(keys.length * 2).fill(-1)
    this.#words = new Uint32Array(keys.length * 2)
    for (const [index, key] of keys.entries()) {
      if (key === -1) continue
      const slot = this.#slotOf(key)
      this.#keys[slot] = key
      this.#words[slot] = words[index] ?? 0
    }
  }
}

function wordOf(number: number): number {
  return Math.floor(number / NUMBERS_PER_WORD)
}

function bitOf(number: number): number {
  return 1 << (number % NUMBERS_PER_WORD)
}

/** Mixes both halves, because numbers that differ only above 2^32 must not collide. */
function hashOf(word: number, seed: number): number {
  let hash = Math.imul(word | 0, seed) ^ Math.imul(Math.imul(Math.floor(word / 2 ** 32) + 1, 0x85ebca6b) ^ seed, seed)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
