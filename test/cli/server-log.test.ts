import { expect, test } from 'vitest'
import { jsonLog, textLog } from '../../src/cli/server-log.ts'
import { ForgeError } from '../../src/index.ts'

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
  textLog({ err: (line) => void lines.push(line) }).error('failed', fields)
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain('\n')
  return lines.join('')
}

test('an error in the JSON log has its code, its stack and its causes, and no other field of a driver', () => {
  const cause = Object.assign(new Error('value "secret" is refused'), { code: '22P02', detail: 'secret row' })
  const error = new ForgeError('STORAGE_UNAVAILABLE', 'lost', { outcome: 'unknown' }, { cause })
  const lines: string[] = []
  jsonLog({ err: (line) => void lines.push(line) }).error('failed', { error, count: 2n, requestId: 'r-1' })

  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    time: expect.any(String),
    level: 'error',
    message: 'failed',
    error: {
      name: 'ForgeError',
      message: 'lost',
      code: 'STORAGE_UNAVAILABLE',
      details: { outcome: 'unknown' },
      stack: expect.stringContaining('server-log.test'),
      cause: { name: 'Error', message: cause.message, code: '22P02', stack: expect.any(String) },
    },
    count: '2',
    requestId: 'r-1',
  })
})

test('a value that contains itself is logged once', () => {
  const loop: { self?: object } = {}
  loop.self = loop
  const lines: string[] = []
  jsonLog({ err: (line) => void lines.push(line) }).warn('odd', { loop })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ loop: { self: '[seen above]' } })
})
