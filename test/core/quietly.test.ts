import { expect, it, onTestFinished, vi } from 'vitest'
import { quietly } from '../../src/core/quietly.ts'

it.each([
  [
    'throws',
    () => {
      throw new Error('no disk')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no disk'))],
])('a logger that %s is not reported', async (_how, call) => {
  const unheard = vi.fn()
  process.on('unhandledRejection', unheard)
  onTestFinished(() => void process.off('unhandledRejection', unheard))

  expect(() => quietly(call)).not.toThrow()
  await new Promise((resolve) => setImmediate(resolve)) // unhandled rejections are reported by then
  expect(unheard).not.toHaveBeenCalled()
})
