import { describe, expect, it, vi } from 'vitest'

describe('a console call', () => {
  it.fails('fails the test it happens in', () => {
    console.warn('a library that shouts')
  })

  it('passes a test that expects it', () => {
    const spy = vi.spyOn(console, 'error').mockImplementation(() => undefined)

    console.error('expected')

    expect(spy).toHaveBeenCalledWith('expected')
  })
})
