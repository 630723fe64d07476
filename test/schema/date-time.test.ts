import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalDateTime, isDateTime } from '../../src/schema/date-time.ts'
import type { CalendarDay } from './rfc3339.ts'
import { isDateTimeByGrammar, isOnTheCalendar } from './rfc3339.ts'

/** Each day of the calendar, and each edit of these, is compared with a second reading below. */
const ACCEPTED: readonly string[] = [
  '1985-04-12T23:20:50Z',
  '1985-04-12T23:20:50.52Z',
  '1985-04-12T23:20:50.000000000001Z',
  `1985-04-12T23:20:50.${'1'.repeat(10_000)}Z`,
  '1985-04-12T23:20:50+02:00',
  '1985-04-12T23:20:50-23:59',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  // leap seconds: 23:59:60 in UTC, on any day
  '1990-12-31T23:59:60Z',
  '1990-12-31T15:59:60-08:00',
  '1991-01-01T00:59:60+01:00',
  '1991-01-01T23:58:60+23:59',
  '1991-01-01T00:00:60-23:59',
]

/** What is further from a date-time than one character, which the edits below make. */
const REFUSED: readonly string[] = [
  '',
  'today',
  '1985-04-12T24:00:00Z',
  '19850412T23:20:50Z',
  '10000-01-01T00:00:00Z',
  '１９８５-04-12T23:20:50Z',
  // second 60 anywhere but at the end of a day in UTC
  '1990-12-31T23:58:60Z',
  '1990-12-31T22:59:60Z',
  '1990-12-31T23:59:60+01:00',
]

describe('a date-time', () => {
  test.each(ACCEPTED)('is %j', (text) => {
    expect(isDateTime(text)).toBe(true)
  })

  test.each(REFUSED)('is not %j', (text) => {
    expect(isDateTime(text)).toBe(false)
  })

  test('has a day exactly where the calendar has it', () => {
    const day = fc.record({ year: fc.nat(9999), month: fc.nat(19), day: fc.nat(39) })
    fc.assert(
      fc.property(day, (parts) => {
        expect(isDateTime(`${dateText(parts)}T12:00:00Z`)).toBe(isOnTheCalendar(parts))
      }),
      { numRuns: 2000 },
    )
  })

  test('is not what one character more, less or other makes of it, unless RFC 3339 has that too', () => {
    const edits = fc.record({
      at: fc.nat(24),
      cut: fc.nat(1),
      put: fc.constantFrom('', '0', '9', ':', '-', '+', '.', 'Z', 'T', ' ', '\n'),
    })
    fc.assert(
      fc.property(fc.constantFrom(...ACCEPTED.filter((text) => text.length < 30)), edits, (text, { at, cut, put }) => {
        const edited = text.slice(0, at) + put + text.slice(at + cut)
        expect(isDateTime(edited)).toBe(isDateTimeByGrammar(edited))
      }),
      { numRuns: 2000 },
    )
  })
})

function dateText({ year, month, day }: CalendarDay): string {
  return [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-')
}

describe('the canonical form', () => {
  test.each([
    ['2024-02-29T08:30:00Z', '2024-02-29T08:30:00Z'],
    ['2024-02-29t08:30:00z', '2024-02-29T08:30:00Z'],
    ['2024-03-01T00:30:00.52+02:00', '2024-02-29T22:30:00.520Z'],
    ['2024-02-29T08:30:00.000999Z', '2024-02-29T08:30:00Z'],
    ['2024-02-29T08:30:00.123999-00:00', '2024-02-29T08:30:00.123Z'],
    ['1990-12-31T23:59:60Z', '1990-12-31T23:59:59Z'],
    ['1991-01-01T00:59:60.5+01:00', '1990-12-31T23:59:59.500Z'],
    ['0000-02-29T23:59:59+23:59', '0000-02-29T00:00:59Z'],
    ['0000-01-01t00:00:00.5+00:01', '0000-01-01T00:00:00.500+00:01'],
    ['9999-12-31T23:59:59-00:01', '9999-12-31T23:59:59-00:01'],
  ])('of %s is %s', (text, canonical) => {
    expect(canonicalDateTime(text)).toBe(canonical)
    expect(canonicalDateTime(canonical)).toBe(canonical)
    expect(isDateTime(canonical)).toBe(true)
  })

  test.each(['2024-02-29', '2024-02-29T08:30:00', '2024-02-29 08:30:00+02', '2024-02-29T08:30:00+0200'])(
    'of %s is none: no part of a text is guessed or left out',
    (text) => {
      expect(() => canonicalDateTime(text)).toThrow(RangeError)
    },
  )

  test('is the same instant, to the millisecond', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), noInvalidDate: true, max: new Date('9998-01-01') }),
        fc.integer({ min: -1439, max: 1439 }),
        (date, minutes) => {
          const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1)
          const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
          const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
          fc.pre(local.length === 23)

          expect(new Date(canonicalDateTime(local + offset)).getTime()).toBe(date.getTime())
        },
      ),
    )
  })
})
