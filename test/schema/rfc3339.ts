const GRAMMAR =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** A day by its numbers, which may be on no calendar. */
export interface CalendarDay {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** Whether the calendar has this day, as JavaScript's own calendar says. */
export function isOnTheCalendar({ year, month, day }: CalendarDay): boolean {
  const moment = new Date(0)
  moment.setUTCFullYear(year, month - 1, day)
  return moment.getUTCFullYear() === year && moment.getUTCMonth() === month - 1 && moment.getUTCDate() === day
}

/** A second reading of RFC 3339, slower and made of other parts than ours, to compare with. */
export function isDateTimeByGrammar(text: string): boolean {
  const parts = GRAMMAR.exec(text)
  if (parts === null || !isOnTheCalendar({ year: Number(parts[1]), month: Number(parts[2]), day: Number(parts[3]) }))
    return false

  return (
    parts[6] !== '60' ||
    new Date(`2001-01-02T${parts[4]}:${parts[5]}:59${parts[8]?.toUpperCase()}`).toISOString().includes('T23:59:59')
  )
}
