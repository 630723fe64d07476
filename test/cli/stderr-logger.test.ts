import { expect, test } from 'vitest'
import { stderrLogger } from '../../src/cli/serve.ts'

test('what is logged is one line', () => {
  expect(logged({ error: new Error('first\n  second') })).toMatch(/^forgelet: error: failed \{ error: .*first second/)
})

test('a long run of blanks in what is logged takes no longer than other text', () => {
  const start = performance.now()
  logged({ error: new Error(`a${' '.repeat(100_000)}b`) })
  expect(performance.now() - start).toBeLessThan(5000)
})

function logged(fields: object): string {
  const lines: string[] = []
  stderrLogger({ err: (line) => void lines.push(line) }).error('failed', fields)
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain('\n')
  return lines.join('')
}
