import { expect, onTestFinished, test, vi } from 'vitest'
import { jsonWriter, serverLog, textWriter } from '../../app/cli/server-log.ts'
import { ForgeError } from '../../src/index.ts'

/** What a log writes when it is used. */
function written(use: (io: { err(line: string): void }) => void): readonly string[] {
  const lines: string[] = []
  use({ err: (line) => void lines.push(line) })
  return lines
}

test('what is logged is one line, which on a terminal begins with the time', () => {
  const error = new Error('first\n  second')
  expect(written((io) => textWriter({ ...io, showStatus: undefined })('error', 'failed', { error }))).toEqual([
    expect.stringMatching(/^forgelet: error: failed \{ error: [^\n]*first second[^\n]*$/),
  ])
  expect(written((io) => textWriter({ ...io, showStatus: () => undefined })('info', 'serving'))).toEqual([
    expect.stringMatching(/^\d\d:\d\d:\d\d forgelet: serving$/),
  ])
})

test('a long run of blanks in what is logged takes no longer than other text', () => {
  const start = performance.now()
  const error = new Error(`a${' '.repeat(100_000)}b`)
  written((io) => textWriter({ ...io, showStatus: undefined })('error', 'failed', { error }))
  expect(performance.now() - start).toBeLessThan(5000)
})

test('while the database is away, the first failure of each reason is logged whole, and the others are counted', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const seen: unknown[] = []
  const log = serverLog((_level, message, fields) => void seen.push({ message, ...fields }))
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
  const lines = written((io) => jsonWriter(io)('error', 'failed', { error, count: 2n, requestId: 'r-1' }))

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
