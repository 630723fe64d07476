import { describe, expect, test } from 'vitest'
import { whyUnusable } from '../../../../src/storage/sql/server/mariadb-connection.ts'

describe('a server', () => {
  test.each([
    '10.6.0-MariaDB',
    '10.11.19-MariaDB-0+deb12u1',
    '11.4.2-MariaDB-ubu2404-log',
    '5.5.5-10.6.12-MariaDB',
    '10.6.7-3-MariaDB-enterprise-log',
    '12.0.1-mariadb',
  ])('of version %s is used', (version) => {
    expect(whyUnusable(version, false)).toBeUndefined()
  })

  test.each(['8.0.36', '8.4.0-log', '9.1.0', '5.7.44-cloud', 'undefined', ''])(
    'of version %s is not MariaDB',
    (version) => {
      expect(whyUnusable(version, false)).toMatch(/not MariaDB/)
    },
  )

  test.each(['10.5.23-MariaDB', '10.1.48-MariaDB-0ubuntu0.18.04.1', '5.5.5-10.4.32-MariaDB', '5.5.68-MariaDB'])(
    'of version %s is too old',
    (version) => {
      expect(whyUnusable(version, false)).toMatch(/needed is 10\.6/)
    },
  )

  test('of version 10.6 keeps no ids as uuid', () => {
    expect(whyUnusable('10.6.18-MariaDB', true)).toMatch(/no uuid columns: keep the ids as text/)
    expect(whyUnusable('10.7.1-MariaDB', true)).toBeUndefined()
  })
})
