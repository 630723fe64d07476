import { expect, onTestFinished, test, vi } from 'vitest'
import { countedLog, jsonLog, textLog } from '../../src/cli/server-log.ts'
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
  textLog({ err: (line) => void lines.push(line), showStatus: undefined }).error('failed', fields)
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain('\n')
  return lines.join('')
}

test('on a terminal, a line begins with the time', () => {
  const lines: string[] = []
  textLog({ err: (line) => void lines.push(line), showStatus: () => undefined }).info('serving')
  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d forgelet: serving$/)])
})

test('while the database is away, the first failure of each reason is logged whole, and the others are counted', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const seen: unknown[] = []
  const write = (message: string, fields?: object) => void seen.push({ message, ...fields })
  const log = countedLog({ error: write, warn: write, info: write })
  const fail = (code: string) => {
    const cause = Object.assign(new Error('no'), { code })
    const error = new ForgeError('STORAGE_UNAVAILABLE', 'lost', { outcome: 'unknown' }, { cause })
    log.error('database not available', { error })
  }
  for (const code of ['ECONNREFUSED', 'ECONNREFUSED', 'ETIMEDOUT', 'ECONNREFUSED']) fail(code)
  log.error('failed', { error: new Error('another') })
  const whole = { message: 'database not available', error: expect.any(ForgeError) }
  expect(seen.splice(0)).toEqual([whole, whole, { message: 'failed', error: new Error('another') }])

  vi.advanceTimersByTime(10_000)
  const reason = 'STORAGE_UNAVAILABLE, ECONNREFUSED'
  expect(seen.splice(0)).toEqual([{ message: 'database not available, as before', reason, failures: 2 }])
  vi.advanceTimersByTime(10_000)
  fail('ECONNREFUSED')
  expect(seen).toEqual([whole])
})

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
