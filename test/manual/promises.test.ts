import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from './page.ts'

// The promises of the manual are sentences of its pages, and each names a test that exists.

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')
const [, ...sections] = read('test/manual/promises.txt').trim().split('\n\n')

for (const section of sections) {
  const [page = '', ...promises] = section.split('\n- ')
  describe(`the promises of ${page}`, () => {
    const text = onOneLine(read(page))

    test.each(promises.map(partsOf))('%s', (sentence, file = '', title) => {
      expect(text).toContain(sentence)
      expect(read(file)).toContain(title)
    })
  })
}

/** The sentence, the file and the title of a promise. */
function partsOf(promise: string): readonly string[] {
  const [, ...parts] = /^(.*)\n {2}(\S+): (.*)$/.exec(promise) ?? ['', promise]
  return parts
}
