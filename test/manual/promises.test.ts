import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from './page.ts'
import { PROMISES } from './promises.ts'

// The promises of the manual are sentences of its pages, and each names a test that exists.

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

describe.each(Object.entries(PROMISES))('the promises of docs/manual/%s.md', (page, promises) => {
  const text = onOneLine(read(`docs/manual/${page}.md`))

  test.each(promises)('%s', (sentence, file, title) => {
    expect(text).toContain(sentence)
    expect(read(file)).toContain(title)
  })
})
